/* Lower bounds on epsilon, each at one threshold that was chosen on the other half. */
#include <math.h>

#include "audit/audit_private.h"
#include "audit/measure/epsilon_bounds.h"
#include "audit/measure/sorted.h"

static struct json *rates_json(const struct roc *scored, double threshold, const struct rates *r,
                               double delta, double confidence)
{
    struct json *j = json_make_object();
    json_put_real(&j, "threshold", threshold);
    json_put_real(&j, "tpr", r->tpr.estimate);
    json_put_real(&j, "tpr_lower", r->tpr.lower);
    json_put_real(&j, "tpr_upper", r->tpr.upper);
    json_put_real(&j, "fpr", r->fpr.estimate);
    json_put_real(&j, "fpr_lower", r->fpr.lower);
    json_put_real(&j, "fpr_upper", r->fpr.upper);
    json_put_real(&j, "delta", delta);
    json_put_real(&j, "confidence", confidence);
    audit_encode_counts(&j, scored);
    return j;
}

static void put_epsilon(struct json **entry, const struct audit_curves *c,
                        const struct audit_settings *settings)
{
    double threshold = curve_threshold_epsilon(&c->calibration, settings->delta, settings->confidence);
    struct rates r = curve_rates(&c->scored, threshold, settings->confidence);
    struct json *detail = rates_json(&c->scored, threshold, &r, settings->delta, settings->confidence);
    size_t group = settings->group_size;
    json_put_text(&detail, "assumption",
                  group
                      ? "each score is one training run, and the runs are independent"
                      : "one trained model; its records are treated as independent trials of the mechanism");
    if (group)
        json_put_integer(&detail, "group_size", (int64_t)group);
    json_put_real(entry, "epsilon_lower_bound",
                  group ? epsilon_of_group(&r, settings->delta, group) : rates_epsilon(&r, settings->delta));
    json_put(entry, "epsilon_detail", detail);
}

/* The claim forbids TPR > e^epsilon FPR + delta (and the same with the roles of the sides exchanged) at every
 * threshold. */
static void put_claim(struct json **entry, const struct audit_curves *c,
                      const struct audit_settings *settings)
{
    double confidence = settings->claim_confidence;
    double threshold = curve_threshold_epsilon(&c->calibration, settings->claim_delta, confidence);
    struct rates r = curve_rates(&c->scored, threshold, confidence);
    double bound = settings->group_size ? epsilon_of_group(&r, settings->claim_delta, settings->group_size)
                                        : rates_epsilon(&r, settings->claim_delta);
    struct json *j = rates_json(&c->scored, threshold, &r, settings->claim_delta, confidence);
    json_put_real(&j, "epsilon_lower_bound", bound);
    json_put_boolean(&j, "contradicted", bound > settings->claim_epsilon);
    json_put(entry, "claim", j);
}

/* The most member-like k scores are guessed "in", the least member-like k "out"; where scores tie at the
 * border, the non-members among them are taken for "in" guesses and the members for "out", which can only
 * cost the attacker. */
static sotto_status put_one_run(struct json **entry, const struct audit_scored *s,
                                const struct audit_settings *settings)
{
    sotto_status status = SOTTO_OK;
    size_t m = s->n_member, n = s->n_nonmember, k = settings->one_run_guesses, right = 0;
    double *x = base_alloc(m + n, 2 * sizeof *x);
    if (!x)
        FAIL(SOTTO_ENOMEM, "one run: out of memory for %zu scores", m + n);
    REQUIRE(2 * k <= m + n, "one run: 2 x %zu guesses about %zu records", k, m + n);
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
    struct json *j = json_make_object();
    json_put_integer(&j, "records", (int64_t)(m + n));
    json_put_integer(&j, "guesses", (int64_t)(2 * k));
    json_put_integer(&j, "right", (int64_t)right);
    json_put_real(&j, "delta", settings->delta);
    json_put_real(&j, "confidence", settings->confidence);
    json_put_real(&j, "epsilon_lower_bound",
                  one_run_epsilon(settings->delta, m + n, 2 * k, right, settings->confidence));
    json_put_text(&j, "assumption",
                  "every record was a member by its own fair coin, and the guesses were fixed beforehand");
    json_put(entry, "one_run", j);
done:
    base_free(x);
    return status;
}

static sotto_status put_odds(struct json **entry, const struct audit_curves *c,
                             const struct audit_settings *settings)
{
    sotto_status status = SOTTO_OK;
    double threshold = curve_threshold_balanced(&c->calibration);
    struct rates r = curve_rates(&c->scored, threshold, settings->confidence);
    struct sotto_estimate e;
    size_t hits = (size_t)llround(r.tpr.estimate * (double)r.n_member),
           false_alarms = (size_t)llround(r.fpr.estimate * (double)r.n_nonmember);
    TRY(odds_ratio_interval(&e, hits, r.n_member, false_alarms, r.n_nonmember, settings->confidence));
    struct json *j = audit_estimate(e);
    json_put_real(&j, "threshold", threshold);
    json_put_text(&j, "of",
                  "ln of the odds ratio of true- and false-positive rate; at most L1 / scale for additive "
                  "logistic noise");
    audit_encode_counts(&j, &c->scored);
    json_put(entry, "odds_ratio", j);
done:
    return status;
}

sotto_status audit_encode_bounds(struct json **entry, const struct audit_curves *c,
                                 const struct audit_scored *s, const struct audit_settings *settings)
{
    sotto_status status = SOTTO_OK;
    put_epsilon(entry, c, settings);
    if (settings->has_claim)
        put_claim(entry, c, settings);
    if (settings->one_run_guesses)
        TRY(put_one_run(entry, s, settings));
    if (settings->odds_ratio)
        TRY(put_odds(entry, c, settings));
done:
    return status;
}
