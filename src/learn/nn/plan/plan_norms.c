#include "nn/plan/plan_norms.h"

/* Is row i the only one that reads this one's result? */
static bool is_only_reader(const struct nn_plan *p, int row, int i)
{
    for (int j = 0; j < (int)p->row_count; j++)
        if (p->model->rows[j].residual == row || (p->model->rows[j].src == row) != (j == i))
            return false;
    for (size_t b = 0; b < p->model->block_count; b++)
        if (p->model->block_end[b] == (size_t)row + 1)
            return false;
    return !plan_ends(p, row);
}

static bool is_plain_norm(const struct nn_plan *p, int row)
{
    return (row >= (int)p->model->frozen_rows || !p->config.training) &&
           p->model->rows[row].layer == &layer_batch_norm && p->model->rows[row].noise.kind == NN_NOISE_NONE;
}

/* The row that reads row i, if that is one alone. */
static int plan_norms_reader(const struct nn_plan *p, int i)
{
    for (int j = i + 1; j < (int)p->row_count; j++)
        if (p->model->rows[j].src == i)
            return is_only_reader(p, i, j) ? j : SOURCE_NONE;
    return SOURCE_NONE;
}

/* Are sums shared too? Leaves merge theirs, and end chunks where their records end; without training there are none. */
static bool shares_sums(const struct nn_plan *p)
{
    return p->config.training && !p->config.leaves;
}

static void share_before(struct nn_plan *p, int row, int i)
{
    struct layer_run *norm = &p->runs[row];
    if (!is_plain_norm(p, row) || p->model->rows[row].residual != SOURCE_NONE ||
        p->model->rows[row].src < 0 || !is_only_reader(p, row, i))
        return;
    norm->shared.images = shares_sums(p);
    if (p->config.every_result)
        return;
    norm->shared.result = true;
    norm->shared.slopes = norm->shared.images && !norm->spec->frozen;
    p->runs[i].norm_before = norm;
}

static void share_behind(struct nn_plan *p, int row, int i)
{
    struct layer_run *norm = &p->runs[row];
    if (!is_plain_norm(p, row) || !shares_sums(p))
        return;
    norm->shared.images = true;
    if (p->config.every_result)
        return;
    norm->shared.moments = !norm->spec->frozen;
    norm->shared.gradient = true;
    p->runs[i].norm_behind = norm;
}

void plan_share_norms(struct nn_plan *p)
{
    if (p->config.views)
        return;
    for (int i = 0; i < (int)p->row_count; i++) {
        const struct layer_spec *spec = &p->model->rows[i];
        if (!spec->layer->by_rows || !spec->layer->by_rows(&p->runs[i]) ||
            spec->noise.kind != NN_NOISE_NONE || spec->relu || spec->residual != SOURCE_NONE)
            continue;
        const int behind = plan_norms_reader(p, i);
        if (spec->src >= 0)
            share_before(p, spec->src, i);
        if (behind >= 0)
            share_behind(p, behind, i);
    }
}
