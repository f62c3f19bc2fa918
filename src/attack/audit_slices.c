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

static size_t gather(double *out, const struct slice *s, const struct attack_input *in, const double *scores)
{
    size_t n = 0;
    for (size_t i = 0; i < in->n; i++)
        if (belongs(s, in, i))
            out[n++] = scores[i];
    return n;
}

/* Intervals hold for all slices at once: the error is shared. */
static sotto_status measure(struct json **out, const struct slice *s, const double *scores, double *member,
                            double *nonmember, double threshold, const struct audit_sides *sides,
                            double confidence)
{
    sotto_status status = SOTTO_OK;
    struct curve c = {0};
    bool exact;
    size_t m = gather(member, s, &sides->member, scores),
           n = gather(nonmember, s, &sides->nonmember, scores + sides->member.n);
    struct json *j = json_make_object();
    json_put_text(&j, "name", s->name);
    json_put_integer(&j, "n_member", (int64_t)m);
    json_put_integer(&j, "n_nonmember", (int64_t)n);
    if (m < AUDIT_LEAST_PER_SLICE || n < AUDIT_LEAST_PER_SLICE) {
        json_put(&j, "auc", json_make_null());
        json_put_text(&j, "refused", "needs at least 30 members and 30 non-members");
    } else {
        TRY(curve_make(&c, member, m, nonmember, n));
        struct rates r = curve_rates(&c, threshold, confidence);
        json_put(&j, "auc", audit_estimate(curve_auc(&c, confidence, &exact)));
        json_put(&j, "tpr", audit_estimate(r.tpr));
        json_put(&j, "fpr", audit_estimate(r.fpr));
    }
    *out = j;
    j = NULL;
done:
    json_free(j);
    curve_clear(&c);
    return status;
}

/* The threshold that the whole audit uses for a balanced decision: chosen on the first halves. */
static sotto_status shared_threshold(double *out, const double *scores, double *member, double *nonmember,
                                     const struct audit_sides *sides, const struct audit_halves *halves)
{
    size_t m = sides->member.n / 2, n = sides->nonmember.n / 2;
    struct curve c = {0};
    for (size_t i = 0; i < m; i++)
        member[i] = scores[halves->member[i]];
    for (size_t i = 0; i < n; i++)
        nonmember[i] = scores[sides->member.n + (size_t)halves->nonmember[i]];
    sotto_status status = curve_make(&c, member, m, nonmember, n);
    if (status == SOTTO_OK)
        *out = curve_threshold_balanced(&c);
    curve_clear(&c);
    return status;
}

sotto_status audit_slices(struct json **out, const char *attack, const double *scores,
                          const struct audit_sides *sides, const struct audit_halves *halves,
                          const struct audit_settings *settings)
{
    sotto_status status = SOTTO_OK;
    size_t classes = sides->all.classes, count = classes + 2;
    double confidence = 1 - (1 - settings->confidence) / (double)count, threshold;
    struct json *list = json_make_array(), *doc = json_make_object(), *one;
    double *member = base_alloc(sides->member.n, sizeof *member),
           *nonmember = base_alloc(sides->nonmember.n, sizeof *nonmember);
    if (!member || !nonmember)
        FAIL(SOTTO_ENOMEM, "audit: out of memory for %zu records", sides->all.n);
    TRY(shared_threshold(&threshold, scores, member, nonmember, sides, halves));
    for (size_t i = 0; i < count; i++) {
        struct slice s = {.by_class = i >= 2, .value = i >= 2 ? i - 2 : 1 - i};
        if (s.by_class)
            snprintf(s.name, sizeof s.name, "class %zu", s.value);
        else
            snprintf(s.name, sizeof s.name, "%s", s.value ? "answered right" : "answered wrong");
        TRY(measure(&one, &s, scores, member, nonmember, threshold, sides, confidence));
        json_push(&list, one);
    }
    json_put_text(&doc, "attack", attack);
    json_put_real(&doc, "threshold", threshold);
    json_put_real(&doc, "confidence", confidence);
    json_put(&doc, "rows", list);
    list = NULL;
    *out = doc;
    doc = NULL;
done:
    json_free(list);
    json_free(doc);
    base_free(member);
    base_free(nonmember);
    return status;
}
