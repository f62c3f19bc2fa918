/* Mini-batch training with Keras's conventions: Glorot uniform weights, zero biases, a new order every epoch,
 * the last partial batch divided by its real count, Adam with the corrected rate.
 *
 * A head trains on one thread with its weights in that core's cache; many heads use many cores, one each. */
#include "head/train/head_plain.h"

#include "head/model/head_trainer.h"
#include "rng/input_noise.h"

#include <math.h>
#include <string.h>

static size_t batch_rows(const struct head_plain *t)
{
    return t->recipe->batch < t->part.n ? t->recipe->batch : t->part.n;
}

/* Called twice: to measure, then to place. */
static void head_plain_layout(struct head_plain *t)
{
    struct arena *a = &t->memory;
    size_t batch = batch_rows(t);
    int adam = strcmp(t->recipe->trainer, "adam") == 0;
    size_t widest = 0;
    for (size_t l = 0; l < t->net.layers; l++) {
        struct head_layer *layer = &t->net.layer[l];
        layer->w = arena_take(a, (layer->in + 1) * layer->ld, sizeof(real));
        layer->mean = adam ? arena_take(a, (layer->in + 1) * layer->ld, sizeof(real)) : NULL;
        layer->square = adam ? arena_take(a, (layer->in + 1) * layer->ld, sizeof(real)) : NULL;
        layer->transposed = l > 0 ? arena_take(a, layer->out * layer[-1].ld, sizeof(real)) : NULL;
        layer->value = arena_take(a, batch * layer->ld, sizeof(real));
        layer->diff = arena_take(a, batch * layer->ld, sizeof(real));
        widest = layer->ld > widest ? layer->ld : widest;
    }
    t->net.tile = arena_take(a, HEAD_TILE_ROWS * widest, sizeof(real));
    t->net.balance = arena_take(a, t->data->classes, sizeof(real));
    t->x = arena_take(a, batch * t->data->d, sizeof *t->x);
    t->y = arena_take(a, batch, sizeof *t->y);
    t->order = arena_take(a, t->part.n, sizeof *t->order);
    if (!t->sparse)
        return;
    size_t words = head_bit_words(t->data->d);
    t->bit_rows.batch = head_bit_words(batch) * 64;
    t->bit_rows.words = arena_take(a, words * t->bit_rows.batch, sizeof *t->bit_rows.words);
    t->bit_rows.records = arena_take(a, words * t->bit_rows.batch, sizeof *t->bit_rows.records);
}

static sotto_status head_plain_place(struct head_plain *t)
{
    sotto_status status = SOTTO_OK;
    const struct head_data *data = t->data;
    const struct sotto_head_recipe *recipe = t->recipe;
    TRY(head_recipe_fits(recipe, data->classes));
    t->kernels = head_kernels_find();
    t->net.layers = recipe->hidden_count + 1;
    for (size_t l = 0; l < t->net.layers; l++) {
        struct head_layer *layer = &t->net.layer[l];
        layer->in = l == 0 ? data->d : recipe->hidden[l - 1];
        layer->out = l < recipe->hidden_count ? recipe->hidden[l] : data->classes;
        layer->ld = head_padded(layer->out);
        size_t ignored;
        REQUIRE(size_multiply(&ignored, layer->in + 1, layer->ld * sizeof(real)) &&
                    size_multiply(&ignored, batch_rows(t), (layer->ld + data->d) * sizeof(real)),
                "head: layer %zu is %zu x %zu; its size does not fit in memory", l, layer->out, layer->in);
    }
    head_plain_layout(t);
    TRY(arena_reserve(&t->memory, "head trainer"));
    head_plain_layout(t);
    head_recipe_balance(t->net.balance, recipe, data->classes);
done:
    return status;
}

sotto_status head_plain_plan(struct head_plain *t, const struct head_data *data,
                             const struct sotto_head_recipe *recipe)
{
    sotto_status status = SOTTO_OK;
    *t = (struct head_plain){.recipe = recipe, .data = data, .part = head_part_all(data)};
    if (recipe->augment_noise == 0)
        TRY(head_bits_make(&t->bits, data->x, data->n, data->d));
    t->sparse = t->bits != NULL;
    TRY(head_plain_place(t));
done:
    return status;
}

sotto_status head_plain_plan_part(struct head_plain *t, const struct head_part *part,
                                  const struct sotto_head_recipe *recipe)
{
    sotto_status status = SOTTO_OK;
    size_t count = head_bit_words(part->data->d);
    *t = (struct head_plain){.recipe = recipe,
                             .data = part->data,
                             .part = *part,
                             .sparse = part->bits != NULL && recipe->augment_noise == 0};
    TRY(head_plain_place(t));
    if (!t->sparse)
        goto done;
    NEW_ROWS(t->bits, part->n, count); /* small enough for the second-level cache */
    for (size_t i = 0; i < part->n; i++)
        memcpy(t->bits + i * count, part->bits + head_part_record(part, i) * count, count * sizeof *t->bits);
done:
    return status;
}

void head_plain_clear(struct head_plain *t)
{
    arena_clear(&t->memory);
    base_free(t->bits);
    t->bits = NULL;
}

static void head_plain_initialise(struct head_plain *t)
{
    const float *from = t->start;
    for (size_t l = 0; l < t->net.layers; l++) {
        struct head_layer *layer = &t->net.layer[l];
        size_t bytes = (layer->in + 1) * layer->ld * sizeof(real);
        memset(layer->w, 0, bytes);
        if (layer->mean) {
            memset(layer->mean, 0, bytes);
            memset(layer->square, 0, bytes);
        }
        struct head_initial draw = head_initial_start(t->recipe->seed, l, layer->out, layer->in);
        for (size_t o = 0; o < layer->out; o++)
            for (size_t i = 0; i < layer->in; i++)
                layer->w[i * layer->ld + o] = from ? *from++ : head_initial_next(&draw);
        for (size_t o = 0; from && o < layer->out; o++)
            layer->w[layer->in * layer->ld + o] = *from++;
    }
}

/* Of the record and the step: the same in both heads of a pair, in any order of the batch. */
static void add_noise(struct head_plain *t, float *x, size_t record)
{
    const struct sotto_head_recipe *r = t->recipe;
    struct rng stream = rng_stream(r->seed, RNG_AUGMENT_NOISE, t->step, record);
    if (r->augment_noise > 0)
        input_noise_add(x, x, t->data->d, INPUT_NOISE_GAUSSIAN, r->augment_noise, &stream);
}

static size_t head_plain_append(struct head_plain *t, size_t rows, size_t slot)
{
    size_t record = head_part_record(&t->part, slot), d = t->data->d;
    if (t->sparse)
        head_bit_rows_put(&t->bit_rows, rows, t->bits, slot, d);
    else
        memcpy(t->x + rows * d, t->data->x + record * d, d * sizeof *t->x);
    if (!t->sparse)
        add_noise(t, t->x + rows * d, record);
    t->y[rows] = t->data->y[record];
    return rows + 1;
}

/* Collects the records of slots order[start .. end). The replacement comes last, so that both heads of a pair
 * sum the common records in the same order, and two identical rivals give identical bits. */
static size_t head_plain_gather(struct head_plain *t, const struct head_slots *slots,
                                const struct head_subset *subset, size_t start, size_t end)
{
    size_t rows = 0;
    bool replacement = false;
    for (size_t s = start; s < end; s++) {
        size_t record = (size_t)t->order[s];
        if (slots && record == slots->replacement_slot)
            replacement = true;
        else if ((!slots || record != slots->left_out) &&
                 (!subset || !subset->member || subset->member[record * subset->stride]))
            rows = head_plain_append(t, rows, record);
    }
    return replacement ? head_plain_append(t, rows, slots->replacement) : rows;
}

static sotto_status check_weights(const struct head_plain *t, size_t epoch)
{
    for (size_t l = 0; l < t->net.layers; l++) {
        const struct head_layer *layer = &t->net.layer[l];
        for (size_t i = 0; i < (layer->in + 1) * layer->ld; i++)
            if (!isfinite(layer->w[i]))
                return head_diverged(epoch, t->recipe);
    }
    return SOTTO_OK;
}

sotto_status head_plain_run(struct head_plain *t, const struct head_slots *slots,
                            const struct head_subset *subset, const struct sotto_context *ctx,
                            const char *stage)
{
    sotto_status status = SOTTO_OK;
    const struct sotto_head_recipe *r = t->recipe;
    size_t n = t->part.n, batch = batch_rows(t);
    size_t steps = 0;
    head_plain_initialise(t);
    for (size_t epoch = 0; epoch < r->epochs; epoch++) {
        head_order(t->order, n, r->seed, epoch);
        for (size_t start = 0; start < n; start += batch) {
            TRY(head_stop_check(ctx, epoch, r));
            t->step = steps;
            size_t rows = head_plain_gather(t, slots, subset, start, n - start < batch ? n : start + batch);
            struct head_update update = head_update_at(r, ++steps);
            if (t->sparse) {
                t->kernels->turn_bits(&t->bit_rows, rows, t->data->d);
                t->kernels->step_bits(&t->net, &t->bit_rows, t->y, rows, &update);
            } else {
                t->kernels->step(&t->net, t->x, t->y, rows, &update);
            }
        }
        if (stage)
            context_progress(ctx, stage, epoch + 1, r->epochs, "epochs");
        TRY(check_weights(t, epoch));
    }
done:
    return status;
}

void head_plain_export(const struct head_plain *t, float *parameters)
{
    for (size_t l = 0; l < t->net.layers; l++) {
        const struct head_layer *layer = &t->net.layer[l];
        for (size_t o = 0; o < layer->out; o++)
            for (size_t i = 0; i < layer->in; i++)
                *parameters++ = (float)layer->w[i * layer->ld + o];
        for (size_t o = 0; o < layer->out; o++)
            *parameters++ = (float)layer->w[layer->in * layer->ld + o];
    }
}

static sotto_status train_batches(struct sotto_head *h, const char **isa, const struct head_data *data,
                                  const struct sotto_head_recipe *r, const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    struct head_plain trainer = {0};
    TRY(head_plain_plan(&trainer, data, r));
    TRY(head_plain_run(&trainer, NULL, NULL, ctx, "head"));
    head_plain_export(&trainer, h->parameters);
    *isa = cpu_isa_name(cpu_best_isa());
done:
    head_plain_clear(&trainer);
    return status;
}

static sotto_status head_plain_check(struct sotto_head_recipe *r)
{
    head_recipe_clear_noise(r);
    return head_recipe_check_batches(r);
}

static void head_plain_text(char out[HEAD_RECIPE_TEXT], const struct sotto_head_recipe *r, size_t inputs,
                            size_t classes)
{
    head_recipe_text_batches(out, r, inputs, classes, "");
}

static double head_plain_radius(const struct sotto_head_recipe *r)
{
    (void)r;
    return 0;
}

const struct head_trainer head_trainer_adam = {.name = "adam",
                                               .balances = true,
                                               .check = head_plain_check,
                                               .text = head_plain_text,
                                               .parse = head_recipe_parse_batches,
                                               .radius = head_plain_radius,
                                               .train = train_batches};

const struct head_trainer head_trainer_sgd = {.name = "sgd",
                                              .balances = true,
                                              .check = head_plain_check,
                                              .text = head_plain_text,
                                              .parse = head_recipe_parse_batches,
                                              .radius = head_plain_radius,
                                              .train = train_batches};
