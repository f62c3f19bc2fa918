/* Norm scope "leaf": which runs may have it, and what becomes of the moments of a step. */
#include "nn/plan/leaves_private.h"

#include "nn/model/epoch_moments.h"
#include "base/choice.h"

#include <string.h>

static bool of_leaf(const char *scope)
{
    return scope && strcmp(scope, "leaf") == 0;
}

const char *leaf_order_asked(const char *order, const char *scope)
{
    const bool is_auto = !order || strcmp(order, "auto") == 0;
    return is_auto && of_leaf(scope) ? "exact" : order;
}

sotto_status leaf_order_norms(struct leaf_order *o, const char *scope, size_t leaf,
                              const struct nn_model_config *model, size_t records, size_t views)
{
    sotto_status status = SOTTO_OK;
    struct nn_crossing crossing;
    if (scope && !of_leaf(scope) && strcmp(scope, "batch") != 0)
        TRY(choice_unknown(SOTTO_EINVAL, "norm_scope", scope, "batch or leaf"));
    if (!of_leaf(scope))
        goto done;
    REQUIRE(o->exact, "norm_scope leaf cannot be given with order fast; give order exact");
    TRY(nn_model_crosses(&crossing, model));
    REQUIRE(crossing.norms,
            "norm_scope leaf: the network has no batch normalisation that is trained; omit it");
    if (leaf) /* also where one thread would do it all */
        o->leaf = leaf;
    const size_t last = records - (records - 1) / o->leaf * o->leaf;
    REQUIRE(last * views > 1,
            "norm_scope leaf: a batch of %zu in leaves of %zu leaves 1 record for the last one, which has no "
            "deviation; expected at least 2: give another leaf",
            records, o->leaf);
    o->leaf_norms = true;
done:
    return status;
}

sotto_status leaves_make_moments(struct leaves *l)
{
    sotto_status status = SOTTO_OK;
    NEW_ROWS(l->moments, l->workers, l->model->statistic_count);
    for (size_t w = 0; w < l->workers; w++)
        for (size_t i = 0; i < l->plans[w]->row_count; i++) {
            l->plans[w]->runs[i].moments = l->moments + w * l->model->statistic_count;
            l->plans[w]->runs[i].statistics = l->model->statistics;
        }
done:
    return status;
}

void leaves_clear_moments(struct leaves *l)
{
    if (l->moments)
        memset(l->moments, 0, l->workers * l->model->statistic_count * sizeof *l->moments);
}

double leaves_moments_weight(const struct leaves *l, const struct leaf *leaf)
{
    return l->moments ? epoch_moments_weight(l->config.moments, l->step, leaf->count, l->config.records) : 0;
}

void leaves_keep_moments(struct leaves *l)
{
    const size_t count = l->model->statistic_count;
    for (size_t i = 0; l->moments && i < l->workers * count; i++)
        any_order_join(&l->config.moments->sums[i % count], l->moments[i]);
}
