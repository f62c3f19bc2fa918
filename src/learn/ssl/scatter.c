/* Images to scattering features: transform (the mirrored image too, and the mean of both), average over a
 * coarser grid, normalise within each image. All of it treats every image alone, so features of one record
 * say nothing about another. */
#include "data/dataset.h"
#include "options/option_tables.h"
#include "par/par.h"
#include "sotto/option.h"
#include "ssl/encoder.h"
#include "ssl/scattering.h"

#include <math.h>

enum { IMAGES = SCATTER_LANES }; /* of a chunk: each channel of them fills the lanes once */

ISA_TABLE(const struct scatter_kernels, scatter_kernels, scatter_kernels_find);

/* The shape of the features; settings are resolved. */
static sotto_status find_shape(size_t shape[3], const struct sotto_dataset *data,
                               const struct sotto_scattering *s)
{
    sotto_status status = SOTTO_OK;
    REQUIRE(data->images, "data set '%s' contains features; scattering needs images", data->name);
    size_t channels = data->channels * SCATTER_CHANNELS;
    size_t rows = (data->height + SCATTER_STEP - 1) / SCATTER_STEP;
    size_t columns = (data->width + SCATTER_STEP - 1) / SCATTER_STEP;
    REQUIRE(s->grid <= rows && s->grid <= columns,
            "scattering: grid %zu is too fine; expected at most the %zux%zu places of images of %zux%zu",
            s->grid, rows, columns, data->height, data->width);
    REQUIRE(s->groups == 0 || channels % s->groups == 0,
            "scattering: %zu groups do not divide the %zu channels of data set '%s' evenly", s->groups,
            channels, data->name);
    shape[0] = channels;
    shape[1] = s->grid ? s->grid : rows;
    shape[2] = s->grid ? s->grid : columns;
    if (s->mirror)
        shape[2] = (shape[2] + 1) / 2;
done:
    return status;
}

sotto_status sotto_scattering_shape(size_t shape[3], const struct sotto_dataset *data,
                                    const struct sotto_scattering *settings)
{
    REQUIRE_GIVEN(shape, data);
    struct sotto_scattering s;
    sotto_status status = sotto_options_resolve(&s, settings, options_scattering);
    return status == SOTTO_OK ? find_shape(shape, data, &s) : status;
}

struct work {
    const struct sotto_dataset *data;
    const struct scatter_plan *plan, *mirrored; /* mirrored: NULL unless requested */
    const struct scatter_kernels *kernels;
    const int64_t *rows;
    size_t base, n, shape[3], groups; /* base: records before this part, where rows is NULL */
    size_t across;                    /* cells in a row, of which shape[2] are kept */
    float *out;
    float *scratch, *block, *raw; /* one of each per thread */
    size_t scratch_size, block_size, raw_size;
};

/* Mean over the places of each of grid x grid cells, which overlap where the sizes do not divide. Of means
 * with the mirrored image the cells of the left half are kept: the right half shows the same. */
static void scatter_average(float *to, const float *from, const struct work *w)
{
    size_t rows = w->plan->out_rows, columns = w->plan->out_columns, down = w->shape[1], across = w->across;
    for (size_t c = 0; c < w->shape[0]; c++, from += rows * columns)
        for (size_t a = 0; a < down; a++)
            for (size_t b = 0; b < w->shape[2]; b++) {
                size_t top = a * rows / down, bottom = ((a + 1) * rows + down - 1) / down;
                size_t left = b * columns / across, right = ((b + 1) * columns + across - 1) / across;
                float sum = 0;
                for (size_t i = top; i < bottom; i++)
                    for (size_t j = left; j < right; j++)
                        sum += from[i * columns + j];
                *to++ = sum / (float)((bottom - top) * (right - left));
            }
}

/* Zero mean and unit variance within each group of neighbouring channels of one image (Wu & He 2018, without
 * weights). */
static void scatter_normalise(float *x, size_t groups, size_t size)
{
    for (size_t g = 0; g < groups; g++, x += size) {
        double mean = 0, square = 0;
        for (size_t i = 0; i < size; i++)
            mean += x[i];
        mean /= (double)size;
        for (size_t i = 0; i < size; i++)
            square += (x[i] - mean) * (x[i] - mean);
        double factor = 1 / sqrt(square / (double)size + 1e-5);
        for (size_t i = 0; i < size; i++)
            x[i] = (float)((x[i] - mean) * factor);
    }
}

/* The planes `channel` of the chunk's images to raw (IMAGES, channels * 81 * places). */
static void transform_channel(const struct work *w, size_t first, size_t count, size_t channel,
                              float *scratch, float *block, float *raw)
{
    const unsigned char *planes[SCATTER_LANES] = {0};
    size_t pixels = w->data->height * w->data->width;
    size_t values = SCATTER_CHANNELS * w->plan->out_rows * w->plan->out_columns;
    for (size_t i = 0; i < count; i++) {
        size_t row = w->rows ? (size_t)w->rows[first + i] : w->base + first + i;
        planes[i] = w->data->images + (row * w->data->channels + channel) * pixels;
    }
    float share = w->mirrored ? 0.5f : 1;
    for (int side = 0; side < (w->mirrored ? 2 : 1); side++) {
        w->kernels->transform(block, side ? w->mirrored : w->plan, planes, scratch);
        for (size_t i = 0; i < count; i++) {
            float *to = raw + i * w->raw_size / IMAGES + channel * values;
            for (size_t v = 0; v < values; v++)
                to[v] = (side ? to[v] : 0) + share * block[v * SCATTER_LANES + i];
        }
    }
}

static sotto_status run_chunk(void *arg, size_t chunk, int thread)
{
    const struct work *w = arg;
    size_t first = chunk * IMAGES, count = w->n - first < IMAGES ? w->n - first : IMAGES;
    size_t width = w->shape[0] * w->shape[1] * w->shape[2];
    float *raw = w->raw + (size_t)thread * w->raw_size;
    for (size_t c = 0; c < w->data->channels; c++)
        transform_channel(w, first, count, c, w->scratch + (size_t)thread * w->scratch_size,
                          w->block + (size_t)thread * w->block_size, raw);
    for (size_t i = 0; i < count; i++) {
        float *to = w->out + (first + i) * width;
        scatter_average(to, raw + i * w->raw_size / IMAGES, w);
        if (w->groups)
            scatter_normalise(to, w->groups, width / w->groups);
    }
    return SOTTO_OK;
}

sotto_status sotto_scatter(float *out, const struct sotto_dataset *data, const int64_t *rows, size_t n,
                           const struct sotto_scattering *settings, const struct sotto_context *ctx)
{
    REQUIRE_GIVEN(!n || out, data);
    enum { REPORT = 64 }; /* chunks between reports */
    sotto_status status = SOTTO_OK;
    struct scatter_plan plan = {0}, mirrored;
    struct work w = {
        .data = data, .plan = &plan, .kernels = scatter_kernels_find(), .rows = rows, .out = out};
    struct sotto_scattering s;
    struct arena memory = {0};
    size_t *turned = NULL;
    size_t threads = (size_t)par_threads(ctx);
    TRY(sotto_options_resolve(&s, settings, options_scattering));
    w.groups = s.groups;
    TRY(find_shape(w.shape, data, &s));
    REQUIRE(rows || n <= data->n, "data set '%s' has %zu records; expected %zu", data->name, data->n, n);
    if (rows)
        TRY(encoder_check_rows(data, rows, n));
    TRY(scatter_plan_make(&plan, data->height, data->width));
    w.across = s.grid ? s.grid : plan.out_columns;
    w.scratch_size = w.kernels->scratch(&plan);
    w.block_size = SCATTER_CHANNELS * plan.out_rows * plan.out_columns * SCATTER_LANES;
    w.raw_size = w.block_size * data->channels;
    for (int pass = 0; pass < 2; pass++) {
        turned = arena_take(&memory, plan.columns, sizeof *turned);
        w.scratch = arena_take(&memory, threads * w.scratch_size, sizeof(float));
        w.block = arena_take(&memory, threads * w.block_size, sizeof(float));
        w.raw = arena_take(&memory, threads * w.raw_size, sizeof(float));
        if (pass == 0)
            TRY(arena_reserve(&memory, "scattering"));
    }
    for (size_t c = 0; c < plan.columns; c++)
        turned[c] = data->width - 1 - plan.column[c];
    mirrored = plan;
    mirrored.column = turned;
    w.mirrored = s.mirror ? &mirrored : NULL;
    for (size_t first = 0; first < n; first += REPORT * IMAGES) {
        w.n = n - first < REPORT * IMAGES ? n - first : REPORT * IMAGES;
        w.rows = rows ? rows + first : NULL;
        w.base = first;
        TRY(par_each((w.n + IMAGES - 1) / IMAGES, ctx, run_chunk, &w));
        w.out += w.n * w.shape[0] * w.shape[1] * w.shape[2];
        context_progress(ctx, "embed", first + w.n, n, "images");
        if (context_stopped(ctx))
            FAIL(SOTTO_ESTOPPED, "embed: stopped after %zu of %zu images", first + w.n, n);
    }
done:
    arena_clear(&memory);
    scatter_plan_clear(&plan);
    return status;
}
