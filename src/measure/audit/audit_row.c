/* Scores become the result of one attack: one curve over everything for the area, and one curve per random
 * half, because a threshold that was picked on the records it is then scored on always looks better than it
 * is. */
#include "audit/audit_private.h"

#include <math.h>

enum { ROC_POINTS = 200, BINS = 40 };

static struct sotto_audit_auc auc_of(const struct roc *all, double confidence)
{
    bool exact;
    const struct sotto_estimate area = roc_auc(all, confidence, &exact);
    return (struct sotto_audit_auc){area, exact ? "Clopper-Pearson on disjoint pairs"
                                                : "DeLong, logit scale, Student's t"};
}

static void set_balanced(struct sotto_audit_attack *out, const struct audit_curves *c, double confidence)
{
    const double threshold = roc_threshold_balanced(&c->calibration);
    out->advantage = roc_advantage(&c->all);
    out->balanced =
        (struct sotto_audit_balanced){.accuracy = roc_balanced(&c->evaluation, threshold, confidence),
                                      .threshold = threshold,
                                      .oracle = (1 + out->advantage) / 2,
                                      .n_member = c->evaluation.n_member,
                                      .n_nonmember = c->evaluation.n_nonmember};
}

/* The same intervals with this attack's share of the error. */
static void set_simultaneous(struct sotto_audit_attack *out, const struct audit_curves *c, double confidence)
{
    bool exact;
    out->simultaneous.confidence = confidence;
    out->simultaneous.auc = roc_auc(&c->all, confidence, &exact);
    out->simultaneous.balanced_accuracy = roc_balanced(&c->evaluation, out->balanced.threshold, confidence);
}

/* The attack decided by itself, from other data: all records may be scored. */
static sotto_status set_own_decision(struct sotto_audit_attack *out, struct sotto_audit_memory **memory,
                                     const struct audit_scored *s, const struct roc *all, double confidence)
{
    sotto_status status = SOTTO_OK;
    const struct rates r = roc_rates(all, s->own_threshold, confidence);
    TAKE(memory, out->decision, 1);
    *out->decision =
        (struct sotto_audit_decision){.balanced_accuracy = roc_balanced(all, s->own_threshold, confidence),
                                      .tpr = r.tpr,
                                      .fpr = r.fpr,
                                      .threshold = s->own_threshold,
                                      .from = s->threshold_of,
                                      .n_member = all->n_member,
                                      .n_nonmember = all->n_nonmember};
done:
    return status;
}

/* Row numbers of one side's `count` marked records. */
static sotto_status marked_rows(size_t **out, struct sotto_audit_memory **memory, size_t count,
                                const uint8_t *fallback, size_t n)
{
    sotto_status status = SOTTO_OK;
    size_t *rows, used = 0;
    TAKE(memory, rows, count);
    for (size_t i = 0; i < n; i++)
        if (fallback[i])
            rows[used++] = i;
    *out = rows;
done:
    return status;
}

/* How many records, and which where rows may be named, took others' statistics. */
static sotto_status set_fallback(struct sotto_audit_attack *out, struct sotto_audit_memory **memory,
                                 const struct audit_scored *s, bool include_indices)
{
    sotto_status status = SOTTO_OK;
    struct sotto_audit_fallback *f;
    TAKE(memory, f, 1);
    for (size_t i = 0; i < s->n_member + s->n_nonmember; i++)
        *(i < s->n_member ? &f->member : &f->nonmember) += s->fallback[i];
    if (include_indices && f->member + f->nonmember > 0) {
        TRY(marked_rows(&f->member_rows, memory, f->member, s->fallback, s->n_member));
        TRY(marked_rows(&f->nonmember_rows, memory, f->nonmember, s->fallback + s->n_member, s->n_nonmember));
    }
    out->fallback = f;
done:
    return status;
}

static sotto_status set_roc(struct sotto_audit_attack *out, struct sotto_audit_memory **memory,
                            const struct roc *c)
{
    sotto_status status = SOTTO_OK;
    size_t kept[ROC_POINTS], count = roc_thin(kept, ROC_POINTS - 1, c), used = 0;
    TAKE(memory, out->roc, count + 1);
    if (c->false_flags[kept[0]] > 0)
        out->roc[used++] = (struct sotto_audit_point){0, 0};
    for (size_t i = 0; i < count; i++)
        out->roc[used++] =
            (struct sotto_audit_point){(double)c->false_flags[kept[i]] / (double)c->n_nonmember,
                                       (double)c->true_positives[kept[i]] / (double)c->n_member};
    out->roc_count = used;
done:
    return status;
}

static sotto_status set_histogram(struct sotto_audit_histogram *out, struct sotto_audit_memory **memory,
                                  const struct roc *c)
{
    sotto_status status = SOTTO_OK;
    const double upper = c->score[0], lower = c->score[c->points - 1], width = (upper - lower) / BINS;
    struct sotto_audit_histogram h = {.lower = lower, .upper = upper, .bins = BINS};
    TAKE(memory, h.member, BINS);
    TAKE(memory, h.nonmember, BINS);
    for (size_t i = 0; i < c->points; i++) {
        double position = width > 0 ? (c->score[i] - lower) / width : 0;
        size_t bin = position < BINS ? (size_t)position : BINS - 1;
        h.member[bin] += c->true_positives[i] - (i ? c->true_positives[i - 1] : 0);
        h.nonmember[bin] += c->false_flags[i] - (i ? c->false_flags[i - 1] : 0);
    }
    *out = h;
done:
    return status;
}

/* scores (n) in the halves' order. */
static sotto_status audit_row_reorder(double **out, const double *scores, const int64_t *order, size_t n)
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
    TRY(audit_row_reorder(&member, s->member, halves->member, m));
    TRY(audit_row_reorder(&nonmember, s->nonmember, halves->nonmember, n));
    TRY(roc_make(&c->all, s->member, m, s->nonmember, n));
    TRY(roc_make(&c->calibration, member, m0, nonmember, n0));
    TRY(roc_make(&c->evaluation, member + m0, m - m0, nonmember + n0, n - n0));
done:
    base_free(member);
    base_free(nonmember);
    return status;
}

static sotto_status set_names(struct sotto_audit_attack *out, struct sotto_audit_memory **memory,
                              const struct audit_scored *s)
{
    out->name = audit_keep_text(memory, s->name);
    out->title = audit_keep_text(memory, s->title ? s->title : s->name);
    out->source = audit_keep_text(memory, s->source ? s->source : "caller");
    return out->name && out->title && out->source
               ? SOTTO_OK
               : status_fail(SOTTO_ENOMEM, "audit: out of memory for the results of '%s'", s->name);
}

sotto_status audit_row(struct sotto_audit_attack *out, struct sotto_audit_memory **memory,
                       const struct audit_scored *s, size_t index, const struct audit_halves *halves,
                       const struct audit_settings *settings)
{
    sotto_status status = SOTTO_OK;
    struct audit_curves c = {0};
    struct sotto_audit_attack a = {.n_member = s->n_member, .n_nonmember = s->n_nonmember};
    TRY(curves_make(&c, s, halves));
    TRY(set_names(&a, memory, s));
    a.auc = auc_of(&c.all, settings->confidence);
    TRY(audit_measure_rates(&a, memory, &c, index, settings));
    set_balanced(&a, &c, settings->confidence);
    set_simultaneous(&a, &c, settings->shared_confidence);
    if (!isnan(s->own_threshold))
        TRY(set_own_decision(&a, memory, s, &c.all, settings->confidence));
    TRY(audit_measure_bounds(&a, memory, &c, s, settings));
    if (s->fallback)
        TRY(set_fallback(&a, memory, s, settings->include_indices));
    if (s->access)
        TRY(audit_measure_generative(&a, memory, s, &c.all, settings));
    TRY(set_roc(&a, memory, &c.all));
    TRY(set_histogram(&a.histogram, memory, &c.all));
    *out = a;
done:
    roc_clear(&c.all);
    roc_clear(&c.calibration);
    roc_clear(&c.evaluation);
    return status;
}
