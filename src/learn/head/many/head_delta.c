/* The reference: one linear head on all records, every step of it written down; and the records in whole
 * units of their largest input. */
#include "head/many/head_delta.h"

#include "head/train/head_plain.h"

#include <math.h>
#include <string.h>

ISA_TABLE_BF16(const struct delta_kernels, delta_kernels, delta_kernels_find);

static void sizes(struct head_reference *r, const struct head_data *data,
                  const struct sotto_head_recipe *recipe)
{
    r->n = data->n;
    r->d = data->d;
    r->others = data->classes - 1;
    r->batch = recipe->batch < data->n ? recipe->batch : data->n;
    r->steps = (data->n + r->batch - 1) / r->batch;
    r->pairs = (data->d + 1) / 2;
}

bool head_reference_fits(const struct head_data *data, const struct sotto_head_recipe *recipe)
{
    enum { TERMS = 1 << 16, MOST = 1 << 28 }; /* bytes */
    struct head_reference r = {0};
    if (data->classes < 2 || data->n == 0 || data->d > TERMS || recipe->batch > TERMS)
        return false;
    sizes(&r, data, recipe);
    double values = (double)recipe->epochs * (double)r.others *
                    (2 * (double)r.steps * ((double)r.d + 1) + 2 * (double)r.n);
    return 4 * values + 4 * (double)r.n * (double)r.pairs <= MOST;
}

static void round_inputs(struct head_reference *r, const float *x)
{
    for (size_t i = 0; i < r->n * r->d; i++)
        r->unit[i % r->d] = fmaxf(r->unit[i % r->d], fabsf(x[i]));
    for (size_t j = 0; j < r->d; j++)
        r->unit[j] /= NEAR_INPUT;
    for (size_t i = 0; i < r->n; i++)
        for (size_t j = 0; j < r->d; j++) {
            float whole = r->unit[j] > 0 ? rintf(x[i * r->d + j] / r->unit[j]) : 0;
            r->x[i * r->pairs + j / 2] |= (delta_pair)(uint16_t)(int16_t)whole << j % 2 * 16;
        }
}

/* What a reference needs while it trains. */
struct reference_trainer {
    struct arena memory;
    struct head_layer layer;
    float *tile, *x;
    int64_t *y, *order;
};

/* Called twice: to measure, then to place. */
static void layout(struct reference_trainer *t, const struct head_reference *r, int adam)
{
    struct arena *a = &t->memory;
    struct head_layer *l = &t->layer;
    size_t weights = (l->in + 1) * l->ld;
    l->w = arena_take(a, weights, sizeof *l->w);
    l->mean = adam ? arena_take(a, weights, sizeof *l->mean) : NULL;
    l->square = adam ? arena_take(a, weights, sizeof *l->square) : NULL;
    l->value = arena_take(a, r->batch * l->ld, sizeof *l->value);
    l->diff = arena_take(a, r->batch * l->ld, sizeof *l->diff);
    t->tile = arena_take(a, HEAD_TILE_ROWS * l->ld, sizeof *t->tile);
    t->x = arena_take(a, r->batch * r->d, sizeof *t->x);
    t->y = arena_take(a, r->batch, sizeof *t->y);
    t->order = arena_take(a, r->n, sizeof *t->order);
}

static void layout_reference(struct head_reference *r, size_t epochs)
{
    struct arena *a = &r->memory;
    r->x = arena_take(a, r->n * r->pairs, sizeof *r->x);
    r->unit = arena_take(a, 2 * r->pairs, sizeof *r->unit);
    r->w = arena_take(a, epochs * r->steps * (r->d + 1) * r->others, sizeof *r->w);
    r->gradient = arena_take(a, epochs * r->steps * (r->d + 1) * r->others, sizeof *r->gradient);
    r->logits = arena_take(a, epochs * r->n * r->others, sizeof *r->logits);
    r->diff = arena_take(a, epochs * r->n * r->others, sizeof *r->diff);
}

static void initialise(struct reference_trainer *t, const struct sotto_head_recipe *recipe, size_t classes)
{
    struct head_layer *l = &t->layer;
    struct head_initial draw = head_initial_start(recipe->seed, 0, classes, l->in);
    for (size_t k = 0; k < classes; k++)
        for (size_t i = 0; i < l->in; i++)
            l->w[i * l->ld + k] = head_initial_next(&draw);
}

struct head_reference head_reference_at(const struct head_reference *r, size_t epoch, size_t start)
{
    struct head_reference at = *r;
    size_t step = epoch * r->steps + start / r->batch, row = epoch * r->n + start;
    at.w += step * (r->d + 1) * r->others;
    at.gradient += step * (r->d + 1) * r->others;
    at.logits += row * r->others;
    at.diff += row * r->others;
    return at;
}

static sotto_status train(struct reference_trainer *t, const struct head_reference *r,
                          const struct head_data *data, const struct sotto_head_recipe *recipe,
                          const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    const struct delta_kernels *kernels = delta_kernels_find();
    size_t step = 0;
    initialise(t, recipe, data->classes);
    for (size_t epoch = 0; epoch < recipe->epochs; epoch++) {
        head_order(t->order, r->n, recipe->seed, epoch);
        for (size_t start = 0; start < r->n; start += r->batch) {
            size_t rows = r->n - start < r->batch ? r->n - start : r->batch;
            TRY(head_stop_check(ctx, epoch, recipe));
            struct head_update update = head_update_at(recipe, ++step);
            struct head_reference at = head_reference_at(r, epoch, start);
            for (size_t i = 0; i < rows; i++) {
                size_t record = (size_t)t->order[start + i];
                memcpy(t->x + i * r->d, data->x + record * r->d, r->d * sizeof *t->x);
                t->y[i] = data->y[record];
            }
            kernels->reference(&t->layer, t->tile, t->x, t->y, rows, &update, data->classes, &at);
        }
    }
done:
    return status;
}

sotto_status head_reference_make(struct head_reference *r, const struct head_data *data,
                                 const struct sotto_head_recipe *recipe, const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    struct reference_trainer t = {
        .layer = {.in = data->d, .out = data->classes, .ld = head_padded(data->classes)}};
    int adam = strcmp(recipe->trainer, "adam") == 0;
    *r = (struct head_reference){0};
    sizes(r, data, recipe);
    layout_reference(r, recipe->epochs);
    TRY(arena_reserve(&r->memory, "reference head"));
    layout_reference(r, recipe->epochs);
    layout(&t, r, adam);
    TRY(arena_reserve(&t.memory, "reference head"));
    layout(&t, r, adam);
    round_inputs(r, data->x);
    TRY(train(&t, r, data, recipe, ctx));
done:
    arena_clear(&t.memory);
    return status;
}

void head_reference_clear(struct head_reference *r)
{
    arena_clear(&r->memory);
    *r = (struct head_reference){0};
}
