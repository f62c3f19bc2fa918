/* The strongest defence that keeps every label: all rows get the same posteriors up to which class is first,
 *
 *     1/K + gap for the predicted class, 1/K - gap / (K - 1) for every other,
 *
 * so that nothing is left but the label. MemGuard's second phase on top: with q = min(budget / |r|_1, 1) the
 * row is replaced, else shown as it is. Choquette-Choo et al. 2021, "Label-only membership inference
 * attacks", section 5. */
#include "defend/defence.h"

#include <math.h>

static const struct parameter params[] = {
    {"gap", "probability of the predicted class above 1 / classes", 1e-3, 1e-6, 0.5, false}, {0}};

struct model {
    double gap, budget;
    uint64_t key;
};

static sotto_status defence_uniform_confidence_fit(void **model, const struct defence_fit *in)
{
    struct model *m = base_alloc(1, sizeof *m);
    if (!m)
        return status_fail(SOTTO_ENOMEM, "defend: out of memory");
    *m = (struct model){in->args[0], in->budget, in->key};
    *model = m;
    return SOTTO_OK;
}

static sotto_status defence_uniform_confidence_apply(float *out, double *cost, const void *model,
                                                     const float *x, size_t n, size_t d)
{
    const struct model *m = model;
    double gap = fmin(m->gap, 1 - 1 / (double)d); /* the others stay >= 0 */
    float first = (float)(1 / (double)d + gap), other = (float)(1 / (double)d - gap / (double)(d - 1));
    for (size_t i = 0; i < n; i++, x += d, out += d) {
        size_t top = defence_top(x, d);
        for (size_t k = 0; k < d; k++)
            out[k] = k == top ? first : other;
        cost[i] = budget_mix(out, x, d, m->budget, m->key);
    }
    return SOTTO_OK;
}

static void defence_uniform_confidence_release(void *model)
{
    base_free(model);
}

const struct defence defence_uniform_confidence = {
    .name = "uniform-confidence",
    .title = "the same posterior for all answers of a class: the limit of MemGuard",
    .source = "Choquette-Choo et al. 2021",
    .unit = "expected L1 distance of a row from its posteriors, at most 2",
    .usual_budget = 2,
    .needs = DEFENCE_POSTERIORS,
    .params = params,
    .fit = defence_uniform_confidence_fit,
    .apply = defence_uniform_confidence_apply,
    .release = defence_uniform_confidence_release};
