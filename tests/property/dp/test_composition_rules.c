/* Composition rules against exact small mechanisms: random output distributions on a few points, composed by
 * multiplying them out, judged by the definition itself. A rule may never lie below; a rule with a planted
 * error must be caught. */
#include "support/test.h"

#include "dp/account/accountant.h"
#include "dp/account/composition.h"
#include "dp/mechanism/logistic_compose.h"
#include "dp/account/sampled_renyi.h"
#include "rng/rng.h"
#include "support/composition_oracle.h"

#include <stdlib.h>
#include <string.h>

enum { POINTS = 4, MOST = POINTS * POINTS * POINTS * POINTS };

struct law { /* what a mechanism answers on a data set */
    double p[MOST];
    size_t n;
};

static struct law draw(struct rng *r, size_t n, double spread)
{
    struct law l = {.n = n};
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += l.p[i] = exp(spread * rng_normal(r));
    for (size_t i = 0; i < n; i++)
        l.p[i] /= sum;
    return l;
}

static struct law times(const struct law *a, const struct law *b)
{
    struct law c = {.n = a->n * b->n};
    assert_true(c.n <= MOST);
    for (size_t i = 0; i < a->n; i++)
        for (size_t j = 0; j < b->n; j++)
            c.p[i * b->n + j] = a->p[i] * b->p[j];
    return c;
}

static struct sotto_interval epsilon_of(const struct law *p, const struct law *q, double delta)
{
    struct sotto_interval e;
    assert_int_equal(finite_epsilon(&e, p->p, q->p, p->n, delta), SOTTO_OK);
    return e;
}

static struct sotto_interval delta_of(const struct law *p, const struct law *q, double epsilon)
{
    struct sotto_interval d;
    assert_int_equal(finite_delta(&d, p->p, q->p, p->n, epsilon), SOTTO_OK);
    return d;
}

/* A true guarantee of a pair, with a random share of delta. */
static struct sotto_dp guarantee(const struct law *p, const struct law *q, double delta)
{
    return (struct sotto_dp){epsilon_of(p, q, delta).upper, delta};
}

TEST(epsilon_and_delta_invert)
{
    struct rng r = rng_stream(11, RNG_TEST, 0, 0);
    for (int i = 0; i < 500; i++) {
        struct law p = draw(&r, 2 + rng_below(&r, 3), 1), q = draw(&r, p.n, 1);
        double delta = 0.3 * rng_unit(&r);
        struct sotto_interval e = epsilon_of(&p, &q, delta);
        assert_true(e.lower <= e.upper && e.upper - e.lower <= 1e-9 * (1 + e.upper));
        assert_true(delta_of(&p, &q, e.upper).upper <= delta);
        if (e.lower > 1e-3)
            assert_true(delta_of(&p, &q, e.lower - 1e-4).lower > delta);
        assert_true(epsilon_of(&q, &p, delta).upper == e.upper); /* both directions at once */
    }
}

/* Several mechanisms on one data set, sequentially. Returns how often a rule lay below the truth. */
static int sequential(double mistake, int trials)
{
    struct rng r = rng_stream(12, RNG_TEST, 0, 0);
    int below = 0;
    for (int t = 0; t < trials; t++) {
        struct sotto_dp parts[4];
        struct law p = {.p = {1}, .n = 1}, q = p, one_p = draw(&r, POINTS, 0.4),
                   one_q = draw(&r, POINTS, 0.4);
        bool equal = t % 2;
        size_t k = 2 + rng_below(&r, 3);
        double share = t % 3 ? 0.01 * rng_unit(&r) : 0;
        for (size_t i = 0; i < k; i++) {
            struct law a = equal ? one_p : draw(&r, POINTS, 0.4), b = equal ? one_q : draw(&r, POINTS, 0.4);
            parts[i] = guarantee(&a, &b, share);
            parts[i].epsilon *= mistake;
            p = times(&p, &a);
            q = times(&q, &b);
        }
        struct sotto_composed c;
        assert_int_equal(sotto_compose_basic(&c, parts, k, SOTTO_ADD_REMOVE), SOTTO_OK);
        below += c.epsilon.upper < epsilon_of(&p, &q, c.delta.upper).lower;
        if (!equal)
            continue;
        double delta = (double)k * share + 1e-3 + 0.1 * rng_unit(&r), truth = epsilon_of(&p, &q, delta).lower;
        struct sotto_composed simple, optimal;
        assert_int_equal(sotto_compose_advanced(&c, parts[0], k, delta, SOTTO_ADD_REMOVE), SOTTO_OK);
        assert_int_equal(compose_simple(&simple, parts[0], k, delta, SOTTO_ADD_REMOVE), SOTTO_OK);
        assert_int_equal(sotto_compose_optimal(&optimal, parts[0], k, delta, SOTTO_ADD_REMOVE), SOTTO_OK);
        below += (c.epsilon.upper < truth) + (simple.epsilon.upper < truth) + (optimal.epsilon.upper < truth);
        assert_true(optimal.epsilon.lower <= simple.epsilon.upper &&
                    optimal.epsilon.lower <= c.epsilon.upper);
        assert_true(optimal.epsilon.lower <= optimal.epsilon.upper);
    }
    return below;
}

TEST(sequential_rules_are_never_below_the_truth)
{
    assert_int_equal(sequential(1, 600), 0);
    assert_true(sequential(0.8, 600) > 10); /* negative control */
}

/* Optimal composition is reached by randomised response itself. */
TEST(optimal_composition_is_exact)
{
    for (double e = 0.1; e < 4; e *= 2)
        for (size_t k = 1; k <= 8; k++)
            for (double delta = 1e-6; delta < 0.5; delta *= 9) {
                struct law one_p = {{exp(e) / (1 + exp(e)), 1 / (1 + exp(e))}, 2};
                struct law one_q = {{one_p.p[1], one_p.p[0]}, 2}, p = {{1}, 1}, q = {{1}, 1};
                for (size_t i = 0; i < k; i++) {
                    p = times(&p, &one_p);
                    q = times(&q, &one_q);
                }
                struct sotto_composed c;
                assert_int_equal(
                    sotto_compose_optimal(&c, (struct sotto_dp){e, 0}, k, delta, SOTTO_ADD_REMOVE), SOTTO_OK);
                double exact = epsilon_of(&p, &q, delta).upper;
                if (!(fabs(c.epsilon.upper - exact) <= 1e-11 * (1 + exact)))
                    fail_msg("eps %g k %zu delta %g: %.17g, exact %.17g", e, k, delta, c.epsilon.upper,
                             exact);
            }
}

/* A chain of neighbours x0, x1, .., xg; the ends against the group rule. */
static int groups(double mistake, int trials)
{
    struct rng r = rng_stream(13, RNG_TEST, 0, 0);
    int below = 0;
    for (int t = 0; t < trials; t++) {
        enum { LONGEST = 4 };
        struct law chain[LONGEST + 1];
        size_t g = 2 + rng_below(&r, LONGEST - 1);
        double delta = t % 2 ? 0.02 * rng_unit(&r) : 0, epsilon = 0;
        chain[0] = draw(&r, POINTS, 0.5);
        for (size_t i = 1; i <= g; i++) { /* tilted the same way each time, which is the worst */
            double sum = 0;
            chain[i].n = POINTS;
            for (size_t j = 0; j < POINTS; j++)
                sum += chain[i].p[j] = chain[i - 1].p[j] * exp(0.4 * (double)j);
            for (size_t j = 0; j < POINTS; j++)
                chain[i].p[j] /= sum;
            epsilon = fmax(epsilon, epsilon_of(&chain[i - 1], &chain[i], delta).upper);
        }
        struct sotto_composed c;
        assert_int_equal(
            sotto_compose_group(&c, (struct sotto_dp){epsilon * mistake, delta}, g, SOTTO_ADD_REMOVE),
            SOTTO_OK);
        below += delta_of(&chain[0], &chain[g], c.epsilon.upper).lower > c.delta.upper * (1 + 1e-12) + 1e-15;
        if (g == 2) {
            assert_int_equal(compose_replace_one(&c, (struct sotto_dp){epsilon * mistake, delta}), SOTTO_OK);
            below +=
                delta_of(&chain[0], &chain[2], c.epsilon.upper).lower > c.delta.upper * (1 + 1e-12) + 1e-15;
        }
    }
    return below;
}

TEST(group_rules_are_never_below_the_truth)
{
    assert_int_equal(groups(1, 400), 0);
    assert_true(groups(0.7, 400) > 10);
}

/* Records of two or three parts are counted by randomised response; a replaced record moves from one part to
 * another, an added one enters one part. */
TEST(parallel_composition)
{
    struct rng r = rng_stream(14, RNG_TEST, 0, 0);
    int maximum_is_too_small = 0;
    for (int t = 0; t < 300; t++) {
        struct law without[3], with[3], product_p = {{1}, 1}, product_q = {{1}, 1};
        struct sotto_dp parts[3];
        size_t n = 2 + rng_below(&r, 2);
        double delta = t % 2 ? 0.01 * rng_unit(&r) : 0;
        for (size_t i = 0; i < n; i++) {
            without[i] = draw(&r, POINTS, 0.3);
            with[i] = draw(&r, POINTS, 0.3);
            parts[i] = guarantee(&without[i], &with[i], delta);
        }
        struct sotto_composed one, moved, added;
        assert_int_equal(sotto_compose_parallel(&added, parts, n, SOTTO_ADD_REMOVE, SOTTO_ADD_REMOVE),
                         SOTTO_OK);
        assert_int_equal(sotto_compose_parallel(&moved, parts, n, SOTTO_BOTH_ADJACENCIES, SOTTO_REPLACE_ONE),
                         SOTTO_OK);
        assert_int_equal(sotto_compose_parallel(&one, parts, n, SOTTO_ADD_REMOVE, SOTTO_REPLACE_ONE),
                         SOTTO_OK);
        for (size_t to = 0; to < n; to++) { /* added to part `to`: only its answer changes */
            assert_true(epsilon_of(&without[to], &with[to], added.delta.upper).lower <= added.epsilon.upper);
            for (size_t from = 0; from < n; from++) { /* moved */
                if (from == to)
                    continue;
                product_p = times(&with[from], &without[to]);
                product_q = times(&without[from], &with[to]);
                assert_true(epsilon_of(&product_p, &product_q, moved.delta.upper).lower <=
                            moved.epsilon.upper);
                assert_true(moved.epsilon.upper <= one.epsilon.upper && moved.delta.upper <= one.delta.upper);
                maximum_is_too_small +=
                    epsilon_of(&product_p, &product_q, added.delta.upper).lower > added.epsilon.upper;
            }
        }
    }
    assert_true(maximum_is_too_small > 50); /* the reason for the sum of two: the maximum fails */
}

TEST(mixtures_and_post_processing)
{
    struct rng r = rng_stream(15, RNG_TEST, 0, 0);
    for (int t = 0; t < 300; t++) {
        struct law a = draw(&r, POINTS, 0.5), b = draw(&r, POINTS, 0.5), c = draw(&r, POINTS, 0.5),
                   d = draw(&r, POINTS, 0.5), p = {.n = 2 * POINTS}, q = {.n = 2 * POINTS};
        double w = rng_unit(&r), delta = 0.05 * rng_unit(&r), weights[2] = {w, 1 - w};
        const struct sotto_dp parts[2] = {guarantee(&a, &b, delta), guarantee(&c, &d, delta / 3)};
        for (size_t i = 0; i < POINTS; i++) {
            p.p[i] = w * a.p[i], p.p[POINTS + i] = (1 - w) * c.p[i];
            q.p[i] = w * b.p[i], q.p[POINTS + i] = (1 - w) * d.p[i];
        }
        struct sotto_composed m;
        assert_int_equal(sotto_compose_mixture(&m, parts, weights, 2, SOTTO_ADD_REMOVE), SOTTO_OK);
        assert_true(delta_of(&p, &q, m.epsilon.upper).lower <= m.delta.upper);
        /* forgetting which one it was is post-processing, and so is any random map of the answers */
        struct law x = {.n = POINTS}, y = {.n = POINTS};
        for (size_t i = 0; i < POINTS; i++) {
            struct law row = draw(&r, POINTS, 1);
            for (size_t j = 0; j < POINTS; j++) {
                x.p[j] += row.p[j] * (p.p[i] + p.p[POINTS + i]);
                y.p[j] += row.p[j] * (q.p[i] + q.p[POINTS + i]);
            }
        }
        assert_true(delta_of(&x, &y, m.epsilon.upper).lower <= m.delta.upper + 1e-15);
    }
}

/* ln E_Q[(P/Q)^alpha] is convex in alpha, so a chord is never below: what logistic fractional orders rely
 * on. */
TEST(chords_lie_above)
{
    const struct mechanism *g = mechanism_find("gaussian"), *l = mechanism_find("logistic");
    for (double q = 0.003; q < 1; q *= 3)
        for (double alpha = 1.25; alpha < 30; alpha *= 1.3) {
            double below = floor(alpha), at = alpha - below;
            double low = below < 2 ? 0 : sampled_renyi(g, 1.2, q, below).hi * (below - 1);
            double chord = (low + at * (sampled_renyi(g, 1.2, q, below + 1).hi * below - low)) / (alpha - 1);
            assert_true(sampled_renyi(g, 1.2, q, alpha).lo <= chord);
            /* logistic noise counts as a Gaussian of sqrt 3 times its scale, by chords */
            double same = sampled_renyi(l, 1.2 / sqrt(3), q, alpha).hi;
            assert_true(same >= chord * (1 - 1e-9) && same <= chord * (1 + 1e-9));
        }
}

static struct sotto_event random_event(struct rng *r)
{
    static const char *const names[] = {"gaussian", "laplace", "logistic", "stated", "gaussian"};
    size_t kind = rng_below(r, 5);
    struct sotto_event e = {.mechanism = names[kind],
                            .count = 1 + rng_below(r, 5),
                            .scale = 3 + 10 * rng_unit(r),
                            .l1 = 1,
                            .l2 = 1,
                            .adjacency = SOTTO_ADD_REMOVE};
    if (kind == 3)
        e.stated.epsilon = 0.2 * rng_unit(r);
    if (kind == 4) {
        e.noise_multiplier = 1 + rng_unit(r);
        e.sample_rate = 0.05 * rng_unit(r);
    }
    return e;
}

/* Whatever the order, whatever is split up, and more events never cost less; every bound holds the lower
 * end. */
TEST(events_in_any_order)
{
    struct rng r = rng_stream(16, RNG_TEST, 0, 0);
    for (int t = 0; t < 12; t++) {
        struct sotto_event events[5], turned[5];
        size_t n = 2 + rng_below(&r, 3);
        struct sotto_account a, b, fewer, pure;
        for (size_t i = 0; i < n; i++)
            events[i] = random_event(&r);
        for (size_t i = 0; i < n; i++)
            turned[i] = events[n - 1 - i];
        assert_int_equal(sotto_account_events(&a, events, n, 1e-6, SOTTO_SAME_ADJACENCY, NULL), SOTTO_OK);
        assert_int_equal(sotto_account_events(&b, turned, n, 1e-6, SOTTO_SAME_ADJACENCY, NULL), SOTTO_OK);
        assert_int_equal(sotto_account_events(&fewer, events, n - 1, 1e-6, SOTTO_SAME_ADJACENCY, NULL),
                         SOTTO_OK);
        assert_true(fabs(a.epsilon.upper - b.epsilon.upper) <= 2e-3 * a.epsilon.upper);
        assert_true(fewer.epsilon.lower <= a.epsilon.upper);
        for (size_t i = 0; i < a.bound_count; i++)
            assert_true(a.bounds[i].epsilon >= a.epsilon.lower && a.bounds[i].epsilon >= b.epsilon.lower);
        assert_int_equal(sotto_account_events(&pure, events, n, 0, SOTTO_SAME_ADJACENCY, NULL), SOTTO_OK);
        assert_true(pure.epsilon.upper >= a.epsilon.lower);
    }
}

/* k-fold Laplace by another way: its loss is +t with probability 1/2, -t with e^-t/2, and between them has
 * the law of logistic loss, weight e^(-t/2) sinh(t/2). So delta_k is a sum over how many were which, of exact
 * logistic compositions; nothing cancels. */
static struct interval laplace_by_logistic(double t, int k, double epsilon)
{
    struct interval sum = iv(0);
    for (int plus = 0; plus <= k; plus++)
        for (int minus = 0; plus + minus <= k; minus++) {
            int m = k - plus - minus;
            double e = epsilon - (plus - minus) * t,
                   log_weight = lgamma(k + 1.0) - lgamma(plus + 1.0) - lgamma(minus + 1.0) - lgamma(m + 1.0);
            log_weight += plus * log(0.5) + minus * (log(0.5) - t) + m * (log(sinh(t / 2)) - t / 2);
            struct interval d = m == 0   ? iv(0)
                                : m == 1 ? mechanism_find("logistic")->delta(iv(t), fabs(e))
                                         : logistic_composed_delta(t, m, fabs(e));
            if (e < 0) /* delta(-e) = 1 - e^-e + e^-e delta(e) */
                d = iv_add(iv(-expm1(e)), iv_scale(d, exp(e)));
            sum = iv_add(sum, iv_scale(d, exp(log_weight)));
        }
    return sum;
}

TEST(laplace_composition_agrees_with_logistic_compositions)
{
    static const struct {
        double t;
        size_t k;
    } cases[] = {{1, 2}, {1, 10}, {0.2, 10}, {0.05, 30}};
    for (int i = 0; i < 4; i++) {
        double t = cases[i].t;
        struct sotto_event e = {.mechanism = "laplace",
                                .count = cases[i].k,
                                .scale = 1 / t,
                                .l1 = 1,
                                .l2 = NAN,
                                .adjacency = SOTTO_ADD_REMOVE};
        struct sotto_account a;
        assert_int_equal(sotto_account_events(&a, &e, 1, 1e-5, SOTTO_SAME_ADJACENCY, NULL), SOTTO_OK);
        double at_upper = laplace_by_logistic(t, (int)cases[i].k, a.epsilon.upper).lo;
        double at_lower = laplace_by_logistic(t, (int)cases[i].k, a.epsilon.lower).hi;
        double inside = laplace_by_logistic(t, (int)cases[i].k, a.epsilon.upper * (1 - 1e-3)).lo;
        if (!(at_upper <= 1e-5 * (1 + 1e-9) && at_lower >= 1e-5 * (1 - 1e-9) && inside > 1e-5))
            fail_msg("t %g k %zu: [%.12g, %.12g], delta there %.9g, %.9g, just inside %.9g", t, cases[i].k,
                     a.epsilon.lower, a.epsilon.upper, at_lower, at_upper, inside);
    }
}

TEST_GROUP(.tags = "long")
