/* A thread takes a block of tiles at a time, so that their points and those of their results stay in the
 * second-level cache between the transforms and the 36 products. With many channels the weights of one point fill
 * that cache: then all threads share a block, and each makes six points of a panel of them in its cache, where it
 * multiplies by them: all points would take four times the weights' memory, and more time to be read. Backward data is the
 * forward pass with the kernels rotated by 180 degrees and the channels exchanged. The weight gradient, a sum over
 * pixels p of diff_dst(p) src(p + tap), is one over tiles of src with what lies around them in diff_dst, too, and the points
 * of that are there from backward data; it comes out rotated. Tiles are independent: but for the weight gradient of few
 * channels, the thread count does not change bits. */
#include "nn/conv/conv_winograd.h"

#include "nn/conv/fetches.h"
#include "nn/conv/lasting_weights.h"
#include "nn/conv/winograd_kernels.h"
#include "par/par.h"

#include <string.h>

/* FEW: up to so many weights of a tap a thread has blocks of its own. */
enum { TAPS = 9, FEW = 128 * 128, WEIGHTS_MAX = 512 * 512, BLOCK = 32, SHARED_BLOCK = 128, GROUP = 64 };
enum { LINES = 6, LINE = WINOGRAD_POINTS / LINES }; /* of the points of weights */

struct conv_winograd {
    struct conv_desc desc;
    const struct winograd_kernels *kernels;
    struct winograd_tiles src, dst;
    size_t tiles, block, blocks; /* block: tiles in one */
    bool shared;                 /* a block is on all threads */
    size_t cuts,
        piece_rows; /* of that: parts of its tiles in a product; channels of K in a piece of the gradient */
    struct lasting_weights lasting;
    float *src_points, *dst_points; /* (threads or 1, 36, block, C or K) */
    /* A block a thread: (36, depth, results) of the running call; else (threads, 6, depth, group of results). */
    float *weights_points;
    /* Points of the weight gradient. A block a thread: (threads, 36, K, C); else (pieces, 36, piece_rows, group of C), or with
     * one block (threads, ...). */
    float *sums;
    /* of the running call */
    int forward;
    const void *in; /* diff_dst in the backward pass */
    const float *weights;
    void *out; /* diff_src there; NULL: not wanted */
    struct winograd_finish finish;
    const void *src_data;
    float *diff_weights; /* NULL: not wanted */
    size_t at;           /* the shared block */
};

int conv_winograd_fits(const struct conv_desc *d)
{
    const struct winograd_kernels *k = winograd_kernels_best();
    return k->multiply && d->src_dtype == d->dst_dtype && (k->narrow || d->src_dtype == NN_F32) &&
           d->kernel_height == 3 && d->kernel_width == 3 && d->stride == 1 && d->pad == 1 &&
           d->src.channels % WINOGRAD_VECTOR == 0 && d->dst.channels % WINOGRAD_VECTOR == 0 &&
           d->src.channels * d->dst.channels <= WEIGHTS_MAX;
}

static struct winograd_tiles conv_winograd_cut(struct nn_shape s, enum nn_dtype dtype)
{
    return (struct winograd_tiles){.height = s.height,
                                   .width = s.width,
                                   .channels = s.channels,
                                   .down = (s.height + WINOGRAD_TILE - 1) / WINOGRAD_TILE,
                                   .across = (s.width + WINOGRAD_TILE - 1) / WINOGRAD_TILE,
                                   .narrow = dtype == NN_BF16};
}

/* The products write whole groups of rows. */
static size_t whole_rows(size_t most, size_t tiles)
{
    const size_t rows = (tiles + WINOGRAD_ROWS - 1) / WINOGRAD_ROWS * WINOGRAD_ROWS;
    return rows < most ? rows : most;
}

/* Neighbouring panels that a thread takes at a time of a shared block, as channels. */
static size_t group_of(size_t channels)
{
    return winograd_panel(channels, GROUP);
}

/* So that all threads have work, if they are many: a part makes the points of the weights for itself, and a piece reads those of
 * C for itself. */
static void cut_finely(struct conv_winograd *w)
{
    const size_t C = w->src.channels, K = w->dst.channels, threads = w->shared ? (size_t)w->desc.threads : 1,
                 fewest = C / group_of(C) < K / group_of(K) ? C / group_of(C) : K / group_of(K);
    w->cuts = 1;
    while (LINES * fewest * w->cuts < threads && w->block / w->cuts >= 2 * WINOGRAD_ROWS)
        w->cuts *= 2;
    w->piece_rows = group_of(K);
    while (K / w->piece_rows * (C / group_of(C)) < threads && w->piece_rows > WINOGRAD_ROWS)
        w->piece_rows /= 2;
}

sotto_status conv_winograd_create(struct conv_winograd **out, const struct conv_desc *d)
{
    sotto_status status = SOTTO_OK;
    struct conv_winograd *w = NULL;
    NEW(w, 1);
    w->desc = *d;
    w->kernels = winograd_kernels_best();
    w->src = conv_winograd_cut(d->src, d->src_dtype);
    w->dst = conv_winograd_cut(d->dst, d->dst_dtype);
    w->tiles = d->batch * w->src.down * w->src.across;
    w->shared = d->src.channels * d->dst.channels > FEW;
    w->block = whole_rows(w->shared ? SHARED_BLOCK : BLOCK, w->tiles);
    w->blocks = (w->tiles + w->block - 1) / w->block;
    cut_finely(w);
    *out = w;
done:
    return status;
}

/* From one point to the next: not a multiple of the first-level cache's way, or the 36 would share a set. */
static size_t conv_winograd_plane(const struct conv_winograd *w, size_t channels)
{
    return w->block * channels + WINOGRAD_VECTOR;
}

static size_t block_floats(const struct conv_winograd *w, size_t channels)
{
    return WINOGRAD_POINTS * conv_winograd_plane(w, channels);
}

static size_t weights_plane(const struct conv_winograd *w)
{
    return w->desc.src.channels * w->desc.dst.channels + WINOGRAD_VECTOR;
}

static size_t panel_of(const struct conv_winograd *w, size_t channels)
{
    return winograd_panel(channels, w->kernels->panel);
}

static size_t conv_winograd_panels(const struct conv_winograd *w, size_t channels)
{
    return channels / panel_of(w, channels);
}

/* ---- memory ---- */

/* A point of the weights of a group of results. */
static size_t line_plane(size_t depth, size_t results)
{
    return depth * group_of(results) + WINOGRAD_VECTOR;
}

/* A point of a piece of the weight gradient. */
static size_t piece_plane(const struct conv_winograd *w)
{
    return w->piece_rows * group_of(w->desc.src.channels) + WINOGRAD_VECTOR;
}

static size_t conv_winograd_pieces(const struct conv_winograd *w)
{
    const size_t C = w->desc.src.channels, K = w->desc.dst.channels;
    return K / w->piece_rows * (C / group_of(C));
}

static void shared_layout(struct conv_winograd *w, struct arena *scratch)
{
    const size_t C = w->desc.src.channels, K = w->desc.dst.channels, threads = (size_t)w->desc.threads,
                 forward = line_plane(C, K), backward = line_plane(K, C);
    w->weights_points =
        arena_take(scratch, threads * LINE * (forward > backward ? forward : backward), sizeof(float));
    if (w->desc.training && !w->desc.single_examples)
        w->sums = arena_take(
            scratch, (w->blocks > 1 ? conv_winograd_pieces(w) : threads) * WINOGRAD_POINTS * piece_plane(w),
            sizeof(float));
}

void conv_winograd_layout(struct conv_winograd *w, struct arena *scratch)
{
    const struct conv_desc *d = &w->desc;
    const size_t weights = WINOGRAD_POINTS * weights_plane(w), blocks = w->shared ? 1 : (size_t)d->threads;
    w->src_points = arena_take(scratch, blocks * block_floats(w, d->src.channels), sizeof(float));
    w->dst_points = arena_take(scratch, blocks * block_floats(w, d->dst.channels), sizeof(float));
    if (w->shared) {
        shared_layout(w, scratch);
        return;
    }
    lasting_layout(&w->lasting, scratch, weights * sizeof(float));
    if (d->training && !d->single_examples)
        w->sums = arena_take(scratch, blocks * weights, sizeof(float));
}

struct lasting_weights *conv_winograd_lasting(struct conv_winograd *w, struct arena *memory)
{
    const bool backward = w->desc.training && w->desc.diff_src;
    if (!w->shared)
        lasting_place(&w->lasting, memory, WINOGRAD_POINTS * weights_plane(w) * sizeof(float), backward);
    return &w->lasting;
}

void conv_winograd_free(struct conv_winograd *w)
{
    base_free(w);
}

static size_t tiles_of(const struct conv_winograd *w, size_t block)
{
    size_t left = w->tiles - block * w->block;
    return left < w->block ? left : w->block;
}

/* Channels that are read, and that are written, in the running pass. */
static size_t depth_of(const struct conv_winograd *w)
{
    return (w->forward ? w->src : w->dst).channels;
}

static size_t results_of(const struct conv_winograd *w)
{
    return (w->forward ? w->dst : w->src).channels;
}

/* One line of points of the weights of a panel of results. */
static void make_line(const struct conv_winograd *w, float *points, size_t plane, size_t panel, size_t line)
{
    const size_t C = w->src.channels, columns = panel_of(w, results_of(w)), first = panel * columns;
    w->kernels->from_weights(&(struct winograd_line){
        .points = points,
        .plane = plane,
        .depth = depth_of(w),
        .columns = columns,
        .line = line,
        .weights = w->weights + (w->forward ? first * TAPS * C : first),
        .column = w->forward ? TAPS * C : 1,
        .row = w->forward ? 1 : TAPS * C,
        .tap = w->forward ? (ptrdiff_t)C : -(ptrdiff_t)C,
    });
}

/* The points that a thread works on, or all threads: those of the source and of the results' side. */
struct pair {
    struct winograd_points src, dst;
    size_t first, count; /* tiles */
};

static struct pair pair_of(const struct conv_winograd *w, size_t block, size_t copy)
{
    size_t C = w->src.channels, K = w->dst.channels;
    return (struct pair){
        .src = {w->src_points + copy * block_floats(w, C), conv_winograd_plane(w, C), w->block},
        .dst = {w->dst_points + copy * block_floats(w, K), conv_winograd_plane(w, K), w->block},
        .first = block * w->block,
        .count = tiles_of(w, block)};
}

/* The part of a shared block that is one thread's. */
static struct pair part_of(const struct conv_winograd *w, size_t share)
{
    struct pair p = pair_of(w, w->at, 0);
    size_t threads = (size_t)w->desc.threads, from = p.count * share / threads,
           end = p.count * (share + 1) / threads;
    p.src.at += from * panel_of(w, w->src.channels);
    p.dst.at += from * panel_of(w, w->dst.channels);
    p.first += from, p.count = end - from;
    return p;
}

/* ---- steps of a block: points; products of one panel of one point; results ---- */

static void conv_winograd_load(const struct conv_winograd *w, const struct pair *p)
{
    if (w->forward)
        w->kernels->from_source(&p->src, w->in, &w->src, p->first, p->count);
    else
        w->kernels->from_source(&p->dst, w->in, &w->dst, p->first, p->count);
}

/* out = in * weights, forward or backward, of which `right` are a panel of this point. */
static void conv_winograd_filter(const struct conv_winograd *w, const struct pair *p, size_t point,
                                 size_t panel, const float *right)
{
    const struct winograd_points *from = w->forward ? &p->src : &p->dst, *to = w->forward ? &p->dst : &p->src;
    size_t depth = depth_of(w), left = panel_of(w, depth), columns = panel_of(w, results_of(w));
    w->kernels->multiply(&(struct winograd_product){
        .out = to->at + point * to->plane + panel * to->rows * columns,
        .left = from->at + point * from->plane,
        .right = right,
        .rows = p->count,
        .columns = columns,
        .depth = left,
        .panels = depth / left,
        .left_row = left,
        .left_depth = 1,
        .left_panel = from->rows * left,
    });
}

static void conv_winograd_store(const struct conv_winograd *w, const struct pair *p)
{
    if (w->forward)
        w->kernels->to_result(w->out, &p->dst, &w->dst, p->first, p->count, &w->finish);
    else
        w->kernels->to_result(w->out, &p->src, &w->src, p->first, p->count, &w->finish);
}

/* Points of what the products of the weight gradient still lack. */
static void load_tiles(const struct conv_winograd *w, const struct pair *p)
{
    w->kernels->from_tiles(&p->src, w->src_data, &w->src, p->first, p->count);
}

/* sums (panel of K, or piece_rows of it, panel of C) (+)= diff_dst' * src, from channel k on. */
static void conv_winograd_sum(const struct conv_winograd *w, const struct pair *p, float *sums, size_t point,
                              size_t k, size_t panel, int add)
{
    const size_t left = panel_of(w, w->dst.channels), columns = panel_of(w, w->src.channels);
    w->kernels->multiply(&(struct winograd_product){
        .out = sums,
        .left = p->dst.at + point * p->dst.plane + k / left * left * p->dst.rows + k % left,
        .right = p->src.at + point * p->src.plane + panel * p->src.rows * columns,
        .rows = left < w->piece_rows ? left : w->piece_rows,
        .columns = columns,
        .depth = p->count,
        .panels = 1,
        .left_row = 1,
        .left_depth = left,
        .add = add,
    });
}

/* ---- a block a thread ---- */

/* A panel of results of all weights. */
static sotto_status make_points(void *arg, size_t panel, int thread)
{
    (void)thread;
    const struct conv_winograd *w = arg;
    const size_t plane = weights_plane(w);
    float *to = w->weights_points + panel * depth_of(w) * panel_of(w, results_of(w));
    for (size_t i = 0; i < LINES; i++)
        make_line(w, to + i * LINE * plane, plane, panel, i);
    return SOTTO_OK;
}

/* What these tiles are of a tensor: about, where a row of tiles goes on in the next block. */
static void add_fetch(struct fetches *f, const void *tensor, const struct winograd_tiles *t, size_t first,
                      size_t count)
{
    size_t image = t->height * t->width * t->channels * (t->narrow ? sizeof(uint16_t) : sizeof(float)),
           per_image = t->down * t->across;
    fetches_add(f, tensor, image * first / per_image, image * (first + count) / per_image);
}

static void filter_block(const struct conv_winograd *w, const struct pair *p, const struct fetches *f)
{
    const size_t results = results_of(w), n = conv_winograd_panels(w, results),
                 panel = depth_of(w) * panel_of(w, results);
    for (size_t i = 0; i < WINOGRAD_POINTS * n; i++) {
        fetches_run(f, i, WINOGRAD_POINTS * n);
        conv_winograd_filter(w, p, i / n, i % n,
                             w->weights_points + i / n * weights_plane(w) + i % n * panel);
    }
    conv_winograd_store(w, p);
}

static void sum_block(const struct conv_winograd *w, const struct pair *p, float *sums, int add,
                      const struct fetches *f)
{
    const size_t n = conv_winograd_panels(w, w->src.channels), K = w->dst.channels, rows = panel_of(w, K),
                 columns = panel_of(w, w->src.channels);
    load_tiles(w, p);
    for (size_t i = 0; i < WINOGRAD_POINTS * n; i++) {
        fetches_run(f, i, WINOGRAD_POINTS * n);
        for (size_t k = 0; k < K; k += rows)
            conv_winograd_sum(w, p, sums + i / n * weights_plane(w) + (i % n * K + k) * columns, i / n, k,
                              i % n, add);
    }
}

/* A thread's blocks. Both backward passes take a block in turn: what they read is in cache for the second. */
static sotto_status run_share(void *arg, size_t share, int thread)
{
    (void)thread;
    const struct conv_winograd *w = arg;
    size_t threads = (size_t)w->desc.threads, sums_floats = WINOGRAD_POINTS * weights_plane(w);
    size_t first = w->blocks * share / threads, end = w->blocks * (share + 1) / threads;
    float *sums = w->diff_weights ? w->sums + share * sums_floats : NULL;
    if (sums && first == end)
        memset(sums, 0, sums_floats * sizeof *sums);
    for (size_t block = first; block < end && !par_stopped(w->desc.stop); block++) {
        struct pair p = pair_of(w, block, share);
        struct fetches now = {.count = 0}, next = {.count = 0};
        const struct winograd_tiles *in = w->forward ? &w->src : &w->dst,
                                    *out = w->forward ? &w->dst : &w->src;
        add_fetch(&now, w->out, out, p.first, p.count);
        if (sums || w->finish.mask)
            add_fetch(&now, sums ? w->src_data : w->finish.mask, &w->src, p.first, p.count);
        add_fetch(sums ? &next : &now, w->in, in, p.first + p.count,
                  block + 1 < end ? tiles_of(w, block + 1) : 0);
        conv_winograd_load(w, &p);
        if (w->out)
            filter_block(w, &p, &now);
        if (sums)
            sum_block(w, &p, sums, block > first, &next);
    }
    return SOTTO_OK;
}

/* ---- a block on all threads ---- */

static sotto_status load_part(void *arg, size_t share, int thread)
{
    (void)thread;
    struct pair p = part_of(arg, share);
    conv_winograd_load(arg, &p);
    return SOTTO_OK;
}

/* Whole groups of rows of a block, as products write them. */
static struct pair cut_of(const struct conv_winograd *w, size_t cut)
{
    struct pair p = pair_of(w, w->at, 0);
    const size_t groups = (p.count + WINOGRAD_ROWS - 1) / WINOGRAD_ROWS,
                 from = groups * cut / w->cuts * WINOGRAD_ROWS,
                 end = groups * (cut + 1) / w->cuts * WINOGRAD_ROWS;
    p.src.at += from * panel_of(w, w->src.channels);
    p.dst.at += from * panel_of(w, w->dst.channels);
    p.count = (end < p.count ? end : p.count) - from;
    return p;
}

/* A line of points of a group, and a part of the tiles. */
static sotto_status filter_item(void *arg, size_t item, int thread)
{
    const struct conv_winograd *w = arg;
    const size_t depth = depth_of(w), results = results_of(w), panel = panel_of(w, results),
                 n = group_of(results) / panel, first = item / w->cuts / LINES * n,
                 line = item / w->cuts % LINES, plane = line_plane(depth, results);
    float *points = w->weights_points + (size_t)thread * LINE * plane;
    const struct pair p = cut_of(w, item % w->cuts);
    for (size_t j = 0; j < n; j++)
        make_line(w, points + j * depth * panel, plane, first + j, line);
    for (size_t i = 0; i < LINE; i++)
        for (size_t j = 0; j < n; j++)
            conv_winograd_filter(w, &p, line * LINE + i, first + j, points + i * plane + j * depth * panel);
    return SOTTO_OK;
}

static size_t filter_items(const struct conv_winograd *w)
{
    return results_of(w) / group_of(results_of(w)) * LINES * w->cuts;
}

static sotto_status store_part(void *arg, size_t share, int thread)
{
    (void)thread;
    const struct conv_winograd *w = arg;
    struct pair p = part_of(w, share);
    if (w->out)
        conv_winograd_store(w, &p);
    if (w->diff_weights)
        load_tiles(w, &p);
    return SOTTO_OK;
}

/* The gradient of one piece of the weights, from channels k and c on, once its last block is there. */
static void to_weights(const struct conv_winograd *w, const float *sums, size_t k, size_t c)
{
    const size_t C = w->src.channels, rows = w->piece_rows, panel = panel_of(w, C);
    for (size_t i = 0; i < rows; i++)
        for (size_t j = 0; j < group_of(C); j += WINOGRAD_VECTOR)
            w->kernels->to_weights(w->diff_weights + ((k + i) * TAPS + TAPS - 1) * C + c + j, -(ptrdiff_t)C,
                                   sums + (j / panel * rows + i) * panel + j % panel, piece_plane(w));
}

static sotto_status sum_item(void *arg, size_t piece, int thread)
{
    const struct conv_winograd *w = arg;
    const size_t C = w->src.channels, groups = C / group_of(C), rows = w->piece_rows,
                 k = piece / groups * rows, c = piece % groups * group_of(C), panel = panel_of(w, C),
                 down = panel_of(w, w->dst.channels), plane = piece_plane(w);
    float *sums = w->sums + (w->blocks > 1 ? piece : (size_t)thread) * WINOGRAD_POINTS * plane;
    const struct pair p = pair_of(w, w->at, 0);
    for (size_t point = 0; point < WINOGRAD_POINTS; point++)
        for (size_t j = 0; j < group_of(C); j += panel)
            for (size_t i = 0; i < rows; i += down)
                conv_winograd_sum(w, &p, sums + point * plane + j * rows + i * panel, point, k + i,
                                  (c + j) / panel, w->at > 0);
    if (w->at + 1 == w->blocks)
        to_weights(w, sums, k, c);
    return SOTTO_OK;
}

static void run_shared(struct conv_winograd *w)
{
    const size_t threads = (size_t)w->desc.threads;
    struct par_stop *stop = w->desc.stop;
    for (w->at = 0; w->at < w->blocks && !par_stopped(stop); w->at++) {
        (void)par_shares(threads, w->desc.threads, stop, load_part, w);
        if (w->out)
            (void)par_shares(filter_items(w), w->desc.threads, stop, filter_item, w);
        (void)par_shares(threads, w->desc.threads, stop, store_part, w);
        if (w->diff_weights)
            (void)par_shares(conv_winograd_pieces(w), w->desc.threads, stop, sum_item, w);
    }
}

/* The gradient of one output channel's weights, of the sums of all threads. */
static sotto_status add_up(void *arg, size_t output, int thread)
{
    (void)thread;
    const struct conv_winograd *w = arg;
    size_t C = w->src.channels, K = w->dst.channels, panel = panel_of(w, C), points = weights_plane(w);
    for (size_t c = 0; c < C; c += WINOGRAD_VECTOR) {
        float *sums = w->sums + (c / panel * K + output) * panel + c % panel;
        for (size_t copy = 1; copy < (size_t)w->desc.threads; copy++)
            for (size_t point = 0; point < WINOGRAD_POINTS; point++)
                for (size_t i = 0; i < WINOGRAD_VECTOR; i++)
                    sums[point * points + i] += sums[(copy * WINOGRAD_POINTS + point) * points + i];
        w->kernels->to_weights(w->diff_weights + (output * TAPS + TAPS - 1) * C + c, -(ptrdiff_t)C, sums,
                               points);
    }
    return SOTTO_OK;
}

static void run_unshared(struct conv_winograd *w)
{
    w->weights_points = w->lasting.form[!w->forward];
    if (w->out && !lasting_is_made(&w->lasting, !w->forward))
        (void)par_shares(conv_winograd_panels(w, results_of(w)), w->desc.threads, w->desc.stop, make_points,
                         w);
    (void)par_shares((size_t)w->desc.threads, w->desc.threads, w->desc.stop, run_share, w);
    if (w->diff_weights)
        (void)par_shares(w->dst.channels, w->desc.threads, w->desc.stop, add_up, w);
}

static void conv_winograd_run(struct conv_winograd *w)
{
    if (w->shared)
        run_shared(w);
    else
        run_unshared(w);
}

void conv_winograd_forward(struct conv_winograd *w, void *dst, const void *src, const float *weights,
                           const float *bias)
{
    w->forward = 1;
    w->in = src, w->weights = weights, w->out = dst;
    w->finish = (struct winograd_finish){.bias = bias, .relu = w->desc.relu};
    w->diff_weights = NULL;
    conv_winograd_run(w);
}

void conv_winograd_backward(struct conv_winograd *w, void *diff_src, float *diff_weights,
                            const void *diff_dst, const void *src, const float *weights)
{
    w->forward = 0;
    w->in = diff_dst, w->weights = weights, w->out = diff_src;
    w->finish = (struct winograd_finish){.mask = w->desc.mask_src ? src : NULL};
    w->src_data = src, w->diff_weights = diff_weights;
    conv_winograd_run(w);
}
