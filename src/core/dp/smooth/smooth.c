/* Smooth sensitivity and propose-test-release. Every figure is rounded to the safe side. */
#include "dp/smooth/smooth_sensitivity.h"
#include "base/memory.h"
#include "num/interval.h"

#include <stdlib.h>

static int smooth_rising(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* x_i of the sorted values, i from 1; low before the first, high after the last. */
struct values {
    double *x;
    size_t n;
    double low, high;
};

static double smooth_at(const struct values *v, int64_t i)
{
    return i < 1 ? v->low : (uint64_t)i > v->n ? v->high : v->x[i - 1];
}

/* A(k): by how much the median of a set k replacements away can change by one more; rounded up. */
static double change_within(const struct values *v, int64_t m, int64_t k)
{
    double most = 0;
    for (int64_t t = 0; t <= k + 1; t++)
        most = fmax(most, iv_sub(iv(smooth_at(v, m + t)), iv(smooth_at(v, m + t - k - 1))).hi);
    return most;
}

/* The most that e^(-beta k) times a change can still be, at this k and beyond. */
static double ceiling_at(const struct values *v, double beta, int64_t k)
{
    const struct interval decay = iv_exp(iv_neg(iv_scale(iv(beta), (double)k)));
    return iv_mul(decay, iv_sub(iv(v->high), iv(v->low))).hi;
}

sotto_status smooth_median(double *out, const double *x, size_t n, double low, double high, double beta,
                           const struct sotto_context *ctx)
{
    REQUIRE_GIVEN(out, !n || x);
    sotto_status status = SOTTO_OK;
    struct values v = {.n = n, .low = low, .high = high};
    double most = 0;
    REQUIRE(n >= 1 && n <= (size_t)1 << 40, "smooth sensitivity: %zu values; expected 1 to 2^40", n);
    REQUIRE(low < high && isfinite(high - low),
            "smooth sensitivity: range [%g, %g]; expected two numbers, the first "
            "one smaller",
            low, high);
    REQUIRE(beta > 0 && isfinite(beta), "smooth sensitivity: beta %g; expected a number above 0", beta);
    NEW(v.x, n);
    for (size_t i = 0; i < n; i++)
        v.x[i] = fmin(high, fmax(low, x[i])); /* NaN: low */
    qsort(v.x, n, sizeof *v.x, smooth_rising);
    const int64_t m = (int64_t)(n / 2 + n % 2), last = (int64_t)n;
    for (int64_t k = 0; k <= last && ceiling_at(&v, beta, k) > most; k++) {
        TRY(context_check(ctx, "smooth sensitivity: stopped at k = %lld of %zu", (long long)k, n));
        const struct interval decay = iv_exp(iv_neg(iv_scale(iv(beta), (double)k)));
        most = fmax(most, iv_mul(decay, iv(change_within(&v, m, k))).hi);
    }
    *out = most;
done:
    if (v.x)
        base_wipe(v.x, n * sizeof *v.x);
    base_free(v.x);
    return status;
}

static sotto_status check_target(struct sotto_dp target)
{
    sotto_status status = SOTTO_OK;
    REQUIRE(target.epsilon > 0 && target.epsilon <= 1e6, "epsilon must be > 0 and at most 1e6 (got %g)",
            target.epsilon);
    REQUIRE(target.delta >= 0 && target.delta < 1, "delta must lie in [0, 1) (got %g)", target.delta);
done:
    return status;
}

sotto_status smooth_noise(struct smooth_noise *out, struct sotto_dp target)
{
    REQUIRE_GIVEN(out);
    sotto_status status = SOTTO_OK;
    TRY(check_target(target));
    const struct interval e = iv(target.epsilon);
    if (target.delta > 0) {
        const struct interval log = iv_log(iv_div(iv(2), iv(target.delta)));
        *out = (struct smooth_noise){iv_div(e, iv_scale(log, 2)).lo, iv_div(iv(2), e).hi};
    } else { /* 2 sinh(e / 4) = expm1(e / 4) + 1 - e^(-e / 4) */
        const struct interval quarter = iv_scale(e, 0.25);
        const struct interval twice = iv_sub(iv_expm1(quarter), iv_expm1(iv_neg(quarter)));
        *out = (struct smooth_noise){target.epsilon / 2, iv_div(iv(1), twice).hi};
    }
done:
    return status;
}

/* P(X >= k) of discrete Laplace noise. */
static struct interval smooth_tail(double epsilon, double k)
{
    const struct interval e = iv(epsilon);
    return iv_div(iv_exp(iv_neg(iv_scale(e, k))), iv_add(iv(1), iv_exp(iv_neg(e))));
}

sotto_status propose_threshold(size_t *threshold, struct sotto_dp target)
{
    REQUIRE_GIVEN(threshold);
    sotto_status status = SOTTO_OK;
    TRY(check_target(target));
    REQUIRE(target.delta > 0, "propose-test-release needs delta > 0: a wrong test is never impossible");
    REQUIRE(target.epsilon >= 1e-9, "propose-test-release: epsilon %g; expected at least 1e-9",
            target.epsilon);
    double k = fmax(0, floor((-log(target.delta) - log1p(exp(-target.epsilon))) / target.epsilon) - 2);
    while (smooth_tail(target.epsilon, k).hi > target.delta)
        k++;
    *threshold = (size_t)k;
done:
    return status;
}

sotto_status most_frequent(size_t *label, size_t *distance, const size_t *counts, size_t classes)
{
    REQUIRE_GIVEN(label, distance, !classes || counts);
    sotto_status status = SOTTO_OK;
    REQUIRE(classes >= 2, "most frequent label: %zu classes; expected at least 2", classes);
    size_t first = 0, second = SIZE_MAX;
    for (size_t k = 1; k < classes; k++)
        if (counts[k] > counts[first])
            second = first, first = k;
        else if (second == SIZE_MAX || counts[k] > counts[second])
            second = k;
    const size_t lead = counts[first] - counts[second], half = lead / 2 + lead % 2;
    *label = first;
    *distance = half > 0 ? half - 1 : 0;
done:
    return status;
}
