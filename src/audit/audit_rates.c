/* Rates at low false-positive rates, and what they mean for a flagged record. */
#include "audit/audit_private.h"
#include "audit/measure/bootstrap.h"
#include "num/beta.h"

#include <math.h>
#include <stdio.h>

static const double priors[] = {0.5, 0.1, 0.01}, power = 0.8;

static double ppv(double prior, double tpr, double fpr)
{
    return prior * tpr / (prior * tpr + (1 - prior) * fpr);
}

/* Share of true members among the flagged if a fraction `prior` of all people are members; NAN where no record is
 * flagged. Each end takes one end of both intervals, which therefore spend half of the error each. */
static struct sotto_estimate ppv_at(double prior, const struct rates *r)
{
    if (!(r->tpr.estimate > 0 || r->fpr.estimate > 0))
        return (struct sotto_estimate){NAN, NAN, NAN};
    return (struct sotto_estimate){ppv(prior, r->tpr.estimate, r->fpr.estimate),
                                   ppv(prior, r->tpr.lower, r->fpr.upper),
                                   r->fpr.lower > 0 ? ppv(prior, r->tpr.upper, r->fpr.lower) : 1};
}

struct sotto_audit_flagged audit_flagged(const struct roc *evaluation, double threshold, double confidence)
{
    const struct rates r = roc_rates(evaluation, threshold, confidence),
                       wider = roc_rates(evaluation, threshold, 1 - (1 - confidence) / 2);
    struct sotto_audit_flagged out = {.threshold = threshold,
                                      .tpr = r.tpr,
                                      .fpr = r.fpr,
                                      .n_member = evaluation->n_member,
                                      .n_nonmember = evaluation->n_nonmember};
    for (size_t i = 0; i < sizeof priors / sizeof *priors; i++)
        out.ppv[i] = ppv_at(priors[i], &wider);
    return out;
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

/* The threshold chosen on all records, and again in every draw. */
static sotto_status resample(struct sotto_audit_bootstrap *out, const struct audit_curves *c, double fpr,
                             uint64_t stream, const struct audit_settings *settings)
{
    sotto_status status = SOTTO_OK;
    const struct rates r = roc_rates(&c->all, roc_threshold_at_fpr(&c->all, fpr), settings->confidence);
    TRY(bootstrap_tpr(&out->tpr, &c->all, fpr, settings->draws, settings->confidence, settings->seed, stream,
                      settings->ctx));
    out->realised_fpr = r.fpr.estimate;
    out->draws = settings->draws;
    out->n_member = c->all.n_member;
    out->n_nonmember = c->all.n_nonmember;
done:
    return status;
}

static sotto_status refuse(struct sotto_audit_rate *out, struct sotto_audit_memory **memory, double needed,
                           size_t given)
{
    char reason[128];
    snprintf(reason, sizeof reason, "needs at least %.0f non-members (%zu given)", needed, given);
    out->at.tpr.estimate = out->bootstrap.tpr.estimate = out->least_detectable = NAN;
    out->refused = audit_keep_text(memory, reason);
    return out->refused ? SOTTO_OK : status_fail(SOTTO_ENOMEM, "audit: out of memory for a rate");
}

sotto_status audit_measure_rates(struct sotto_audit_attack *out, struct sotto_audit_memory **memory,
                                 const struct audit_curves *c, size_t index,
                                 const struct audit_settings *settings)
{
    sotto_status status = SOTTO_OK;
    const size_t n = c->all.n_nonmember;
    TAKE(memory, out->rates, settings->fpr_count);
    out->rate_count = settings->fpr_count;
    for (size_t i = 0; i < settings->fpr_count; i++) {
        struct sotto_audit_rate *r = &out->rates[i];
        const double fpr = settings->fpr[i], needed = ceil(1 / fpr - 1e-9);
        r->fpr = fpr;
        if ((double)n < needed) {
            TRY(refuse(r, memory, needed, n));
            continue;
        }
        r->at =
            audit_flagged(&c->evaluation, roc_threshold_at_fpr(&c->calibration, fpr), settings->confidence);
        r->weak = (double)n < 10 * needed;
        r->least_detectable = least_detectable(fpr, c->evaluation.n_member, settings->confidence);
        TRY(resample(&r->bootstrap, c, fpr, (uint64_t)(1 + index) * 64 + i, settings));
    }
    out->at_zero =
        audit_flagged(&c->evaluation, roc_threshold_at_fpr(&c->calibration, 0), settings->confidence);
done:
    return status;
}
