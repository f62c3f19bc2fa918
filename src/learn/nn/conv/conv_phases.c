/* Forward, a thread takes a block of images at a time, so that their points stay in its cache between the transforms and
 * the products; so it does backward where there are few weights. Else all threads share a block backward: the transforms are
 * cut by images, the products of both passes, which read the same points of diff_dst, by classes and panels of results. So
 * they are forward with many channels, as the weights of one class fill the cache then.
 *
 * A result is one chain over channels for each point, and a weight's sum one chain over the images of a block and then from
 * block to block; parts of the batch are the same for any number of threads: no bit depends on the threads. */
#include "nn/conv/conv_phases.h"

#include "nn/conv/fetches.h"
#include "nn/conv/lasting_weights.h"
#include "nn/conv/phases_kernels.h"
#include "nn/conv/winograd_kernels.h"
#include "par/par.h"

#include <string.h>

/* SMALL: with fewer weights of a tap a thread has blocks of its own in both directions, which fit into its second-level cache
 * with the weights' points, and each of PARTS parts of the batch has sums of its own. FEW: up to so many it has them forward.
 * SMALL_BLOCK, BLOCK, SHARED_BLOCK: floats of the points of such a block, source and result, and of one of all threads. */
enum {
    TAPS = 9,
    WEIGHTS_LEAST = 16 * 32,
    SMALL = 64 * 64,
    FEW = 128 * 128,
    WEIGHTS_MAX = 512 * 512,
    PARTS = 8,
    SMALL_BLOCK = 1 << 17,
    BLOCK = 1 << 18,
    SHARED_BLOCK = 1 << 20
};

/* How the points of a block of images lie. */
struct phases_layout {
    size_t images, rows;
    size_t begin[PHASES_CLASSES];
    struct phases_place *place;
};
struct conv_phases {
    struct conv_desc desc;
    const struct phases_kernels *kernels;
    const struct winograd_kernels *products;
    struct phases_axis down, across;
    size_t count[PHASES_CLASSES];     /* points of an image */
    size_t points;                    /* all of these */
    size_t blocks, parts;             /* own blocks of the batch; parts of it with sums of their own, or 1 */
    struct phases_layout own, shared; /* blocks of a thread, and of all threads */
    struct arena memory;              /* of the places */
    struct lasting_weights lasting;
    float *weights_points; /* (36, depth, results) of the running call */
    float *src_points, *dst_points, *diff_points;
    float *sums; /* (parts, 36, K, C) */
    /* of the running call */
    bool back;
    size_t at; /* first image of the shared block */
    struct phases_images src, dst, diff_src;
    const float *weights;
    float *diff_weights; /* NULL: not wanted */
};

static struct phases_axis conv_phases_axis(size_t pixels, size_t pad, size_t results)
{
    return (struct phases_axis){pixels, pad, results, (results + PHASES_TILE - 1) / PHASES_TILE};
}

int conv_phases_fits(const struct conv_desc *d)
{
    size_t weights = d->src.channels * d->dst.channels;
    return phases_kernels_best()->from_source && d->src_dtype == NN_F32 && d->dst_dtype == NN_F32 &&
           d->kernel_height == 3 && d->kernel_width == 3 && d->stride == 2 && d->pad <= 1 &&
           d->dst.height > 1 && d->dst.width > 1 && d->src.channels % WINOGRAD_VECTOR == 0 &&
           d->dst.channels % WINOGRAD_VECTOR == 0 && weights >= WEIGHTS_LEAST && weights <= WEIGHTS_MAX;
}

bool conv_phases_small(const struct conv_desc *d)
{
    return d->src.channels * d->dst.channels < SMALL;
}

/* ---- planning ---- */

/* Points of a side that are of this sort: numbers, infinity, odd pixels. */
static size_t count_of(const struct phases_axis *a, size_t sort)
{
    if (sort == PHASES_TILE)
        return a->tiles;
    if (sort > PHASES_TILE)
        return a->results;
    return sort < a->results / a->tiles    ? a->tiles
           : sort == a->results / a->tiles ? a->results % a->tiles
                                           : 0;
}

/* Sort and number of point i of tile t. */
static size_t sort_of(const struct phases_axis *a, size_t t, size_t i, size_t *number)
{
    size_t n = phases_size(a, t);
    *number = i <= n ? t : phases_start(a, t) + i - n - 1;
    return i < n ? i : i == n ? PHASES_TILE : PHASES_TILE + 1;
}

/* A product writes whole groups of rows. One more row, as the classes must not all begin at the same place of a way of the
 * first-level cache. */
static void conv_phases_begin(const struct conv_phases *c, struct phases_layout *l)
{
    l->rows = 0;
    for (size_t k = 0; k < PHASES_CLASSES; k++) {
        l->begin[k] = l->rows;
        l->rows += (c->count[k] * l->images + WINOGRAD_ROWS - 1) / WINOGRAD_ROWS * WINOGRAD_ROWS + 1;
    }
}

static void conv_phases_fill(const struct conv_phases *c, const struct phases_layout *l)
{
    const struct phases_axis *h = &c->down, *w = &c->across;
    struct phases_place *p = l->place;
    for (size_t y = 0; y < h->tiles; y++)
        for (size_t x = 0; x < w->tiles; x++, p++)
            for (size_t i = 0; i < 2 * phases_size(h, y) + 1; i++)
                for (size_t j = 0; j < 2 * phases_size(w, x) + 1; j++) {
                    size_t row, column, down = sort_of(h, y, i, &row), across = sort_of(w, x, j, &column),
                                        k = down * PHASES_SORTS + across;
                    p->first[i * PHASES_WIDE + j] =
                        (uint32_t)(l->begin[k] + row * count_of(w, across) + column);
                    p->step[i * PHASES_WIDE + j] = (uint32_t)c->count[k];
                }
}

static void conv_phases_place(struct conv_phases *c)
{
    const size_t tiles = c->down.tiles * c->across.tiles;
    c->own.place = arena_take(&c->memory, tiles, sizeof *c->own.place);
    c->shared.place = arena_take(&c->memory, tiles, sizeof *c->shared.place);
}

static size_t images_of(const struct conv_phases *c, size_t floats)
{
    const struct conv_desc *d = &c->desc;
    size_t images = floats / (c->points * (d->src.channels + d->dst.channels));
    images = images ? images : 1;
    return images < d->batch ? images : d->batch;
}

static bool is_shared(const struct conv_phases *c)
{
    return c->desc.src.channels * c->desc.dst.channels > FEW;
}

sotto_status conv_phases_create(struct conv_phases **out, const struct conv_desc *d)
{
    sotto_status status = SOTTO_OK;
    struct conv_phases *c = NULL;
    NEW(c, 1);
    c->desc = *d;
    c->kernels = phases_kernels_best();
    c->products = winograd_kernels_best();
    c->down = conv_phases_axis(d->src.height, d->pad, d->dst.height);
    c->across = conv_phases_axis(d->src.width, d->pad, d->dst.width);
    c->points = phases_points_of(&c->down) * phases_points_of(&c->across);
    for (size_t k = 0; k < PHASES_CLASSES; k++)
        c->count[k] = count_of(&c->down, k / PHASES_SORTS) * count_of(&c->across, k % PHASES_SORTS);
    c->own.images = images_of(c, conv_phases_small(d) ? SMALL_BLOCK : BLOCK);
    c->blocks = (d->batch + c->own.images - 1) / c->own.images;
    c->parts = !conv_phases_small(d) ? 1 : c->blocks < PARTS ? c->blocks : PARTS;
    c->shared.images = images_of(c, SHARED_BLOCK);
    conv_phases_begin(c, &c->own);
    conv_phases_begin(c, &c->shared);
    conv_phases_place(c);
    TRY(arena_reserve(&c->memory, "convolution"));
    conv_phases_place(c);
    conv_phases_fill(c, &c->own);
    conv_phases_fill(c, &c->shared);
    *out = c;
    c = NULL;
done:
    conv_phases_free(c);
    return status;
}

static size_t conv_phases_larger(size_t a, size_t b)
{
    return a > b ? a : b;
}

static size_t weights_plane(const struct conv_phases *c)
{
    return c->desc.src.channels * c->desc.dst.channels + WINOGRAD_VECTOR;
}

void conv_phases_layout(struct conv_phases *c, struct arena *scratch)
{
    const struct conv_desc *d = &c->desc;
    size_t C = d->src.channels, K = d->dst.channels, weights = PHASES_CLASSES * weights_plane(c),
           rows = is_shared(c) ? c->shared.rows : (size_t)d->threads * c->own.rows;
    const bool small = conv_phases_small(d);
    rows = d->training && !small ? conv_phases_larger(rows, c->shared.rows) : rows;
    lasting_layout(&c->lasting, scratch, weights * sizeof(float));
    c->src_points = arena_take(scratch, rows * C, sizeof(float));
    c->dst_points = arena_take(scratch, rows * K, sizeof(float));
    if (d->training && d->diff_src && !small)
        c->diff_points = arena_take(scratch, c->shared.rows * C, sizeof(float));
    if (d->training && !d->single_examples)
        c->sums = arena_take(scratch, c->parts * weights, sizeof(float));
}

struct lasting_weights *conv_phases_lasting(struct conv_phases *c, struct arena *memory)
{
    const bool backward = c->desc.training && c->desc.diff_src;
    lasting_place(&c->lasting, memory, PHASES_CLASSES * weights_plane(c) * sizeof(float), backward);
    return &c->lasting;
}

void conv_phases_free(struct conv_phases *c)
{
    if (!c)
        return;
    arena_clear(&c->memory);
    base_free(c);
}

/* ---- steps of a block ---- */

static size_t panel_of(const struct conv_phases *c, size_t channels)
{
    return winograd_panel(channels, c->products->panel);
}

static size_t panels_of(const struct conv_phases *c, size_t channels)
{
    return channels / panel_of(c, channels);
}

/* Sixteen results of the weights. */
static sotto_status transform_weights(void *arg, size_t group, int thread)
{
    (void)thread;
    const struct conv_phases *c = arg;
    size_t C = c->desc.src.channels, K = c->desc.dst.channels, first = group * WINOGRAD_VECTOR,
           depth = c->back ? K : C, panel = panel_of(c, c->back ? C : K);
    float *to = c->weights_points + first / panel * depth * panel + first % panel;
    if (c->back)
        c->kernels->from_weights(to, weights_plane(c), panel, c->weights + first, 1, TAPS * C, C, K);
    else
        c->kernels->from_weights(to, weights_plane(c), panel, c->weights + first * TAPS * C, TAPS * C, 1, C,
                                 C);
    return SOTTO_OK;
}

/* The points of all weights, for the running direction. */
static void make_weights_points(struct conv_phases *c)
{
    const struct conv_desc *d = &c->desc;
    const size_t results = c->back ? d->src.channels : d->dst.channels;
    c->weights_points = c->lasting.form[c->back];
    if (!lasting_is_made(&c->lasting, c->back))
        (void)par_shares(results / WINOGRAD_VECTOR, d->threads, d->stop, transform_weights, c);
}

static struct phases_points conv_phases_points(const struct conv_phases *c, const struct phases_layout *l,
                                               float *at, size_t channels)
{
    return (struct phases_points){at, l->rows, panel_of(c, channels), l->place};
}

/* The points that a product reads, and those of its results. */
struct side {
    float *at;
    size_t channels;
};

/* One panel of one class of `to`. */
static void conv_phases_filter(const struct conv_phases *c, const struct phases_layout *l, size_t images,
                               struct side to, struct side from, size_t k, size_t panel)
{
    size_t left = panel_of(c, from.channels), columns = panel_of(c, to.channels);
    if (c->count[k] == 0)
        return;
    c->products->multiply(&(struct winograd_product){
        .out = to.at + (panel * l->rows + l->begin[k]) * columns,
        .left = from.at + l->begin[k] * left,
        .right = c->weights_points + k * weights_plane(c) + panel * from.channels * columns,
        .rows = c->count[k] * images,
        .columns = columns,
        .depth = left,
        .panels = from.channels / left,
        .left_row = left,
        .left_depth = 1,
        .left_panel = l->rows * left,
    });
}

/* sums (K, C) (+)= diff_dst' * src: the points at `dst` and `src`. */
static void conv_phases_sum(const struct conv_phases *c, const struct phases_layout *l, size_t images,
                            float *sums, const float *dst, const float *src, size_t k, size_t panel, bool add)
{
    size_t K = c->desc.dst.channels, rows = panel_of(c, K), columns = panel_of(c, c->desc.src.channels);
    if (c->count[k] == 0)
        return;
    for (size_t first = 0; first < K; first += rows)
        c->products->multiply(&(struct winograd_product){
            .out = sums + k * weights_plane(c) + (panel * K + first) * columns,
            .left = dst + (first / rows * l->rows + l->begin[k]) * rows,
            .right = src + (panel * l->rows + l->begin[k]) * columns,
            .rows = rows,
            .columns = columns,
            .depth = c->count[k] * images,
            .panels = 1,
            .left_row = 1,
            .left_depth = rows,
            .add = add,
        });
}

/* ---- a block a thread ---- */

/* A block, and the points that its thread works on. */
struct block {
    size_t first, images;
    struct phases_points src, dst;
};

static struct block block_of(const struct conv_phases *c, size_t block, int thread)
{
    const struct phases_layout *l = &c->own;
    size_t C = c->desc.src.channels, K = c->desc.dst.channels, first = block * l->images,
           left = c->desc.batch - first, own = (size_t)thread * l->rows;
    return (struct block){first, left < l->images ? left : l->images,
                          conv_phases_points(c, l, c->src_points + own * C, C),
                          conv_phases_points(c, l, c->dst_points + own * K, K)};
}

/* Images from `first` on. */
static void add_fetch(struct fetches *f, const float *tensor, struct nn_shape s, size_t first, size_t images)
{
    const size_t image = s.height * s.width * s.channels * sizeof *tensor;
    fetches_add(f, tensor, first * image, (first + images) * image);
}

static size_t images_behind(const struct conv_phases *c, const struct block *b)
{
    size_t left = c->desc.batch - b->first - b->images;
    return left < c->own.images ? left : c->own.images;
}

typedef void change_images(const struct phases_points *points, const struct phases_images *images,
                           const struct phases_part *part);

static void each_image(const struct conv_phases *c, const struct block *b, change_images *change,
                       const struct phases_points *at, const struct phases_images *images)
{
    for (size_t i = 0; i < b->images; i++)
        change(at, images, &(struct phases_part){b->first + i, i, 0, panels_of(c, images->channels)});
}

static void filter_block(const struct conv_phases *c, const struct block *b, struct side to, struct side from,
                         const struct fetches *f)
{
    const size_t n = panels_of(c, to.channels) * PHASES_CLASSES;
    for (size_t i = 0; i < n; i++) {
        fetches_run(f, i, n);
        conv_phases_filter(c, &c->own, b->images, to, from, i % PHASES_CLASSES, i / PHASES_CLASSES);
    }
}

static sotto_status forward_block(void *arg, size_t block, int thread)
{
    const struct conv_phases *c = arg;
    const struct conv_desc *d = &c->desc;
    const struct block b = block_of(c, block, thread);
    struct fetches f = {.count = 0};
    add_fetch(&f, c->dst.at, d->dst, b.first, b.images);
    add_fetch(&f, c->src.at, d->src, b.first + b.images, images_behind(c, &b));
    each_image(c, &b, c->kernels->from_source, &b.src, &c->src);
    filter_block(c, &b, (struct side){b.dst.at, d->dst.channels}, (struct side){b.src.at, d->src.channels},
                 &f);
    each_image(c, &b, c->kernels->to_result, &b.dst, &c->dst);
    return SOTTO_OK;
}

/* The points of diff_src lie where those of the source will. */
static void backward_block(const struct conv_phases *c, const struct block *b, float *sums, bool add)
{
    const struct conv_desc *d = &c->desc;
    const struct side src = {b->src.at, d->src.channels}, dst = {b->dst.at, d->dst.channels};
    const size_t n = panels_of(c, src.channels) * PHASES_CLASSES;
    struct fetches now = {.count = 0}, next = {.count = 0};
    if (sums || c->diff_src.mask)
        add_fetch(&now, c->src.at, d->src, b->first, b->images);
    add_fetch(&now, c->diff_src.at, d->src, b->first, b->images);
    add_fetch(sums ? &next : &now, c->dst.at, d->dst, b->first + b->images, images_behind(c, b));
    each_image(c, b, c->kernels->from_result, &b->dst, &c->dst);
    if (c->diff_src.at) {
        filter_block(c, b, src, dst, &now);
        each_image(c, b, c->kernels->to_source, &b->src, &c->diff_src);
    }
    if (!sums)
        return;
    each_image(c, b, c->kernels->from_source, &b->src, &c->src);
    for (size_t i = 0; i < n; i++) {
        fetches_run(&next, i, n);
        conv_phases_sum(c, &c->own, b->images, sums, dst.at, src.at, i % PHASES_CLASSES, i / PHASES_CLASSES,
                        add);
    }
}

static sotto_status backward_part(void *arg, size_t part, int thread)
{
    const struct conv_phases *c = arg;
    const size_t first = c->blocks * part / c->parts, end = c->blocks * (part + 1) / c->parts;
    float *sums = c->diff_weights ? c->sums + part * PHASES_CLASSES * weights_plane(c) : NULL;
    for (size_t block = first; block < end && !par_stopped(c->desc.stop); block++) {
        const struct block b = block_of(c, block, thread);
        backward_block(c, &b, sums, block > first);
    }
    return SOTTO_OK;
}

/* ---- a block on all threads ---- */

static size_t block_images(const struct conv_phases *c)
{
    size_t left = c->desc.batch - c->at;
    return left < c->shared.images ? left : c->shared.images;
}

/* An image is cut into parts by its panels where there are few images for the threads. */
static size_t conv_phases_parts(const struct conv_phases *c, size_t channels)
{
    return c->shared.images < 2 * (size_t)c->desc.threads ? panels_of(c, channels) : 1;
}

static struct phases_part part_of(const struct conv_phases *c, size_t channels, size_t item)
{
    size_t image = item % block_images(c), part = item / block_images(c), n = conv_phases_parts(c, channels),
           panels = panels_of(c, channels);
    return (struct phases_part){c->at + image, image, panels * part / n, panels * (part + 1) / n};
}

/* An image of diff_dst or, behind these, of the source. */
static sotto_status load_item(void *arg, size_t item, int thread)
{
    (void)thread;
    const struct conv_phases *c = arg;
    const struct phases_layout *l = &c->shared;
    size_t C = c->desc.src.channels, K = c->desc.dst.channels,
           before = c->back ? block_images(c) * conv_phases_parts(c, K) : 0;
    struct phases_points src = conv_phases_points(c, l, c->src_points, C),
                         dst = conv_phases_points(c, l, c->dst_points, K);
    struct phases_part part = item < before ? part_of(c, K, item) : part_of(c, C, item - before);
    if (item < before)
        c->kernels->from_result(&dst, &c->dst, &part);
    else
        c->kernels->from_source(&src, &c->src, &part);
    return SOTTO_OK;
}

/* One panel of one class, of the images' results and, behind these, of the weights' sums. The last classes are the
 * largest. */
static sotto_status product_item(void *arg, size_t item, int thread)
{
    (void)thread;
    const struct conv_phases *c = arg;
    size_t C = c->desc.src.channels, K = c->desc.dst.channels, images = block_images(c),
           panels = c->back ? (c->diff_src.at ? panels_of(c, C) : 0) : panels_of(c, K),
           all = panels + (c->diff_weights ? panels_of(c, C) : 0), k = PHASES_CLASSES - 1 - item / all,
           panel = item % all;
    struct side src = {c->src_points, C}, dst = {c->dst_points, K}, diff = {c->diff_points, C};
    if (panel >= panels)
        conv_phases_sum(c, &c->shared, images, c->sums, c->dst_points, c->src_points, k, panel - panels,
                        c->at > 0);
    else if (c->back)
        conv_phases_filter(c, &c->shared, images, diff, dst, k, panel);
    else
        conv_phases_filter(c, &c->shared, images, dst, src, k, panel);
    return SOTTO_OK;
}

static sotto_status store_item(void *arg, size_t item, int thread)
{
    (void)thread;
    const struct conv_phases *c = arg;
    const struct phases_layout *l = &c->shared;
    size_t C = c->desc.src.channels, K = c->desc.dst.channels;
    struct phases_points diff = conv_phases_points(c, l, c->diff_points, C),
                         dst = conv_phases_points(c, l, c->dst_points, K);
    struct phases_part part = part_of(c, c->back ? C : K, item);
    if (c->back)
        c->kernels->to_source(&diff, &c->diff_src, &part);
    else
        c->kernels->to_result(&dst, &c->dst, &part);
    return SOTTO_OK;
}

static void run_shared(struct conv_phases *c)
{
    const int threads = c->desc.threads;
    struct par_stop *stop = c->desc.stop;
    const bool data = !c->back || c->diff_src.at, sums = c->diff_weights != NULL;
    size_t C = c->desc.src.channels, K = c->desc.dst.channels, results = c->back ? C : K,
           load = (c->back ? conv_phases_parts(c, K) : 0) + (sums || !c->back ? conv_phases_parts(c, C) : 0),
           panels = (data ? panels_of(c, results) : 0) + (sums ? panels_of(c, C) : 0),
           store = data ? conv_phases_parts(c, results) : 0;
    for (c->at = 0; c->at < c->desc.batch && !par_stopped(stop); c->at += c->shared.images) {
        (void)par_shares(block_images(c) * load, threads, stop, load_item, c);
        (void)par_chunks(PHASES_CLASSES * panels, threads, product_item, c);
        (void)par_shares(block_images(c) * store, threads, stop, store_item, c);
    }
}

/* ---- calls ---- */

static struct phases_images conv_phases_images(const struct conv_phases *c, const float *at, size_t channels)
{
    return (struct phases_images){
        .at = (float *)(uintptr_t)at, .down = c->down, .across = c->across, .channels = channels};
}

void conv_phases_forward(struct conv_phases *c, float *dst, const float *src, const float *weights,
                         const float *bias)
{
    const struct conv_desc *d = &c->desc;
    c->back = false;
    c->weights = weights, c->diff_weights = NULL;
    c->src = conv_phases_images(c, src, d->src.channels);
    c->dst = conv_phases_images(c, dst, d->dst.channels);
    c->dst.bias = bias, c->dst.relu = d->relu;
    make_weights_points(c);
    if (is_shared(c))
        run_shared(c);
    else
        (void)par_shares(c->blocks, d->threads, d->stop, forward_block, c);
}

/* The sums of all parts, in order. */
static sotto_status add_parts(void *arg, size_t k, int thread)
{
    (void)thread;
    const struct conv_phases *c = arg;
    const size_t plane = weights_plane(c);
    float *restrict to = c->sums + k * plane;
    for (size_t part = 1; c->count[k] && part < c->parts; part++) {
        const float *restrict from = to + part * PHASES_CLASSES * plane;
        for (size_t i = 0; i + WINOGRAD_VECTOR < plane; i += WINOGRAD_VECTOR)
            for (size_t j = 0; j < WINOGRAD_VECTOR; j++)
                to[i + j] += from[i + j];
    }
    return SOTTO_OK;
}

/* The gradient of one output channel's weights. */
static sotto_status add_up(void *arg, size_t output, int thread)
{
    (void)thread;
    const struct conv_phases *c = arg;
    size_t C = c->desc.src.channels, K = c->desc.dst.channels, panel = panel_of(c, C);
    for (size_t i = 0; i < C; i += WINOGRAD_VECTOR)
        c->kernels->to_weights(c->diff_weights + output * TAPS * C + i, C,
                               c->sums + (i / panel * K + output) * panel + i % panel, weights_plane(c));
    return SOTTO_OK;
}

void conv_phases_backward(struct conv_phases *c, float *diff_src, float *diff_weights, const float *diff_dst,
                          const float *src, const float *weights)
{
    const struct conv_desc *d = &c->desc;
    c->back = true;
    c->weights = weights, c->diff_weights = diff_weights;
    c->src = conv_phases_images(c, src, d->src.channels);
    c->dst = conv_phases_images(c, diff_dst, d->dst.channels);
    c->diff_src = conv_phases_images(c, diff_src, d->src.channels);
    c->diff_src.mask = d->mask_src ? src : NULL;
    for (size_t k = 0; diff_weights && k < PHASES_CLASSES; k++)
        if (c->count[k] == 0)
            memset(c->sums + k * weights_plane(c), 0, weights_plane(c) * sizeof *c->sums);
    if (diff_src)
        make_weights_points(c);
    if (conv_phases_small(d))
        (void)par_shares(c->parts, d->threads, d->stop, backward_part, c);
    else
        run_shared(c);
    if (diff_weights && c->parts > 1)
        (void)par_shares(PHASES_CLASSES, d->threads, d->stop, add_parts, c);
    if (diff_weights)
        (void)par_shares(d->dst.channels, d->threads, d->stop, add_up, c);
}
