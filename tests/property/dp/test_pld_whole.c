/* Noise on whole steps and randomised response, composed: against sums over all outcomes in long double,
 * against closed forms, and the exact losses against the grid of anything else. */
#include "support/test.h"
#include "support/worse.h"
#include "base/memory.h"
#include "dp/account/account_pld.h"
#include "dp/account/accountant.h"
#include "dp/account/event_part.h"
#include "dp/mechanism/pure_pair.h"
#include "rng/rng.h"
#include "support/composition_oracle.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { REACH = 150 };

/* P(K = k), -REACH <= k <= REACH. */
static long double law_of(bool gaussian, double scale, long k)
{
    long double h = 1.0L / scale;
    if (!gaussian)
        return expl(-h * labs(k)) * (1 - expl(-h)) / (1 + expl(-h));
    long double all = 0;
    for (long i = -10 * REACH; i <= 10 * REACH; i++)
        all += expl(-h * h * i * i / 2);
    return expl(-h * h * k * k / 2) / all;
}

/* Losses and probabilities of one release that moves by `steps`. */
struct outcomes {
    size_t n;
    long double loss[2 * REACH + 1], p[2 * REACH + 1];
};

static void list(struct outcomes *o, bool gaussian, double scale, long steps)
{
    o->n = 0;
    for (long k = -REACH; k <= REACH; k++) {
        long double h = 1.0L / scale, d = steps;
        o->p[o->n] = law_of(gaussian, scale, k);
        o->loss[o->n++] = gaussian ? h * h * d * (d / 2 - k) : h * (labs(k - steps) - labs(k));
    }
}

/* The hockey stick of `left` more releases behind a loss of `sum`. */
static long double delta_behind(const struct outcomes *o, int left, long double sum, long double epsilon)
{
    long double delta = 0;
    for (size_t i = 0; i < o->n; i++)
        delta += o->p[i] * (left > 1 ? delta_behind(o, left - 1, sum + o->loss[i], epsilon)
                                     : fmaxl(0, -expm1l(epsilon - sum - o->loss[i])));
    return delta;
}

static struct sotto_account account(const char *name, double scale, double l1, double l2, size_t dimension,
                                    double delta, size_t compose)
{
    const struct sotto_sensitivity s = {
        .l1 = l1, .l2 = l2, .dimension = dimension, .source = SOTTO_SENSITIVITY_GIVEN, .value_step = 1};
    struct sotto_account a;
    if (sotto_account_release(&a, name, scale, &s, delta, compose, NULL) != SOTTO_OK)
        fail_msg("%s: %s", name, sotto_error_text());
    return a;
}

static void agree(const char *name, const struct outcomes *o, int k, double delta, struct sotto_interval e)
{
    const long double slack = 1e-9L; /* of delta, beside sums that are good to 1e-16 */
    long double at_upper = delta_behind(o, k, 0, e.upper), at_lower = delta_behind(o, k, 0, e.lower);
    if (!(at_upper <= delta * (1 + slack) && at_lower >= delta * (1 - slack) &&
          e.upper - e.lower <= 1e-9 * e.upper))
        fail_msg("%s, %d times, delta %g: [%.17g, %.17g], where delta is %.12Lg and %.12Lg", name, k, delta,
                 e.lower, e.upper, at_lower, at_upper);
    /* negative control: a millionth less would not do */
    assert_true(e.upper == 0 || delta_behind(o, k, 0, e.upper * (1 - 1e-6)) > delta);
}

TEST(compositions_agree_with_sums_over_all_outcomes)
{
    static const struct {
        const char *name;
        double scale;
        long steps;
        int times;
    } cases[] = {
        {"discrete-laplace", 1, 1, 2},   {"discrete-laplace", 3, 2, 2},    {"discrete-laplace", 4.5, 5, 2},
        {"discrete-laplace", 0.3, 3, 2}, {"discrete-gaussian", 1, 1, 2},   {"discrete-gaussian", 2.5, 2, 2},
        {"discrete-gaussian", 12, 5, 2}, {"discrete-gaussian", 0.4, 1, 2}, {"discrete-gaussian", 12, 20, 2}};
    static const double deltas[] = {0.2, 1e-3, 1e-10};
    struct outcomes *o = base_alloc(1, sizeof *o);
    assert_non_null(o);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        list(o, cases[i].name[9] == 'g', cases[i].scale, cases[i].steps);
        for (int j = 0; j < 3; j++) {
            double l = (double)cases[i].steps;
            struct sotto_account a =
                account(cases[i].name, cases[i].scale, l, l, 1, deltas[j], (size_t)cases[i].times);
            agree(cases[i].name, o, cases[i].times, deltas[j], a.epsilon);
        }
    }
    list(o, true, 0.8, 1); /* few outcomes matter: three times by hand as well */
    size_t n = 0;
    for (size_t i = 0; i < o->n; i++)
        if (o->p[i] > 1e-30L) {
            o->p[n] = o->p[i];
            o->loss[n++] = o->loss[i];
        }
    o->n = n;
    agree("discrete-gaussian", o, 3, 1e-5, account("discrete-gaussian", 0.8, 1, 1, 1, 1e-5, 3).epsilon);
    base_free(o);
}

/* k answers of randomised response are 2^k outcomes. */
TEST(randomised_response_by_enumeration)
{
    static const double deltas[] = {0.3, 1e-3, 1e-9};
    for (int k = 2; k <= 3; k++)
        for (int j = 0; j < 3; j++) {
            const double t = 0.8, keep = 1 / (1 + exp(-t));
            double p[8], q[8];
            for (int outcome = 0; outcome < 1 << k; outcome++) {
                int truths = __builtin_popcount((unsigned)outcome);
                p[outcome] = pow(keep, truths) * pow(1 - keep, k - truths);
                q[outcome] = pow(keep, k - truths) * pow(1 - keep, truths);
            }
            struct sotto_interval exact = {NAN, NAN};
            assert_int_equal(finite_epsilon(&exact, p, q, (size_t)1 << k, deltas[j]), SOTTO_OK);
            struct sotto_account a = account("randomised-response", 1 / t, 1, NAN, 0, deltas[j], (size_t)k);
            if (!(fabs(a.epsilon.lower - exact.lower) <= 1e-12 &&
                  fabs(a.epsilon.upper - exact.lower) <= 1e-12))
                fail_msg("%d answers, delta %g: [%.17g, %.17g] against %.17g", k, deltas[j], a.epsilon.lower,
                         a.epsilon.upper, exact.lower);
        }
}

/* The same pair in three ways: by the binomial sum, by its two losses, on a grid like any other. */
TEST(three_ways_to_the_same_pair)
{
    struct rng r = rng_stream(12, RNG_EVALUATE, 0, 0);
    const struct mechanism *m = mechanism_find("discrete-laplace");
    for (int i = 0; i < 12; i++) {
        double t = exp(4 * rng_unit(&r) - 3), k = floor(exp(6 * rng_unit(&r))) + 1,
               delta = exp(-25 * rng_unit(&r));
        const struct pair_integer pair = {m->integer, 1, iv(t)};
        struct pld_part part = {.upper = pair_of_integer(&pair), .lower = pair_of_integer(&pair), .count = k};
        struct interval exact = pure_pair_composed(iv(t), k, delta), atoms, grid;
        assert_int_equal(pld_epsilon(&grid, &part, 1, delta, 1, NULL), SOTTO_OK);
        part.lattice = &pair;
        assert_int_equal(pld_epsilon(&atoms, &part, 1, delta, 1, NULL), SOTTO_OK);
        if (!(atoms.lo <= exact.hi && atoms.hi >= exact.lo && grid.lo <= exact.hi && grid.hi >= exact.lo &&
              atoms.hi - atoms.lo <= 1e-6 * exact.hi && grid.hi >= atoms.lo))
            fail_msg("t %g k %g delta %g: [%.15g, %.15g], atoms [%.15g, %.15g], grid [%.15g, %.15g]", t, k,
                     delta, exact.lo, exact.hi, atoms.lo, atoms.hi, grid.lo, grid.hi);
    }
}

TEST(atoms_lie_inside_what_a_grid_says)
{
    struct rng r = rng_stream(13, RNG_EVALUATE, 0, 0);
    for (int i = 0; i < 4; i++) {
        const struct mechanism *m = mechanism_find(i % 2 ? "discrete-gaussian" : "discrete-laplace");
        double h = exp(-3 * rng_unit(&r)), steps = floor(6 * rng_unit(&r)) + 1,
               k = floor(40 * rng_unit(&r)) + 2;
        const struct pair_integer pair = {m->integer, steps, iv(h)};
        struct pld_part part = {.upper = pair_of_integer(&pair), .lower = pair_of_integer(&pair), .count = k};
        struct interval atoms, grid;
        assert_int_equal(pld_epsilon(&grid, &part, 1, 1e-6, 1, NULL), SOTTO_OK);
        part.lattice = &pair;
        assert_int_equal(pld_epsilon(&atoms, &part, 1, 1e-6, 1, NULL), SOTTO_OK);
        if (!(atoms.lo >= grid.lo * (1 - 1e-9) && atoms.hi <= grid.hi * (1 + 1e-9) && atoms.hi > 0 &&
              atoms.hi - atoms.lo <= 1e-6 * atoms.hi && grid.hi - grid.lo <= 0.05 * grid.hi))
            fail_msg("%s h %g D %g k %g: atoms [%.15g, %.15g], grid [%.15g, %.15g]", m->name, h, steps, k,
                     atoms.lo, atoms.hi, grid.lo, grid.hi);
    }
}

/* A vector of four coordinates with an L2 norm of two steps: one coordinate moves by two, or four by one. */
TEST(the_lower_end_of_a_vector_is_reached)
{
    static const char *const names[] = {"discrete-gaussian", "discrete-laplace"};
    for (int i = 0; i < 2; i++)
        for (size_t k = 1; k <= 4; k += 3) {
            struct sotto_account a = account(names[i], 3, NAN, 2, 4, 1e-5, k);
            struct sotto_account far = account(names[i], 3, 2, 2, 1, 1e-5, k);
            struct sotto_account wide = account(names[i], 3, 1, 1, 1, 1e-5, 4 * k);
            double most = worse(far.epsilon.lower, wide.epsilon.lower);
            if (!(fabs(a.epsilon.lower - most) <= 1e-9 && a.epsilon.upper >= most))
                fail_msg("%s %zu times: [%.12g, %.12g], its parts reach %.12g", names[i], k, a.epsilon.lower,
                         a.epsilon.upper, most);
        }
    /* a norm that no whole vector reaches in two dimensions is not claimed: (2, 0) and (1, 1) are within
     * 2.2 */
    assert_true(account("discrete-laplace", 1, NAN, 2.2, 2, 0, 1).epsilon.lower == 2);
}

TEST(single_releases_are_the_curve_itself)
{
    for (int i = 0; i < 4; i++) {
        const struct mechanism *m = mechanism_at((size_t)(i % 3));
        double t = 0.3 + i, delta = pow(10, -1 - 3 * i);
        const struct composed_release item = {m->name, {t, t}, SOTTO_NORM_L1,          1,
                                              false,   1,      SOTTO_SAMPLING_POISSON, 0};
        struct interval exact = m->epsilon(iv(t), delta), e;
        assert_int_equal(account_pld(&e, &item, 1, delta, NULL), SOTTO_OK);
        if (!(e.lo <= exact.hi && e.hi >= exact.lo && e.hi - e.lo <= 1e-9))
            fail_msg("%s t %g: [%.17g, %.17g] against [%.17g, %.17g]", m->name, t, e.lo, e.hi, exact.lo,
                     exact.hi);
    }
    /* a sampled step: q delta_0(ln(1 + (e^eps - 1) / q)) */
    const struct mechanism *m = mechanism_find("gaussian");
    const struct composed_release step = {"gaussian", {1, 1}, SOTTO_NORM_L2,          0.5,
                                          false,      1,      SOTTO_SAMPLING_POISSON, 0};
    struct interval e;
    assert_int_equal(account_pld(&e, &step, 1, 1e-5, NULL), SOTTO_OK);
    double inner = log1p(expm1(e.hi) / 0.5);
    assert_true(fabs(0.5 * m->delta(iv(1), inner).hi - 1e-5) < 1e-16 && e.hi - e.lo < 1e-11);
}

/* All of k Laplace losses are t with probability 2^-k; what is left of them sets epsilon when delta is
 * small. */
TEST(the_largest_loss_is_a_lower_end)
{
    struct sotto_account a = account("laplace", 0.02, 1, 1, 0, 1e-10, 10);
    double exact = 500 + log1p(-1e-10 * 1024);
    assert_true(fabs(a.epsilon.lower - exact) < 1e-10 && a.epsilon.upper >= exact);
    const struct composed_release item = {"laplace", {50, 50}, SOTTO_NORM_L1,          1,
                                          false,     10,       SOTTO_SAMPLING_POISSON, 0};
    struct interval e; /* where the lower curve ends before the upper one's epsilon */
    assert_int_equal(account_pld(&e, &item, 1, 1e-10, NULL), SOTTO_OK);
    assert_true(e.lo > 499.9999 && e.lo <= exact && e.hi >= exact);
}

/* Where one release's losses lie too dense for atoms, and where nothing is known but a bound. */
TEST(large_scales_have_answers)
{
    static const char *const names[] = {"discrete-gaussian", "discrete-laplace"};
    for (int i = 0; i < 2; i++) {
        double l = i ? 3e5 : 2e4, scale = 2e6;
        struct sotto_account a = account(names[i], scale, l, l, 1, 1e-6, 30);
        struct sotto_account smooth = account(i ? "laplace" : "gaussian", scale, l, l, 0, 1e-6, 30);
        assert_true(a.epsilon.lower > 0.999 * smooth.epsilon.lower);
        assert_true(a.epsilon.upper < 1.001 * smooth.epsilon.upper);
    }
    struct sotto_account a = account("discrete-gaussian", 1e60, 1e57, 1e57, 1, 1e-6, 30);
    assert_true(a.epsilon.lower == 0 && a.epsilon.upper < 1);
    a = account("discrete-laplace", 1e60, 1e57, 1e57, 1, 1e-6, 30);
    assert_true(a.epsilon.lower == 0 && a.epsilon.upper < 1);
    a = account("randomised-response", 1, 1, NAN, 0, 1e-5, 20000);
    assert_true(a.epsilon.lower > 7000);
}

TEST(different_releases_together)
{
    struct part parts[2] = {{.kind = PART_NOISE, .m = mechanism_find("discrete-gaussian"), .count = 5},
                            {.kind = PART_NOISE, .m = mechanism_find("randomised-response"), .count = 3}};
    const struct sotto_sensitivity s = {.l1 = 1, .l2 = NAN, .value_step = 1};
    struct interval both, alone[2];
    for (int i = 0; i < 2; i++) {
        assert_int_equal(sensitivity_ratio_for(&parts[i].shifts, parts[i].m, 4, &s), SOTTO_OK);
        assert_int_equal(parts_pld(&alone[i], &parts[i], 1, 1e-5, NULL), SOTTO_OK);
    }
    assert_int_equal(parts_pld(&both, parts, 2, 1e-5, NULL), SOTTO_OK);
    assert_true(both.lo > 0.999 * both.hi && both.lo > fmax(alone[0].hi, alone[1].hi));
}

TEST(memory_that_runs_out_changes_nothing)
{
    const struct sotto_sensitivity s = {.l1 = NAN, .l2 = 2, .dimension = 4, .value_step = 1};
    struct sotto_account a = {.scale = 77};
    long fails = 0;
    for (sotto_status status = SOTTO_ENOMEM; status == SOTTO_ENOMEM; fails++) {
        assert_true(a.scale == 77);
        base_alloc_fail_after(fails);
        status = sotto_account_release(&a, "discrete-gaussian", 0.5, &s, 1e-5, 3, NULL);
        base_alloc_fail_after(-1);
        assert_true(status == SOTTO_ENOMEM || status == SOTTO_OK);
    }
    assert_true(fails > 10 && a.scale == 0.5);
}

TEST_GROUP(.tags = "long long-sums")
