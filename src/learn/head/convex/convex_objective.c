/* The objective J(W) = mean cross-entropy + lambda / 2 |W|^2 of the records of a run, and its gradient. What
 * the proof needs from this file (docs/derivations/head.md): clipping here and nowhere else, all sums in
 * double. */
#include "head/convex/head_convex.h"

#include <string.h>

/* Called twice: to measure, then to place. */
static void convex_objective_layout(struct head_convex *c)
{
    struct arena *a = &c->memory;
    size_t batches = (c->data->n + c->batch - 1) / c->batch, d = c->shape.inputs;
    size_t lanes = batches * c->batch_blocks * CONVEX_BLOCK;
    c->x = arena_take(a, lanes, d * sizeof *c->x);
    c->y = arena_take(a, lanes, sizeof *c->y);
    if (c->recipe->epochs)
        c->order = arena_take(a, c->data->n, sizeof *c->order);
    c->scratch.x = arena_take(a, (d + 1) * CONVEX_BLOCK, sizeof *c->scratch.x);
    c->scratch.p = arena_take(a, c->shape.classes * CONVEX_BLOCK, sizeof *c->scratch.p);
    c->scratch.sums = arena_take(a, c->entries * CONVEX_LANES, sizeof *c->scratch.sums);
    c->w = arena_take(a, c->entries, sizeof *c->w);
    c->gradient = arena_take(a, c->entries, sizeof *c->gradient);
    if (c->recipe->tolerance == 0)
        return;
    c->lbfgs = arena_take(a, lbfgs_room(1), c->entries * sizeof *c->lbfgs);
}

sotto_status head_convex_plan(struct head_convex *c, const struct head_data *data,
                              const struct sotto_head_recipe *recipe)
{
    sotto_status status = SOTTO_OK;
    size_t ignored, padded;
    *c = (struct head_convex){.recipe = recipe, .data = data};
    c->shape = (struct convex_shape){data->d, data->classes, recipe->bias};
    c->kernels = convex_kernels_find();
    c->batch = recipe->epochs ? convex_batch(recipe, data->n) : data->n;
    c->batch_blocks = (c->batch + CONVEX_BLOCK - 1) / CONVEX_BLOCK;
    size_t batches = (data->n + c->batch - 1) / c->batch;
    REQUIRE(size_multiply(&padded, batches, c->batch_blocks * CONVEX_BLOCK) &&
                size_multiply(&ignored, padded, data->d * sizeof(float)) &&
                size_multiply(&c->entries, data->d + 1, data->classes) &&
                size_multiply(&ignored, c->entries, CONVEX_LANES * LBFGS_MEMORY * sizeof(double)) &&
                size_multiply(&ignored, c->entries, padded),
            "head: %zu records of %zu x %zu; their size does not fit in memory", data->n, data->classes,
            data->d);
    convex_objective_layout(c);
    TRY(arena_reserve(&c->memory, "convex trainer"));
    convex_objective_layout(c);
done:
    return status;
}

void head_convex_clear(struct head_convex *c)
{
    arena_clear(&c->memory);
}

static size_t blocks_of(size_t records)
{
    return (records + CONVEX_BLOCK - 1) / CONVEX_BLOCK;
}

static size_t batch_records(const struct head_convex *c, size_t batch)
{
    size_t left = c->records - batch * c->batch;
    return left < c->batch ? left : c->batch;
}

/* Position of record r of a batch: a lane of all lanes, and its first input. */
static size_t lane_of(const struct head_convex *c, size_t batch, size_t r)
{
    return batch * c->batch_blocks * CONVEX_BLOCK + r;
}

static float *lane_x(const struct head_convex *c, size_t lane)
{
    return c->x + lane / CONVEX_BLOCK * c->shape.inputs * CONVEX_BLOCK + lane % CONVEX_BLOCK;
}

static void convex_objective_append(struct head_convex *c, size_t record)
{
    size_t d = c->shape.inputs, lane = lane_of(c, c->records / c->batch, c->records % c->batch);
    float *x = lane_x(c, lane), *row = (float *)c->scratch.x;
    if (c->data->y[record] == HEAD_NOTHING) /* a lane without a record, but counted */
        memset(row, 0, d * sizeof *row);
    else
        head_record_clip(row, c->data->x + record * d, d, c->recipe->clip);
    for (size_t i = 0; i < d; i++)
        x[i * CONVEX_BLOCK] = row[i];
    c->y[lane] = (int32_t)c->data->y[record];
    c->records++;
}

/* Lanes behind the last record of each batch. */
static void convex_objective_pad(struct head_convex *c)
{
    for (size_t batch = 0; batch * c->batch < c->records; batch++) {
        size_t used = batch_records(c, batch), end = blocks_of(used) * CONVEX_BLOCK;
        for (size_t r = used; r < end; r++) {
            size_t lane = lane_of(c, batch, r);
            for (size_t i = 0; i < c->shape.inputs; i++)
                lane_x(c, lane)[i * CONVEX_BLOCK] = 0;
            c->y[lane] = -1;
        }
    }
}

/* Whether to go on with a pass over the records; what was stopped once stays stopped. */
static bool go_on(struct head_convex *c)
{
    c->stopped = c->stopped || context_stopped(c->ctx);
    return !c->stopped;
}

void convex_gather(struct head_convex *c, const struct head_slots *slots, const struct head_subset *subset)
{
    bool all = !subset || !subset->member;
    c->records = 0;
    if (c->order) /* once for all epochs: the proof needs the same batches in every epoch */
        head_order(c->order, c->data->n, c->recipe->seed, 0);
    for (size_t s = 0; s < c->data->n; s++) {
        if (s % CONVEX_BLOCK == 0 && !go_on(c))
            break;
        size_t i = c->order ? (size_t)c->order[s] : s;
        if (slots && i == slots->replacement_slot)
            convex_objective_append(c, slots->replacement);
        else if ((!slots || i != slots->left_out) && (all || subset->member[i * subset->stride]))
            convex_objective_append(c, i);
    }
    convex_objective_pad(c);
}

/* gradient = the sum over `blocks` blocks from a lane on. Returns the summed loss when `loss`, else 0. */
static double add_blocks(struct head_convex *c, double *gradient, const double *w, size_t lane, size_t blocks,
                         int loss)
{
    double sum = 0;
    memset(c->scratch.sums, 0, c->entries * CONVEX_LANES * sizeof *c->scratch.sums);
    for (size_t b = 0; b < blocks && go_on(c); b++, lane += CONVEX_BLOCK)
        sum += c->kernels->add(&c->shape, &c->scratch, w, lane_x(c, lane), c->y + lane, loss);
    c->kernels->finish(gradient, &c->shape, &c->scratch);
    return sum;
}

void convex_objective(struct head_convex *c, const double *w, double *gradient, double *value)
{
    double share = 1 / (double)c->records, lambda = c->recipe->lambda, square = 0;
    double loss = add_blocks(c, gradient, w, 0, blocks_of(c->records), value != NULL);
    for (size_t e = 0; e < c->entries; e++) {
        gradient[e] = gradient[e] * share + lambda * w[e];
        square += w[e] * w[e];
    }
    if (value)
        *value = loss * share + 0.5 * lambda * square;
}

void convex_batch_gradient(struct head_convex *c, size_t batch, const double *w, double *gradient)
{
    double share = 1 / (double)convex_batch(c->recipe, c->records), lambda = c->recipe->lambda;
    add_blocks(c, gradient, w, lane_of(c, batch, 0), blocks_of(batch_records(c, batch)), 0);
    for (size_t e = 0; e < c->entries; e++)
        gradient[e] = gradient[e] * share + lambda * w[e];
}
