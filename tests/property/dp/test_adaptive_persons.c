/* What the runs of a person are charged as. Figures: docs/derivations/adaptive.md, section 7. */
#include "support/curve_cover.h"
#include "base/memory.h"
#include "dp/account/adaptive_account.h"
#include "dp/account/account_pld.h"

#include <string.h>

/* 12,000 rows in batches of 25, 20 epochs, persons of 3 rows at most: the head's defaults. */
static const struct sotto_sampled head = {.mechanism = "gaussian",
                                          .sample_rate = 25. / 12000,
                                          .steps = 9600,
                                          .clipping = SOTTO_NORM_L2,
                                          .adjacency = SOTTO_REPLACE_ONE,
                                          .rows_per_person = 3};

static struct sotto_event event_of(const struct sotto_sampled *s)
{
    return (struct sotto_event){.mechanism = s->mechanism,
                                .count = s->steps,
                                .noise_multiplier = s->noise_multiplier,
                                .sample_rate = s->sample_rate,
                                .clipping = s->clipping,
                                .adjacency = SOTTO_ADD_REMOVE,
                                .group = s->rows_per_person};
}

/* Two runs of epsilon 3: by all rows at once 24.83, and by rows one after the other 4.4886 with 1.5 % more noise. */
TEST(two_runs_of_persons)
{
    static const struct {
        double delta, noise, mu, any_order, beforehand;
    } cases[] = {{1e-6, 1.9013156, .6479, 4.4278, 4.4233}, {1e-5, 1.7175641, .7193, 4.4683, 4.4631}};
    for (size_t i = 0; i < 2; i++) {
        const double delta = cases[i].delta;
        struct sotto_sampled s = head;
        struct sotto_any_order a;
        struct sotto_account today;
        s.delta = delta;
        assert_int_equal(sotto_calibrate_sampled(&s.noise_multiplier, &s, 3, NULL), SOTTO_OK);
        near(s.noise_multiplier, cases[i].noise, 1e-4);
        const struct sotto_event two[] = {event_of(&s), event_of(&s)};
        assert_int_equal(account_any_order(&a, two, 2, delta, SOTTO_REPLACE_ONE, NULL), SOTTO_OK);
        assert_true(a.epsilon.upper <= 4.6);
        near(a.epsilon.upper, cases[i].any_order, 2e-3);
        near(a.box.mu / sqrt(2), cases[i].mu, 1e-3);
        near(a.beforehand.epsilon.upper, cases[i].beforehand, 2e-3);
        assert_string_equal(a.beforehand.accountant, "privacy-loss distribution");
        struct sotto_sampled both = s;
        both.steps *= 2;
        assert_int_equal(sotto_account_sampled(&today, &both, NULL), SOTTO_OK);
        near(a.beforehand.epsilon.upper, today.epsilon.upper, 1e-9);
        near(a.beforehand.epsilon.lower, today.epsilon.upper, 1e-4); /* is reached */
    }
}

TEST(a_person_s_runs_beside_other_releases)
{
    struct sotto_sampled s = head;
    s.noise_multiplier = 1.9013156;
    const struct sotto_event runs[] = {event_of(&s), event_of(&s)};
    struct sotto_event list[] = {runs[0], runs[1], {.mechanism = "laplace", .count = 1, .l1 = 1, .l2 = NAN}};
    struct sotto_account alone, all;
    assert_int_equal(sotto_account_events(&alone, runs, 2, 1e-6, SOTTO_REPLACE_ONE, NULL), SOTTO_OK);
    const double pure[] = {1e-6, .5, 2};
    for (size_t i = 0; i < 3; i++) {
        list[2].scale = 1 / pure[i];
        assert_int_equal(sotto_account_events(&all, list, 3, 1e-6, SOTTO_REPLACE_ONE, NULL), SOTTO_OK);
        assert_string_equal(all.accountant, "privacy-loss distribution");
        assert_true(all.epsilon.upper > alone.epsilon.upper * (1 - 2e-3));
        assert_true(all.epsilon.upper < alone.epsilon.upper + .97 * pure[i] + 2e-3);
    }
    /* a Gaussian that is small beside the runs, and a pair that fails */
    list[2] = (struct sotto_event){.mechanism = "gaussian", .count = 1, .scale = 10, .l1 = NAN, .l2 = 1};
    assert_int_equal(sotto_account_events(&all, list, 3, 1e-6, SOTTO_REPLACE_ONE, NULL), SOTTO_OK);
    assert_true(all.epsilon.upper > alone.epsilon.upper && all.epsilon.upper < alone.epsilon.upper + .05);
    list[2] = (struct sotto_event){.mechanism = "stated", .count = 1, .stated = {.1, 2e-7}};
    assert_int_equal(sotto_account_events(&all, list, 3, 1e-6, SOTTO_REPLACE_ONE, NULL), SOTTO_OK);
    assert_true(all.epsilon.upper > alone.epsilon.upper && all.epsilon.upper < alone.epsilon.upper + .15);
}

TEST(nothing_of_a_person_s_curve_is_left_uncovered)
{
    double x[CELLS + 1], delta[CELLS + 1], end;
    struct sotto_sampled s = head;
    s.noise_multiplier = 1.9013156;
    const struct sotto_event run = event_of(&s);
    const struct part p = part_of(&run);
    const struct composed_release steps = part_item(&p);
    assert_int_equal(account_pld_end(&end, &steps, 1, 1e-9, NULL), SOTTO_OK);
    spread(x, end);
    assert_int_equal(account_pld_deltas(delta, x, CELLS + 1, &steps, 1, NULL), SOTTO_OK);
    assert_true(delta[CELLS] <= 1e-9);
    check_curve((struct adaptive_curve){x, delta, CELLS + 1}, 0, 1e-8);
    check_curve((struct adaptive_curve){x, delta, CELLS + 1}, .5, 1e-8);
}

/* What a certificate of the run says of tests of membership: its whole curve, and not a few accounts of it. */
TEST(the_profile_of_a_person_s_run)
{
    struct sotto_privacy_profile p = {0};
    struct sotto_sampled s = head;
    s.noise_multiplier = 1.9013156; /* (3, 1e-6) */
    assert_int_equal(sotto_privacy_profile_sampled(&p, &s, NULL), SOTTO_OK);
    assert_true(p.count > 50 && p.epsilon[0] == 0);
    near(p.delta[0], adaptive_delta(&(struct adaptive){0, .6479 * .6479, 0}, 0).hi, 2e-3);
    for (size_t i = 0; i + 1 < p.count; i++) {
        assert_true(p.delta[i + 1] <= p.delta[i]);
        assert_true(p.epsilon[i] > 3 || p.delta[i] > 9e-7);
        assert_true(p.epsilon[i] < 3 || p.delta[i] < 1.01e-6);
    }
    sotto_privacy_profile_clear(&p);
}

/* ---- what a person can reach: all her rows point one way, and then the other (corrections of units: B1) ---- */
enum { BINS = 8192 };
static const double bin = 2e-3;

struct losses {
    double mass[BINS]; /* of losses (i - BINS / 2) bin, rounded down: a curve from below */
};

static double density(double z, const struct sotto_sampled *s, double direction)
{
    const double q = s->sample_rate, m = (double)s->rows_per_person, sigma = s->noise_multiplier;
    double sum = 0, weight = pow(1 - q, m);
    for (double k = 0; k <= m; k++) {
        sum += weight * exp(-(z - direction * k) * (z - direction * k) / (2 * sigma * sigma));
        weight *= q / (1 - q) * (m - k) / (k + 1);
    }
    return sum / (sigma * sqrt(2 * M_PI));
}

static void add_mass(struct losses *l, double at, double mass)
{
    if (at >= -BINS / 2)
        l->mass[(int)fmin(at, BINS / 2 - 1) + BINS / 2] += mass;
}

static void one_step(struct losses *out, const struct sotto_sampled *s)
{
    const double h = s->noise_multiplier * 1e-3, end = (double)s->rows_per_person + 9 * s->noise_multiplier;
    memset(out, 0, sizeof *out);
    for (double z = -end; z < end; z += h) {
        const double p = density(z, s, 1), loss = log(p / density(z, s, -1));
        add_mass(out, floor(loss / bin), p * h * (1 - 1e-6));
    }
}

static void convolve(struct losses *out, const struct losses *a, const struct losses *b)
{
    memset(out, 0, sizeof *out);
    for (int i = 0; i < BINS; i++)
        for (int j = 0; a->mass[i] > 1e-15 && j < BINS; j++)
            if (b->mass[j] > 1e-15)
                add_mass(out, i + j - BINS, a->mass[i] * b->mass[j]);
}

static double delta_of(const struct losses *l, double x)
{
    double sum = 0;
    for (int i = 0; i < BINS; i++)
        sum += l->mass[i] * fmax(0, 1 - exp(x - (i - BINS / 2) * bin));
    return sum;
}

TEST(what_a_person_reaches_is_covered_and_a_record_is_not_enough)
{
    static const struct {
        double noise, rate;
        size_t rows, doublings;
    } cases[] = {{2, .1, 3, 0}, {4, .3, 2, 2}, {3, .02, 4, 2}};
    struct losses *l = calloc(2, sizeof *l);
    assert_non_null(l);
    for (size_t i = 0; i < 3; i++) {
        struct sotto_sampled s = {.mechanism = "gaussian",
                                  .noise_multiplier = cases[i].noise,
                                  .sample_rate = cases[i].rate,
                                  .steps = (size_t)1 << cases[i].doublings,
                                  .rows_per_person = cases[i].rows};
        struct adaptive box[ADAPTIVE_OFFERS], of_record[ADAPTIVE_OFFERS];
        const struct adaptive left = {.failure = 4e-5};
        const struct sotto_event run = event_of(&s);
        struct sotto_event record = run;
        record.group = 1;
        const size_t count = offers(box, &run, left);
        assert_int_equal(count, 3);
        assert_int_equal(offers(of_record, &record, left), 3);
        one_step(&l[0], &s);
        for (size_t k = 0; k < cases[i].doublings; k++) {
            convolve(&l[1], &l[0], &l[0]);
            l[0] = l[1];
        }
        double control = 0;
        const long points = by_effort(100, 1000, 10000);
        srand(11);
        for (long k = 0; k < points; k++) {
            const double x = 4. * rand() / RAND_MAX, there = delta_of(&l[0], x);
            for (size_t j = 0; j < count; j++)
                if (!(there <= adaptive_delta(&box[j], x).hi))
                    fail_msg("case %zu at %.6f: %g above %g", i, x, there, adaptive_delta(&box[j], x).hi);
            control = fmax(control, there / adaptive_delta(&of_record[0], x).hi);
        }
        assert_true(control > 1.5);
    }
    free(l);
}

/* Asks until no allocation fails any more. */
static void ask_without_memory(sotto_status (*ask)(const struct part *parts), const struct part *parts)
{
    sotto_status status = SOTTO_ENOMEM;
    long i = 0;
    for (; status == SOTTO_ENOMEM; i++) {
        base_alloc_fail_after(i);
        status = ask(parts);
        base_alloc_fail_after(-1);
    }
    assert_int_equal(status, SOTTO_OK);
    assert_true(i > 5);
}

static sotto_status ask_for_offers(const struct part *parts)
{
    struct adaptive out[ADAPTIVE_OFFERS];
    size_t count = 99;
    const struct adaptive left = {.failure = 1e-5};
    return adaptive_offers(out, &count, parts, &left, NULL);
}

static sotto_status ask_together(const struct part *parts)
{
    struct interval epsilon = {0, 99};
    sotto_status status = parts_pld(&epsilon, parts, 2, 1e-5, NULL);
    assert_true(status == SOTTO_OK ? epsilon.hi < 10 : epsilon.hi == 99);
    return status;
}

TEST(every_allocation_may_fail)
{
    const struct sotto_event run = {.mechanism = "gaussian",
                                    .count = 1,
                                    .noise_multiplier = 4,
                                    .sample_rate = .2,
                                    .adjacency = SOTTO_ADD_REMOVE,
                                    .group = 3},
                             other = {.mechanism = "laplace", .count = 1, .scale = 9, .l1 = 1, .l2 = NAN};
    const struct part parts[] = {part_of(&run), part_of(&other)};
    ask_without_memory(ask_for_offers, parts);
    ask_without_memory(ask_together, parts);
}
