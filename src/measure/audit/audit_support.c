#include "audit/audit_support.h"

#include <math.h>

enum { LEAST_RUNS = 4 };

static double audit_support_overlap(const uint8_t *a, const uint8_t *b, const uint8_t *saw_a,
                                    const uint8_t *saw_b, size_t n)
{
    size_t both = 0, either = 0;
    for (size_t i = 0; i < n; i++)
        if (saw_a[i] && saw_b[i]) {
            both += a[i] && b[i];
            either += a[i] || b[i];
        }
    return either ? (double)both / (double)either : NAN;
}

sotto_status audit_support_make(struct audit_support *out, const uint8_t *flags, const uint8_t *trained,
                                size_t count, size_t n, double fpr)
{
    sotto_status status = SOTTO_OK;
    struct audit_support s = {.fpr = count ? fpr : NAN, .n = n};
    double sum = 0;
    NEW_ROWS(s.runs, n, 4);
    s.flagged = s.runs + n, s.others = s.flagged + n, s.mistaken = s.others + n;
    for (size_t k = 0; k < count; k++)
        for (size_t i = 0; i < n; i++) {
            bool saw = trained[k * n + i], flag = flags[k * n + i];
            s.runs[i] += saw;
            s.flagged[i] += saw && flag;
            s.others[i] += !saw;
            s.mistaken[i] += !saw && flag;
        }
    for (size_t a = 0; a < count; a++)
        for (size_t b = a + 1; b < count; b++) {
            double share =
                audit_support_overlap(flags + a * n, flags + b * n, trained + a * n, trained + b * n, n);
            if (isnan(share))
                continue;
            sum += share;
            s.pairs++;
        }
    s.jaccard = s.pairs ? sum / (double)s.pairs : NAN;
    *out = s;
done:
    return status;
}

void audit_support_clear(struct audit_support *s)
{
    base_free(s->runs);
    *s = (struct audit_support){.fpr = NAN};
}

struct sotto_audit_stability audit_stability(const struct audit_support *s)
{
    struct sotto_audit_stability out = {.fpr = s->fpr, .jaccard = NAN};
    if (isnan(s->fpr))
        return out;
    out.jaccard = s->jaccard;
    out.pairs = s->pairs;
    for (size_t i = 0; i < s->n; i++) {
        if (s->runs[i] < LEAST_RUNS)
            continue;
        out.judged++;
        out.steady += 5 * s->flagged[i] >= 4 * s->runs[i] && s->mistaken[i] == 0;
    }
    return out;
}
