/* The edges of what reads entries and events: entries of a run that lack something, entries and events that
 * differ in one thing only, files of events, and every allocation that fails. */
#include "support/test.h"
#include "support/failing_jansson.h"
#include "base/file.h"
#include "dp/account/events.h"
#include "dp/ledger/ledger_account.h"
#include "dp/dpsgd/dpsgd_reservations.h"
#include "dp/ledger/ledger_records.h"
#include "dp/ledger/ledger_runs.h"
#include "sotto/private/all.h"
#include "support/temporary_folder.h"

#include <jansson.h>
#include <math.h>
#include <unistd.h>

static char ledger[128];

static int set_up(void **state)
{
    int failed = make_folder(state);
    strcpy(ledger, path_of("l.jsonl"));
    return failed;
}

static void save(const char *path, const char *text)
{
    assert_int_equal(file_write(path, text, strlen(text)), SOTTO_OK);
}

/* Text with the first `from` exchanged for `to`; it must be there. */
static char *exchanged(const char *text, const char *from, const char *to)
{
    const char *at = strstr(text, from);
    if (!at)
        fail_msg("no %s in %s", from, text);
    size_t size = strlen(text) + strlen(to) + 1;
    char *out = malloc(size);
    snprintf(out, size, "%.*s%s%s", (int)(at - text), text, to, at + strlen(from));
    return out;
}

/* --- reading entries back */

#define RUN "0123456789abcdef0123456789abcdef"
static const char good_entry[] =
    "{\"run\":\"" RUN "\",\"index\":0,\"mechanism\":\"gaussian\",\"scale\":2.0,\"max_grad_norm\":0.5,"
    "\"clipping\":\"l2\",\"sample_rate\":0.25,\"dimension\":3,\"hash\":\"abc\",\"randomness\":\"os\","
    "\"first_step\":0,\"steps\":6}\n";
static const struct dpsgd_facts good_facts = {
    .mechanism = "gaussian", .scale = 2, .max_grad_norm = 0.5, .sample_rate = 0.25, .dimension = 3};

static sotto_status read_run(size_t *charged, bool *seeded, int64_t last)
{
    struct dpsgd_reservations run;
    sotto_status status = dpsgd_reservations_read(&run, ledger, RUN, last, true, &good_facts);
    if (status != SOTTO_OK)
        return status;
    *charged = run.charged;
    *seeded = run.seeded;
    assert_int_equal(run.count, run.charged / 6);
    dpsgd_reservations_free(&run);
    return status;
}

TEST(an_entry_that_lacks_something, .before = set_up, .after = remove_folder)
{
    static const struct {
        const char *from, *to, *message;
        sotto_status status;
    } cases[] = {
        {"\"index\":0", "\"i\":0", "'index' is missing", SOTTO_EFORMAT},
        {"\"index\":0", "\"index\":-1", "'index' is -1", SOTTO_EFORMAT},
        {"\"mechanism\"", "\"m\"", "'mechanism' is missing", SOTTO_EFORMAT},
        {"\"scale\":2.0", "\"scale\":\"2\"", "'scale' is \"2\"", SOTTO_EFORMAT},
        {"\"max_grad_norm\"", "\"m\"", "'max_grad_norm' is missing", SOTTO_EFORMAT},
        {"\"clipping\":\"l2\"", "\"clipping\":2", "'clipping' is 2", SOTTO_EFORMAT},
        {"\"clipping\":\"l2\"", "\"clipping\":\"l3\"", "'clipping' is neither l1 nor l2", SOTTO_EFORMAT},
        {"\"sample_rate\":0.25", "\"sample_rate\":null", "'sample_rate' is null", SOTTO_EFORMAT},
        {"\"dimension\":3", "\"dimension\":3.5", "'dimension' is 3.5", SOTTO_EFORMAT},
        {"\"hash\":\"abc\"", "\"hash\":[]", "'hash' is a list", SOTTO_EFORMAT},
        {"\"randomness\":\"os\"", "\"randomness\":{}", "'randomness' is an object", SOTTO_EFORMAT},
        {"\"first_step\":0", "\"first_step\":true", "'first_step' is true", SOTTO_EFORMAT},
        {"\"steps\":6", "\"steps\":-6", "'steps' is -6", SOTTO_EFORMAT},
        {"\"steps\":6}", "\"steps\":6", ":1:", SOTTO_EFORMAT},
        {"gaussian", "logistic", "another mechanism", SOTTO_EINVAL},
        {"\"scale\":2.0", "\"scale\":2.5", "another mechanism, scale", SOTTO_EINVAL},
        {"\"max_grad_norm\":0.5", "\"max_grad_norm\":1", "another mechanism", SOTTO_EINVAL},
        {"\"clipping\":\"l2\"", "\"clipping\":\"l1\"", "another mechanism", SOTTO_EINVAL},
        {"\"sample_rate\":0.25", "\"sample_rate\":0.5", "another mechanism", SOTTO_EINVAL},
        {"\"dimension\":3", "\"dimension\":4", "another mechanism", SOTTO_EINVAL},
    };
    size_t charged = 77;
    bool seeded;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *bad = exchanged(good_entry, cases[i].from, cases[i].to);
        save(ledger, bad);
        if (read_run(&charged, &seeded, INT64_MAX) != cases[i].status ||
            !strstr(sotto_error_text(), cases[i].message))
            fail_msg("%s: %s", bad, sotto_error_text());
        free(bad);
    }
    assert_int_equal(charged, 77);
    unlink(ledger);
    assert_int_equal(read_run(&charged, &seeded, INT64_MAX), SOTTO_ENOENT);
}

TEST(only_the_last_reservation_is_settled)
{
    struct dpsgd_reservation items[] = {{.hash = "first", .steps = 5}, {.hash = "last", .steps = 4}};
    struct dpsgd_reservations run = {.items = items, .count = 2, .charged = 9};
    dpsgd_reservations_settle(&run, "first", 1);
    dpsgd_reservations_settle(&run, "last", 5); /* more than it reserved */
    assert_true(run.charged == 9 && items[0].steps == 5 && items[1].steps == 4);
    dpsgd_reservations_settle(&run, "last", 1);
    assert_true(run.charged == 6 && items[1].steps == 1);
}

TEST(a_run_keeps_its_coarsest_lattice)
{
    struct dpsgd_facts facts = {.lattice_exponent = -30, .on_lattice = true};
    dpsgd_facts_add_lattice(&facts, &(struct dpsgd_reservations){.count = 1, .lattice_exponent = -20});
    assert_true(facts.lattice_exponent == -20 && !facts.on_lattice);
    dpsgd_facts_add_lattice(&facts, &(struct dpsgd_reservations){.count = 1, .lattice_exponent = -25});
    assert_int_equal(facts.lattice_exponent, -20);
}

TEST(fast_noise_of_before_says_where_it_ends)
{
    struct sotto_account a = {0};
    run_put_note(&a, &(struct dpsgd_facts){.fast = true, .mechanism = "laplace"});
    assert_non_null(strstr(a.note, "that it ends at 44.4 scales, are not excluded"));
}

TEST(records_of_a_ledger, .before = set_up, .after = remove_folder)
{
    struct ledger_records r = {0};
    char key[33];
    memset(key, 'a', 32);
    key[32] = '\0';
    const struct ledger_hashes none = {.key = key, .hashes = "", .dataset_id = "toy"};
    if (ledger_records_take(&r, &none, "line 1") != SOTTO_OK)
        fail_msg("%s", sotto_error_text());
    assert_true(r.count == 0 && r.keyed);
    size_t shared = 7;
    assert_int_equal(ledger_records_shared(&shared, &r, NULL), SOTTO_OK);
    assert_int_equal(shared, 0);
    save(ledger, "");
    assert_int_equal(ledger_records_read(&r, ledger), SOTTO_EFORMAT);
    assert_non_null(strstr(sotto_error_text(), "has no entry and is not new"));
    ledger_records_free(&r);
}

TEST(entries_that_are_passed_over, .before = set_up, .after = remove_folder)
{
    static const char *const others[][2] = {{"\"run\"", "\"r\""},
                                            {"\"" RUN "\"", "7"},
                                            {"\"" RUN "\"", "\"another\""},
                                            {"\"index\":0", "\"index\":1"}};
    size_t charged;
    bool seeded;
    save(ledger, good_entry);
    assert_int_equal(read_run(&charged, &seeded, 0), SOTTO_OK);
    assert_true(charged == 6 && !seeded);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        char *other = exchanged(good_entry, others[i][0], others[i][1]), two[800];
        save(ledger, other);
        assert_int_equal(read_run(&charged, &seeded, 0), SOTTO_OK);
        assert_int_equal(charged, 0);
        snprintf(two, sizeof two, "%s%s", other, good_entry);
        save(ledger, two);
        assert_int_equal(read_run(&charged, &seeded, 0), SOTTO_OK);
        assert_int_equal(charged, 6);
        free(other);
    }
    /* one seeded reservation is enough, whichever it is */
    char *drawn = exchanged(good_entry, "\"os\"", "\"a seed\""), text[800];
    for (int first = 0; first < 2; first++) {
        snprintf(text, sizeof text, "%s%s", first ? drawn : good_entry, first ? good_entry : drawn);
        save(ledger, text);
        assert_int_equal(read_run(&charged, &seeded, 0), SOTTO_OK);
        assert_true(charged == 12 && seeded);
    }
    free(drawn);
}

/* --- memory */

static sotto_status use_record(void)
{
    size_t charged;
    bool seeded;
    return read_run(&charged, &seeded, 0);
}

/* jansson tells a text without memory as a syntax error (EFORMAT). */
static int sweep(sotto_status (*use)(void), bool jansson)
{
    sotto_status status = SOTTO_ENOMEM;
    int i = 0;
    for (; status != SOTTO_OK && i < 2000; i++) {
        if (jansson)
            jansson_left = i;
        else
            base_alloc_fail_after(i);
        status = use();
        jansson_left = -1;
        base_alloc_fail_after(-1);
        if (status != SOTTO_OK && status != SOTTO_ENOMEM && status != SOTTO_EFORMAT)
            fail_msg("allocation %d: %s: %s", i, sotto_status_name(status), sotto_error_text());
    }
    assert_int_equal(status, SOTTO_OK);
    assert_true(i > 1);
    return i;
}

TEST(a_run_is_read_without_memory, .before = set_up, .after = remove_folder)
{
    save(ledger, good_entry);
    sweep(use_record, false);
    char *escaped = exchanged(good_entry, "\"os\"", "\"\\u006fs\""); /* which is left to jansson */
    save(ledger, escaped);
    free(escaped);
    json_set_alloc_funcs(jansson_malloc, free);
    sweep(use_record, true);
    json_set_alloc_funcs(malloc, free);
}

/* A budget with a column that a curve has to fit into. */
static sotto_status use_budget(void)
{
    const struct sotto_account a = {
        .adjacency = SOTTO_REPLACE_ONE, .epsilon = {0, 1.3}, .pure_epsilon = 1.3, .zcdp_rho = 1};
    struct ledger_line entry = {0};
    static const char text[] =
        "{\"mechanism\":\"gaussian\",\"noise_multiplier\":4,\"sample_rate\":0.01,\"steps\":2,\"sensitivity\":"
        "{\"l1\":null,\"l2\":1}}";
    const struct ledger l = {.path = ledger, .budget = {1.5, 1e-5}, .recorded = {1.5, 1e-5}};
    sotto_status status = ledger_line_parse(&entry, text, sizeof text - 1, "entry");
    const struct ledger_charge charge = ledger_line_charge(&entry);
    if (status == SOTTO_OK)
        status = ledger_check_budget(NULL, &l, &a, &charge);
    ledger_line_free(&entry);
    return status;
}

TEST(a_budget_without_memory, .before = set_up, .after = remove_folder)
{
    assert_true(sweep(use_budget, false) > 2);
}

static void count_warnings(void *user, enum sotto_log_level level, const char *text)
{
    if (level == SOTTO_LOG_WARNING && strstr(text, "is too large; expected less than 1/n = 0.5"))
        ++*(int *)user;
}

TEST(a_large_delta_is_warned_about)
{
    int warnings = 0;
    const struct sotto_context ctx = {.log = count_warnings, .user = &warnings};
    ledger_warn_about_delta(0, 0.9, &ctx);
    ledger_warn_about_delta(2, 0.4, &ctx);
    assert_int_equal(warnings, 0);
    ledger_warn_about_delta(2, 0.5, &ctx);
    assert_int_equal(warnings, 1);
}

/* --- events */

static sotto_status add_text(struct ledger_events *list, const char *text)
{
    struct ledger_line line;
    assert_int_equal(ledger_line_parse(&line, text, strlen(text), "entry"), SOTTO_OK);
    const struct ledger_charge charge = ledger_line_charge(&line);
    struct ledger_charged charged;
    struct part_memory known = {.made = 0};
    sotto_status status = ledger_charge_event(&charged, &known, &charge);
    if (status == SOTTO_OK)
        status = ledger_events_add(list, &charged);
    ledger_line_free(&line);
    return status;
}

TEST(entries_that_differ_in_one_thing)
{
    static const char *const groups[][9] = {
        {"{\"mechanism\":\"gaussian\",\"scale\":2,\"sensitivity\":{\"l1\":1,\"l2\":1}}",
         "{\"mechanism\":\"logistic\",\"scale\":2,\"sensitivity\":{\"l1\":1,\"l2\":1}}",
         "{\"mechanism\":\"gaussian\",\"adjacency\":\"add-remove\",\"scale\":2,\"sensitivity\":{\"l1\":1,"
         "\"l2\":1}}",
         "{\"mechanism\":\"gaussian\",\"scale\":3,\"sensitivity\":{\"l1\":1,\"l2\":1}}",
         "{\"mechanism\":\"gaussian\",\"scale\":2,\"sensitivity\":{\"l1\":2,\"l2\":1}}",
         "{\"mechanism\":\"gaussian\",\"scale\":2,\"sensitivity\":{\"l1\":null,\"l2\":1}}",
         "{\"mechanism\":\"gaussian\",\"scale\":2,\"sensitivity\":{\"l1\":1,\"l2\":0.5}}",
         "{\"mechanism\":\"gaussian\",\"scale\":2,\"sensitivity\":{\"l1\":1,\"l2\":1},\"dimension\":4}",
         "{\"mechanism\":\"gaussian\",\"scale\":2,\"sensitivity\":{\"l1\":1,\"l2\":1},\"value_step\":1}"},
        {"{\"mechanism\":\"laplace\",\"scale\":2,\"sensitivity\":{\"l1\":1}}",
         "{\"mechanism\":\"laplace\",\"scale\":2,\"sensitivity\":{\"l1\":1,\"l2\":1}}"},
        {"{\"adjacency\":\"add-remove\",\"mechanism\":\"logistic\",\"noise_multiplier\":4,\"sample_rate\":0."
         "5,"
         "\"clipping\":\"l1\",\"steps\":3}",
         "{\"adjacency\":\"add-remove\",\"mechanism\":\"logistic\",\"noise_multiplier\":5,\"sample_rate\":0."
         "5,"
         "\"clipping\":\"l1\",\"steps\":3}",
         "{\"adjacency\":\"add-remove\",\"mechanism\":\"logistic\",\"noise_multiplier\":4,\"sample_rate\":0."
         "25,"
         "\"clipping\":\"l1\",\"steps\":3}",
         "{\"adjacency\":\"add-remove\",\"mechanism\":\"logistic\",\"noise_multiplier\":4,\"sample_rate\":0."
         "5,"
         "\"clipping\":\"l2\",\"steps\":3}"},
        {"{\"pure_epsilon\":0.5}", "{\"pure_epsilon\":0.75}",
         "{\"epsilon\":{\"upper\":0.5},\"delta\":1e-6}"}};
    for (size_t g = 0; g < sizeof groups / sizeof *groups; g++)
        for (int i = 0; i < 9 && groups[g][i]; i++) {
            struct ledger_events list = {0};
            assert_int_equal(add_text(&list, groups[g][0]), SOTTO_OK);
            assert_int_equal(add_text(&list, groups[g][i]), SOTTO_OK);
            if (list.unknown || list.count != (i == 0 ? 1 : 2))
                fail_msg("%s: %zu kinds", groups[g][i], list.count);
            ledger_events_free(&list);
        }
}

static struct sotto_event noise(const char *mechanism, double scale, double l1, size_t count)
{
    return (struct sotto_event){.mechanism = mechanism, .count = count, .scale = scale, .l1 = l1, .l2 = NAN};
}

static bool has_bound(const struct sotto_event *events, size_t n, enum sotto_adjacency target,
                      const char *name)
{
    struct sotto_account a;
    if (sotto_account_events(&a, events, n, 1e-5, target, NULL) != SOTTO_OK)
        fail_msg("%s", sotto_error_text());
    assert_true(a.epsilon.lower <= a.epsilon.upper);
    for (size_t i = 0; i < a.bound_count; i++)
        if (strcmp(a.bounds[i].name, name) == 0)
            return true;
    return false;
}

TEST(events_of_one_law_and_of_several)
{
    static const char exact[] = "exact composition by l1", by_l1[] = "closed form by l1";
    struct sotto_event e[3] = {noise("logistic", 2, 1, 1), noise("logistic", 2, 1, 2),
                               noise("logistic", 2, 1, 1)};
    assert_true(has_bound(e, 3, SOTTO_REPLACE_ONE, exact));
    assert_false(has_bound(e, 1, SOTTO_REPLACE_ONE, exact)); /* one release is no composition */
    e[0].count = (size_t)1 << 21;                            /* more than are composed exactly */
    e[0].scale = 1e9;
    assert_false(has_bound(e, 1, SOTTO_REPLACE_ONE, exact));
    e[0] = e[2];
    e[1].scale = 5; /* unequal shifts, and one more after them */
    assert_false(has_bound(e, 3, SOTTO_REPLACE_ONE, exact));
    assert_true(has_bound(e, 3, SOTTO_REPLACE_ONE, by_l1));
    /* 2^52 / (2^53 - 1) is above 1/2 by less than the next number: only the upper ends tell them apart */
    e[1] = noise("logistic", 9007199254740991, 4503599627370496, 1);
    assert_false(has_bound(e, 2, SOTTO_REPLACE_ONE, exact));
    e[0] = noise("laplace", 2, 1, 3); /* without an exact composition */
    assert_false(has_bound(e, 1, SOTTO_REPLACE_ONE, exact));
    assert_true(has_bound(e, 1, SOTTO_REPLACE_ONE, by_l1));
    e[0] = noise("discrete-laplace", 2, 1, 3);
    e[0].value_step = 1;
    assert_false(has_bound(e, 1, SOTTO_REPLACE_ONE, by_l1));
    e[0] = noise("knorm", 2, 1, 3);
    e[0].dimension = 2;
    assert_false(has_bound(e, 1, SOTTO_REPLACE_ONE, by_l1));
    /* one_statement: equal ones only, and not too many */
    for (int i = 0; i < 2; i++)
        e[i] = (struct sotto_event){.mechanism = "stated", .count = 2, .stated = {0.1 * (i + 1), 0}};
    assert_true(has_bound(e, 1, SOTTO_REPLACE_ONE, "optimal composition"));
    assert_false(has_bound(e, 2, SOTTO_REPLACE_ONE, "optimal composition"));
    e[0].count = (size_t)1 << 21;
    e[0].stated.epsilon = 1e-12;
    assert_false(has_bound(e, 1, SOTTO_REPLACE_ONE, "optimal composition"));
}

TEST(groups_of_sampled_steps)
{
    struct sotto_event e = {.mechanism = "gaussian",
                            .count = 2,
                            .noise_multiplier = 4,
                            .sample_rate = 0.25,
                            .l1 = NAN,
                            .l2 = NAN,
                            .adjacency = SOTTO_ADD_REMOVE};
    double before = 0;
    for (size_t group = 1; group <= 2; group++) { /* replaced: groups of two and of four */
        struct sotto_account a;
        e.group = group;
        assert_int_equal(sotto_account_events(&a, &e, 1, 1e-5, SOTTO_REPLACE_ONE, NULL), SOTTO_OK);
        assert_int_equal(a.adjacency, SOTTO_REPLACE_ONE);
        assert_true(a.epsilon.upper > before && isfinite(a.epsilon.upper));
        before = a.epsilon.upper;
    }
    struct sotto_account a;
    e.group = 1;
    e.mechanism = "cauchy";
    assert_int_equal(sotto_account_events(&a, &e, 1, 1e-5, SOTTO_REPLACE_ONE, NULL), SOTTO_EINVAL);
    assert_non_null(strstr(sotto_error_text(), "events[0]: mechanism 'cauchy' is unknown"));
    e.count = ((size_t)1 << 52) + 1;
    assert_int_equal(sotto_account_events(&a, &e, 1, 1e-5, SOTTO_REPLACE_ONE, NULL), SOTTO_EINVAL);
    assert_non_null(strstr(sotto_error_text(), "count must lie in 1..2^52 (got 4503599627370497)"));
}

TEST(files_of_events)
{
    enum { MANY = 100001 };
    struct event_list list = {NULL, 0};
    char *many = malloc(2 * MANY + 2);
    for (int i = 0; i < MANY; i++)
        memcpy(many + 2 * i, i == 0 ? "[0" : ",0", 2);
    memcpy(many + (size_t)2 * MANY, "]", 2);
    assert_int_equal(events_parse(&list, many, strlen(many), "x.json"), SOTTO_EFORMAT);
    assert_non_null(strstr(sotto_error_text(), "x.json: contains 100001 events; expected 1 to 100000"));
    free(many);
    static const char counted[] =
        "[{\"mechanism\":\"gaussian\",\"noise_multiplier\":2,\"sample_rate\":0.1,\"count\":7}]";
    assert_int_equal(events_parse(&list, counted, sizeof counted - 1, "x.json"), SOTTO_OK);
    assert_int_equal(list.events[0].count, 7);
    events_free(&list);
    static const char gdp[] = "{\"mechanism\":\"gdp\",\"history\":[[2,0.1,7]]}", never[] = "[[2,0,7]]";
    assert_int_equal(events_parse_opacus(&list, gdp, sizeof gdp - 1, "x.json"), SOTTO_OK);
    assert_int_equal(list.events[0].count, 7);
    events_free(&list);
    assert_int_equal(events_parse_opacus(&list, never, sizeof never - 1, "x.json"), SOTTO_EINVAL);
    assert_non_null(strstr(sotto_error_text(), "sample_rate must be greater than 0 and at most 1 (got 0)"));
}

/* What the account refuses names the file, too. */
TEST(a_refusal_of_an_account_names_its_file, .before = set_up, .after = remove_folder)
{
    struct sotto_any_order any;
    const char *path = path_of("e.json");
    save(path, "{\"schema\":\"sotto.events/1\",\"adjacency\":\"replace-one\",\"events\":[{\"mechanism\":"
               "\"laplace\",\"scale\":2,\"l1\":1}]}");
    assert_int_equal(sotto_account_any_order_file(&any, path, 0.1, SOTTO_SAME_ADJACENCY, NULL), SOTTO_OK);
    assert_int_equal(sotto_account_any_order_file(&any, path, 2, SOTTO_SAME_ADJACENCY, NULL), SOTTO_EINVAL);
    assert_non_null(strstr(sotto_error_text(), "e.json: "));
}

TEST(a_file_without_an_ending_is_json)
{
    static const char text[] = "[{\"mechanism\":\"stated\",\"epsilon\":1,\"adjacency\":\"replace-one\"}]",
                      yaml[] = "- {mechanism: stated, epsilon: 1, adjacency: replace-one}\n";
    struct event_list list = {NULL, 0};
    static const char *const names[] = {"events", "events.txt"};
    for (int i = 0; i < 2; i++) {
        assert_int_equal(events_parse(&list, text, sizeof text - 1, names[i]), SOTTO_OK);
        assert_int_equal(list.count, 1);
        events_free(&list);
        assert_int_equal(events_parse(&list, yaml, sizeof yaml - 1, names[i]), SOTTO_EFORMAT);
    }
    assert_int_equal(events_parse(&list, yaml, sizeof yaml - 1, "events.yml"), SOTTO_OK);
    events_free(&list);
}
