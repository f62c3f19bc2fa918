/* composition_oracle.h - what composition rules are held against: the definition of (epsilon, delta) for mechanisms with finitely many
 * outputs, and an upper bound of the optimal rule in closed form.
 *
 * delta(eps) = sum (p - e^eps q)_+. Every event S with P(S) > delta needs eps >= ln((P(S) - delta) / Q(S)); the worst events are the
 * sets of largest p/q, so the largest of n numbers is the answer. Sorting compares rounded ratios: any set gives a valid lower end,
 * and the upper end is checked against delta(eps) itself. */
#ifndef TESTS_COMPOSITION_ORACLE_H
#define TESTS_COMPOSITION_ORACLE_H

#include "base/memory.h"
#include "dp/account/composition.h"

#include <stdlib.h>

static inline sotto_status check_points(const double *p, const double *q, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!(p[i] >= 0 && p[i] <= 2 && q[i] >= 0 && q[i] <= 2))
            return status_fail(SOTTO_EINVAL, "output %zu: probabilities %g and %g; both must lie in [0, 1]",
                               i, p[i], q[i]);
    return SOTTO_OK;
}

static inline struct interval one_way(const double *p, const double *q, size_t n, double epsilon)
{
    struct interval factor = epsilon == 0 ? iv(1) : iv_exp(iv(epsilon)), sum = iv(0);
    for (size_t i = 0; i < n; i++) {
        struct interval excess = q[i] == 0 ? iv(p[i]) : iv_sub(iv(p[i]), iv_mul(factor, iv(q[i])));
        sum = iv_add(sum, iv_max(excess, iv(0)));
    }
    return sum;
}

/* The smallest delta at epsilon, in both directions. p, q (n): taken as they stand; each should add up to 1. EINVAL: a negative or
 * infinite probability. */
static inline sotto_status finite_delta(struct sotto_interval *delta, const double *p, const double *q,
                                        size_t n, double epsilon)
{
    REQUIRE_GIVEN(delta, !n || p, !n || q);
    sotto_status status = SOTTO_OK;
    TRY(check_points(p, q, n));
    REQUIRE(epsilon >= 0 && epsilon <= 1e100, "epsilon must lie in [0, 1e100] (got %g)", epsilon);
    struct interval d = iv_max(one_way(p, q, n, epsilon), one_way(q, p, n, epsilon));
    *delta = (struct sotto_interval){d.lo, d.hi};
done:
    return status;
}

struct point {
    double p, q;
};

/* Larger p/q first; 0/0 anywhere. */
static inline int by_ratio(const void *a, const void *b)
{
    const struct point *x = a, *y = b;
    double left = x->p * y->q, right = y->p * x->q;
    return (left < right) - (left > right);
}

static inline double lower_end(struct point *points, size_t n, double delta)
{
    double best = 0;
    struct interval sum_p = iv(0), sum_q = iv(0);
    qsort(points, n, sizeof *points, by_ratio);
    for (size_t i = 0; i < n; i++) {
        sum_p = iv_add(sum_p, iv(points[i].p));
        sum_q = iv_add(sum_q, iv(points[i].q));
        double left = iv_sub(sum_p, iv(delta)).lo;
        if (left > 0)
            best = fmax(best, sum_q.hi == 0 ? INFINITY : iv_log(iv_div(iv(left), sum_q)).lo);
    }
    return best;
}

/* The smallest epsilon at delta; INFINITY where none holds. */
static inline sotto_status finite_epsilon(struct sotto_interval *epsilon, const double *p, const double *q,
                                          size_t n, double delta)
{
    REQUIRE_GIVEN(epsilon, !n || p, !n || q);
    sotto_status status = SOTTO_OK;
    struct point *points = NULL;
    TRY(check_points(p, q, n));
    TRY(require_delta(delta));
    NEW(points, n);
    double lower = 0;
    for (int way = 0; way < 2; way++) {
        for (size_t i = 0; i < n; i++)
            points[i] = way == 0 ? (struct point){p[i], q[i]} : (struct point){q[i], p[i]};
        lower = fmax(lower, lower_end(points, n, delta));
    }
    double upper = lower;
    for (double step = 0x1p-50; upper < INFINITY; step *= 2) {
        if (fmax(one_way(p, q, n, upper).hi, one_way(q, p, n, upper).hi) <= delta)
            break;
        upper = lower + step * (1 + lower);
    }
    *epsilon = (struct sotto_interval){lower, upper};
done:
    base_free(points);
    return status;
}

/* Kairouz, Oh, Viswanath 2015, theorem 3.4: the smallest of three closed forms. */
static inline sotto_status compose_simple(struct sotto_composed *out, struct sotto_dp each, size_t k,
                                          double delta, enum sotto_adjacency adjacency)
{
    REQUIRE_GIVEN(out);
    sotto_status status = SOTTO_OK;
    TRY(composition_check_each(each, k, delta, adjacency));
    struct interval e = iv(each.epsilon), n = iv((double)k), total = {0, INFINITY};
    struct interval slack = composition_slack(each.delta, (double)k, delta);
    if (slack.hi >= 0)
        total = iv_mul(n, e);
    if (slack.lo < 0)
        total.hi = INFINITY;
    if (slack.hi > 0) {
        struct interval half = iv_div(iv_neg(iv_expm1(iv_neg(e))), iv_add(iv(1), iv_exp(iv_neg(e))));
        struct interval mean = iv_mul(iv_mul(n, e), half), root = iv_mul(e, iv_sqrt(iv_scale(n, 2)));
        struct interval ratio = iv_div(iv_mul(iv_sqrt(n), e), slack);
        struct interval natural = {0x1.5bf0a8b145769p+1, 0x1.5bf0a8b14576ap+1};
        struct interval second = iv_add(mean, iv_mul(root, iv_sqrt(iv_log(iv_add(natural, ratio)))));
        struct interval third = iv_add(mean, iv_mul(root, iv_sqrt(iv_neg(iv_log(slack)))));
        total = iv_min(total, slack.lo > 0 ? iv_min(second, third) : (struct interval){0, INFINITY});
    }
    composition_set(out, "simple", adjacency, total, iv(delta),
                    "upper bound of the optimal rule in closed form");
done:
    return status;
}

#endif
