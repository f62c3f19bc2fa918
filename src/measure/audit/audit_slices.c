/* Which records are vulnerable: the same attack on parts of the records, its threshold unchanged. */
#include "audit/audit_private.h"
#include "audit/measure/sorted.h"
#include "audit/score/posterior.h"

#include <math.h>
#include <stdio.h>

/* Records of one slice: right or wrong answers, a class, or a part of all records by their loss. */
enum kind { BY_ANSWER, BY_CLASS, BY_LOSS };
enum { ANSWERS = 2, MOST_PARTS = 10, LEAST_PARTS = 2 };
struct slice {
    char name[48];
    enum kind kind;
    size_t value;
    double above, upto; /* BY_LOSS */
};
/* One side's records, with their losses. */
struct half_of {
    const struct attack_input *in;
    const double *loss;
};

static bool audit_slices_belongs(const struct slice *s, const struct half_of *side, size_t row)
{
    const struct attack_input *in = side->in;
    switch (s->kind) {
    case BY_CLASS:
        return (size_t)in->labels[row] == s->value;
    case BY_LOSS:
        return side->loss[row] > s->above && side->loss[row] <= s->upto;
    default:
        return (posterior_argmax(in, row) == (size_t)in->labels[row]) == (s->value == 1);
    }
}

/* Scores of the records order[first .. n) that belong to a slice. */
static size_t audit_slices_gather(double *out, const struct slice *s, const struct half_of *side,
                                  const double *scores, const int64_t *order, size_t first)
{
    size_t count = 0;
    for (size_t i = first; i < side->in->n; i++)
        if (audit_slices_belongs(s, side, (size_t)order[i]))
            out[count++] = scores[order[i]];
    return count;
}

struct slicer {
    const struct audit_arrays *arrays;
    const struct audit_halves *halves;
    const double *scores;
    double *member, *nonmember; /* room for one side each */
    double *loss;               /* (all.n) */
    size_t parts;               /* by loss: ten, or fewer of 60 records a side each */
    double cut[MOST_PARTS + 1]; /* losses between them; the ends are infinite */
    double threshold, confidence;
};

static sotto_status curve_of(struct roc *c, const struct slicer *r, const struct slice *s,
                             bool evaluation_half)
{
    size_t of_members = r->arrays->member.n;
    struct half_of members = {&r->arrays->member, r->loss},
                   others = {&r->arrays->nonmember, r->loss + of_members};
    size_t m = audit_slices_gather(r->member, s, &members, r->scores, r->halves->member,
                                   evaluation_half ? of_members / 2 : 0);
    size_t n = audit_slices_gather(r->nonmember, s, &others, r->scores + of_members, r->halves->nonmember,
                                   evaluation_half ? r->arrays->nonmember.n / 2 : 0);
    return roc_make(c, r->member, m, r->nonmember, n);
}

/* The area of all records of the slice; the flags of those that had no part in choosing the threshold.
 * Intervals hold for all slices at once: the error is shared. */
static sotto_status audit_slices_measure(struct sotto_audit_slice *out, struct sotto_audit_memory **memory,
                                         const struct slicer *r, const struct slice *s)
{
    sotto_status status = SOTTO_OK;
    struct roc all = {0}, evaluation = {0};
    const struct sotto_estimate none = {NAN, NAN, NAN};
    bool exact;
    TRY(curve_of(&all, r, s, false));
    TRY(curve_of(&evaluation, r, s, true));
    *out = (struct sotto_audit_slice){.name = audit_keep_text(memory, s->name),
                                      .n_member = all.n_member,
                                      .n_nonmember = all.n_nonmember,
                                      .auc = none,
                                      .tpr = none,
                                      .fpr = none};
    if (!out->name)
        FAIL(SOTTO_ENOMEM, "audit: out of memory for '%s'", s->name);
    if (all.n_member < AUDIT_LEAST_PER_SLICE || all.n_nonmember < AUDIT_LEAST_PER_SLICE ||
        !evaluation.n_member || !evaluation.n_nonmember) {
        out->refused = "needs at least 30 members and 30 non-members";
    } else {
        struct rates rates = roc_rates(&evaluation, r->threshold, r->confidence);
        out->auc = roc_auc(&all, r->confidence, &exact);
        out->tpr = rates.tpr;
        out->fpr = rates.fpr;
        out->scored_member = evaluation.n_member;
        out->scored_nonmember = evaluation.n_nonmember;
    }
done:
    roc_clear(&all);
    roc_clear(&evaluation);
    return status;
}

/* The threshold that the whole audit uses for a balanced decision: chosen on the first halves. */
static sotto_status choose_threshold(struct slicer *r)
{
    size_t m = r->arrays->member.n / 2, n = r->arrays->nonmember.n / 2;
    struct roc c = {0};
    for (size_t i = 0; i < m; i++)
        r->member[i] = r->scores[r->halves->member[i]];
    for (size_t i = 0; i < n; i++)
        r->nonmember[i] = r->scores[r->arrays->member.n + (size_t)r->halves->nonmember[i]];
    sotto_status status = roc_make(&c, r->member, m, r->nonmember, n);
    if (status == SOTTO_OK)
        r->threshold = roc_threshold_balanced(&c);
    roc_clear(&c);
    return status;
}

/* Losses of all records, and where each part of them ends. */
static sotto_status cut_losses(struct slicer *r)
{
    sotto_status status = SOTTO_OK;
    const struct attack_input *all = &r->arrays->all;
    double *sorted = NULL;
    NEW_ROWS(sorted, all->n, 2);
    for (size_t i = 0; i < all->n; i++)
        sorted[i] = r->loss[i] = posterior_loss(all, i);
    sort_rising(sorted, all->n, sorted + all->n);
    for (size_t k = 1; k < r->parts; k++)
        r->cut[k] = sorted[k * all->n / r->parts ? k * all->n / r->parts - 1 : 0];
    r->cut[0] = -INFINITY;
    r->cut[r->parts] = INFINITY;
done:
    base_free(sorted);
    return status;
}

static struct slice slice_at(const struct slicer *r, size_t i)
{
    size_t classes = r->arrays->all.classes;
    struct slice s = {.kind = i < ANSWERS ? BY_ANSWER : i < ANSWERS + classes ? BY_CLASS : BY_LOSS};
    switch (s.kind) {
    case BY_ANSWER:
        s.value = 1 - i;
        snprintf(s.name, sizeof s.name, "%s", s.value ? "answered right" : "answered wrong");
        break;
    case BY_CLASS:
        s.value = i - ANSWERS;
        snprintf(s.name, sizeof s.name, "class %zu", s.value);
        break;
    case BY_LOSS:
        s.value = i - ANSWERS - classes;
        s.above = r->cut[s.value], s.upto = r->cut[s.value + 1];
        snprintf(s.name, sizeof s.name, "losses, part %zu of %zu%s", s.value + 1, r->parts,
                 s.value == 0              ? ": the lowest"
                 : s.value + 1 == r->parts ? ": the highest"
                                           : "");
        break;
    }
    return s;
}

sotto_status audit_slices(struct sotto_audit_result *out, const char *attack, const double *scores,
                          const struct audit_arrays *arrays, const struct audit_halves *halves,
                          const struct audit_settings *settings)
{
    sotto_status status = SOTTO_OK;
    size_t fewer = arrays->member.n < arrays->nonmember.n ? arrays->member.n : arrays->nonmember.n,
           parts = fewer / (2 * AUDIT_LEAST_PER_SLICE);
    parts = parts < LEAST_PARTS ? LEAST_PARTS : parts > MOST_PARTS ? MOST_PARTS : parts;
    size_t count = ANSWERS + arrays->all.classes + parts;
    struct sotto_audit_slices *found;
    struct slicer r = {.arrays = arrays,
                       .halves = halves,
                       .scores = scores,
                       .parts = parts,
                       .confidence = 1 - (1 - settings->confidence) / (double)count};
    NEW(r.member, arrays->member.n);
    NEW(r.nonmember, arrays->nonmember.n);
    NEW(r.loss, arrays->all.n);
    TRY(cut_losses(&r));
    TRY(choose_threshold(&r));
    TAKE(&out->memory, found, 1);
    TAKE(&out->memory, found->rows, count);
    for (size_t i = 0; i < count; i++) {
        struct slice s = slice_at(&r, i);
        TRY(audit_slices_measure(&found->rows[i], &out->memory, &r, &s));
    }
    found->attack = attack;
    found->threshold = r.threshold;
    found->confidence = r.confidence;
    found->count = count;
    out->slices = found;
done:
    base_free(r.member);
    base_free(r.nonmember);
    base_free(r.loss);
    return status;
}
