/* A median of bounded values under pure epsilon: Cauchy noise of its smooth sensitivity, drawn exactly. The step of the
 * lattice is fixed by the range, so that nothing but the noise follows the records (docs/derivations/local.md). */
#include "dp/release/release_median.h"
#include "base/memory.h"
#include "dp/noise/cauchy.h"
#include "dp/release/release.h"
#include "dp/smooth/smooth_sensitivity.h"
#include "sotto/release.h"

#include <stdlib.h>

static const char sampler[] =
    "exact: floor of the Cauchy law on a power-of-two lattice; its scale stays secret";

/* Of beta that rounding the noise's width to whole steps may use up. */
static const double spare = 0x1p-20;
enum { STEPS = 40 /* the range is less than 2^(STEPS + 1) steps */ };

static int release_median_rising(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* x_m of the values, m = ceil(n / 2). */
static sotto_status find_median(double *out, const double *x, size_t n, double low, double high)
{
    sotto_status status = SOTTO_OK;
    double *sorted = NULL;
    NEW(sorted, n);
    for (size_t i = 0; i < n; i++)
        sorted[i] = fmin(high, fmax(low, x[i]));
    qsort(sorted, n, sizeof *sorted, release_median_rising);
    *out = sorted[(n + 1) / 2 - 1];
    base_wipe(sorted, n * sizeof *sorted);
done:
    base_free(sorted);
    return status;
}

sotto_status median_plan(struct median_plan *out, const double *x, size_t n, double low, double high,
                         double epsilon, const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    struct smooth_noise noise;
    double smooth = 0, median = 0;
    TRY(smooth_noise(&noise, (struct sotto_dp){epsilon, 0}));
    if (!(epsilon >= 0x1p-10 && epsilon <= 64))
        FAIL(SOTTO_EDOMAIN, "smooth median: epsilon %g; expected 2^-10 to 64", epsilon);
    TRY(smooth_median(&smooth, x, n, low, high, noise.beta - spare, ctx));
    TRY(find_median(&median, x, n, low, high));
    *out = (struct median_plan){.lattice.exponent = ilogb(high - low) - STEPS};
    const struct interval step = iv(ldexp(1, out->lattice.exponent));
    /* rounding to the lattice adds a step; and never so few steps that a whole one more counts */
    const double least = ldexp(1, 22) / noise.factor;
    const double steps = fmax(iv_add(iv_div(iv(smooth), step), iv(1)).hi, least);
    out->median = lattice_index(median, out->lattice);
    out->width = ceil(iv_mul(iv(noise.factor), iv(steps)).hi);
done:
    return status;
}

sotto_status sotto_dp_median(double *median, struct sotto_certificate **certificate, const double *x,
                             size_t n, double low, double high, const struct sotto_release *release,
                             const struct sotto_context *ctx)
{
    REQUIRE_GIVEN(median, certificate, !n || x, release);
    sotto_status status = SOTTO_OK;
    struct sotto_release request = *release;
    struct release_plan plan;
    struct median_plan m = {.width = 0};
    struct noise *stream = NULL;
    struct sotto_certificate *made = NULL;
    int128 k;
    request.sensitivity = (struct sotto_sensitivity){.l1 = 1, .source = SOTTO_SENSITIVITY_PROVED};
    TRY(release_plan(&plan, &request, 1, 1u << RELEASE_MEDIAN, ctx));
    TRY(median_plan(&m, x, n, low, high, iv_div(iv(1), iv(plan.account.scale)).lo, ctx));
    plan.sampler = sampler;
    plan.lattice_exponent = m.lattice.exponent;
    TRY(release_record(&stream, &made, &plan, ctx));
    TRY(cauchy_draw(&k, 1, m.width, stream));
    *median = fmin(high, fmax(low, lattice_double(2 * (m.median + k) + 1, m.lattice)));
    *certificate = made;
    made = NULL;
done:
    base_wipe(&m, sizeof m);
    noise_close(stream);
    sotto_certificate_free(made);
    return status;
}
