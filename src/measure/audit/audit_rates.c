/* Rates at low false-positive rates, and what they mean for a flagged record. */
#include "audit/audit_private.h"
#include "audit/measure/bootstrap.h"
#include "audit/measure/tpr_interval.h"
#include "num/beta.h"

#include <math.h>
#include <stdio.h>

static const double priors[] = {0.5, 0.1, 0.01}, power = 0.8;

static double audit_rates_ppv(double prior, double tpr, double fpr)
{
    return prior * tpr / (prior * tpr + (1 - prior) * fpr);
}

/* Share of true members among the flagged if a fraction `prior` of all people are members; NAN where no record is
 * flagged. Each end takes one end of both intervals, which therefore spend half of the error each. */
static struct sotto_estimate ppv_at(double prior, const struct rates *r)
{
    if (!(r->tpr.estimate > 0 || r->fpr.estimate > 0))
        return (struct sotto_estimate){NAN, NAN, NAN};
    return (struct sotto_estimate){audit_rates_ppv(prior, r->tpr.estimate, r->fpr.estimate),
                                   audit_rates_ppv(prior, r->tpr.lower, r->fpr.upper),
                                   r->fpr.lower > 0 ? audit_rates_ppv(prior, r->tpr.upper, r->fpr.lower) : 1};
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

/* The percentile bootstrap covers where the threshold rests on ten non-members or more, and where enough draws lie
 * beyond the percentiles (notes/results.md); elsewhere, and where its draws all agree, the interval is one that is
 * proved. */
static bool bootstrap_holds(const struct roc *c, double fpr, size_t draws, double confidence)
{
    return (double)c->n_nonmember * fpr >= 10 * (1 - 1e-12) && (double)draws * (1 - confidence) / 2 >= 20;
}

static sotto_status explain_no_lower(struct sotto_audit_tpr *out, struct sotto_audit_memory **memory,
                                     double fpr)
{
    char text[160];
    snprintf(text, sizeof text, "too few non-members for a lower bound at this FPR: %zu given, %.0f needed",
             out->n_nonmember, tpr_ranks_least(fpr, out->confidence));
    out->no_lower = audit_keep_text(memory, text);
    return out->no_lower ? SOTTO_OK : status_fail(SOTTO_ENOMEM, "audit: out of memory for a rate");
}

static sotto_status measure_tpr(struct sotto_audit_tpr *out, struct sotto_audit_memory **memory,
                                const struct roc *c, double fpr, uint64_t stream, double confidence,
                                const struct audit_settings *settings)
{
    sotto_status status = SOTTO_OK;
    bool has_lower = true;
    *out = (struct sotto_audit_tpr){.confidence = confidence,
                                    .realised_fpr =
                                        roc_rates(c, roc_threshold_at_fpr(c, fpr), confidence).fpr.estimate,
                                    .n_member = c->n_member,
                                    .n_nonmember = c->n_nonmember};
    if (bootstrap_holds(c, fpr, settings->draws, confidence)) {
        out->method = "bootstrap";
        out->draws = settings->draws;
        TRY(bootstrap_tpr(&out->rate, c, fpr, settings->draws, confidence, settings->seed, stream,
                          settings->ctx));
    }
    if (out->rate.lower == out->rate.upper) { /* not drawn, or all draws agree, as where no member is found */
        out->method = "order statistics";
        out->draws = 0;
        out->rate = tpr_by_ranks(c, fpr, confidence, &has_lower);
    }
    if (!has_lower)
        TRY(explain_no_lower(out, memory, fpr));
done:
    return status;
}

static sotto_status audit_rates_refuse(struct sotto_audit_rate *out, struct sotto_audit_memory **memory,
                                       double needed, size_t given)
{
    char reason[128];
    snprintf(reason, sizeof reason, "needs at least %.0f non-members (%zu given)", needed, given);
    out->tpr.rate.estimate = out->simultaneous.rate.estimate = out->fixed.tpr.estimate =
        out->least_detectable = NAN;
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
            TRY(audit_rates_refuse(r, memory, needed, n));
            continue;
        }
        r->fixed =
            audit_flagged(&c->evaluation, roc_threshold_at_fpr(&c->calibration, fpr), settings->confidence);
        r->weak = (double)n < 10 * needed;
        r->least_detectable = least_detectable(fpr, c->evaluation.n_member, settings->confidence);
        const uint64_t stream = (uint64_t)(1 + index) * 64 + i;
        TRY(measure_tpr(&r->tpr, memory, &c->all, fpr, stream, settings->confidence, settings));
        r->simultaneous = r->tpr;
        if (settings->shared_confidence != settings->confidence)
            TRY(measure_tpr(&r->simultaneous, memory, &c->all, fpr, stream, settings->shared_confidence,
                            settings));
    }
    out->at_zero =
        audit_flagged(&c->evaluation, roc_threshold_at_fpr(&c->calibration, 0), settings->confidence);
done:
    return status;
}
