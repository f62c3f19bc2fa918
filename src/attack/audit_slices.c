/* Who is exposed: the same attack on parts of the records, its threshold unchanged. */
#include <math.h>
#include <stdio.h>

#include "attack/audit_private.h"
#include "attack/posterior.h"

/* Records of one slice: a class, or right or wrong answers. */
struct slice {
    char name[48];
    bool by_class;
    size_t value;
};

static bool belongs(const struct slice *s, const struct attack_input *in, size_t row)
{
    if (s->by_class)
        return (size_t)in->labels[row] == s->value;
    return (posterior_argmax(in, row) == (size_t)in->labels[row]) == (s->value == 1);
}

/* Scores of the records order[first .. n) that belong to a slice. */
static size_t gather(double *out, const struct slice *s, const struct attack_input *in, const double *scores,
                     const int64_t *order, size_t first)
{
    size_t count = 0;
    for (size_t i = first; i < in->n; i++)
        if (belongs(s, in, (size_t)order[i]))
            out[count++] = scores[order[i]];
    return count;
}

struct slicer {
    const struct audit_sides *sides;
    const struct audit_halves *halves;
    const double *scores;
    double *member, *nonmember; /* room for one side each */
    double threshold, confidence;
};

static sotto_status curve_of(struct curve *c, const struct slicer *r, const struct slice *s, bool scored_half)
{
    size_t of_members = r->sides->member.n;
    size_t m = gather(r->member, s, &r->sides->member, r->scores, r->halves->member,
                      scored_half ? of_members / 2 : 0);
    size_t n = gather(r->nonmember, s, &r->sides->nonmember, r->scores + of_members, r->halves->nonmember,
                      scored_half ? r->sides->nonmember.n / 2 : 0);
    return curve_make(c, r->member, m, r->nonmember, n);
}

/* The area of all records of the slice; the flags of those that had no part in choosing the threshold.
 * Intervals hold for all slices at once: the error is shared. */
static sotto_status measure(struct json **out, const struct slicer *r, const struct slice *s)
{
    sotto_status status = SOTTO_OK;
    struct curve all = {0}, scored = {0};
    bool exact;
    struct json *j = json_make_object();
    TRY(curve_of(&all, r, s, false));
    TRY(curve_of(&scored, r, s, true));
    json_put_text(&j, "name", s->name);
    audit_put_counts(&j, &all);
    if (all.n_member < AUDIT_LEAST_PER_SLICE || all.n_nonmember < AUDIT_LEAST_PER_SLICE || !scored.n_member ||
        !scored.n_nonmember) {
        json_put(&j, "auc", json_make_null());
        json_put_text(&j, "refused", "needs at least 30 members and 30 non-members");
    } else {
        struct rates rates = curve_rates(&scored, r->threshold, r->confidence);
        json_put(&j, "auc", audit_estimate(curve_auc(&all, r->confidence, &exact)));
        json_put(&j, "tpr", audit_estimate(rates.tpr));
        json_put(&j, "fpr", audit_estimate(rates.fpr));
        json_put_integer(&j, "scored_member", (int64_t)scored.n_member);
        json_put_integer(&j, "scored_nonmember", (int64_t)scored.n_nonmember);
    }
    *out = j;
    j = NULL;
done:
    json_free(j);
    curve_clear(&all);
    curve_clear(&scored);
    return status;
}

/* The threshold that the whole audit uses for a balanced decision: chosen on the first halves. */
static sotto_status choose_threshold(struct slicer *r)
{
    size_t m = r->sides->member.n / 2, n = r->sides->nonmember.n / 2;
    struct curve c = {0};
    for (size_t i = 0; i < m; i++)
        r->member[i] = r->scores[r->halves->member[i]];
    for (size_t i = 0; i < n; i++)
        r->nonmember[i] = r->scores[r->sides->member.n + (size_t)r->halves->nonmember[i]];
    sotto_status status = curve_make(&c, r->member, m, r->nonmember, n);
    if (status == SOTTO_OK)
        r->threshold = curve_threshold_balanced(&c);
    curve_clear(&c);
    return status;
}

sotto_status audit_slices(struct json **out, const char *attack, const double *scores,
                          const struct audit_sides *sides, const struct audit_halves *halves,
                          const struct audit_settings *settings)
{
    sotto_status status = SOTTO_OK;
    size_t count = sides->all.classes + 2;
    struct json *list = json_make_array(), *doc = json_make_object(), *one;
    struct slicer r = {.sides = sides,
                       .halves = halves,
                       .scores = scores,
                       .member = base_alloc(sides->member.n, sizeof *r.member),
                       .nonmember = base_alloc(sides->nonmember.n, sizeof *r.nonmember),
                       .confidence = 1 - (1 - settings->confidence) / (double)count};
    if (!r.member || !r.nonmember)
        FAIL(SOTTO_ENOMEM, "audit: out of memory for %zu records", sides->all.n);
    TRY(choose_threshold(&r));
    for (size_t i = 0; i < count; i++) {
        struct slice s = {.by_class = i >= 2, .value = i >= 2 ? i - 2 : 1 - i};
        if (s.by_class)
            snprintf(s.name, sizeof s.name, "class %zu", s.value);
        else
            snprintf(s.name, sizeof s.name, "%s", s.value ? "answered right" : "answered wrong");
        TRY(measure(&one, &r, &s));
        json_push(&list, one);
    }
    json_put_text(&doc, "attack", attack);
    json_put_real(&doc, "threshold", r.threshold);
    json_put_real(&doc, "confidence", r.confidence);
    json_put(&doc, "rows", list);
    list = NULL;
    *out = doc;
    doc = NULL;
done:
    json_free(list);
    json_free(doc);
    base_free(r.member);
    base_free(r.nonmember);
    return status;
}
