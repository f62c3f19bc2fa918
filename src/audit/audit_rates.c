/* Rates at low false-positive rates, and what they mean for somebody who is flagged. */
#include <math.h>
#include <stdio.h>

#include "audit/audit_private.h"
#include "audit/measure/bootstrap.h"
#include "num/beta.h"

static const double priors[] = {0.5, 0.1, 0.01}, power = 0.8;

static double ppv(double prior, double tpr, double fpr)
{
    return prior * tpr / (prior * tpr + (1 - prior) * fpr);
}

/* Share of true members among the flagged if a fraction `prior` of all people are members; null where nobody
 * is flagged. Each end takes one end of both intervals, which therefore spend half of the error each. */
struct json *audit_ppv(const struct roc *scored, double threshold, double confidence)
{
    struct rates r = curve_rates(scored, threshold, 1 - (1 - confidence) / 2);
    struct json *j = json_make_object();
    for (size_t i = 0; i < sizeof priors / sizeof *priors; i++) {
        char key[16];
        snprintf(key, sizeof key, "%g", priors[i]);
        bool nobody = !(r.tpr.estimate > 0 || r.fpr.estimate > 0);
        struct sotto_estimate e = {ppv(priors[i], r.tpr.estimate, r.fpr.estimate),
                                   ppv(priors[i], r.tpr.lower, r.fpr.upper),
                                   r.fpr.lower > 0 ? ppv(priors[i], r.tpr.upper, r.fpr.lower) : 1};
        json_put(&j, key, nobody ? json_make_null() : audit_estimate(e));
    }
    return j;
}

/* The smallest true rate whose interval, counted on n members, lies above `fpr` in four audits of five. NAN:
 * none. */
static double least_detectable(double fpr, size_t n, double confidence)
{
    double error = (1 - confidence) / 2;
    size_t low = 1, high = n + 1; /* fewest hits with a Clopper-Pearson lower end above fpr */
    while (low < high) {
        size_t k = low + (high - low) / 2;
        if (beta_cdf(fpr, (double)k, (double)(n - k) + 1).lower < error)
            high = k;
        else
            low = k + 1;
    }
    return low > n ? NAN : beta_quantile(power, (double)low, (double)(n - low) + 1);
}

static struct json *rate_json(const struct audit_curves *c, double threshold,
                              const struct audit_settings *settings)
{
    struct rates r = curve_rates(&c->scored, threshold, settings->confidence);
    struct json *j = audit_estimate(r.tpr);
    json_put_real(&j, "threshold", threshold);
    json_put(&j, "realised_fpr", audit_estimate(r.fpr));
    json_put(&j, "ppv", audit_ppv(&c->scored, threshold, settings->confidence));
    audit_encode_counts(&j, &c->scored);
    return j;
}

/* The threshold chosen on all records, and again in every draw. */
static struct json *bootstrap_json(const struct audit_curves *c, double fpr, uint64_t stream,
                                   const struct audit_settings *settings)
{
    struct sotto_estimate e;
    if (bootstrap_tpr(&e, &c->all, fpr, settings->draws, settings->confidence, settings->seed, stream) !=
        SOTTO_OK)
        return NULL;
    struct rates r = curve_rates(&c->all, curve_threshold_at_fpr(&c->all, fpr), settings->confidence);
    struct json *j = audit_estimate(e);
    json_put_real(&j, "realised_fpr", r.fpr.estimate);
    json_put_integer(&j, "draws", (int64_t)settings->draws);
    audit_encode_counts(&j, &c->all);
    return j;
}

void audit_encode_rates(struct json **entry, const struct audit_curves *c, size_t index,
                        const struct audit_settings *settings)
{
    struct json *rates = json_make_object(), *refused = json_make_object(), *resampled = json_make_object();
    size_t n = c->all.n_nonmember;
    for (size_t i = 0; i < settings->fpr_count; i++) {
        double fpr = settings->fpr[i], needed = ceil(1 / fpr - 1e-9);
        char key[32], reason[128];
        snprintf(key, sizeof key, "%.12g", fpr);
        if ((double)n < needed) {
            snprintf(reason, sizeof reason, "needs at least %.0f non-members (%zu given)", needed, n);
            json_put(&rates, key, json_make_null());
            json_put(&resampled, key, json_make_null());
            json_put_text(&refused, key, reason);
            continue;
        }
        struct json *j = rate_json(c, curve_threshold_at_fpr(&c->calibration, fpr), settings);
        json_put_boolean(&j, "weak", (double)n < 10 * needed);
        json_put(&j, "least_detectable",
                 json_make_real(least_detectable(fpr, c->scored.n_member, settings->confidence)));
        json_put(&rates, key, j);
        json_put(&resampled, key, bootstrap_json(c, fpr, (uint64_t)(1 + index) * 64 + i, settings));
    }
    json_put(entry, "tpr_at_fpr", rates);
    json_put(entry, "tpr_at_fpr_refused", refused);
    json_put(entry, "tpr_at_fpr_bootstrap", resampled);
    json_put(entry, "tpr_at_zero_false_positives",
             rate_json(c, curve_threshold_at_fpr(&c->calibration, 0), settings));
}
