#include "train/network/record_input.h"

#include "data/dataset.h"
#include "par/par.h"
#include "rng/input_noise.h"
#include "rng/rng.h"

#include <string.h>

enum { PADDED = 32 };

sotto_status record_shape(struct nn_shape *out, const struct sotto_dataset *data, struct nn_shape image)
{
    sotto_status status = SOTTO_OK;
    bool given = image.channels || image.height || image.width;
    size_t count;
    if (data->images) {
        *out = (struct nn_shape){data->channels, data->height, data->width};
        REQUIRE(!given || memcmp(out, &image, sizeof image) == 0,
                "data set '%s' contains images of %zux%zux%zu; expected %zux%zux%zu", data->name,
                data->channels, data->height, data->width, image.channels, image.height, image.width);
        goto done;
    }
    TRY(dataset_check_encoded(data));
    REQUIRE(!given || (size_multiply(&count, image.channels, image.height) &&
                       size_multiply(&count, count, image.width) && count == data->columns),
            "data set '%s' has rows of %zu numbers, which images of %zux%zux%zu do not match; give the right "
            "{channels|image=C,H,W}",
            data->name, data->columns, image.channels, image.height, image.width);
    *out = given ? image : (struct nn_shape){data->columns, 1, 1};
done:
    return status;
}

sotto_status record_padding(struct nn_shape *out, const char *model, struct nn_shape record)
{
    size_t smallest;
    sotto_status status = nn_model_find(NULL, &smallest, model);
    if (status != SOTTO_OK)
        return status;
    if (record.height > 1 && record.width > 1) {
        record.height = record.height < smallest ? PADDED : record.height;
        record.width = record.width < smallest ? PADDED : record.width;
    }
    *out = record;
    return SOTTO_OK;
}

void record_input_make(struct record_input *out, const struct sotto_dataset *data, struct nn_shape record,
                       struct nn_shape input, int threads)
{
    *out = (struct record_input){.images = data->images,
                                 .features = data->features,
                                 .record = record,
                                 .input = input,
                                 .threads = threads};
    for (int i = 0; i < 256; i++)
        out->level[i] = (float)i / 255;
}

struct record_view record_view_draw(int flip, size_t crop, uint64_t seed, uint64_t step, uint64_t index)
{
    struct rng r = rng_stream(seed, RNG_AUGMENT, step, index);
    struct record_view v = {0};
    uint32_t mirrored = rng_u32(&r) >> 31;
    v.flip = flip && mirrored;
    v.shift_y = (int)rng_below(&r, 2 * crop + 1) - (int)crop;
    v.shift_x = (int)rng_below(&r, 2 * crop + 1) - (int)crop;
    return v;
}

struct fill {
    float *dst;
    const struct record_input *r;
    const int64_t *rows;
    const struct record_view *views;
};

static size_t record_input_reflect(long i, size_t n)
{
    if ((unsigned long)i < n)
        return (size_t)i;
    long period = 2 * (long)n, p = ((i % period) + period) % period;
    return (size_t)(p < (long)n ? p : period - 1 - p);
}

/* Pixel (y, x) of the padded image, or nothing where padding is. */
static bool source_of(size_t *pixel, const struct record_input *r, size_t y, size_t x)
{
    size_t top = (r->input.height - r->record.height) / 2, left = (r->input.width - r->record.width) / 2;
    if (y < top || x < left || y - top >= r->record.height || x - left >= r->record.width)
        return false;
    *pixel = (y - top) * r->record.width + x - left;
    return true;
}

static sotto_status fill_one(void *arg, size_t position, int thread)
{
    (void)thread;
    const struct fill *f = arg;
    const struct record_input *r = f->r;
    struct nn_shape in = r->input;
    size_t plane = r->record.height * r->record.width, width = plane * r->record.channels;
    size_t first = (size_t)f->rows[position] * width, pixel = 0;
    struct record_view v = f->views ? f->views[position] : (struct record_view){0};
    float *dst = f->dst + position * in.channels * in.height * in.width;
    for (size_t y = 0; y < in.height; y++)
        for (size_t x = 0; x < in.width; x++, dst += in.channels) {
            long from_y = (long)y - v.shift_y, from_x = (long)x - v.shift_x;
            if (v.flip)
                from_x = (long)in.width - 1 - from_x;
            bool inside = source_of(&pixel, r, record_input_reflect(from_y, in.height),
                                    record_input_reflect(from_x, in.width));
            for (size_t c = 0; c < in.channels; c++) {
                size_t at = first + (c < r->record.channels ? c * plane : 0) + pixel; /* grey: replicated */
                dst[c] = !inside ? 0 : r->images ? r->level[r->images[at]] : r->features[at];
            }
        }
    return SOTTO_OK;
}

/* ---- noise ---- */

enum { DRAWN = 512 }; /* at a time */

struct noisy {
    float *dst;
    const struct record_input *r;
    size_t first;
    double deviation;
    uint64_t seed, step;
};

/* Draws for the numbers of one record, in order. */
struct draws {
    struct rng stream;
    double deviation;
    size_t left, used, count; /* left: not yet drawn */
    float z[DRAWN];
};

static float next_draw(struct draws *d)
{
    if (d->used == d->count) {
        d->count = d->left < DRAWN ? d->left : DRAWN;
        d->left -= d->count;
        d->used = 0;
        memset(d->z, 0, d->count * sizeof *d->z);
        input_noise_add(d->z, d->z, d->count, INPUT_NOISE_GAUSSIAN, d->deviation, &d->stream);
    }
    return d->z[d->used++];
}

static sotto_status add_noise_to_one(void *arg, size_t position, int thread)
{
    (void)thread;
    const struct noisy *a = arg;
    const struct nn_shape in = a->r->input, record = a->r->record;
    float *dst = a->dst + position * in.channels * in.height * in.width;
    struct draws d = {.stream = rng_stream(a->seed, RNG_AUGMENT_NOISE, a->step, a->first + position),
                      .deviation = a->deviation,
                      .left = record.channels * record.height * record.width};
    size_t ignored;
    for (size_t y = 0; y < in.height; y++)
        for (size_t x = 0; x < in.width; x++, dst += in.channels) {
            float first = 0;
            if (!source_of(&ignored, a->r, y, x))
                continue;
            for (size_t c = 0; c < in.channels; c++) {
                float z = c < record.channels ? next_draw(&d) : first; /* grey: replicated */
                first = c == 0 ? z : first;
                dst[c] += z;
            }
        }
    return SOTTO_OK;
}

void record_input_add_noise(float *dst, const struct record_input *r, size_t first, size_t n,
                            double deviation, uint64_t seed, uint64_t step)
{
    struct noisy a = {dst, r, first, deviation, seed, step};
    sotto_status status = par_shares(n, r->threads, NULL, add_noise_to_one, &a);
    (void)status; /* add_noise_to_one cannot fail */
}

void record_input_fill(float *dst, const struct record_input *r, const int64_t *rows, size_t n,
                       const struct record_view *views)
{
    struct fill f = {dst, r, rows, views};
    sotto_status status = par_shares(n, r->threads, NULL, fill_one, &f);
    (void)status; /* fill_one cannot fail */
}
