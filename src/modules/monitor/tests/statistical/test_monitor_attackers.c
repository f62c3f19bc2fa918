/* Attackers that know the monitor: exact binomial bounds on the probability that a stream is found, at level .001. What
 * hides no better than this is found nearly always; what no detector finds, and what dilution and many accounts hide, is
 * found hardly ever, so that neither bound holds for all streams. Seeds are fixed. f32 distances, the best instruction set,
 * one thread.
 *
 * Efforts 1, 5 and 50: 40, 100 and 400 streams. Each of eleven bounds is claimed wrongly with probability 0.1 % at most. "Found
 * nearly always" fails with probability 95 % where less than 92 %, 86 % and 83 % of streams are found, and "hardly ever" where
 * more than 8 %, 14 % and 17 % are. */
#include "support/test.h"
#include "support/effort.h"

#include "monitor/monitor_state.h"
#include "num/beta.h"
#include "rng/rng.h"
#include "sotto/lab/monitor.h"
#include "sotto/private/all.h"

#include <stdbool.h>

enum { D = 4, M = 20, K = 200, BANK = 50, MOST = 3000 };

static size_t streams(void)
{
    return (size_t)by_effort(40, 100, 400);
}

/* 50 queries about each record, in benign rows. */
struct attacker {
    double share; /* of its own rows; 0: it asks each record once, as all do */
    size_t rows, accounts;
    size_t past; /* benign rows before the first of its own */
    bool shuffled, service;
};

static void normal_row(float *row, struct rng *r)
{
    for (size_t j = 0; j < D; j++)
        row[j] = (float)rng_normal(r);
}

static void swap_rows(float *a, float *b)
{
    for (size_t j = 0; j < D; j++) {
        float keep = a[j];
        a[j] = b[j], b[j] = keep;
    }
}

static void fill(float *x, const struct attacker *a, struct rng *r)
{
    float record[D] = {0};
    size_t asked = 0;
    for (size_t i = 0; i < a->rows; i++) {
        float *row = x + i * D;
        normal_row(row, r);
        if (i < a->past || rng_unit(r) >= a->share)
            continue;
        if (asked++ % 50 == 0)
            normal_row(record, r);
        for (size_t j = 0; j < D; j++)
            row[j] = record[j] + .01f * row[j];
    }
    for (size_t i = a->rows - 1; a->shuffled && i > 0; i--)
        swap_rows(x + i * D, x + rng_below(r, i + 1) * D);
}

static size_t found(const struct attacker *a)
{
    static float calibration[K * M * D], bank[BANK * D], x[MOST * D];
    size_t count = 0;
    assert_true(a->rows <= MOST);
    for (uint64_t s = 0; s < streams(); s++) {
        struct rng r = rng_stream(23, RNG_TEST, s, 0);
        struct sotto_monitor *m = NULL;
        const struct sotto_monitor_options o = {.block = M, .service = a->service};
        const struct sotto_monitor_input in = {.calibration = calibration,
                                               .calibration_rows = K * M,
                                               .columns = D,
                                               .bank = bank,
                                               .bank_rows = BANK};
        for (size_t i = 0; i < K * M; i++)
            normal_row(calibration + i * D, &r);
        for (size_t i = 0; i < BANK; i++)
            normal_row(bank + i * D, &r);
        fill(x, a, &r);
        assert_int_equal(sotto_monitor_make(&m, &in, &o, NULL), SOTTO_OK);
        for (size_t i = 0; i < a->rows; i++) {
            const char name[2] = {(char)('A' + i % a->accounts)};
            assert_int_equal(monitor_feed(m, name, x + i * D, NULL, 1), SOTTO_OK);
        }
        const struct sotto_monitor_result *result = sotto_monitor_result(m);
        bool any = result->service.alarm > 0;
        for (size_t i = 0; i < result->clients; i++)
            any = any || result->client[i].alarm > 0;
        count += any;
        sotto_monitor_free(m);
    }
    return count;
}

/* P(X >= count), X binomial of streams() draws of probability p. */
static double at_least(size_t count, double p)
{
    return count == 0 ? 1 : beta_cdf(p, (double)count, (double)(streams() - count) + 1).lower;
}

/* The probability to be found is above .8. */
static bool mostly(size_t count)
{
    return at_least(count, .8) <= .001;
}

/* It is below .2. */
static bool hardly(size_t count)
{
    return count < streams() && 1 - at_least(count + 1, .2) <= .001;
}

TEST(bounds_can_fail)
{
    const size_t n = streams(), few = n * (size_t)by_effort(10, 10, 16) / 100;
    assert_true(mostly(n) && !mostly(n * (size_t)by_effort(90, 90, 84) / 100));
    assert_true(hardly(0) && !hardly(few) && !hardly(n));
}

TEST(dilution_hides_late)
{
    assert_true(mostly(found(&(struct attacker){.share = 1, .rows = 1000, .accounts = 1})));
    assert_true(mostly(found(&(struct attacker){.share = .5, .rows = 1000, .accounts = 1})));
    assert_true(mostly(found(&(struct attacker){.share = .2, .rows = 1000, .accounts = 1})));
    assert_true(mostly(found(&(struct attacker){.share = .1, .rows = 3000, .accounts = 1})));
    assert_true(hardly(found(&(struct attacker){.share = .01, .rows = 3000, .accounts = 1})));
}

TEST(one_query_for_each_record_is_not_found)
{
    assert_true(hardly(found(&(struct attacker){.share = 0, .rows = 3000, .accounts = 1})));
}

TEST(shuffled_queries_are_found)
{
    assert_true(mostly(found(&(struct attacker){.share = 1, .rows = 2000, .accounts = 1, .shuffled = true})));
}

/* 130 benign blocks lower a wealth of one start to about e^-39, and 20 of an attack would not make up for it; that of all
 * starts falls to 1/131. */
TEST(a_benign_past_does_not_hide)
{
    assert_true(mostly(found(&(struct attacker){.share = 1, .rows = 3000, .accounts = 1, .past = 2600})));
}

/* 25 accounts see two queries of each record and too few of them; the service sees all. */
TEST(accounts_hide_from_each_other_only)
{
    assert_true(mostly(found(&(struct attacker){.share = 1, .rows = 2000, .accounts = 4})));
    assert_true(hardly(found(&(struct attacker){.share = 1, .rows = 1500, .accounts = 25})));
    assert_true(mostly(found(&(struct attacker){.share = 1, .rows = 1500, .accounts = 25, .service = true})));
}
