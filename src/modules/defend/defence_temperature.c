/* Posteriors at a higher temperature, p_k^(1 / T) / sum. The order of the classes stays, and with
 * it all that the order tells; a monotone map of one number hides nothing from a threshold on it that was
 * fixed afterwards. Here as the baseline that a defence must beat. Within a budget as MemGuard's second
 * phase: with probability min(budget / |r|_1, 1) the row is changed, else shown as it is. */
#include "defend/defence.h"

#include <math.h>
#include <string.h>

static const struct parameter params[] = {
    {"temperature", "temperature; 1: no change, higher: flatter posteriors", 4, 1, 1e6, false}, {0}};

struct model {
    double temperature, budget;
    uint64_t key;
};

static sotto_status defence_temperature_fit(void **model, const struct defence_fit *in)
{
    struct model *m = base_alloc(1, sizeof *m);
    if (!m)
        return status_fail(SOTTO_ENOMEM, "defend: out of memory");
    *m = (struct model){in->args[0], in->budget, in->key};
    *model = m;
    return SOTTO_OK;
}

/* In log space, shifted by the largest, so that small posteriors survive. */
static void defence_temperature_flatten(float *out, const float *p, size_t d, double temperature)
{
    double top = log((double)p[defence_top(p, d)]), sum = 0;
    for (size_t k = 0; k < d; k++)
        sum += p[k] > 0 ? exp((log((double)p[k]) - top) / temperature) : 0;
    for (size_t k = 0; k < d; k++)
        out[k] = p[k] > 0 ? (float)(exp((log((double)p[k]) - top) / temperature) / sum) : 0;
}

static sotto_status defence_temperature_apply(float *out, double *cost, const void *model, const float *x,
                                              size_t n, size_t d)
{
    const struct model *m = model;
    for (size_t i = 0; i < n; i++, x += d, out += d) {
        defence_temperature_flatten(out, x, d, m->temperature);
        if (defence_top(out, d) != defence_top(x, d)) /* two that became equal in single precision */
            memcpy(out, x, d * sizeof *out);
        cost[i] = budget_mix(out, x, d, m->budget, m->key);
    }
    return SOTTO_OK;
}

static void defence_temperature_release(void *model)
{
    base_free(model);
}

const struct defence defence_temperature = {
    .name = "temperature",
    .old_name = "smoothing",
    .title = "posteriors at a higher temperature: a baseline for other defences",
    .source = "Shokri et al. 2017, section VIII",
    .unit = "expected L1 distance of a row from its posteriors, at most 2",
    .usual_budget = 2,
    .needs = DEFENCE_POSTERIORS,
    .params = params,
    .fit = defence_temperature_fit,
    .apply = defence_temperature_apply,
    .release = defence_temperature_release};
