#include "audit/audit_support.h"

#include <math.h>

enum { LEAST_RUNS = 4 };

static double overlap(const uint8_t *a, const uint8_t *b, const struct attack_input *all, size_t model_a,
                      size_t model_b)
{
    size_t both = 0, either = 0;
    for (size_t i = 0; i < all->n; i++)
        if (all->trained[i * all->models + model_a] && all->trained[i * all->models + model_b]) {
            both += a[i] && b[i];
            either += a[i] || b[i];
        }
    return either ? (double)both / (double)either : NAN;
}

sotto_status audit_support_make(struct audit_support *out, const uint8_t *flags, const size_t *model,
                                size_t count, const struct attack_input *all, double fpr)
{
    sotto_status status = SOTTO_OK;
    struct audit_support s = {.fpr = count ? fpr : NAN, .n = all->n};
    double sum = 0;
    NEW_ROWS(s.runs, all->n, 4);
    s.flagged = s.runs + all->n, s.others = s.flagged + all->n, s.mistaken = s.others + all->n;
    for (size_t k = 0; k < count; k++)
        for (size_t i = 0; i < all->n; i++) {
            bool saw = all->trained[i * all->models + model[k]], flag = flags[k * all->n + i];
            s.runs[i] += saw;
            s.flagged[i] += saw && flag;
            s.others[i] += !saw;
            s.mistaken[i] += !saw && flag;
        }
    for (size_t a = 0; a < count; a++)
        for (size_t b = a + 1; b < count; b++) {
            double share = overlap(flags + a * all->n, flags + b * all->n, all, model[a], model[b]);
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
