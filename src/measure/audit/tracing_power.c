/* What the standardised inner product can find: with v_j the variance of a person's share at locus j, its mean among
 * members is J/n above that among others, and its deviation sqrt(J (1/n + 1/n_ref)): docs/derivations/tracing.md. */
#include "base/status.h"
#include "sotto/lab/audit.h"

#include <math.h>
#include <stdbool.h>

static double upper_tail(double z)
{
    return erfc(z / sqrt(2)) / 2;
}

/* z with P(Z > z) = p. */
static double upper_quantile(double p)
{
    double low = -40, high = 40;
    for (int i = 0; i < 100; i++) {
        const double middle = (low + high) / 2;
        *(upper_tail(middle) > p ? &low : &high) = middle;
    }
    return high;
}

/* (mean v) / sqrt(mean v^2), v = p (1 - p), p uniform in (a, 1 - a): by the moments of (p - 1/2)^2. */
static double plain_factor(void)
{
    const double half = 0.45, m2 = half * half / 3, m4 = half * half * half * half / 5;
    return (0.25 - m2) / sqrt(0.0625 - m2 / 2 + m4);
}

static bool is_rate(double x)
{
    return x > 0 && x < 1;
}

static sotto_status tracing_power_check(double pool, double reference, double fpr)
{
    sotto_status status = SOTTO_OK;
    REQUIRE(pool >= 1 && isfinite(pool), "power: a pool of %g people; expected at least 1", pool);
    REQUIRE(reference == 0 || (reference >= 1 && isfinite(reference)),
            "power: %g reference people; expected at least 1, or 0 for frequencies that are known exactly",
            reference);
    REQUIRE(is_rate(fpr), "power: a false-positive rate of %g; expected a number in (0, 1)", fpr);
done:
    return status;
}

/* d' of one locus. */
static double unit_separation(double pool, double reference)
{
    return 1 / pool / sqrt(1 / pool + (reference > 0 ? 1 / reference : 0));
}

sotto_status sotto_tracing_power(struct sotto_tracing_power *out, double loci, double pool, double reference,
                                 double fpr)
{
    REQUIRE_GIVEN(out);
    sotto_status status = SOTTO_OK;
    TRY(tracing_power_check(pool, reference, fpr));
    REQUIRE(loci >= 1 && isfinite(loci), "power: %g loci; expected at least 1", loci);
    const double d = sqrt(loci) * unit_separation(pool, reference);
    *out = (struct sotto_tracing_power){.separation = d,
                                        .auc = upper_tail(-d / sqrt(2)),
                                        .tpr = upper_tail(upper_quantile(fpr) - d),
                                        .plain_auc = upper_tail(-d * plain_factor() / sqrt(2))};
done:
    return status;
}

sotto_status sotto_tracing_loci(double *loci, double pool, double reference, double fpr, double tpr)
{
    REQUIRE_GIVEN(loci);
    sotto_status status = SOTTO_OK;
    TRY(tracing_power_check(pool, reference, fpr));
    REQUIRE(is_rate(tpr) && tpr > fpr,
            "power: a true-positive rate of %g; expected a number above the false-positive rate and below 1",
            tpr);
    const double d = upper_quantile(fpr) - upper_quantile(tpr), one = unit_separation(pool, reference);
    *loci = fmax(1, ceil(d * d / (one * one)));
done:
    return status;
}
