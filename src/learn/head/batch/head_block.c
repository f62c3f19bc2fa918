/* Linear heads that see the same batches differ by a record or two. So a batch is gathered once for all of
 * them, every record is weighted per head (0 where it is missing), and each head's replacement record is kept
 * apart.
 *
 * The block is the outer loop, the epochs the inner one: its weights and moments stay in one core's cache for
 * the whole training while the records stream past. */
#include "head/batch/head_block.h"

#include "rng/rng.h"

#include <math.h>
#include <string.h>

size_t head_block_groups(const struct head_data *data)
{
    enum {
        STATE_BYTES = 3 << 18,
        MOST = 2
    }; /* weights and both moments in 3/4 MiB: batches need the rest of 2 MiB */
    size_t bytes = (data->d + 1) * data->classes * HEAD_PAD * sizeof(real) * 3;
    size_t groups = bytes ? STATE_BYTES / bytes : 1;
    return groups < 1 ? 1 : groups > MOST ? MOST : groups;
}

static size_t batch_rows(const struct head_block *b)
{
    return b->recipe->batch < b->data->n ? b->recipe->batch : b->data->n;
}

/* Called twice: to measure, then to place. */
static void head_block_layout(struct head_block *b)
{
    struct arena *a = &b->memory;
    struct head_lanes *s = &b->lanes;
    struct head_layer *layer = &s->layer;
    int adam = strcmp(b->recipe->trainer, "adam") == 0;
    size_t batch = batch_rows(b), heads = s->groups * HEAD_PAD, d = b->data->d;
    layer->w = arena_take(a, (d + 1) * layer->ld, sizeof(real));
    layer->mean = adam ? arena_take(a, (d + 1) * layer->ld, sizeof(real)) : NULL;
    layer->square = adam ? arena_take(a, (d + 1) * layer->ld, sizeof(real)) : NULL;
    s->relative.w = arena_take(a, (d + 1) * s->relative.ld, sizeof(real));
    s->relative.value = s->relative.diff = arena_take(a, batch * s->relative.ld, sizeof(real));
    s->tile = arena_take(a, HEAD_TILE_ROWS * s->relative.ld, sizeof(real));
    s->weights = arena_take(a, batch * heads, sizeof(real));
    s->has_replacement = arena_take(a, s->groups, 1);
    s->replacement_x = arena_take(a, d * heads, sizeof(real));
    s->replacement_weights = arena_take(a, heads, sizeof(real));
    s->replacement_y = arena_take(a, heads, sizeof *s->replacement_y);
    s->replacement_diff = arena_take(a, s->relative.ld, sizeof(real));
    b->x = arena_take(a, batch * d, sizeof *b->x);
    b->y = arena_take(a, batch, sizeof *b->y);
    b->order = arena_take(a, b->data->n, sizeof *b->order);
    b->position = arena_take(a, b->data->n, sizeof *b->position);
    b->share = arena_take(a, heads, sizeof *b->share);
    b->records = arena_take(a, heads, sizeof *b->records);
    b->balance = arena_take(a, b->data->classes, sizeof *b->balance);
}

sotto_status head_block_plan(struct head_block *b, const struct head_data *data,
                             const struct sotto_head_recipe *recipe, size_t groups)
{
    sotto_status status = SOTTO_OK;
    *b = (struct head_block){.recipe = recipe, .data = data};
    struct head_lanes *s = &b->lanes;
    size_t ignored, columns;
    TRY(head_recipe_fits(recipe, data->classes));
    s->groups = groups;
    s->classes = data->classes;
    REQUIRE(size_multiply(&columns, groups * HEAD_PAD, data->classes) &&
                size_multiply(&ignored, data->d + 1, columns * sizeof(real)) &&
                size_multiply(&ignored, batch_rows(b), (columns + data->d) * sizeof(real)),
            "head: %zu heads of %zu x %zu; their size does not fit in memory", groups * HEAD_PAD,
            data->classes, data->d);
    s->layer = (struct head_layer){.in = data->d, .out = columns, .ld = columns};
    columns -= groups * HEAD_PAD;
    s->relative = (struct head_layer){.in = data->d, .out = columns, .ld = columns};
    b->kernels = head_lane_kernels_find();
    head_block_layout(b);
    TRY(arena_reserve(&b->memory, "block of heads"));
    head_block_layout(b);
    head_recipe_balance(b->balance, recipe, data->classes);
done:
    return status;
}

void head_block_clear(struct head_block *b)
{
    arena_clear(&b->memory);
}

static void head_block_initialise(struct head_block *b)
{
    struct head_layer *layer = &b->lanes.layer;
    size_t bytes = (layer->in + 1) * layer->ld * sizeof(real), classes = b->lanes.classes;
    memset(layer->w, 0, bytes);
    if (layer->mean) {
        memset(layer->mean, 0, bytes);
        memset(layer->square, 0, bytes);
    }
    memset(b->lanes.replacement_x, 0, layer->in * b->lanes.groups * HEAD_PAD * sizeof(real));
    memset(b->lanes.replacement_weights, 0, b->lanes.groups * HEAD_PAD * sizeof(real));
    struct head_initial draw = head_initial_start(b->recipe->seed, 0, classes, layer->in);
    for (size_t k = 0; k < classes; k++)
        for (size_t i = 0; i < layer->in; i++) {
            real value = head_initial_next(&draw);
            for (size_t g = 0; g < b->lanes.groups; g++)
                for (size_t lane = 0; lane < HEAD_PAD; lane++)
                    layer->w[i * layer->ld + (g * classes + k) * HEAD_PAD + lane] = value;
        }
}

/* Is the slot (SIZE_MAX: none) in the batch that starts at `start`? *row: where. */
static bool in_batch(size_t *row, const struct head_block *b, size_t slot, size_t start, size_t rows)
{
    if (slot >= b->data->n)
        return false;
    *row = b->position[slot] - start;
    return *row < rows;
}

/* Puts a head's replacement record into its lane, or empties the lane. */
static void place_replacement(struct head_block *b, size_t head, const struct head_slots *slots)
{
    struct head_lanes *s = &b->lanes;
    size_t d = b->data->d, lane = head % HEAD_PAD;
    real *x = s->replacement_x + head / HEAD_PAD * d * HEAD_PAD + lane;
    if (!slots && s->replacement_weights[head] == 0)
        return; /* was empty */
    for (size_t i = 0; i < d; i++)
        x[i * HEAD_PAD] = slots ? b->data->x[slots->replacement * d + i] : 0;
    s->replacement_weights[head] = slots ? b->share[head] * b->balance[b->data->y[slots->replacement]] : 0;
    s->replacement_y[head] = slots ? b->data->y[slots->replacement] : 0;
}

/* How many records of the batch each head has. */
static void count_records(struct head_block *b, const struct head_slots *slots,
                          const struct head_subset *subset, size_t count, size_t start, size_t rows)
{
    size_t heads = b->lanes.groups * HEAD_PAD, row;
    bool all = !subset || !subset->member;
    for (size_t h = 0; h < heads; h++)
        b->records[h] = all || h >= count ? rows : 0;
    for (size_t r = 0; !all && r < rows; r++) {
        const uint8_t *member = subset->member + (size_t)b->order[start + r] * subset->stride;
        for (size_t h = 0; h < count; h++)
            b->records[h] += member[h] != 0;
    }
    for (size_t h = 0; h < count; h++) {
        if (in_batch(&row, b, slots[h].left_out, start, rows))
            b->records[h] -= all || subset->member[slots[h].left_out * subset->stride + h] != 0;
        if (in_batch(&row, b, slots[h].replacement_slot, start, rows)) /* member or not */
            b->records[h] += !all && subset->member[slots[h].replacement_slot * subset->stride + h] == 0;
    }
    for (size_t h = 0; h < heads; h++)
        b->share[h] = b->records[h] ? (real)1 / (real)b->records[h] : 0;
}

/* The weight of each record in each head, and the rivals, for slots order[start .. start + rows). */
static void head_block_weigh(struct head_block *b, const struct head_slots *slots,
                             const struct head_subset *subset, size_t count, size_t start, size_t rows)
{
    struct head_lanes *s = &b->lanes;
    size_t heads = s->groups * HEAD_PAD, row;
    bool all = !subset || !subset->member;
    memset(s->has_replacement, 0, s->groups);
    count_records(b, slots, subset, count, start, rows);
    for (size_t r = 0; r < rows; r++) {
        real *weights = s->weights + r * heads;
        for (size_t h = 0; h < heads; h++)
            weights[h] = b->share[h] * b->balance[b->y[r]];
        const uint8_t *member = all ? NULL : subset->member + (size_t)b->order[start + r] * subset->stride;
        for (size_t h = 0; member && h < count; h++)
            weights[h] = member[h] ? weights[h] : 0;
    }
    for (size_t h = 0; h < count; h++) {
        if (in_batch(&row, b, slots[h].left_out, start, rows))
            s->weights[row * heads + h] = 0;
        bool replacement = in_batch(&row, b, slots[h].replacement_slot, start, rows);
        place_replacement(b, h, replacement ? &slots[h] : NULL);
        if (replacement) {
            s->weights[row * heads + h] = 0;
            s->has_replacement[h / HEAD_PAD] = 1;
        }
    }
}

static sotto_status check_weights(const struct head_block *b, size_t epoch)
{
    const struct head_layer *layer = &b->lanes.layer;
    for (size_t i = 0; i < (layer->in + 1) * layer->ld; i++)
        if (!isfinite(layer->w[i]))
            return head_diverged(epoch, b->recipe);
    return SOTTO_OK;
}

/* Records order[start .. start + rows). They lie anywhere: fetching some ahead hides most of the latency. */
static void head_block_gather(struct head_block *b, size_t start, size_t rows)
{
    enum { AHEAD = 4, LINE = 64 };
    const size_t bytes = b->data->d * sizeof *b->x;
    const char *from = (const char *)b->data->x;
    char *to = (char *)b->x;
    for (size_t r = 0; r < rows; r++) {
        size_t record = (size_t)b->order[start + r];
        if (r + AHEAD < rows)
            for (size_t i = 0; i < bytes; i += LINE)
                __builtin_prefetch(from + (size_t)b->order[start + r + AHEAD] * bytes + i);
        memcpy(to + r * bytes, from + record * bytes, bytes);
        b->y[r] = b->data->y[record];
    }
}

sotto_status head_block_run(struct head_block *b, const struct head_slots *slots,
                            const struct head_subset *subset, size_t count, const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    size_t n = b->data->n, batch = batch_rows(b), steps = 0;
    head_block_initialise(b);
    for (size_t epoch = 0; epoch < b->recipe->epochs; epoch++) {
        head_order(b->order, n, b->recipe->seed, epoch);
        for (size_t i = 0; i < n; i++)
            b->position[b->order[i]] = i;
        for (size_t start = 0; start < n; start += batch) {
            size_t rows = n - start < batch ? n - start : batch;
            TRY(head_stop_check(ctx, epoch, b->recipe));
            head_block_gather(b, start, rows);
            head_block_weigh(b, slots, subset, count, start, rows);
            struct head_update update = head_update_at(b->recipe, ++steps);
            b->kernels->step(&b->lanes, b->x, b->y, rows, &update);
        }
        TRY(check_weights(b, epoch));
    }
done:
    return status;
}

void head_block_export(const struct head_block *b, size_t head, float *parameters)
{
    const struct head_layer *layer = &b->lanes.layer;
    size_t classes = b->lanes.classes;
    const real *w = layer->w + head / HEAD_PAD * classes * HEAD_PAD + head % HEAD_PAD;
    for (size_t k = 0; k < classes; k++)
        for (size_t i = 0; i < layer->in; i++)
            *parameters++ = (float)w[i * layer->ld + k * HEAD_PAD];
    for (size_t k = 0; k < classes; k++)
        *parameters++ = (float)w[layer->in * layer->ld + k * HEAD_PAD];
}
