/* The test of a trade-off curve in one run: valid at the edge of each curve, and strong. Mechanisms have exactly the curve that is
 * tested, and the attacker has their privacy losses; wrong procedures must be refuted. Seeds are fixed.
 *
 * Efforts 1, 5 and 50: 400, 1,000 and 10,000 runs of each mechanism. A procedure that rejects the true curve in exactly 5 % of
 * the runs is refuted with probability below 1e-4 for each of seven curves; one that does so in 12.3 %, 9.2 % and 6.2 % with
 * probability 95 %. */
#include "support/test.h"
#include "support/effort.h"

#include "audit/measure/curve_test.h"
#include "audit/measure/epsilon_bounds.h"
#include "num/binomial.h"
#include "rng/rng.h"
#include "sotto/private/all.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { FEW = 100, COINS = 2000, GUESSES = COINS / 10, STEPS = 3 };

static uint64_t runs_of_each(void)
{
    return (uint64_t)by_effort(400, 1000, 10000);
}

/* One coin's answer by noise of scale 1 around the coin times `shift`, in STEPS samples at `rate`. */
struct mechanism_of_test {
    const char *name;
    double shift, rate;
    size_t steps;
};

static double noise(const char *name, struct rng *r)
{
    double u = rng_unit(r) + 0x1p-54;
    if (strcmp(name, "gaussian") == 0)
        return rng_normal(r);
    return strcmp(name, "logistic") == 0 ? log(u / (1 - u)) : u < 0.5 ? log(2 * u) : -log(2 * (1 - u));
}

static double log_density(const char *name, double x)
{
    return strcmp(name, "gaussian") == 0   ? -x * x / 2
           : strcmp(name, "logistic") == 0 ? -fabs(x) - 2 * log1p(exp(-fabs(x)))
                                           : -fabs(x);
}

/* Privacy loss of the coin's answer: the best score that there is. */
static double score(const struct mechanism_of_test *m, bool in, struct rng *r)
{
    double loss = 0;
    for (size_t i = 0; i < m->steps; i++) {
        bool sampled = in && (m->rate == 1 || rng_unit(r) < m->rate);
        double x = noise(m->name, r) + (sampled ? m->shift : 0);
        loss += log1p(m->rate * expm1(log_density(m->name, x - m->shift) - log_density(m->name, x)));
    }
    return loss;
}

struct coin {
    double score;
    bool in;
};

static int by_score(const void *a, const void *b)
{
    const struct coin *x = a, *y = b;
    return (x->score > y->score) - (x->score < y->score);
}

static size_t right_guesses(const struct mechanism_of_test *m, size_t guesses, uint64_t run)
{
    static struct coin coins[COINS];
    struct rng r = rng_stream(71, RNG_TEST, run, (uint64_t)(m->shift * 1000) + m->steps);
    size_t right = 0;
    for (size_t i = 0; i < COINS; i++) {
        coins[i].in = rng_unit(&r) < 0.5;
        coins[i].score = score(m, coins[i].in, &r);
    }
    qsort(coins, COINS, sizeof *coins, by_score);
    for (size_t i = 0; i < guesses / 2; i++)
        right += (size_t)!coins[i].in + (size_t)coins[COINS - 1 - i].in;
    return right;
}

static struct sotto_privacy_profile profile_of(const struct mechanism_of_test *m)
{
    struct sotto_privacy_profile p = {0};
    const struct sotto_sensitivity one = {.l1 = m->shift, .l2 = m->shift};
    const struct sotto_sampled steps = {.mechanism = m->name,
                                        .noise_multiplier = 1 / m->shift,
                                        .sample_rate = m->rate,
                                        .steps = m->steps,
                                        .clipping = SOTTO_NORM_L1,
                                        .adjacency = SOTTO_ADD_REMOVE};
    assert_int_equal(m->steps == 1 && m->rate == 1 ? sotto_privacy_profile_release(&p, m->name, 1, &one)
                                                   : sotto_privacy_profile_sampled(&p, &steps, NULL),
                     SOTTO_OK);
    return p;
}

/* Of so many runs of `real`, how many reject the curve of `stated` at 5 %. `forgotten`: the records without a guess are. */
static size_t rejections(const struct mechanism_of_test *real, const struct mechanism_of_test *stated,
                         bool forgotten, uint64_t runs)
{
    int known[GUESSES + 1] = {0}; /* 1: no, 2: yes */
    size_t count = 0;
    struct sotto_privacy_profile p = profile_of(stated);
    struct profile_curve curve = {0};
    assert_int_equal(profile_curve_make(&curve, &p), SOTTO_OK);
    const struct trade_off f = profile_trade_off(&curve);
    for (uint64_t run = 0; run < runs; run++) {
        const size_t right = right_guesses(real, GUESSES, run);
        const struct guessed g = {forgotten ? GUESSES : COINS, GUESSES, right};
        if (!known[right])
            known[right] = 1 + curve_rejected(&f, &g, .05);
        count += known[right] == 2;
    }
    profile_curve_clear(&curve);
    sotto_privacy_profile_clear(&p);
    return count;
}

/* Does an exact binomial test at 1e-4 refute that at most 5 % are rejected? */
static bool refuted(size_t count)
{
    return binomial_lower_limit(count, runs_of_each(), 1e-4) > .05;
}

TEST(valid_at_the_edge)
{
    static const struct mechanism_of_test edges[] = {{"gaussian", 1, 1, 1},      {"gaussian", 2.5, 1, 1},
                                                     {"logistic", 1.5, 1, 1},    {"laplace", 1.5, 1, 1},
                                                     {"gaussian", 1, .3, STEPS}, {"laplace", 1, .5, STEPS},
                                                     {"logistic", 1, .5, STEPS}};
    for (size_t i = 0; i < sizeof edges / sizeof *edges; i++) {
        size_t count = rejections(&edges[i], &edges[i], false, runs_of_each());
        if (refuted(count))
            fail_msg(
                "%s moved by %g, %zu steps: %zu of %zu runs reject their own curve; expected at most 5 %%",
                edges[i].name, edges[i].shift, edges[i].steps, count, (size_t)runs_of_each());
    }
}

/* Three times the shift; or every record in every step, accounted as sampled. */
TEST(leaks_are_found)
{
    static const struct mechanism_of_test stated[] = {
        {"gaussian", 1, 1, 1}, {"logistic", 1, 1, 1}, {"laplace", 1, 1, 1}, {"gaussian", 1, .3, STEPS}};
    static const struct mechanism_of_test real[] = {
        {"gaussian", 3, 1, 1}, {"logistic", 3, 1, 1}, {"laplace", 3, 1, 1}, {"gaussian", 1, 1, STEPS}};
    for (size_t i = 0; i < sizeof stated / sizeof *stated; i++) {
        size_t count = rejections(&real[i], &stated[i], false, FEW);
        if (count < FEW / 2)
            fail_msg("%s, stated %zu: found in %zu of %d runs; expected most of them", real[i].name, i, count,
                     FEW);
    }
}

TEST(a_wrong_procedure_is_refuted)
{
    const struct mechanism_of_test m = {"gaussian", 1, 1, 1}, rounded_up = {"gaussian", .5, 1, 1};
    assert_true(refuted(rejections(&m, &m, true, runs_of_each())));
    assert_true(refuted(rejections(&m, &rounded_up, false, runs_of_each())));
}

static int by_size(const void *a, const void *b)
{
    const double *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

/* Sorts. */
static double median_of(double *x, size_t n)
{
    qsort(x, n, sizeof *x, by_size);
    return (x[n / 2 - 1] + x[n / 2]) / 2;
}

/* N(mu, 1) with epsilon 4.4 and 10 at delta 1e-5: bounds if the curve is Gaussian, medians over 50 runs. */
TEST(strong)
{
    enum { DRAWS = 50 };
    static const struct {
        double mu, epsilon, expected;
    } cases[] = {{1.0045010345129413, 4.4, 2.6}, {2.000445619560196, 10, 5.6}};
    for (size_t i = 0; i < 2; i++) {
        const struct mechanism_of_test m = {"gaussian", cases[i].mu, 1, 1};
        double bound[DRAWS], any[DRAWS], steinke[DRAWS];
        for (uint64_t run = 0; run < DRAWS; run++) {
            const struct guessed g = {COINS, GUESSES, right_guesses(&m, GUESSES, run)};
            double mu = curve_mu(&g, .05);
            assert_true(mu < cases[i].mu);
            bound[run] = gaussian_epsilon(mu, 1e-5);
            any[run] = curve_epsilon(&g, 1e-5, .05);
            steinke[run] = one_run_epsilon(1e-5, COINS, GUESSES, g.right, .95);
        }
        double median = median_of(bound, DRAWS);
        print_message(
            "epsilon %g: median lower bound %.4g if Gaussian (runs: %.4g to %.4g); of any mechanism "
            "%.4g, by Steinke %.4g\n",
            cases[i].epsilon, median, bound[0], bound[DRAWS - 1], median_of(any, DRAWS),
            median_of(steinke, DRAWS));
        if (!(median >= cases[i].expected))
            fail_msg("epsilon %g: median bound %g; expected at least %g", cases[i].epsilon, median,
                     cases[i].expected);
    }
}
