/* One attack: scores on both sides, one curve over everything for the area, and one curve per random half,
 * because a threshold that was picked on the records it is then scored on always looks better than it is. */
#include "attack/audit_private.h"

#include <math.h>
#include <stdio.h>

#include "rng/rng.h"

enum { ROC_POINTS = 200, BINS = 40 };

sotto_status audit_halves_make(struct audit_halves *out, size_t n_member, size_t n_nonmember, uint64_t seed)
{
    sotto_status status = SOTTO_OK;
    struct audit_halves h = {base_alloc(n_member, sizeof *h.member),
                             base_alloc(n_nonmember, sizeof *h.nonmember)};
    if (!h.member || !h.nonmember)
        FAIL(SOTTO_ENOMEM, "audit: out of memory for %zu records", n_member + n_nonmember);
    for (size_t i = 0; i < n_member; i++)
        h.member[i] = (int64_t)i;
    for (size_t i = 0; i < n_nonmember; i++)
        h.nonmember[i] = (int64_t)i;
    struct rng of_members = rng_stream(seed, RNG_BOOTSTRAP, 0, 0),
               of_nonmembers = rng_stream(seed, RNG_BOOTSTRAP, 0, 1);
    rng_shuffle(&of_members, h.member, n_member);
    rng_shuffle(&of_nonmembers, h.nonmember, n_nonmember);
    *out = h;
done:
    if (status != SOTTO_OK)
        audit_halves_clear(&h);
    return status;
}

void audit_halves_clear(struct audit_halves *h)
{
    base_free(h->member);
    base_free(h->nonmember);
    *h = (struct audit_halves){0};
}

struct json *audit_estimate(struct sotto_estimate e)
{
    struct json *j = json_make_object();
    json_put_real(&j, "estimate", e.estimate);
    json_put_real(&j, "lower", e.lower);
    json_put_real(&j, "upper", e.upper);
    return j;
}

static struct json *auc_json(const struct curve *all, double confidence)
{
    bool exact;
    struct sotto_estimate auc = curve_auc(all, confidence, &exact);
    struct json *j = audit_estimate(auc);
    json_put_text(&j, "method",
                  exact ? "Clopper-Pearson on disjoint pairs" : "DeLong, logit scale, Student's t");
    return j;
}

static void put_counts(struct json **j, const struct curve *scored)
{
    json_put_integer(j, "n_member", (int64_t)scored->n_member);
    json_put_integer(j, "n_nonmember", (int64_t)scored->n_nonmember);
}

/* "tpr_at_fpr" and the reasons for its nulls. */
static void put_low_rates(struct json **entry, const struct curve *choosing, const struct curve *scored,
                          size_t n_nonmember, const struct audit_settings *settings)
{
    struct json *rates = json_make_object(), *refused = json_make_object();
    for (size_t i = 0; i < settings->fpr_count; i++) {
        double fpr = settings->fpr[i], needed = ceil(1 / fpr - 1e-9);
        char key[32], reason[128];
        snprintf(key, sizeof key, "%.12g", fpr);
        if ((double)n_nonmember < needed) {
            snprintf(reason, sizeof reason, "needs at least %.0f non-members (%zu given)", needed,
                     n_nonmember);
            json_put(&rates, key, json_make_null());
            json_put_text(&refused, key, reason);
            continue;
        }
        double threshold = curve_threshold_at_fpr(choosing, fpr);
        struct rates r = curve_rates(scored, threshold, settings->confidence);
        struct json *j = audit_estimate(r.tpr);
        json_put_real(&j, "threshold", threshold);
        json_put_boolean(&j, "weak", (double)n_nonmember < 10 * needed);
        json_put(&j, "realised_fpr", audit_estimate(r.fpr));
        put_counts(&j, scored);
        json_put(&rates, key, j);
    }
    json_put(entry, "tpr_at_fpr", rates);
    json_put(entry, "tpr_at_fpr_refused", refused);
}

static void put_balanced(struct json **entry, const struct curve *choosing, const struct curve *scored,
                         const struct curve *all, double confidence)
{
    double threshold = curve_threshold_balanced(choosing), advantage = curve_advantage(all);
    struct sotto_estimate e = curve_balanced(scored, threshold, confidence);
    struct json *detail = audit_estimate(e);
    json_put_real(&detail, "threshold", threshold);
    put_counts(&detail, scored);
    json_put_real(&detail, "oracle", (1 + advantage) / 2);
    json_put_real(entry, "balanced_accuracy", e.estimate);
    json_put(entry, "balanced_accuracy_detail", detail);
    json_put_real(entry, "advantage", advantage);
}

static void put_epsilon(struct json **entry, const struct curve *choosing, const struct curve *scored,
                        const struct audit_settings *settings)
{
    double threshold = curve_threshold_epsilon(choosing, settings->delta, settings->confidence);
    struct rates r = curve_rates(scored, threshold, settings->confidence);
    struct json *detail = json_make_object();
    json_put_real(&detail, "threshold", threshold);
    json_put_real(&detail, "tpr", r.tpr.estimate);
    json_put_real(&detail, "tpr_lower", r.tpr.lower);
    json_put_real(&detail, "tpr_upper", r.tpr.upper);
    json_put_real(&detail, "fpr", r.fpr.estimate);
    json_put_real(&detail, "fpr_lower", r.fpr.lower);
    json_put_real(&detail, "fpr_upper", r.fpr.upper);
    json_put_real(&detail, "delta", settings->delta);
    json_put_real(&detail, "confidence", settings->confidence);
    put_counts(&detail, scored);
    json_put_text(&detail, "assumption",
                  "one trained model; its records are treated as independent trials of the mechanism");
    json_put_real(entry, "epsilon_lower_bound", rates_epsilon(&r, settings->delta));
    json_put(entry, "epsilon_detail", detail);
}

static struct json *point(double x, double y)
{
    double pair[] = {x, y};
    return json_make_reals(pair, 2);
}

static void put_roc(struct json **entry, const struct curve *c)
{
    size_t kept[ROC_POINTS], count = curve_thin(kept, ROC_POINTS - 1, c);
    struct json *roc = json_make_array();
    if (c->false_flags[kept[0]] > 0)
        json_push(&roc, point(0, 0));
    for (size_t i = 0; i < count; i++)
        json_push(&roc, point((double)c->false_flags[kept[i]] / (double)c->n_nonmember,
                              (double)c->true_flags[kept[i]] / (double)c->n_member));
    json_put(entry, "roc", roc);
}

static void put_histogram(struct json **entry, const struct curve *c)
{
    double upper = c->score[0], lower = c->score[c->points - 1], width = (upper - lower) / BINS;
    size_t member[BINS] = {0}, nonmember[BINS] = {0};
    for (size_t i = 0; i < c->points; i++) {
        double position = width > 0 ? (c->score[i] - lower) / width : 0;
        size_t bin = position < BINS ? (size_t)position : BINS - 1;
        member[bin] += c->true_flags[i] - (i ? c->true_flags[i - 1] : 0);
        nonmember[bin] += c->false_flags[i] - (i ? c->false_flags[i - 1] : 0);
    }
    struct json *j = json_make_object();
    json_put_real(&j, "lower", lower);
    json_put_real(&j, "upper", upper);
    json_put(&j, "member", json_make_counts(member, BINS));
    json_put(&j, "nonmember", json_make_counts(nonmember, BINS));
    json_put(entry, "histogram", j);
}

/* scores (n) in the halves' order. */
static sotto_status reorder(double **out, const double *scores, const int64_t *order, size_t n)
{
    sotto_status status = SOTTO_OK;
    *out = base_alloc(n, sizeof **out);
    if (!*out)
        FAIL(SOTTO_ENOMEM, "audit: out of memory for %zu scores", n);
    for (size_t i = 0; i < n; i++)
        (*out)[i] = scores[order[i]];
done:
    return status;
}

static sotto_status run_attack(double **out, const struct attack *attack, const struct audit_sides *sides)
{
    sotto_status status = SOTTO_OK;
    size_t members = sides->member.n;
    double *scores = base_alloc(sides->all.n, sizeof *scores);
    if (!scores)
        FAIL(SOTTO_ENOMEM, "audit: out of memory for %zu scores", sides->all.n);
    *out = scores;
    TRY(attack->run(scores, &sides->all));
    for (size_t i = 0; i < sides->all.n; i++)
        if (!isfinite(scores[i]))
            FAIL(SOTTO_EDOMAIN, "audit: attack '%s' has no finite score for %s row %zu", attack->name,
                 i < members ? "member" : "non-member", i < members ? i : i - members);
done:
    return status;
}

sotto_status audit_measure(struct json **out, const struct attack *attack, const struct audit_sides *sides,
                           const struct audit_halves *halves, const struct audit_settings *settings)
{
    sotto_status status = SOTTO_OK;
    size_t m = sides->member.n, n = sides->nonmember.n, m0 = m / 2, n0 = n / 2;
    double *scores = NULL, *member_halves = NULL, *nonmember_halves = NULL;
    struct curve all = {0}, choosing = {0}, scored = {0};
    TRY(run_attack(&scores, attack, sides));
    TRY(reorder(&member_halves, scores, halves->member, m));
    TRY(reorder(&nonmember_halves, scores + m, halves->nonmember, n));
    TRY(curve_make(&all, scores, m, scores + m, n));
    TRY(curve_make(&choosing, member_halves, m0, nonmember_halves, n0));
    TRY(curve_make(&scored, member_halves + m0, m - m0, nonmember_halves + n0, n - n0));

    struct json *entry = json_make_object();
    json_put_text(&entry, "name", attack->name);
    json_put_text(&entry, "title", attack->title);
    json_put_text(&entry, "source", attack->source);
    put_counts(&entry, &all);
    json_put(&entry, "auc", auc_json(&all, settings->confidence));
    put_low_rates(&entry, &choosing, &scored, n, settings);
    put_balanced(&entry, &choosing, &scored, &all, settings->confidence);
    put_epsilon(&entry, &choosing, &scored, settings);
    put_roc(&entry, &all);
    put_histogram(&entry, &all);
    if (!entry)
        FAIL(SOTTO_ENOMEM, "audit: out of memory for the results of '%s'", attack->name);
    *out = entry;
done:
    base_free(scores);
    base_free(member_halves);
    base_free(nonmember_halves);
    curve_clear(&all);
    curve_clear(&choosing);
    curve_clear(&scored);
    return status;
}
