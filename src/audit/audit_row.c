/* Scores become one entry of "attacks": one curve over everything for the area, and one curve per random
 * half, because a threshold that was picked on the records it is then scored on always looks better than it
 * is. */
#include "audit/audit_private.h"

#include <math.h>

enum { ROC_POINTS = 200, BINS = 40 };

struct json *audit_estimate(struct sotto_estimate e)
{
    struct json *j = json_make_object();
    json_put_real(&j, "estimate", e.estimate);
    json_put_real(&j, "lower", e.lower);
    json_put_real(&j, "upper", e.upper);
    return j;
}

static struct json *auc_json(const struct roc *all, double confidence)
{
    bool exact;
    struct sotto_estimate auc = curve_auc(all, confidence, &exact);
    struct json *j = audit_estimate(auc);
    json_put_text(&j, "method",
                  exact ? "Clopper-Pearson on disjoint pairs" : "DeLong, logit scale, Student's t");
    return j;
}

void audit_encode_counts(struct json **j, const struct roc *scored)
{
    json_put_integer(j, "n_member", (int64_t)scored->n_member);
    json_put_integer(j, "n_nonmember", (int64_t)scored->n_nonmember);
}

static void put_balanced(struct json **entry, const struct roc *calibration, const struct roc *scored,
                         const struct roc *all, double confidence)
{
    double threshold = curve_threshold_balanced(calibration), advantage = curve_advantage(all);
    struct sotto_estimate e = curve_balanced(scored, threshold, confidence);
    struct json *detail = audit_estimate(e);
    json_put_real(&detail, "threshold", threshold);
    audit_encode_counts(&detail, scored);
    json_put_real(&detail, "oracle", (1 + advantage) / 2);
    json_put_real(entry, "balanced_accuracy", e.estimate);
    json_put(entry, "balanced_accuracy_detail", detail);
    json_put_real(entry, "advantage", advantage);
}

/* The attack decided by itself, from other data: all records may be scored. */
static void put_own_decision(struct json **entry, const struct audit_scored *s, const struct roc *all,
                             double confidence)
{
    struct rates r = curve_rates(all, s->own_threshold, confidence);
    struct json *j = audit_estimate(curve_balanced(all, s->own_threshold, confidence));
    json_put_real(&j, "threshold", s->own_threshold);
    json_put_text(&j, "from", s->threshold_of);
    json_put(&j, "tpr", audit_estimate(r.tpr));
    json_put(&j, "fpr", audit_estimate(r.fpr));
    audit_encode_counts(&j, all);
    json_put(entry, "own_decision", j);
}

/* Row numbers of one side's marked records. */
static struct json *marked_rows(const uint8_t *fallback, size_t n)
{
    struct json *list = json_make_array();
    for (size_t i = 0; i < n; i++)
        if (fallback[i])
            json_push(&list, json_make_integer((int64_t)i));
    return list;
}

/* How many records, and which where rows may be named, took others' statistics. */
static void put_fallback(struct json **entry, const struct audit_scored *s, bool include_indices)
{
    size_t count[2] = {0, 0};
    for (size_t i = 0; i < s->n_member + s->n_nonmember; i++)
        count[i >= s->n_member] += s->fallback[i];
    struct json *j = json_make_object();
    json_put_integer(&j, "member", (int64_t)count[0]);
    json_put_integer(&j, "nonmember", (int64_t)count[1]);
    if (include_indices && count[0] + count[1] > 0) {
        json_put(&j, "member_rows", marked_rows(s->fallback, s->n_member));
        json_put(&j, "nonmember_rows", marked_rows(s->fallback + s->n_member, s->n_nonmember));
    }
    json_put(entry, "fallback", j);
}

static struct json *point(double x, double y)
{
    double pair[] = {x, y};
    return json_make_reals(pair, 2);
}

static void put_roc(struct json **entry, const struct roc *c)
{
    size_t kept[ROC_POINTS], count = curve_thin(kept, ROC_POINTS - 1, c);
    struct json *roc = json_make_array();
    if (c->false_flags[kept[0]] > 0)
        json_push(&roc, point(0, 0));
    for (size_t i = 0; i < count; i++)
        json_push(&roc, point((double)c->false_flags[kept[i]] / (double)c->n_nonmember,
                              (double)c->true_positives[kept[i]] / (double)c->n_member));
    json_put(entry, "roc", roc);
}

static void put_histogram(struct json **entry, const struct roc *c)
{
    double upper = c->score[0], lower = c->score[c->points - 1], width = (upper - lower) / BINS;
    size_t member[BINS] = {0}, nonmember[BINS] = {0};
    for (size_t i = 0; i < c->points; i++) {
        double position = width > 0 ? (c->score[i] - lower) / width : 0;
        size_t bin = position < BINS ? (size_t)position : BINS - 1;
        member[bin] += c->true_positives[i] - (i ? c->true_positives[i - 1] : 0);
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
    NEW(*out, n);
    for (size_t i = 0; i < n; i++)
        (*out)[i] = scores[order[i]];
done:
    return status;
}

static sotto_status curves_make(struct audit_curves *c, const struct audit_scored *s,
                                const struct audit_halves *halves)
{
    sotto_status status = SOTTO_OK;
    size_t m = s->n_member, n = s->n_nonmember, m0 = m / 2, n0 = n / 2;
    double *member = NULL, *nonmember = NULL;
    TRY(reorder(&member, s->member, halves->member, m));
    TRY(reorder(&nonmember, s->nonmember, halves->nonmember, n));
    TRY(curve_make(&c->all, s->member, m, s->nonmember, n));
    TRY(curve_make(&c->calibration, member, m0, nonmember, n0));
    TRY(curve_make(&c->scored, member + m0, m - m0, nonmember + n0, n - n0));
done:
    base_free(member);
    base_free(nonmember);
    return status;
}

sotto_status audit_row(struct json **out, const struct audit_scored *s, size_t index,
                       const struct audit_halves *halves, const struct audit_settings *settings)
{
    sotto_status status = SOTTO_OK;
    struct audit_curves c = {0};
    struct json *entry = json_make_object();
    TRY(curves_make(&c, s, halves));
    json_put_text(&entry, "name", s->name);
    json_put_text(&entry, "title", s->title ? s->title : s->name);
    json_put_text(&entry, "source", s->source ? s->source : "caller");
    audit_encode_counts(&entry, &c.all);
    json_put(&entry, "auc", auc_json(&c.all, settings->confidence));
    audit_encode_rates(&entry, &c, index, settings);
    put_balanced(&entry, &c.calibration, &c.scored, &c.all, settings->confidence);
    if (!isnan(s->own_threshold))
        put_own_decision(&entry, s, &c.all, settings->confidence);
    TRY(audit_encode_bounds(&entry, &c, s, settings));
    if (s->fallback)
        put_fallback(&entry, s, settings->include_indices);
    put_roc(&entry, &c.all);
    put_histogram(&entry, &c.all);
    if (!entry)
        FAIL(SOTTO_ENOMEM, "audit: out of memory for the results of '%s'", s->name);
    *out = entry;
    entry = NULL;
done:
    json_free(entry);
    curve_clear(&c.all);
    curve_clear(&c.calibration);
    curve_clear(&c.scored);
    return status;
}
