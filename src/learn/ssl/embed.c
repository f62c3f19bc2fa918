/* Embeddings of images, and what the encoder's blocks make of them. Batches of one fixed size, the last one filled up with repeats: the rows around an image do not change its
 * bits. */
#include "options/option_tables.h"
#include "ssl/encoder.h"

#include "base/memory.h"
#include "data/augment/augment.h"
#include "par/par.h"
#include "sotto/option.h"

#include <string.h>

enum { BATCH = 64 };

sotto_status encoder_check_image(const struct sotto_encoder *e, const char *name, struct nn_shape image)
{
    sotto_status status = SOTTO_OK;
    struct nn_shape wanted = nn_model_input(e->model);
    REQUIRE(image.channels == 1 || image.channels == 3,
            "data set '%s': images have %zu channels; expected 1 (grey) or 3 (RGB)", name, image.channels);
    REQUIRE(augment_fitted(image.height) == wanted.height && augment_fitted(image.width) == wanted.width,
            "data set '%s' has %zux%zu images, but the encoder was trained on %zux%zu", name, image.height,
            image.width, wanted.height, wanted.width);
done:
    return status;
}

sotto_status encoder_check_size(const struct sotto_encoder *e, const struct sotto_dataset *data)
{
    sotto_status status = SOTTO_OK;
    REQUIRE(data->images, "data set '%s' contains features; an encoder needs images", data->name);
    TRY(encoder_check_image(e, data->name, (struct nn_shape){data->channels, data->height, data->width}));
done:
    return status;
}

/* Where the features of an image stand: those of the blocks from `first` on, then the embedding. */
struct places {
    struct sotto_block_features features;
    const struct nn_model *model;
    size_t first, width;
};

static size_t embed_cells(size_t places, size_t grid)
{
    return grid && grid < places ? grid : places;
}

static size_t block_width(const struct places *w, size_t block)
{
    const struct nn_shape s = nn_model_block_shape(w->model, block);
    return s.channels * embed_cells(s.height, w->features.grid) * embed_cells(s.width, w->features.grid);
}

static sotto_status find_places(struct places *w, const struct sotto_encoder *e,
                                const struct sotto_block_features *f)
{
    sotto_status status = SOTTO_OK;
    const size_t count = nn_model_blocks(e->model);
    *w = (struct places){.model = e->model, .width = sotto_encoder_width(e)};
    TRY(sotto_options_resolve(&w->features, f, options_block));
    REQUIRE(w->features.blocks <= count,
            "blocks: the encoder '%s' has %zu blocks; expected at most that, not %zu", e->name, count,
            w->features.blocks);
    w->first = count - w->features.blocks;
    for (size_t b = w->first; b < count; b++)
        w->width += block_width(w, b);
done:
    return status;
}

sotto_status sotto_block_width(size_t *width, const struct sotto_encoder *e,
                               const struct sotto_block_features *f)
{
    REQUIRE_GIVEN(width, e);
    sotto_status status = SOTTO_OK;
    struct places w;
    TRY(find_places(&w, e, f));
    *width = w.width;
done:
    return status;
}

/* Images of a batch, and what is made of them so far. */
struct reading {
    const struct places *places;
    float *out, share;
    size_t count, added; /* added: passes before this one */
};

static void embed_put(float *to, float value, const struct reading *r)
{
    *to = (r->added ? *to : 0) + r->share * value;
}

static void read_block(void *user, size_t block, const float *values)
{
    const struct reading *r = user;
    const struct places *w = r->places;
    const struct nn_shape s = nn_model_block_shape(w->model, block);
    const size_t down = embed_cells(s.height, w->features.grid),
                 across = embed_cells(s.width, w->features.grid);
    float *out = r->out;
    for (size_t b = w->first; b < block; b++)
        out += block_width(w, b);
    for (size_t i = 0; i < r->count; i++, out += w->width, values += s.height * s.width * s.channels)
        for (size_t c = 0; c < s.channels; c++)
            for (size_t a = 0; a < down; a++)
                for (size_t b = 0; b < across; b++) {
                    const size_t top = a * s.height / down, bottom = ((a + 1) * s.height + down - 1) / down;
                    const size_t left = b * s.width / across,
                                 right = ((b + 1) * s.width + across - 1) / across;
                    float sum = 0;
                    for (size_t y = top; y < bottom; y++)
                        for (size_t x = left; x < right; x++)
                            sum += values[(y * s.width + x) * s.channels + c];
                    embed_put(&out[(c * down + a) * across + b],
                              sum / (float)((bottom - top) * (right - left)), r);
                }
}

static void read_embedding(struct reading *r, const float *values)
{
    const size_t own = nn_model_embedding_width(r->places->model), width = r->places->width;
    for (size_t i = 0; i < r->count; i++)
        for (size_t c = 0; c < own; c++)
            embed_put(&r->out[i * width + width - own + c], values[i * own + c], r);
}

static void embed_mirror(float *x, struct nn_shape s)
{
    for (size_t row = 0; row < BATCH * s.height; row++, x += s.width * s.channels)
        for (size_t a = 0, b = s.width - 1; a < b; a++, b--)
            for (size_t c = 0; c < s.channels; c++) {
                const float other = x[a * s.channels + c];
                x[a * s.channels + c] = x[b * s.channels + c];
                x[b * s.channels + c] = other;
            }
}

/* A thread has a plan and batches of its own: products of a batch on several threads may be cut, and so added up, by their number. */
struct embed_worker {
    struct nn_plan *plan;
    struct augmenter *augmenter;
};
struct embed_run {
    const struct places *places;
    const struct sotto_dataset *data;
    const int64_t *rows;
    float *out;
    size_t n, done; /* batches before this round */
    struct embed_worker *workers;
};

static sotto_status embed_batch(void *user, size_t chunk, int thread)
{
    sotto_status status = SOTTO_OK;
    const struct embed_run *run = user;
    const struct embed_worker *w = &run->workers[thread];
    const size_t first = (run->done + chunk) * BATCH, left = run->n - first;
    struct reading r = {.places = run->places,
                        .share = run->places->features.mirror ? 0.5f : 1,
                        .count = left < BATCH ? left : BATCH,
                        .out = run->out + first * run->places->width};
    const struct nn_block_reader reader = {run->places->first, read_block, &r};
    int64_t batch[BATCH];
    for (size_t i = 0; i < BATCH; i++) {
        const size_t at = first + (i < r.count ? i : r.count - 1);
        batch[i] = run->rows ? run->rows[at] : (int64_t)at;
    }
    TRY(augmenter_run_plain(w->augmenter, nn_plan_input(w->plan), run->data->images, batch, BATCH));
    for (r.added = 0; r.added < (run->places->features.mirror ? 2 : 1); r.added++) {
        if (r.added)
            embed_mirror(nn_plan_input(w->plan), nn_model_input(run->places->model));
        TRY(nn_plan_forward_blocks(w->plan, &reader));
        read_embedding(&r, nn_plan_output(w->plan));
    }
done:
    return status;
}

static sotto_status embed_worker_make(struct embed_worker *w, const struct sotto_encoder *e,
                                      const struct sotto_dataset *data, const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    const struct nn_backend *backend;
    struct augment_config augment = {.strength = {.min_area = 1},
                                     .channels = data->channels,
                                     .height = data->height,
                                     .width = data->width,
                                     .views = 1,
                                     .threads = 1,
                                     .ctx = ctx};
    TRY(nn_backend_find(&backend, "auto"));
    const struct nn_plan_config config = {
        .batch = BATCH, .dtype = NN_F32, .backend = backend, .embedding_only = 1, .ctx = ctx};
    TRY(nn_plan_create(&w->plan, e->model, &config));
    TRY(augmenter_create(&w->augmenter, &augment));
done:
    return status;
}

static void embed_workers_free(struct embed_worker *workers, size_t count)
{
    for (size_t i = 0; workers && i < count; i++) {
        augmenter_free(workers[i].augmenter);
        nn_plan_free(workers[i].plan);
    }
    base_free(workers);
}

sotto_status sotto_embed_blocks(float *out, const struct sotto_encoder *e, const struct sotto_dataset *data,
                                const int64_t *rows, size_t n, const struct sotto_block_features *f,
                                const struct sotto_context *ctx)
{
    REQUIRE_GIVEN(!n || out, e, data);
    sotto_status status = SOTTO_OK;
    const int pool = par_pool_threads();
    const size_t batches = (n + BATCH - 1) / BATCH, threads = (size_t)par_threads(ctx),
                 count = batches < threads ? batches : threads;
    struct places places;
    struct embed_run run = {&places, data, rows, out, n, 0, NULL};
    TRY(encoder_check_size(e, data));
    REQUIRE(rows || n <= data->n, "data set '%s' has %zu records; expected %zu", data->name, data->n, n);
    if (rows)
        TRY(encoder_check_rows(data, rows, n));
    TRY(find_places(&places, e, f));
    par_set_threads(1);
    NEW(run.workers, count + !count);
    for (size_t i = 0; i < count; i++)
        TRY(embed_worker_make(&run.workers[i], e, data, ctx));
    for (; run.done < batches; run.done += count) {
        const size_t round = batches - run.done < count ? batches - run.done : count,
                     made = (run.done + round) * BATCH;
        TRY(par_chunks(round, (int)count, embed_batch, &run));
        context_progress(ctx, "embed", made < n ? made : n, n, "images");
        if (context_stopped(ctx))
            FAIL(SOTTO_ESTOPPED, "embed: stopped after %zu of %zu images", made < n ? made : n, n);
    }
done:
    par_set_threads(pool);
    embed_workers_free(run.workers, count);
    return status;
}

sotto_status sotto_embed(float *out, const struct sotto_encoder *e, const struct sotto_dataset *data,
                         const int64_t *rows, size_t n, const struct sotto_context *ctx)
{
    REQUIRE_GIVEN(!n || out, e, data);
    return sotto_embed_blocks(out, e, data, rows, n, NULL, ctx);
}
