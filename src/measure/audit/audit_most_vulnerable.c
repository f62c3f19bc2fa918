/* The members that one attack is surest of. */
#include "audit/audit_private.h"
#include "audit/score/reference.h"

#include <math.h>

struct ranked {
    double score;
    size_t row;
};

static void audit_most_vulnerable_sift(struct ranked *heap, size_t count)
{
    for (size_t i = 0;;) { /* smallest on top */
        size_t child = 2 * i + 1;
        if (child + 1 < count && heap[child + 1].score < heap[child].score)
            child++;
        if (child >= count || heap[i].score <= heap[child].score)
            return;
        struct ranked swap = heap[i];
        heap[i] = heap[child], heap[child] = swap;
        i = child;
    }
}

/* The best `wanted` members, best first. */
static size_t find_best(struct ranked *best, size_t wanted, const double *scores, size_t n)
{
    size_t count = wanted < n ? wanted : n;
    for (size_t i = 0; i < count; i++)
        best[i] = (struct ranked){-INFINITY, 0};
    for (size_t i = 0; i < n; i++)
        if (scores[i] > best[0].score) {
            best[0] = (struct ranked){scores[i], i};
            audit_most_vulnerable_sift(best, count);
        }
    for (size_t left = count; left > 1; left--) {
        struct ranked swap = best[0];
        best[0] = best[left - 1], best[left - 1] = swap;
        audit_most_vulnerable_sift(best, left - 1);
    }
    return count;
}

/* |mean IN - mean OUT| in units of the two spreads: needs no target at all. */
static double audit_most_vulnerable_separation(const struct reference_stats *stats, size_t row)
{
    const struct reference_record r = reference_record_of(stats, row);
    double in = sqrt(reference_variance(&r.in, stats->in_variance, 8)),
           out = sqrt(reference_variance(&r.out, stats->out_variance, 8));
    return fabs(r.in.mean - r.out.mean) / (in + out);
}

/* How often trainings of the reference models found the record again. */
static sotto_status audit_most_vulnerable_repeats(struct sotto_audit_refound **out,
                                                  struct sotto_audit_memory **memory,
                                                  const struct audit_support *s, size_t row)
{
    sotto_status status = SOTTO_OK;
    if (isnan(s->fpr))
        return SOTTO_OK;
    TAKE(memory, *out, 1);
    **out = (struct sotto_audit_refound){s->runs[row], s->flagged[row], s->others[row], s->mistaken[row]};
done:
    return status;
}

sotto_status audit_most_vulnerable(struct sotto_audit_result *r, const char *attack, const double *scores,
                                   const uint8_t *fallback, const struct audit_support *support,
                                   const struct audit_arrays *arrays, const struct audit_settings *settings)
{
    sotto_status status = SOTTO_OK;
    struct sotto_audit_vulnerable *found;
    struct ranked *best = NULL;
    struct reference_stats stats = {0};
    size_t m = arrays->member.n;
    NEW(best, settings->most_vulnerable);
    if ((arrays->have & (NEED_IN | NEED_OUT)) == (NEED_IN | NEED_OUT)) {
        status = reference_stats_make(&stats, &arrays->all, true);
        if (status == SOTTO_EINVAL) /* too few models: no separation is shown */
            status = SOTTO_OK;
        TRY(status);
    }
    size_t count = find_best(best, settings->most_vulnerable, scores, m);
    TAKE(&r->memory, found, 1);
    TAKE(&r->memory, found->members, count);
    for (size_t i = 0; i < count; i++) {
        struct sotto_audit_vulnerable_member *one = &found->members[i];
        for (size_t k = 0; k < arrays->nonmember.n; k++)
            one->nonmembers_as_high += scores[m + k] >= best[i].score;
        one->row = settings->include_indices ? (int64_t)best[i].row : -1;
        one->score = best[i].score;
        one->fallback = fallback[best[i].row] != 0;
        one->separation = stats.summary ? audit_most_vulnerable_separation(&stats, best[i].row) : NAN;
        TRY(audit_most_vulnerable_repeats(&one->repeats, &r->memory, support, best[i].row));
    }
    found->attack = attack;
    found->n_nonmember = arrays->nonmember.n;
    found->count = count;
    r->vulnerable = found;
done:
    reference_stats_clear(&stats);
    base_free(best);
    return status;
}
