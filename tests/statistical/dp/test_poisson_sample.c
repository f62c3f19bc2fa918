/* The records of a step: independent coins of the accounted rate, one sample a step. Were the seeds drawn, right coins
 * would fail in 1 of 100,000 runs: 16 counts at 5 standard errors. Found 99 times of 100, at effort 1, 5 and 50: a rate of
 * 0.01 off by 3.0 %, 2.1 % and 0.9 %, one of 0.3 by 0.5 %, 0.3 % and 0.1 %, one of 2^-17 by 16 %, 11 % and 5 %. Planted: 5 %
 * and 20 % at effort 1, the same in standard errors at the others. */
#include "support/test.h"
#include "support/effort.h"
#include "support/exercise.h"
#include "support/temporary_folder.h"
#include "sotto/release.h"

#include <math.h>
#include <string.h>
#include <unistd.h>

enum { RECORDS = 3000 };

/* So many times the steps of effort 1. */
static size_t times(void)
{
    return (size_t)by_effort(1, 2, 10);
}

/* A factor that is off by `fault` at effort 1. */
static double off_by(double fault)
{
    return 1 + fault / sqrt((double)times());
}

static struct sotto_dpsgd_session *reserve(double rate, size_t steps)
{
    const char *ledger = path_of("ledger.jsonl");
    unlink(ledger); /* what the run before cost is not the subject */
    struct sotto_dpsgd_request r = {
        .sampled = {.mechanism = "gaussian",
                    .noise_multiplier = 50,
                    .sample_rate = rate,
                    .steps = steps,
                    .delta = 1e-5,
                    .adjacency = SOTTO_ZERO_OUT},
        .max_grad_norm = 1,
        .dimension = 1,
        .spend = {
            .dataset_id = "toy", .source = &exercise, .ledger = ledger, .insecure = 1, .insecure_seed = 7}};
    struct sotto_dpsgd_session *s = NULL;
    assert_int_equal(sotto_dp_reserve(&s, &r, NULL), SOTTO_OK);
    return s;
}

struct tally {
    double total;
    double count_square;     /* of a step's count about its mean, in variances, summed */
    double record_square;    /* of a record's count over the steps, likewise */
    double pairs, next_step; /* neighbours together; records that are in two steps running */
};

static void tally(struct tally *t, double rate)
{
    static uint32_t rows[RECORDS];
    static unsigned char in[2][RECORDS];
    static size_t often[RECORDS];
    const size_t steps = 2000 * times();
    struct sotto_dpsgd_session *s = reserve(rate, steps);
    size_t count;
    memset(t, 0, sizeof *t);
    memset(in, 0, sizeof in);
    memset(often, 0, sizeof often);
    for (size_t step = 0; step < steps; step++) {
        unsigned char *now = in[step % 2], *before = in[1 - step % 2];
        double sum = 0;
        assert_int_equal(sotto_dp_sample(s, rows, &count, RECORDS), SOTTO_OK);
        memset(now, 0, RECORDS);
        for (size_t i = 0; i < count; i++) {
            assert_true(rows[i] < RECORDS && (i == 0 || rows[i] > rows[i - 1]));
            now[rows[i]] = 1;
            often[rows[i]]++;
        }
        for (size_t i = 0; i + 1 < RECORDS; i += 2)
            t->pairs += now[i] && now[i + 1];
        for (size_t i = 0; i < RECORDS; i++)
            t->next_step += now[i] && before[i];
        t->total += (double)count;
        t->count_square += pow((double)count - rate * RECORDS, 2) / (rate * (1 - rate) * RECORDS);
        assert_int_equal(sotto_dp_step(s, &sum), SOTTO_OK);
    }
    for (size_t i = 0; i < RECORDS; i++)
        t->record_square +=
            pow((double)often[i] - rate * (double)steps, 2) / (rate * (1 - rate) * (double)steps);
    sotto_dpsgd_session_close(s);
}

/* Standard errors away from the expectation. */
static double off(double value, double mean, double variance)
{
    return fabs(value - mean) / sqrt(variance);
}

static double worst(const struct tally *t, double rate)
{
    const double steps = 2000.0 * (double)times();
    double pairs = rate * rate * (RECORDS / 2.0) * steps, again = rate * rate * RECORDS * (steps - 1);
    double all = rate * RECORDS * steps;
    double z[] = {off(t->total, all, all * (1 - rate)), off(t->count_square, steps, 2 * steps),
                  off(t->record_square, RECORDS, 2.0 * RECORDS),
                  off(t->pairs, pairs, pairs * (1 - rate * rate)),
                  off(t->next_step, again, again * (1 + 2 * rate))};
    double largest = 0;
    for (size_t i = 0; i < sizeof z / sizeof *z; i++)
        largest = z[i] > largest ? z[i] : largest;
    return largest;
}

TEST(coins_are_fair_and_independent)
{
    static const double rates[] = {0.01, 0.3, 0x1p-5};
    struct tally t;
    for (size_t i = 0; i < 3; i++) {
        tally(&t, rates[i]);
        assert_true(worst(&t, rates[i]) < 5);
        assert_true(worst(&t, rates[i] * off_by(0.05)) > 5); /* the control: another rate is noticed */
    }
}

/* The rate of these is in the last 56 bits of a coin alone. */
TEST(small_rates_are_exact)
{
    enum { MANY = 1 << 22 };
    static uint32_t rows[MANY];
    const double rate = 0x1p-17;
    const size_t steps = 64 * times();
    struct sotto_dpsgd_session *s = reserve(rate, steps);
    double all = 0, expected = (double)steps * MANY * rate;
    for (size_t step = 0; step < steps; step++) {
        size_t count;
        double sum = 0;
        assert_int_equal(sotto_dp_sample(s, rows, &count, MANY), SOTTO_OK);
        assert_int_equal(sotto_dp_step(s, &sum), SOTTO_OK);
        all += (double)count;
    }
    sotto_dpsgd_session_close(s);
    assert_true(fabs(all - expected) < 5 * sqrt(expected));
    assert_true(fabs(all - off_by(0.2) * expected) > 5 * sqrt(expected));
}

TEST(a_step_is_sampled_once)
{
    uint32_t rows[8];
    size_t count = 77;
    double sum = 0;
    struct sotto_dpsgd_session *s = reserve(0.5, 1);
    assert_int_equal(sotto_dp_step(s, &sum), SOTTO_EINVAL);
    assert_non_null(strstr(sotto_error_text(),
                           "sotto_dp_sample() was not called for this step; call it before sotto_dp_step()"));
    assert_int_equal(sotto_dp_sample(s, rows, &count, 8), SOTTO_OK);
    count = 77;
    assert_int_equal(sotto_dp_sample(s, rows, &count, 8), SOTTO_EBUDGET);
    assert_int_equal(count, 77);
    assert_int_equal(sotto_dp_step(s, &sum), SOTTO_OK);
    assert_int_equal(sotto_dp_sample(s, rows, &count, 8), SOTTO_EBUDGET);
    sotto_dpsgd_session_close(s);
    s = reserve(1, 1);
    assert_int_equal(sotto_dp_sample(s, rows, &count, 8), SOTTO_OK);
    assert_true(count == 8 && rows[7] == 7);
    assert_int_equal(sotto_dp_step(s, &sum), SOTTO_OK);
    sotto_dpsgd_session_close(s);
}

TEST_GROUP(.set_up = make_folder, .tear_down = remove_folder)
