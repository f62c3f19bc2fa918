/* Lower bounds on epsilon, each at one threshold that was chosen on the other half. Each is tried in both directions, as if high
 * scores were members' and as if they were non-members'; the directions share the error. */
#include "audit/audit_one_run.h"
#include "audit/audit_private.h"
#include "audit/measure/epsilon_bounds.h"
#include "audit/measure/sorted.h"

#include <math.h>

/* Of each direction, so that both together hold at `confidence`. */
static double of_direction(double confidence)
{
    return 1 - (1 - confidence) / 2;
}

/* Thresholds of the two directions, chosen on the calibration half. */
struct thresholds {
    double plain, opposite;
};

static struct thresholds choose_thresholds(const struct audit_curves *c, double delta, double confidence)
{
    const struct roc opposite = roc_swapped(&c->calibration);
    return (struct thresholds){roc_threshold_epsilon(&c->calibration, delta, confidence),
                               roc_threshold_epsilon(&opposite, delta, confidence)};
}

static double bound_at(const struct roc *evaluation, double threshold, double delta, double confidence,
                       size_t group)
{
    const struct rates r = roc_rates(evaluation, threshold, confidence);
    return group ? epsilon_of_group(&r, delta, group) : rates_epsilon(&r, delta);
}

/* The larger one of both directions; *opposite: it is the other one's. */
static double bound_of_both(bool *opposite, const struct roc *evaluation, const struct thresholds *t,
                            double delta, double confidence, size_t group)
{
    const struct roc other = roc_swapped(evaluation);
    const double each = of_direction(confidence), plain = bound_at(evaluation, t->plain, delta, each, group),
                 turned = bound_at(&other, t->opposite, delta, each, group);
    *opposite = turned > plain;
    return fmax(plain, turned);
}

static void set_epsilon(struct sotto_audit_attack *out, const struct audit_curves *c,
                        const struct thresholds *t, const struct audit_settings *settings)
{
    const size_t group = settings->group_size;
    bool opposite;
    const double bound =
        bound_of_both(&opposite, &c->evaluation, t, settings->delta, settings->confidence, group);
    const double threshold = opposite ? t->opposite : t->plain;
    const struct rates r = roc_rates(&c->evaluation, threshold, settings->confidence);
    out->epsilon = (struct sotto_audit_bound){
        .lower_bound = bound,
        .threshold = threshold,
        .delta = settings->delta,
        .confidence = settings->confidence,
        .tpr = r.tpr,
        .fpr = r.fpr,
        .n_member = c->evaluation.n_member,
        .n_nonmember = c->evaluation.n_nonmember,
        .group_size = group,
        .assumption =
            group ? "each score is one training run, and the runs are independent"
                  : "one trained model; its records are treated as independent trials of the mechanism"};
}

/* `above` counts scores over the border, `at` those on it; [1]: members. */
struct border {
    size_t above[2], at[2];
};

/* Right guesses if the k records over (and on) a border are guessed to be of `side`. Where scores tie at the border, those of
 * the other side among them are guessed first, which can only cost the attacker. */
static size_t count_right(const struct border *b, size_t k, int side)
{
    const size_t open = k - b->above[0] - b->above[1];
    return b->above[side] + (open > b->at[!side] ? open - b->at[!side] : 0);
}

/* The most member-like k scores are guessed "in", the least member-like k "out", or the other way round: *opposite, if that
 * is right more often. */
static sotto_status count_guesses(size_t *right, bool *opposite, const struct audit_scored *s, size_t k)
{
    sotto_status status = SOTTO_OK;
    const size_t m = s->n_member, n = s->n_nonmember;
    struct border high = {0}, low = {0};
    double *x = NULL;
    NEW_ROWS(x, m + n, 2);
    REQUIRE(2 * k <= m + n, "one run: 2 x %zu guesses for %zu records; expected at most one guess per record",
            k, m + n);
    for (size_t i = 0; i < m + n; i++)
        x[i] = i < m ? s->member[i] : s->nonmember[i - m];
    sort_rising(x, m + n, x + m + n);
    const double top = x[m + n - k], bottom = x[k - 1];
    for (size_t i = 0; i < m + n; i++) {
        const double v = i < m ? s->member[i] : s->nonmember[i - m];
        const int member = i < m;
        high.above[member] += v > top, high.at[member] += v == top;
        low.above[member] += v < bottom, low.at[member] += v == bottom;
    }
    const size_t plain = count_right(&high, k, 1) + count_right(&low, k, 0),
                 turned = count_right(&high, k, 0) + count_right(&low, k, 1);
    *opposite = turned > plain;
    *right = *opposite ? turned : plain;
done:
    base_free(x);
    return status;
}

static sotto_status set_one_run(struct sotto_audit_attack *out, struct sotto_audit_memory **memory,
                                const struct audit_scored *s, const struct audit_settings *settings)
{
    sotto_status status = SOTTO_OK;
    const size_t records = s->n_member + s->n_nonmember, guesses = 2 * settings->one_run_guesses;
    size_t right = 0;
    bool opposite = false;
    TRY(count_guesses(&right, &opposite, s, settings->one_run_guesses));
    TAKE(memory, out->one_run, 1);
    *out->one_run = (struct sotto_audit_one_run){
        .records = records,
        .guesses = guesses,
        .right = right,
        .delta = settings->delta,
        .confidence = settings->confidence,
        .lower_bound =
            one_run_epsilon(settings->delta, records, guesses, right, of_direction(settings->confidence)),
        .assumption = opposite ? "every record was a member by its own fair coin, and the guesses were fixed "
                                 "beforehand; right are the opposite guesses: high scores are out"
                               : "every record was a member by its own fair coin, and the guesses were fixed "
                                 "beforehand"};
done:
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
    double delta, confidence;
    struct thresholds thresholds; /* of the rates, for this delta */
};

static bool rates_apply(const struct bound_task *t)
{
    (void)t;
    return true;
}

static sotto_status rates_bound(double *out, const struct bound_task *t)
{
    bool ignored;
    *out = bound_of_both(&ignored, &t->curves->evaluation, &t->thresholds, t->delta, t->confidence,
                         t->settings->group_size);
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
    *out = one_run_epsilon(t->delta, r->records, r->guesses, r->right, of_direction(t->confidence));
    return SOTTO_OK;
}

/* TPR <= e^epsilon FPR and 1 - FPR <= e^epsilon (1 - TPR) give an odds ratio of at most e^(2 epsilon); delta > 0 breaks
 * both. */
static bool odds_apply(const struct bound_task *t)
{
    return t->settings->odds_ratio && t->delta == 0;
}

/* One end of each direction's interval is used, so that both share the error as the ends of one interval do. */
static sotto_status odds_bound(double *out, const struct bound_task *t)
{
    sotto_status status = SOTTO_OK;
    const size_t group = t->settings->group_size ? t->settings->group_size : 1;
    const struct roc calibration = roc_swapped(&t->curves->calibration),
                     evaluation = roc_swapped(&t->curves->evaluation);
    struct sotto_estimate plain, turned;
    TRY(odds_at(&plain, &t->curves->evaluation, roc_threshold_balanced(&t->curves->calibration),
                t->confidence));
    TRY(odds_at(&turned, &evaluation, roc_threshold_balanced(&calibration), t->confidence));
    const double lower =
        fmax(isfinite(plain.lower) ? plain.lower : 0, isfinite(turned.lower) ? turned.lower : 0);
    *out = fmax(0, lower / (2 * (double)group));
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
                               const struct audit_curves *c, const struct thresholds *thresholds,
                               const struct audit_settings *settings, double delta, double confidence)
{
    sotto_status status = SOTTO_OK;
    struct bound_task t = {found, c, settings, delta, confidence, *thresholds};
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
                              const struct audit_curves *c, struct thresholds t,
                              const struct audit_settings *settings)
{
    sotto_status status = SOTTO_OK;
    TAKE(memory, out->claim, 1);
    if (settings->claim_delta !=
        settings->delta) /* any of the other half is valid; the search is not cheap */
        t = choose_thresholds(c, settings->claim_delta, settings->shared_confidence);
    TRY(best_bound(&out->claim->best, out, c, &t, settings, settings->claim_delta,
                   settings->shared_confidence));
    out->claim->contradicted = out->claim->best.lower_bound > settings->claim_epsilon;
done:
    return status;
}

sotto_status audit_measure_bounds(struct sotto_audit_attack *out, struct sotto_audit_memory **memory,
                                  const struct audit_curves *c, const struct audit_scored *s,
                                  const struct audit_settings *settings)
{
    sotto_status status = SOTTO_OK;
    const struct thresholds t = choose_thresholds(c, settings->delta, settings->confidence);
    set_epsilon(out, c, &t, settings);
    if (settings->one_run_guesses) {
        TRY(set_one_run(out, memory, s, settings));
        TRY(audit_measure_one_run(out, memory, c, settings));
    }
    if (settings->odds_ratio)
        TRY(set_odds(out, memory, c, settings));
    TRY(best_bound(&out->epsilon_best, out, c, &t, settings, settings->delta, settings->confidence));
    TRY(best_bound(&out->simultaneous.epsilon, out, c, &t, settings, settings->delta,
                   settings->shared_confidence));
    if (settings->has_claim)
        TRY(set_claim(out, memory, c, t, settings));
done:
    return status;
}
