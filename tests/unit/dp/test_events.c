/* src/core/dp/account/events.c and events_file.c: different releases together, the files they come from, every message. */
#include "support/test.h"

#include "base/memory.h"
#include "dp/account/accountant.h"
#include "dp/account/events.h"
#include "sotto/private/all.h"

#include <string.h>

static struct sotto_event noise(const char *mechanism, double scale, double l1, double l2, size_t count)
{
    return (struct sotto_event){.mechanism = mechanism, .count = count, .scale = scale, .l1 = l1, .l2 = l2};
}

static struct sotto_event sampled(double noise_multiplier, double rate, size_t steps)
{
    return (struct sotto_event){.mechanism = "gaussian",
                                .count = steps,
                                .l1 = NAN,
                                .l2 = NAN,
                                .noise_multiplier = noise_multiplier,
                                .sample_rate = rate,
                                .adjacency = SOTTO_ADD_REMOVE};
}

static struct sotto_event stated(double epsilon, double delta, size_t count)
{
    return (struct sotto_event){.mechanism = "stated", .count = count, .stated = {epsilon, delta}};
}

static double upper_of(const struct sotto_event *events, size_t n, double delta, enum sotto_adjacency target)
{
    struct sotto_account a;
    assert_int_equal(sotto_account_events(&a, events, n, delta, target, NULL), SOTTO_OK);
    assert_true(a.epsilon.lower >= 0 && a.epsilon.lower <= a.epsilon.upper);
    return a.epsilon.upper;
}

TEST(one_event_is_an_account)
{
    const struct sotto_event events[] = {noise("logistic", 5, 1, NAN, 1), noise("logistic", 5, 1, NAN, 10),
                                         noise("gaussian", 5, NAN, 1, 10), noise("laplace", 5, 1, NAN, 10),
                                         noise("logistic", 5, NAN, 1, 10)};
    for (size_t i = 0; i < 5; i++) {
        const struct sotto_event *e = &events[i];
        struct sotto_sensitivity s = {.l1 = e->l1, .l2 = e->l2};
        struct sotto_account one, many;
        assert_int_equal(sotto_account_release(&one, e->mechanism, 5, &s, 1e-5, e->count, NULL), SOTTO_OK);
        assert_int_equal(sotto_account_events(&many, e, 1, 1e-5, SOTTO_SAME_ADJACENCY, NULL), SOTTO_OK);
        if (!(many.epsilon.upper <= one.epsilon.upper * (1 + 1e-9) &&
              many.epsilon.upper > 0.99 * one.epsilon.lower))
            fail_msg("event %zu: %.17g by %s, alone %.17g by %s", i, many.epsilon.upper, many.accountant,
                     one.epsilon.upper, one.accountant);
        assert_string_equal(many.mechanism, e->mechanism);
        assert_true(many.scale == 5 && many.compose == e->count);
        assert_true(many.epsilon.lower >= one.epsilon.lower * (1 - 1e-9));
    }
    struct sotto_event e = sampled(1.1, 0.01, 10000);
    struct sotto_sampled s = {.mechanism = "gaussian",
                              .noise_multiplier = 1.1,
                              .sample_rate = 0.01,
                              .steps = 10000,
                              .delta = 1e-5,
                              .clipping = SOTTO_NORM_L2,
                              .adjacency = SOTTO_ADD_REMOVE,
                              .sampling = SOTTO_SAMPLING_POISSON};
    struct sotto_account one, many;
    assert_int_equal(sotto_account_sampled(&one, &s, NULL), SOTTO_OK);
    assert_int_equal(sotto_account_events(&many, &e, 1, 1e-5, SOTTO_SAME_ADJACENCY, NULL), SOTTO_OK);
    assert_true(many.epsilon.upper <= 5.632010670081592);
    assert_true(many.sample_rate == 0.01 && many.scale == 1.1);
    assert_int_equal(many.adjacency, SOTTO_ADD_REMOVE);
}

TEST(order_does_not_matter_and_more_is_more)
{
    struct sotto_event events[] = {noise("logistic", 5, 1, 1, 3), noise("gaussian", 5, NAN, 1, 10),
                                   noise("laplace", 9, 1, NAN, 4), stated(0.1, 1e-7, 3)};
    double all = upper_of(events, 4, 1e-5, SOTTO_SAME_ADJACENCY);
    for (size_t n = 1; n < 4; n++)
        assert_true(upper_of(events, n, 1e-5, SOTTO_SAME_ADJACENCY) < all);
    struct sotto_event turned[] = {events[3], events[1], events[0], events[2]};
    assert_true(fabs(upper_of(turned, 4, 1e-5, SOTTO_SAME_ADJACENCY) - all) < 1e-9 * all);
    /* one event of three is three events of one */
    struct sotto_event split[] = {events[0], events[0], events[0], events[1], events[2], events[3]};
    for (int i = 0; i < 3; i++)
        split[i].count = 1;
    assert_true(fabs(upper_of(split, 6, 1e-5, SOTTO_SAME_ADJACENCY) - all) < 1e-9 * all);
    /* delta falls, epsilon rises */
    assert_true(upper_of(events, 4, 1e-6, SOTTO_SAME_ADJACENCY) > all);
}

/* Steps beyond those of a run have no lower end of their own; the others beside them keep theirs. */
TEST(more_steps_than_a_run)
{
    struct sotto_event e[] = {sampled(1e7, 0.01, (size_t)1 << 40), sampled(1, 0.01, 1000)};
    e[0].mechanism = e[1].mechanism = "logistic";
    struct sotto_sampled run = {.mechanism = "logistic",
                                .noise_multiplier = 1,
                                .sample_rate = 0.01,
                                .steps = 1000,
                                .delta = 1e-5,
                                .clipping = SOTTO_NORM_L2,
                                .adjacency = SOTTO_ADD_REMOVE,
                                .sampling = SOTTO_SAMPLING_POISSON};
    struct sotto_account most, more, alone;
    assert_int_equal(sotto_account_events(&most, e, 1, 1e-5, SOTTO_SAME_ADJACENCY, NULL), SOTTO_OK);
    e[0].count++;
    assert_int_equal(sotto_account_events(&more, e, 1, 1e-5, SOTTO_SAME_ADJACENCY, NULL), SOTTO_OK);
    assert_true(isfinite(most.epsilon.upper) && more.epsilon.upper >= most.epsilon.upper);
    assert_true(more.epsilon.upper <= most.epsilon.upper * (1 + 1e-6) && more.epsilon.lower == 0);
    assert_int_equal(sotto_account_events(&more, e, 2, 1e-5, SOTTO_SAME_ADJACENCY, NULL), SOTTO_OK);
    assert_int_equal(sotto_account_sampled(&alone, &run, NULL), SOTTO_OK);
    assert_true(alone.epsilon.lower > 0.1 && more.epsilon.lower == alone.epsilon.lower);
    assert_true(more.epsilon.upper > alone.epsilon.upper);
}

TEST(statements_compose)
{
    struct sotto_event e = stated(0.1, 0, 100);
    struct sotto_account a;
    assert_int_equal(sotto_account_events(&a, &e, 1, 1e-5, SOTTO_SAME_ADJACENCY, NULL), SOTTO_OK);
    assert_string_equal(a.accountant, "optimal composition");
    assert_true(fabs(a.epsilon.upper - 4.3067913725) < 1e-9); /* dp.md 3(e) */
    assert_true(a.epsilon.lower == 0 && isnan(a.scale));
    assert_string_equal(a.mechanism, "stated");
    /* Renyi alone is close and never below */
    for (size_t i = 0; i < a.bound_count; i++)
        assert_true(a.bounds[i].epsilon >= 4.3067913725);
    assert_true(fabs(a.pure_epsilon - 10) < 1e-12);
    /* the deltas are paid first */
    e.stated.delta = 2e-7;
    assert_int_equal(sotto_account_events(&a, &e, 1, 1e-5, SOTTO_SAME_ADJACENCY, NULL), SOTTO_OK);
    assert_true(isinf(a.epsilon.upper) && isnan(a.pure_epsilon) && isnan(a.zcdp_rho));
    assert_string_equal(a.accountant, "none");
    e.stated.delta = 5e-8;
    assert_int_equal(sotto_account_events(&a, &e, 1, 1e-5, SOTTO_SAME_ADJACENCY, NULL), SOTTO_OK);
    struct sotto_composed c;
    assert_int_equal(sotto_compose_optimal(&c, e.stated, 100, 1e-5, SOTTO_REPLACE_ONE), SOTTO_OK);
    assert_true(fabs(a.epsilon.upper - c.epsilon.upper) < 1e-9);
    e.stated.delta = 0.9;
    e.group = 3;
    assert_true(isinf(upper_of(&e, 1, 0.99, SOTTO_SAME_ADJACENCY)));
    /* pure, no delta at all */
    e = stated(0.1, 0, 7);
    assert_true(fabs(upper_of(&e, 1, 0, SOTTO_SAME_ADJACENCY) - 0.7) < 1e-15);
    const struct sotto_event gaussian = noise("gaussian", 1, NAN, 1, 1);
    assert_true(isinf(upper_of(&gaussian, 1, 0, SOTTO_SAME_ADJACENCY)));
}

TEST(groups_and_adjacency)
{
    struct sotto_event two[] = {noise("gaussian", 5, NAN, 1, 2), noise("laplace", 9, 1, NAN, 1)};
    struct sotto_account a;
    double alone = upper_of(two, 2, 1e-5, SOTTO_REPLACE_ONE);
    two[0].adjacency = two[1].adjacency = SOTTO_ADD_REMOVE;
    assert_true(upper_of(two, 2, 1e-5, SOTTO_ADD_REMOVE) == alone);
    double replaced = upper_of(two, 2, 1e-5, SOTTO_REPLACE_ONE);
    two[0].group = two[1].group = 2;
    assert_true(fabs(upper_of(two, 2, 1e-5, SOTTO_ADD_REMOVE) - replaced) < 1e-12);
    two[0].group = two[1].group = 0;
    two[0].l2 = 2, two[1].l1 = 2; /* shifts add */
    assert_true(fabs(upper_of(two, 2, 1e-5, SOTTO_ADD_REMOVE) - replaced) < 1e-12);
    two[1].adjacency = SOTTO_REPLACE_ONE;
    assert_int_equal(sotto_account_events(&a, two, 2, 1e-5, SOTTO_SAME_ADJACENCY, NULL), SOTTO_ENOTSUP);
    assert_non_null(strstr(sotto_error_text(), "events[1] has another adjacency"));
    assert_non_null(strstr(sotto_error_hint(), "group of two"));
    assert_int_equal(sotto_account_events(&a, two, 2, 1e-5, SOTTO_ADD_REMOVE, NULL), SOTTO_ENOTSUP);
    assert_non_null(strstr(sotto_error_text(), "events[1]: a guarantee under replace-one adjacency"));
    /* sampled steps: by their own pair, far below a group of two by Renyi divergence */
    struct sotto_event s = sampled(1.1, 0.01, 1000);
    double one = upper_of(&s, 1, 1e-5, SOTTO_ADD_REMOVE), pair = upper_of(&s, 1, 1e-5, SOTTO_REPLACE_ONE);
    assert_true(pair > 1.5 * one && pair < 1.7 * one);
    s.group = 2;
    double two_more = upper_of(&s, 1, 1e-5, SOTTO_ADD_REMOVE);
    assert_true(two_more > 1.3 * pair);
    s.group = 0;
    /* where there is none, that group of two */
    s.mechanism = "logistic";
    assert_true(upper_of(&s, 1, 1e-5, SOTTO_REPLACE_ONE) > 2 * upper_of(&s, 1, 1e-5, SOTTO_ADD_REMOVE));
    s.clipping = SOTTO_NORM_L1; /* pure steps: a bound without delta */
    assert_true(fabs(upper_of(&s, 1, 0, SOTTO_ADD_REMOVE) - 1000 * log1p(0.01 * expm1(1 / 1.1))) < 1e-9);
    assert_true(fabs(upper_of(&s, 1, 0, SOTTO_REPLACE_ONE) -
                     1000 * (log1p(0.01 * expm1(1 / 1.1)) - log1p(0.01 * expm1(-1 / 1.1)))) < 1e-9);
    assert_true(upper_of(&s, 1, 1e-5, SOTTO_REPLACE_ONE) < 1.4);
    s.clipping = (enum sotto_norm)5;
    assert_int_equal(sotto_account_events(&a, &s, 1, 1e-5, SOTTO_REPLACE_ONE, NULL), SOTTO_EINVAL);
    s.mechanism = "laplace", s.clipping = SOTTO_NORM_L2;
    assert_int_equal(sotto_account_events(&a, &s, 1, 1e-5, SOTTO_REPLACE_ONE, NULL), SOTTO_ENOTSUP);
    s = sampled(1.1, 0.01, 1000);
    s.group = 3;
    assert_true(upper_of(&s, 1, 1e-5, SOTTO_ADD_REMOVE) > pair);
    s.group = 65; /* row by row */
    assert_true(upper_of(&s, 1, 1e-5, SOTTO_ADD_REMOVE) < INFINITY);
    s.adjacency = SOTTO_REPLACE_ONE;
    s.sampling = SOTTO_SAMPLING_FIXED;
    assert_int_equal(sotto_account_events(&a, &s, 1, 1e-5, SOTTO_REPLACE_ONE, NULL), SOTTO_EINVAL);
    s = sampled(1.1, 0.01, 1000);
    s.adjacency = SOTTO_REPLACE_ONE;
    assert_int_equal(sotto_account_events(&a, &s, 1, 1e-5, SOTTO_REPLACE_ONE, NULL), SOTTO_ENOTSUP);
}

TEST(bad_events)
{
    struct sotto_account a = {.scale = 77};
    struct sotto_event e = noise("gaussian", 1, NAN, 1, 1);
    assert_int_equal(sotto_account_events(&a, &e, 0, 1e-5, SOTTO_SAME_ADJACENCY, NULL), SOTTO_EINVAL);
    assert_int_equal(sotto_account_events(&a, &e, 1, 2, SOTTO_SAME_ADJACENCY, NULL), SOTTO_EINVAL);
    e.count = 0;
    assert_int_equal(sotto_account_events(&a, &e, 1, 1e-5, SOTTO_SAME_ADJACENCY, NULL), SOTTO_EINVAL);
    assert_non_null(strstr(sotto_error_text(), "events[0]: count"));
    e.count = 1, e.group = 2000000;
    assert_int_equal(sotto_account_events(&a, &e, 1, 1e-5, SOTTO_SAME_ADJACENCY, NULL), SOTTO_EINVAL);
    e.group = 0, e.adjacency = SOTTO_BOTH_ADJACENCIES;
    assert_int_equal(sotto_account_events(&a, &e, 1, 1e-5, SOTTO_SAME_ADJACENCY, NULL), SOTTO_EINVAL);
    e.adjacency = SOTTO_REPLACE_ONE, e.mechanism = "gaussian-classical";
    assert_int_equal(sotto_account_events(&a, &e, 1, 1e-5, SOTTO_SAME_ADJACENCY, NULL), SOTTO_ENOTSUP);
    e.mechanism = NULL;
    assert_int_equal(sotto_account_events(&a, &e, 1, 1e-5, SOTTO_SAME_ADJACENCY, NULL), SOTTO_EINVAL);
    e.mechanism = "gaussian", e.scale = -1;
    assert_int_equal(sotto_account_events(&a, &e, 1, 1e-5, SOTTO_SAME_ADJACENCY, NULL), SOTTO_EINVAL);
    e = stated(-1, 0, 1);
    assert_int_equal(sotto_account_events(&a, &e, 1, 1e-5, SOTTO_SAME_ADJACENCY, NULL), SOTTO_EINVAL);
    e = sampled(1, 2, 1);
    assert_int_equal(sotto_account_events(&a, &e, 1, 1e-5, SOTTO_SAME_ADJACENCY, NULL), SOTTO_EINVAL);
    e.noise_multiplier = 0;
    assert_int_equal(sotto_account_events(&a, &e, 1, 1e-5, SOTTO_SAME_ADJACENCY, NULL), SOTTO_EINVAL);
    assert_true(a.scale == 77);
}

TEST(event_files)
{
    static const struct {
        const char *text, *message; /* NULL: good */
    } cases[] = {
        {"{\"schema\":\"sotto.events/"
         "1\",\"adjacency\":\"replace-one\",\"events\":[{\"mechanism\":\"logistic\","
         "\"scale\":2,\"l1\":1,\"l2\":1,\"dimension\":3,\"count\":4,\"group\":2},{\"mechanism\":\"stated\","
         "\"epsilon\":1,\"delta\":1e-9},{\"mechanism\":\"discrete-laplace\",\"scale\":4,\"l1\":2,\"value_"
         "step\":1}]}",
         NULL},
        {"[{\"mechanism\":\"gaussian\",\"noise_multiplier\":1,\"sample_rate\":0.1,\"steps\":5}]", NULL},
        {"[{\"mechanism\":\"laplace\",\"noise_multiplier\":2,\"sample_rate\":0.1,\"steps\":5,\"clipping\":"
         "\"l1\"},{"
         "\"mechanism\":\"gaussian\",\"noise_multiplier\":2,\"sample_rate\":0.1,\"clipping\":\"l2\"}]",
         NULL},
        {"[{\"mechanism\":\"laplace\",\"noise_multiplier\":2,\"sample_rate\":0.1,\"clipping\":\"l3\"}]",
         "clipping is 'l3'; expected l1 or l2"},
        {"[{\"mechanism\":\"laplace\",\"noise_multiplier\":2,\"sample_rate\":0.1,\"clipping\":3}]",
         "'clipping' is 3"},
        {"[", "input.json:1:"},
        {"[]", "0 events; expected 1 to 100000"},
        {"[1]", "events[0]: expected an object"},
        {"{}", "'schema' is missing"},
        {"{\"schema\":\"x\",\"events\":[]}", "schema' is not sotto.events/1; expected sotto.events/1"},
        {"{\"schema\":\"sotto.events/1\"}", "'events' is missing"},
        {"{\"schema\":\"sotto.events/1\",\"adjacency\":\"both\",\"events\":[1]}",
         "adjacency is 'both'; expected"},
        {"[{}]", "events[0]: 'mechanism' is missing"},
        {"[{\"mechanism\":\"cauchy\"}]", "events[0]: mechanism 'cauchy' is unknown"},
        {"[{\"mechanism\":\"gaussian\",\"scale\":1,\"l2\":1}]",
         "events[0]: 'adjacency' is missing; expected replace-one or add-remove, in the event or for all "
         "events"},
        {"[{\"mechanism\":\"gaussian\",\"scale\":1,\"l2\":1,\"adjacency\":\"add\"}]", "adjacency is 'add'"},
        {"[{\"mechanism\":\"gaussian\",\"scale\":1,\"l2\":1,\"adjacency\":1}]", "'adjacency' is 1; expected"},
        {"[{\"mechanism\":\"gaussian\",\"scala\":1}]", "unknown member 'scala'; did you mean 'scale'?"},
        {"[{\"mechanism\":\"gaussian\",\"xxxxxxxxx\":1}]", "unknown member 'xxxxxxxxx'"},
        {"[{\"mechanism\":\"gaussian\",\"scale\":1,\"epsilon\":1}]",
         ": 'epsilon' cannot be combined with noise of a scale"},
        {"[{\"mechanism\":\"stated\",\"scale\":1}]", ": 'scale' cannot be combined with a stated guarantee"},
        {"[{\"mechanism\":\"stated\"}]", "'epsilon' is missing"},
        {"[{\"mechanism\":\"stated\",\"epsilon\":1,\"delta\":\"x\"}]", "'delta' is \"x\""},
        {"[{\"mechanism\":\"gaussian\",\"sample_rate\":1}]", "'noise_multiplier' is missing"},
        {"[{\"mechanism\":\"gaussian\",\"noise_multiplier\":1}]", "'sample_rate' is missing"},
        {"[{\"mechanism\":\"gaussian\",\"noise_multiplier\":1,\"sample_rate\":0.1,\"steps\":5,\"count\":5}]",
         "'count' and 'steps' mean the same"},
        {"[{\"mechanism\":\"gaussian\",\"noise_multiplier\":1,\"sample_rate\":0.1,\"steps\":-5}]",
         "'steps' is -5"},
        {"[{\"mechanism\":\"gaussian\",\"l2\":1}]", "'scale' is missing"},
        {"[{\"mechanism\":\"gaussian\",\"scale\":1,\"l1\":\"x\"}]", "'l1' is \"x\""},
        {"[{\"mechanism\":\"gaussian\",\"scale\":1,\"l2\":\"x\"}]", "'l2' is \"x\""},
        {"[{\"mechanism\":\"gaussian\",\"scale\":1,\"dimension\":1.5}]", "'dimension' is 1.5"},
        {"[{\"mechanism\":\"gaussian\",\"scale\":1,\"value_step\":null}]", "'value_step' is null"},
        {"[{\"mechanism\":\"gaussian\",\"count\":true}]", "'count' is true"},
        {"[{\"mechanism\":\"gaussian\",\"group\":true}]", "'group' is true"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct event_list list = {NULL, 77};
        sotto_status status = events_parse(&list, cases[i].text, strlen(cases[i].text), "input.json");
        if (cases[i].message) {
            if (status == SOTTO_OK || !strstr(sotto_error_text(), cases[i].message))
                fail_msg("%s: %s", cases[i].text, status == SOTTO_OK ? "accepted" : sotto_error_text());
            assert_true(list.count == 77 && strncmp(sotto_error_text(), "input.json", 10) == 0);
            continue;
        }
        if (status != SOTTO_OK)
            fail_msg("%s", sotto_error_text());
        assert_true(upper_of(list.events, list.count, 1e-5, SOTTO_SAME_ADJACENCY) > 0);
        events_free(&list);
    }
}

TEST(events_in_yaml)
{
    static const struct {
        const char *text, *message; /* NULL: good */
    } cases[] = {
        {"schema: sotto.events/1\n"
         "adjacency: add-remove\n"
         "events:\n"
         "  - {mechanism: laplace, scale: 2, l1: 1.5, count: 3}   # three counts\n"
         "  - mechanism: gaussian\n"
         "    noise_multiplier: 1.1\n"
         "    sample_rate: 1e-2\n"
         "    steps: 100\n",
         NULL},
        {"- {mechanism: 'stated', epsilon: 0.1, delta: 1.0e-9, adjacency: replace-one}\n", NULL},
        {"", "input.yaml: is empty"},
        {"events: [\n", "input.yaml:2:1:"},
        {"- &a {mechanism: stated}\n- *a\n", "input.yaml:1:"},
        {"- {mechanism: stated, epsilon: '0.1', adjacency: replace-one}\n", "'epsilon' is \"0.1\""},
        {"- {mechanism: stated, epsilon: nan, adjacency: replace-one}\n", "'epsilon' is \"nan\""},
        {"- {mechanism: stated, epsilon: ~, adjacency: replace-one}\n", "'epsilon' is null"},
        {"- {mechanism: stated, epsilon: true, adjacency: replace-one}\n", "'epsilon' is true"},
        {"- {mechanism: stated, epsilon: 1, count: -2, adjacency: replace-one}\n", "'count' is -2"},
        {"- {mechanism: stated, epsilon: 1, count: -, adjacency: replace-one}\n", "input.yaml"},
        {"7\n", "0 events"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct event_list list = {NULL, 77};
        sotto_status status = events_parse(&list, cases[i].text, strlen(cases[i].text), "input.yaml");
        if (cases[i].message) {
            if (status != SOTTO_EFORMAT || !strstr(sotto_error_text(), cases[i].message))
                fail_msg("%s: %s", cases[i].text, status == SOTTO_OK ? "accepted" : sotto_error_text());
            continue;
        }
        if (status != SOTTO_OK)
            fail_msg("%s", sotto_error_text());
        assert_true(upper_of(list.events, list.count, 1e-5, SOTTO_SAME_ADJACENCY) > 0);
        events_free(&list);
    }
    struct event_list list = {NULL, 77};
    sotto_status status = SOTTO_ENOMEM;
    int n;
    for (n = 0; status == SOTTO_ENOMEM; n++) {
        base_alloc_fail_after(n);
        status = events_parse(&list, cases[0].text, strlen(cases[0].text), "input.yml");
        base_alloc_fail_after(-1);
    }
    assert_int_equal(status, SOTTO_OK);
    assert_true(n > 10 && list.count == 2);
    events_free(&list);
    assert_int_equal(events_parse_opacus(&list, "[[1.5, 0.04, 2250]]", 19, "state.yaml"), SOTTO_OK);
    events_free(&list);
}

TEST(opacus_histories)
{
    static const struct {
        const char *text, *message;
    } cases[] = {
        {"{\"history\":[[1.5,0.04,2250]],\"mechanism\":\"rdp\"}", NULL},
        {"{\"history\":[[1.5,0.04,2250]],\"mechanism\":\"prv\",\"alphas\":[2]}", NULL},
        {"[[1.5,0.04,1250],[1.5,0.04,1000]]", NULL},
        {"{\"mechanism\":\"rdp\"}", "'history' is missing"},
        {"{\"history\":[[1,1,1]],\"mechanism\":\"magic\"}", "mechanism is 'magic'; expected rdp, prv or gdp"},
        {"{\"history\":[[1,1,1]],\"mechanism\":3}", "'mechanism' is 3"},
        {"{\"history\":[]}", "0 events"},
        {"[[1.5,0.04]]", "history[0]: expected [noise_multiplier, sample_rate, num_steps]"},
        {"[{\"a\":1,\"b\":2,\"c\":3}]", "history[0]: expected ["},
        {"[[1.5,0.04,2250],[1.5,0.04,1.5]]", "history[1]: expected ["},
        {"[[1.5,\"x\",2250]]", "history[0]: expected ["},
        {"[[0,0.04,2250]]",
         "noise_multiplier is 0; expected more than 0, as steps without noise have no guarantee"},
        {"[[1.5,1.04,2250]]", "sample_rate must be greater than 0 and at most 1 (got 1.04)"},
        {"[[1.5,0.04,0]]", "num_steps must be at least 1 (got 0)"},
        {"[[1.5", "input.json:1:"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct event_list list = {NULL, 77};
        sotto_status status = events_parse_opacus(&list, cases[i].text, strlen(cases[i].text), "input.json");
        if (cases[i].message) {
            if (status == SOTTO_OK || !strstr(sotto_error_text(), cases[i].message))
                fail_msg("%s: %s", cases[i].text, status == SOTTO_OK ? "accepted" : sotto_error_text());
            assert_true(list.count == 77);
            continue;
        }
        if (status != SOTTO_OK)
            fail_msg("%s", sotto_error_text());
        double epsilon = upper_of(list.events, list.count, 1e-5, SOTTO_SAME_ADJACENCY);
        assert_true(epsilon <= 7.32911117143); /* Opacus */
        events_free(&list);
    }
    struct sotto_account a;
    assert_int_equal(sotto_account_opacus_file(&a, "/dev/null/x.json", 1e-5, SOTTO_SAME_ADJACENCY, NULL),
                     SOTTO_ENOENT);
    assert_int_equal(sotto_account_events_file(&a, "/dev/null/x.json", 1e-5, SOTTO_SAME_ADJACENCY, NULL),
                     SOTTO_ENOENT);
}

TEST_GROUP(.shards = 2, .tags = "long")
