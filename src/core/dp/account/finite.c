/* The definition of (epsilon, delta) for mechanisms with finitely many outputs: delta(eps) = sum (p - e^eps
 * q)_+. Every event S with P(S) > delta needs eps >= ln((P(S) - delta) / Q(S)); the worst events are the sets
 * of largest p/q, so the largest of n numbers is the answer. Sorting compares rounded ratios: any set gives a
 * valid lower end, and the upper end is checked against delta(eps) itself. */
#include "base/memory.h"
#include "dp/account/accountant.h"
#include "sotto/lab/compose.h"

#include <stdlib.h>

static sotto_status check_points(const double *p, const double *q, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!(p[i] >= 0 && p[i] <= 2 && q[i] >= 0 && q[i] <= 2))
            return status_fail(SOTTO_EINVAL, "output %zu: probabilities %g and %g; both must lie in [0, 1]",
                               i, p[i], q[i]);
    return SOTTO_OK;
}

static struct interval one_way(const double *p, const double *q, size_t n, double epsilon)
{
    struct interval factor = epsilon == 0 ? iv(1) : iv_exp(iv(epsilon)), sum = iv(0);
    for (size_t i = 0; i < n; i++) {
        struct interval excess = q[i] == 0 ? iv(p[i]) : iv_sub(iv(p[i]), iv_mul(factor, iv(q[i])));
        sum = iv_add(sum, iv_max(excess, iv(0)));
    }
    return sum;
}

sotto_status sotto_finite_delta(struct sotto_interval *delta, const double *p, const double *q, size_t n,
                                double epsilon)
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
static int by_ratio(const void *a, const void *b)
{
    const struct point *x = a, *y = b;
    double left = x->p * y->q, right = y->p * x->q;
    return (left < right) - (left > right);
}

static double lower_end(struct point *points, size_t n, double delta)
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

sotto_status sotto_finite_epsilon(struct sotto_interval *epsilon, const double *p, const double *q, size_t n,
                                  double delta, const struct sotto_context *ctx)
{
    REQUIRE_GIVEN(epsilon, !n || p, !n || q);
    sotto_status status = SOTTO_OK;
    struct point *points = NULL;
    TRY(check_points(p, q, n));
    TRY(require_delta(delta));
    NEW(points, n);
    double lower = 0;
    for (int way = 0; way < 2; way++) {
        TRY(context_check(ctx, "finite: stopped"));
        for (size_t i = 0; i < n; i++)
            points[i] = way == 0 ? (struct point){p[i], q[i]} : (struct point){q[i], p[i]};
        lower = fmax(lower, lower_end(points, n, delta));
    }
    double upper = lower;
    for (double step = 0x1p-50; upper < INFINITY; step *= 2) {
        TRY(context_check(ctx, "finite: stopped"));
        if (fmax(one_way(p, q, n, upper).hi, one_way(q, p, n, upper).hi) <= delta)
            break;
        upper = lower + step * (1 + lower);
    }
    *epsilon = (struct sotto_interval){lower, upper};
done:
    base_free(points);
    return status;
}
