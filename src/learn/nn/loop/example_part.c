#include "nn/loop/example_part.h"

#include "nn/model/model.h"
#include "rng/rng.h"

#include <string.h>

/* Gradients of an example's own loss: no count of other examples is in them. */
static void example_part_differentiate(const struct example_part *p, const int64_t *labels, size_t examples)
{
    const size_t values = p->views * p->classes;
    float *diff = nn_plan_diff_output(p->plan);
    const float *output = nn_plan_output(p->plan);
    for (size_t i = 0; i < examples; i++)
        loss_softmax_cross_entropy(diff + i * values, output + i * values, labels + i * p->views, p->views,
                                   p->classes);
}

sotto_status example_part_add(double *sum, size_t *below, const struct example_part *p, const int64_t *labels,
                              size_t examples, const struct nn_chains *chains, const struct nn_clip *clip,
                              uint64_t step)
{
    sotto_status status = SOTTO_OK;
    nn_plan_use(p->plan, examples);
    TRY(nn_plan_forward(p->plan, 1, 0, step));
    example_part_differentiate(p, labels, examples);
    TRY(nn_plan_clipped_sum(p->plan, sum, below, examples, chains, clip));
done:
    return status;
}

/* ---- the check ---- */

enum { MADE_UP = 2, FEW = 3, SMALL = 8 };

struct check {
    const struct example_part *part;
    size_t example, parameters;   /* floats of an example's views */
    float *values;                /* (MADE_UP, example) */
    int64_t *labels;              /* (part.size * views) */
    uint32_t *end;                /* (part.size) chains of one example */
    double *alone[MADE_UP], *sum; /* (parameters) */
    struct nn_clip clip;
};

static sotto_status open_check(struct check *c)
{
    sotto_status status = SOTTO_OK;
    const struct example_part *p = c->part;
    struct rng random = rng_stream(0, RNG_CHECK, 0, 0);
    c->example = p->views * shape_count(p->model->input);
    c->parameters = nn_model_trained_count(p->model);
    c->clip = (struct nn_clip){.kind = NN_CLIP_FLAT, .norm = 1e-6, .bound = 0x1p50 / (double)p->size};
    NEW_ROWS(c->values, MADE_UP, c->example);
    NEW(c->labels, p->size * p->views);
    NEW(c->end, p->size);
    NEW(c->sum, c->parameters);
    for (size_t r = 0; r < MADE_UP; r++)
        NEW(c->alone[r], c->parameters);
    for (size_t i = 0; i < MADE_UP * c->example; i++)
        c->values[i] = rng_unit_f(&random);
    for (size_t i = 0; i < p->size; i++)
        c->end[i] = (uint32_t)i + 1;
done:
    return status;
}

static void clear_check(struct check *c)
{
    base_free(c->values);
    base_free(c->labels);
    base_free(c->end);
    base_free(c->sum);
    for (size_t r = 0; r < MADE_UP; r++)
        base_free(c->alone[r]);
}

/* sum = what `count` examples add that are made up in turn, beginning with `first`; so are the rows behind them. */
static sotto_status add_made_up(double *sum, const struct check *c, size_t first, size_t count)
{
    const struct example_part *p = c->part;
    size_t below;
    for (size_t i = 0; i < p->size; i++) {
        const size_t r = (first + i) % MADE_UP;
        memcpy(nn_plan_input(p->plan) + i * c->example, c->values + r * c->example,
               c->example * sizeof(float));
        for (size_t v = 0; v < p->views; v++)
            c->labels[i * p->views + v] = (int64_t)(r % p->classes);
    }
    memset(sum, 0, c->parameters * sizeof *sum);
    return example_part_add(sum, &below, p, c->labels, count, &(struct nn_chains){c->end, count}, &c->clip,
                            0);
}

/* The name of a parameter by its place in a sum. */
static const char *name_of(const struct nn_model *m, size_t place)
{
    const struct tensor_list *tensors = nn_model_tensors(m);
    size_t t = 0;
    for (; t + 1 < tensors->count && place >= tensors->items[t].count; t++)
        place -= tensors->items[t].count;
    return tensors->items[t].name;
}

/* Whole numbers below 2^53: a sum is exactly that of its examples. */
static sotto_status check_count(const struct check *c, size_t count)
{
    sotto_status status = SOTTO_OK;
    const struct example_part *p = c->part;
    const double *first = c->alone[count % MADE_UP], *second = c->alone[(count + 1) % MADE_UP];
    const size_t firsts = (count + 1) / MADE_UP, seconds = count / MADE_UP;
    TRY(add_made_up(c->sum, c, count, count));
    for (size_t k = 0; k < c->parameters; k++)
        if (c->sum[k] != (double)firsts * first[k] + (double)seconds * second[k])
            FAIL(SOTTO_ENOTSUP,
                 "backend '%s' (%s): the gradient of a record depends on the records beside it (%s, %zu "
                 "records in a part of %zu), so the clipping norm would not bound what one record changes; "
                 "expected the same bits beside any records; use another backend, such as ref",
                 nn_backend_name(p->backend), nn_backend_title(p->backend), name_of(p->model, k), count,
                 p->size);
done:
    return status;
}

/* All counts of a small part; else up to FEW, then a part that lacks one example, and a full one. These two have each
 * example at each place. */
static size_t next_count(size_t count, size_t size)
{
    return size <= SMALL || count < FEW || count + 1 >= size ? count + 1 : size - 1;
}

static sotto_status check_counts(const struct check *c, const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    for (size_t r = 0; r < MADE_UP; r++)
        TRY(add_made_up(c->alone[r], c, r, 1));
    for (size_t count = 2; count <= c->part->size; count = next_count(count, c->part->size)) {
        TRY(context_check(ctx, "train: stopped before the first step"));
        TRY(check_count(c, count));
    }
done:
    return status;
}

static void example_part_hash(char out[SHA256_HEX], const struct check *c)
{
    struct sha256 h;
    sha256_init(&h);
    for (size_t r = 0; r < MADE_UP; r++)
        sha256_update(&h, c->alone[r], c->parameters * sizeof *c->alone[r]);
    sha256_hex(&h, out);
}

sotto_status example_part_check(const struct example_part *p, char kernels[SHA256_HEX],
                                const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    struct check c = {.part = p};
    struct rng random = rng_stream(0, RNG_CHECK, 0, 1);
    float *values = p->model->values, *weights = NULL;
    const size_t n = p->model->trainable;
    TRY(open_check(&c));
    NEW(weights, n);
    memcpy(weights, values, n * sizeof *weights);
    for (size_t i = 0; i < n; i++)
        values[i] += 0.1F * (rng_unit_f(&random) - 0.5F);
    status = check_counts(&c, ctx);
    if (status == SOTTO_OK && kernels)
        example_part_hash(kernels, &c);
    memcpy(values, weights, n * sizeof *weights);
done:
    clear_check(&c);
    base_free(weights);
    return status;
}
