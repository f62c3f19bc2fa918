#include "nn/plan/plan_influence.h"

#include <string.h>

/* Does another row finish what this layer begins? */
static bool is_finished_later(const struct nn_plan *p, size_t i)
{
    const struct layer *next = p->runs[i + 1].spec->layer;
    return next == &layer_batch_norm || next == &layer_group_norm;
}

static bool is_layer(const struct nn_plan *p, size_t i)
{
    const struct layer_spec *s = p->runs[i].spec;
    return s->relu || s->residual != SOURCE_NONE || s->layer == &layer_dense || s->layer == &layer_conv;
}

size_t plan_cuts(size_t rows[PLAN_CUTS], size_t layers, const struct nn_plan *p)
{
    size_t found = 0;
    int lowest = p->output_row; /* that rows from j on read */
    for (int j = p->output_row; j > (int)p->first && found < layers && found < PLAN_CUTS; j--) {
        const struct layer_spec *s = p->runs[j].spec;
        lowest = s->src < lowest ? s->src : lowest;
        lowest = s->residual != SOURCE_NONE && s->residual < lowest ? s->residual : lowest;
        if (lowest == j - 1 && is_layer(p, (size_t)j - 1) && !is_finished_later(p, (size_t)j - 1))
            rows[found++] = (size_t)j - 1;
    }
    for (size_t i = 0; i < found / 2; i++) {
        size_t other = rows[i];
        rows[i] = rows[found - 1 - i];
        rows[found - 1 - i] = other;
    }
    return found;
}

/* The later rows on what stands in `row`, and back to it. */
static sotto_status pass_top(struct nn_plan *p, size_t row, const int64_t *y, size_t rows)
{
    sotto_status status = SOTTO_OK;
    const size_t classes = shape_count(plan_output(p)->shape);
    for (size_t j = row + 1; j <= (size_t)p->output_row; j++) {
        TRY(plan_go_on(p));
        plan_forward_row(p, j);
    }
    for (size_t i = 0; i < p->config.batch * classes; i++)
        p->diff_output[i] =
            i / classes < rows ? (float)((int64_t)(i % classes) == y[i / classes]) - 1 / (float)classes : 0;
    p->pass.input_only = 1;
    for (size_t j = (size_t)p->output_row; j > row; j--) {
        TRY(plan_go_on(p));
        plan_backward_row(p, j);
    }
    TRY(plan_go_on(p));
done:
    return status;
}

sotto_status plan_influence_add(double *score, double *map, struct nn_plan *p, size_t row, const int64_t *y,
                                size_t rows, size_t steps, double weight)
{
    sotto_status status = SOTTO_OK;
    struct activation *cut = plan_activation(p, (int)row);
    const size_t values = shape_count(cut->shape);
    float *h = NULL, *at = cut->data;
    NEW(h, cut->count);
    memcpy(h, at, cut->count * sizeof *h);
    for (size_t k = 1; k <= steps; k++) {
        for (size_t i = 0; i < cut->count; i++)
            at[i] = h[i] * (float)((double)k / (double)steps);
        TRY(pass_top(p, row, y, rows));
        for (size_t i = 0; i < rows * values; i++) {
            const double part = weight / (double)steps * (double)((float *)cut->diff)[i] * (double)h[i];
            score[i / values] += part;
            if (map)
                map[i] += part;
        }
    }
    memcpy(at, h, cut->count * sizeof *h);
done:
    base_free(h);
    return status;
}
