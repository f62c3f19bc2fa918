/* RMIA's a, as its authors choose it: by attacks on reference models, whose records the attacker knows. */
#include "audit/audit_private.h"
#include "audit/audit_references.h"
#include "audit/score/posterior.h"
#include "audit/score/rmia.h"

enum { TARGETS = 2, STEPS = 10, MOST = 1 << 16 };
static const double usual = 0.3;

/* As many records of both sides as decide it, around the border between the sides. */
struct block {
    const struct reference_source *whole;
    size_t first;
};

static sotto_status read_block(const void *self, double *signals, uint8_t *trained, size_t first,
                               size_t count)
{
    const struct block *b = self;
    return b->whole->read(b->whole->self, signals, trained, b->first + first, count);
}

/* Area under the curve of RMIA with `a` against one reference model; half if it saw all records, or none. */
static sotto_status area_with(double *area, const struct reference_target *t, size_t n, double a,
                              double *split)
{
    sotto_status status = SOTTO_OK;
    struct roc c = {0};
    struct attack_input in = {.signals = t->signals, .summary = t->summary, .n = n, .target_model = t->model};
    size_t count[2] = {0, 0};
    *area = 0.5;
    for (size_t i = 0; i < n; i++)
        count[1] += t->trained[i];
    if (count[1] < 2 || n - count[1] < 2)
        goto done;
    for (size_t i = 0, member = 0; i < n; i++) {
        bool fallback;
        const size_t at = t->trained[i] ? member++ : count[1] + count[0]++;
        split[at] = rmia_gain(&fallback, &in, i, true, a);
    }
    TRY(roc_make(&c, split, count[1], split + count[1], count[0]));
    *area = roc_area(&c);
done:
    roc_clear(&c);
    return status;
}

static sotto_status mean_area(double *area, const struct reference_target *targets, size_t n, double a,
                              double *split)
{
    sotto_status status = SOTTO_OK;
    *area = 0;
    for (size_t t = 0; t < TARGETS; t++) {
        double one;
        TRY(area_with(&one, &targets[t], n, a, split));
        *area += one / TARGETS;
    }
done:
    return status;
}

sotto_status audit_tune_rmia(struct audit_arrays *s, const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    const size_t models = s->all.models, n = s->all.n < MOST ? s->all.n : MOST,
                 before = s->member.n < n / 2 ? s->member.n : s->member.n - n / 2,
                 first = n == s->all.n           ? 0
                         : before < s->all.n - n ? before
                                                 : s->all.n - n;
    const struct block block = {&s->references, first};
    const struct reference_source source = {&block, n, models, read_block};
    struct reference_target target[TARGETS] = {{.model = models / 2}, {.model = models}};
    struct reference_summary *summary = NULL;
    double *values = NULL, best;
    uint8_t *trained = NULL;
    if (!(s->have & NEED_TUNED))
        return SOTTO_OK;
    NEW_ROWS(values, n, TARGETS + 1);
    NEW_ROWS(trained, n, TARGETS);
    NEW_ROWS(summary, n, TARGETS);
    for (size_t t = 0; t < TARGETS; t++)
        target[t].signals = values + t * n, target[t].trained = trained + t * n,
        target[t].summary = summary + t * n;
    TRY(audit_references_pass(target, TARGETS, &source, ctx));
    s->all.tuned_a = usual;
    TRY(mean_area(&best, target, n, usual, values + TARGETS * n));
    for (int k = 0; k <= STEPS; k++) {
        double area;
        TRY(context_check(ctx, "audit: stopped while RMIA was tuned"));
        TRY(mean_area(&area, target, n, (double)k / STEPS, values + TARGETS * n));
        if (area > best)
            best = area, s->all.tuned_a = (double)k / STEPS;
    }
done:
    base_free(values);
    base_free(trained);
    base_free(summary);
    return status;
}
