/* The backward pass of DP-SGD. One walk backwards over the rows gives the output gradients and the norms of
 * all examples' gradients; then the clip factors are known, and every layer adds its weighted sum from what
 * it has kept (example_product.h). There is no second backward pass. */
#include "nn/plan/plan.h"

#include "par/par.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum { CHUNK = 16384 };

/* Does this row add gradients of its own? */
static int has_parameters(const struct nn_plan *p, size_t row)
{
    const struct layer_spec *spec = p->runs[row].spec;
    return row >= p->first && !spec->frozen && spec->layer->example_norms != NULL;
}

static sotto_status find_norms(struct nn_plan *p, size_t examples)
{
    sotto_status status = SOTTO_OK;
    size_t stride = plan_examples(p);
    for (size_t i = p->row_count; i-- > p->first;) {
        TRY(plan_go_on(p));
        plan_backward_row(p, i);
        if (!has_parameters(p, i))
            continue;
        const struct example_norms out = {p->square + i * stride, p->excess + i * stride};
        p->runs[i].spec->layer->example_norms(&p->runs[i], &out, examples);
    }
done:
    return status;
}

/* Upper bound on the norm of example e over rows [first, end). */
static double norm_of(const struct nn_plan *p, size_t first, size_t end, size_t e)
{
    size_t stride = plan_examples(p);
    double square = 0, excess = 0;
    for (size_t i = first; i < end; i++)
        if (has_parameters(p, i)) {
            square += p->square[i * stride + e];
            excess += p->excess[i * stride + e];
        }
    return sqrt((square < 0 ? 0 : square) + excess) * p->norm_rounding; /* NaN stays NaN */
}

/* Not finite, or so large that floats have overflowed on the way: nothing. */
static double factor_of(const struct nn_clip *clip, double share, double norm)
{
    if (!(norm <= FLT_MAX))
        return 0;
    if (clip->kind == NN_CLIP_AUTOMATIC)
        return clip->bound / (norm + clip->gamma);
    return clip->bound * share / fmax(norm, clip->norm * share);
}

static size_t find_factors(struct nn_plan *p, size_t examples, const struct nn_clip *clip)
{
    size_t stride = plan_examples(p), layers = 0, whole = 0;
    for (size_t i = 0; i < p->row_count; i++)
        layers += (size_t)has_parameters(p, i);
    for (size_t e = 0; e < examples; e++) {
        p->norm[e] = norm_of(p, 0, p->row_count, e);
        double factor = factor_of(clip, 1, p->norm[e]);
        whole += p->norm[e] <= clip->norm;
        for (size_t i = 0; i < p->row_count; i++) {
            int own = clip->kind == NN_CLIP_LAYERS && factor > 0 && has_parameters(p, i);
            p->factor[i * stride + e] =
                own ? factor_of(clip, 1 / sqrt((double)layers), norm_of(p, i, i + 1, e)) : factor;
        }
    }
    return whole;
}

void nn_plan_use(struct nn_plan *p, size_t examples)
{
    for (size_t i = 0; i < p->row_count; i++)
        if (p->runs[i].spec->layer->use)
            p->runs[i].spec->layer->use(&p->runs[i], examples * p->config.views);
}

sotto_status nn_plan_clipped_sum(struct nn_plan *p, double *sum, size_t *whole, size_t examples,
                                 const struct nn_chains *chains, const struct nn_clip *clip)
{
    sotto_status status = SOTTO_OK;
    size_t stride = plan_examples(p), outputs = shape_count(plan_activation(p, (int)p->row_count - 1)->shape),
           used = examples * p->config.views;
    memset(p->diff_output + used * outputs, 0, (p->config.batch - used) * outputs * sizeof(float));
    TRY(find_norms(p, examples));
    TRY(plan_go_on(p)); /* norms of which some are missing are no norms */
    *whole = find_factors(p, examples, clip);
    for (size_t i = 0; i < p->row_count; i++) {
        if (!has_parameters(p, i))
            continue;
        TRY(plan_go_on(p));
        p->runs[i].spec->layer->example_sum(&p->runs[i], sum, p->factor + i * stride, examples, chains);
        for (size_t k = p->model->first_parameter[i]; k < p->model->first_parameter[i + 1]; k++)
            sum += p->model->parameters[k].frozen ? 0 : p->model->parameters[k].count;
    }
    TRY(plan_go_on(p));
done:
    return status;
}

/* ---- what the optimizer follows ---- */

struct handing {
    float *grad;
    const double *sum;
    double scale;
    size_t count;
};

static sotto_status hand_chunk(void *arg, size_t chunk, int thread)
{
    (void)thread;
    const struct handing *h = arg;
    size_t first = chunk * CHUNK, end = first + CHUNK < h->count ? first + CHUNK : h->count;
    for (size_t i = first; i < end; i++)
        h->grad[i] = (float)(h->sum[i] * h->scale);
    return SOTTO_OK;
}

void nn_model_set_gradient(struct nn_model *m, const double *sum, double scale, int threads)
{
    for (size_t t = 0; t < m->tensor_list.count; t++) {
        struct handing h = {m->tensors[t].grad, sum, scale, m->tensors[t].count};
        (void)par_shares((h.count + CHUNK - 1) / CHUNK, h.count > CHUNK ? threads : 1, NULL, hand_chunk, &h);
        sum += h.count;
    }
}

const double *nn_plan_clip_factors(const struct nn_plan *p)
{
    return p->factor;
}

const double *nn_plan_example_norms(const struct nn_plan *p)
{
    return p->norm;
}
