/* Batches: padding and turning of the source, fixed chunks of views over the threads, the kernel chosen
 * once. */
#include "data/augment/augment.h"

#include "par/par.h"

#include <string.h>

enum { SMALLEST = 32, CHUNK = 16 /* views: some 50 us of work */ };

struct augmenter {
    struct augment_config config;
    size_t fitted_height, fitted_width;
    augment_kernel *kernel;
    augment_finisher *finish; /* NULL: the recipe needs none */
    struct arena memory;
    float *scratch;  /* (threads, scratch_stride) */
    uint8_t *fitted; /* (threads, fitted_stride) */
    size_t scratch_stride, fitted_stride;
};

ISA_LEVELS(augment_kernel, augment_view);

augment_kernel *augment_kernel_find(enum cpu_isa isa)
{
    return augment_view_levels[isa];
}

size_t augment_scratch_floats(size_t width)
{
    return 7 * width; /* a row of four-float pixels and three words a column */
}

size_t augment_fitted(size_t size)
{
    return size < SMALLEST ? SMALLEST : size;
}

void augment_fit(uint8_t *dst, const uint8_t *src, size_t channels, size_t height, size_t width, int turns)
{
    size_t out_height = augment_fitted(height), out_width = augment_fitted(width);
    size_t top = (out_height - height) / 2, left = (out_width - width) / 2;
    memset(dst, 0, channels * out_height * out_width);
    for (size_t c = 0; c < channels; c++)
        for (size_t y = 0; y < height; y++) {
            uint8_t *to = dst + (c * out_height + top + y) * out_width + left;
            const uint8_t *plane = src + c * height * width;
            if (turns == 0) {
                memcpy(to, plane + y * width, width);
                continue;
            }
            size_t last = width - 1;
            for (size_t x = 0; x < width; x++)
                to[x] = turns == 1   ? plane[x * width + last - y]
                        : turns == 2 ? plane[(last - y) * width + last - x]
                                     : plane[(last - x) * width + y];
        }
}

static void augment_batch_layout(struct augmenter *a)
{
    size_t threads = (size_t)a->config.threads;
    size_t floats = augment_scratch_floats(a->fitted_width),
           more = a->finish ? augment_finish_floats(a->fitted_height, a->fitted_width) : 0;
    a->scratch_stride = ((floats > more ? floats : more) + 15) & ~(size_t)15;
    a->fitted_stride = (a->config.channels * a->fitted_height * a->fitted_width + 63) & ~(size_t)63;
    a->scratch = arena_take(&a->memory, threads * a->scratch_stride, sizeof(float));
    a->fitted = arena_take(&a->memory, threads * a->fitted_stride, 1);
}

sotto_status augmenter_create(struct augmenter **out, const struct augment_config *config)
{
    sotto_status status = SOTTO_OK;
    struct augmenter *a = NULL;
    const struct augment_strength *s = &config->strength;
    REQUIRE(config->channels == 1 || config->channels == 3,
            "images have %zu channels; expected 1 (grey) or 3 (RGB)", config->channels);
    REQUIRE(config->height > 0 && config->width > 0 && config->height <= 1 << 14 && config->width <= 1 << 14,
            "images are %zux%zu; expected 1 to 16384 pixels a side", config->height, config->width);
    REQUIRE(s->min_area > 0 && s->min_area <= 1, "min_area must be in (0, 1] (got %g)", s->min_area);
    REQUIRE(s->brightness >= 0 && s->brightness <= 1, "brightness must be in [0, 1] (got %g)", s->brightness);
    REQUIRE(s->jitter >= 0 && s->jitter <= 1, "jitter must be in [0, 1] (got %g)", s->jitter);
    REQUIRE(s->grey >= 0 && s->grey <= 1, "grey must be in [0, 1] (got %g)", s->grey);
    REQUIRE(s->blur >= 0 && s->blur <= 1, "blur must be in [0, 1] (got %g)", s->blur);
    REQUIRE(!config->rotate || config->height == config->width, "rotation needs square images (got %zux%zu)",
            config->height, config->width);
    NEW(a, 1);
    a->config = *config;
    if (a->config.threads < 1)
        a->config.threads = 1;
    a->fitted_height = augment_fitted(config->height);
    a->fitted_width = augment_fitted(config->width);
    a->kernel = augment_kernel_find(cpu_best_isa());
    a->finish = s->recipe == AUGMENT_SIMCLR ? augment_finish_find(cpu_best_isa()) : NULL;
    augment_batch_layout(a);
    TRY(arena_reserve(&a->memory, "augmentation"));
    augment_batch_layout(a);
    *out = a;
    a = NULL;
done:
    augmenter_free(a);
    return status;
}

void augmenter_free(struct augmenter *a)
{
    if (!a)
        return;
    arena_clear(&a->memory);
    base_free(a);
}

size_t augmenter_bytes(const struct augmenter *a)
{
    return a->memory.capacity;
}

struct batch {
    struct augmenter *augmenter;
    float *dst;
    const uint8_t *images;
    struct augment_part part;
    size_t views;
    uint64_t seed, step;
    int plain;
};

static void run_view(const struct batch *b, size_t position, size_t view, int thread)
{
    struct augmenter *a = b->augmenter;
    const struct augment_config *c = &a->config;
    size_t pixels = a->fitted_height * a->fitted_width;
    const uint8_t *src = b->images + (size_t)b->part.rows[position] * c->channels * c->height * c->width;
    int turns = c->rotate && !b->plain ? (int)view : 0;
    if (turns || a->fitted_height != c->height || a->fitted_width != c->width) {
        uint8_t *fitted = a->fitted + (size_t)thread * a->fitted_stride;
        augment_fit(fitted, src, c->channels, c->height, c->width, turns);
        src = fitted;
    }
    struct augment_view v =
        b->plain ? augment_identity()
                 : augment_draw(&c->strength, a->fitted_height, a->fitted_width, b->seed, b->step,
                                (uint64_t)(b->part.first + position) * c->views + view);
    struct augment_view sampled = v;
    if (a->finish)
        memcpy(sampled.colour, augment_identity().colour, sizeof sampled.colour);
    float *dst = b->dst + (view * b->part.room + position) * pixels * 3,
          *scratch = a->scratch + (size_t)thread * a->scratch_stride;
    a->kernel(dst, src, c->channels, a->fitted_height, a->fitted_width, &sampled, scratch);
    if (a->finish)
        a->finish(dst, a->fitted_height, a->fitted_width, &v, scratch);
}

/* A chunk runs over neighbouring positions of one view, then of the next: an image's views share a chunk's
 * cache. */
static sotto_status run_chunk(void *arg, size_t chunk, int thread)
{
    const struct batch *b = arg;
    sotto_status status = context_check(b->augmenter->config.ctx, "stopped within a batch of views");
    if (status != SOTTO_OK)
        return status;
    const size_t all = b->part.n * b->views, first = chunk * CHUNK,
                 end = first + CHUNK < all ? first + CHUNK : all;
    for (size_t i = first; i < end; i++)
        run_view(b, i / b->views, i % b->views, thread);
    return SOTTO_OK;
}

static sotto_status run_batch(struct batch *b)
{
    size_t chunks = (b->part.n * b->views + CHUNK - 1) / CHUNK;
    return par_chunks(chunks, b->augmenter->config.threads, run_chunk, b);
}

sotto_status augmenter_run(struct augmenter *a, float *dst, const uint8_t *images,
                           const struct augment_part *part, uint64_t seed, uint64_t step)
{
    struct batch b = {.augmenter = a,
                      .dst = dst,
                      .images = images,
                      .part = *part,
                      .views = a->config.views,
                      .seed = seed,
                      .step = step};
    return run_batch(&b);
}

sotto_status augmenter_run_plain(struct augmenter *a, float *dst, const uint8_t *images, const int64_t *rows,
                                 size_t n)
{
    struct batch b = {.augmenter = a,
                      .dst = dst,
                      .images = images,
                      .part = {.rows = rows, .n = n, .room = n},
                      .views = 1,
                      .plain = 1};
    return run_batch(&b);
}
