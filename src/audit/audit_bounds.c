/* Lower bounds on epsilon, each at one threshold that was chosen on the other half. */
#include "audit/audit_one_run.h"
#include "audit/audit_private.h"
#include "audit/measure/epsilon_bounds.h"
#include "audit/measure/sorted.h"

#include <math.h>

/* The bound at `threshold`, which was not chosen on `evaluation`. */
static struct sotto_audit_bound bound_at(const struct roc *evaluation, double threshold, double delta,
                                         double confidence, size_t group)
{
    const struct rates r = roc_rates(evaluation, threshold, confidence);
    return (struct sotto_audit_bound){.lower_bound = group ? epsilon_of_group(&r, delta, group)
                                                           : rates_epsilon(&r, delta),
                                      .threshold = threshold,
                                      .delta = delta,
                                      .confidence = confidence,
                                      .tpr = r.tpr,
                                      .fpr = r.fpr,
                                      .n_member = evaluation->n_member,
                                      .n_nonmember = evaluation->n_nonmember,
                                      .group_size = group};
}

static void set_epsilon(struct sotto_audit_attack *out, const struct audit_curves *c,
                        const struct audit_settings *settings)
{
    const double threshold = roc_threshold_epsilon(&c->calibration, settings->delta, settings->confidence);
    out->epsilon =
        bound_at(&c->evaluation, threshold, settings->delta, settings->confidence, settings->group_size);
    out->epsilon.assumption =
        settings->group_size
            ? "each score is one training run, and the runs are independent"
            : "one trained model; its records are treated as independent trials of the mechanism";
}

/* The most member-like k scores are guessed "in", the least member-like k "out"; where scores tie at the
 * border, the non-members among them are taken for "in" guesses and the members for "out", which can only
 * cost the attacker. */
static sotto_status set_one_run(struct sotto_audit_attack *out, struct sotto_audit_memory **memory,
                                const struct audit_scored *s, const struct audit_settings *settings)
{
    sotto_status status = SOTTO_OK;
    size_t m = s->n_member, n = s->n_nonmember, k = settings->one_run_guesses, right = 0;
    double *x = NULL;
    NEW_ROWS(x, m + n, 2);
    REQUIRE(2 * k <= m + n, "one run: 2 x %zu guesses for %zu records; expected at most one guess per record",
            k, m + n);
    for (size_t i = 0; i < m + n; i++)
        x[i] = i < m ? s->member[i] : s->nonmember[i - m];
    sort_rising(x, m + n, x + m + n);
    double high = x[m + n - k], low = x[k - 1];
    size_t above[2] = {0, 0}, at_high[2] = {0, 0}, below[2] = {0, 0}, at_low[2] = {0, 0};
    for (size_t i = 0; i < m + n; i++) {
        double v = i < m ? s->member[i] : s->nonmember[i - m];
        size_t member = i < m;
        above[member] += v > high, at_high[member] += v == high;
        below[member] += v < low, at_low[member] += v == low;
    }
    size_t open_high = k - above[0] - above[1], open_low = k - below[0] - below[1];
    right = above[1] + (open_high > at_high[0] ? open_high - at_high[0] : 0);
    right += below[0] + (open_low > at_low[1] ? open_low - at_low[1] : 0);
    TAKE(memory, out->one_run, 1);
    *out->one_run = (struct sotto_audit_one_run){
        .records = m + n,
        .guesses = 2 * k,
        .right = right,
        .delta = settings->delta,
        .confidence = settings->confidence,
        .lower_bound = one_run_epsilon(settings->delta, m + n, 2 * k, right, settings->confidence),
        .assumption =
            "every record was a member by its own fair coin, and the guesses were fixed beforehand"};
done:
    base_free(x);
    return status;
}

static sotto_status odds_at(struct sotto_estimate *out, const struct roc *evaluation, double threshold,
                            double confidence)
{
    const struct rates r = roc_rates(evaluation, threshold, confidence);
    const size_t hits = (size_t)llround(r.tpr.estimate * (double)r.n_member),
                 false_alarms = (size_t)llround(r.fpr.estimate * (double)r.n_nonmember);
    return odds_ratio_interval(out, hits, r.n_member, false_alarms, r.n_nonmember, confidence);
}

static sotto_status set_odds(struct sotto_audit_attack *out, struct sotto_audit_memory **memory,
                             const struct audit_curves *c, const struct audit_settings *settings)
{
    sotto_status status = SOTTO_OK;
    const double threshold = roc_threshold_balanced(&c->calibration);
    struct sotto_estimate e;
    TRY(odds_at(&e, &c->evaluation, threshold, settings->confidence));
    TAKE(memory, out->odds, 1);
    *out->odds = (struct sotto_audit_odds){
        .ln_odds_ratio = e,
        .threshold = threshold,
        .of = "ln of the odds ratio of true- and false-positive rate; at most L1 / scale for additive "
              "logistic noise, at most 2 epsilon for any epsilon-DP mechanism",
        .n_member = c->evaluation.n_member,
        .n_nonmember = c->evaluation.n_nonmember};
done:
    return status;
}

/* ---- every bound on the epsilon of any (epsilon, delta)-DP mechanism ---- */

struct bound_task {
    const struct sotto_audit_attack *found;
    const struct audit_curves *curves;
    const struct audit_settings *settings;
    double delta, confidence,
        threshold; /* the last: of the rates, chosen on the calibration half for this delta */
};

static bool rates_apply(const struct bound_task *t)
{
    (void)t;
    return true;
}

static sotto_status rates_bound(double *out, const struct bound_task *t)
{
    *out = bound_at(&t->curves->evaluation, t->threshold, t->delta, t->confidence, t->settings->group_size)
               .lower_bound;
    return SOTTO_OK;
}

/* The records of one run; scores of runs (a group size) are something else. */
static bool one_run_applies(const struct bound_task *t)
{
    return t->found->one_run && !t->settings->group_size;
}

static sotto_status one_run_bound(double *out, const struct bound_task *t)
{
    const struct sotto_audit_one_run *r = t->found->one_run;
    *out = one_run_epsilon(t->delta, r->records, r->guesses, r->right, t->confidence);
    return SOTTO_OK;
}

/* TPR <= e^epsilon FPR and 1 - FPR <= e^epsilon (1 - TPR) give an odds ratio of at most e^(2 epsilon); delta > 0 breaks
 * both. */
static bool odds_apply(const struct bound_task *t)
{
    return t->settings->odds_ratio && t->delta == 0;
}

/* One end of the interval is used, so it may have all of the error. */
static sotto_status odds_bound(double *out, const struct bound_task *t)
{
    sotto_status status = SOTTO_OK;
    const size_t group = t->settings->group_size ? t->settings->group_size : 1;
    struct sotto_estimate e;
    TRY(odds_at(&e, &t->curves->evaluation, roc_threshold_balanced(&t->curves->calibration),
                2 * t->confidence - 1));
    *out = isfinite(e.lower) ? fmax(0, e.lower / (2 * (double)group)) : 0;
done:
    return status;
}

static const struct {
    const char *name;
    bool (*applies)(const struct bound_task *t);
    sotto_status (*lower)(double *out, const struct bound_task *t);
} epsilon_bounds[] = {{"Clopper-Pearson", rates_apply, rates_bound},
                      {"one run", one_run_applies, one_run_bound},
                      {"odds ratio", odds_apply, odds_bound}};
enum { BOUNDS = sizeof epsilon_bounds / sizeof *epsilon_bounds };

/* Which bounds apply does not depend on the scores, so their number may share the error. */
static sotto_status best_bound(struct sotto_audit_best *out, const struct sotto_audit_attack *found,
                               const struct audit_curves *c, const struct audit_settings *settings,
                               double delta, double confidence)
{
    sotto_status status = SOTTO_OK;
    struct bound_task t = {found, c, settings, delta, confidence, found->epsilon.threshold};
    if (delta != settings->delta) /* any threshold of the other half is valid; the search is not cheap */
        t.threshold = roc_threshold_epsilon(&c->calibration, delta, confidence);
    struct sotto_audit_best best = {.delta = delta, .confidence = confidence};
    for (size_t i = 0; i < BOUNDS; i++)
        best.bounds += epsilon_bounds[i].applies(&t);
    t.confidence = 1 - (1 - confidence) / (double)best.bounds;
    for (size_t i = 0; i < BOUNDS; i++) {
        double lower = 0;
        if (!epsilon_bounds[i].applies(&t))
            continue;
        TRY(epsilon_bounds[i].lower(&lower, &t));
        if (lower > best.lower_bound || !best.bound)
            best.lower_bound = lower, best.bound = epsilon_bounds[i].name;
    }
    *out = best;
done:
    return status;
}

static sotto_status set_claim(struct sotto_audit_attack *out, struct sotto_audit_memory **memory,
                              const struct audit_curves *c, const struct audit_settings *settings)
{
    sotto_status status = SOTTO_OK;
    TAKE(memory, out->claim, 1);
    TRY(best_bound(&out->claim->best, out, c, settings, settings->claim_delta, settings->shared_confidence));
    out->claim->contradicted = out->claim->best.lower_bound > settings->claim_epsilon;
done:
    return status;
}

sotto_status audit_measure_bounds(struct sotto_audit_attack *out, struct sotto_audit_memory **memory,
                                  const struct audit_curves *c, const struct audit_scored *s,
                                  const struct audit_settings *settings)
{
    sotto_status status = SOTTO_OK;
    set_epsilon(out, c, settings);
    if (settings->one_run_guesses) {
        TRY(set_one_run(out, memory, s, settings));
        TRY(audit_measure_one_run(out, memory, c, settings));
    }
    if (settings->odds_ratio)
        TRY(set_odds(out, memory, c, settings));
    TRY(best_bound(&out->epsilon_best, out, c, settings, settings->delta, settings->confidence));
    TRY(best_bound(&out->simultaneous.epsilon, out, c, settings, settings->delta,
                   settings->shared_confidence));
    if (settings->has_claim)
        TRY(set_claim(out, memory, c, settings));
done:
    return status;
}
