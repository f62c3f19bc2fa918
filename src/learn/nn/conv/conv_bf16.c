/* Results go by lists of pixels, worked out once per plan for a block of images: all pixels of a list have the same
 * taps. So no product is with padding, nor, backward, with zeros that a stride has put in. The weight gradient is, for
 * each tap, a product over pixels: of diff_dst, packed once for a chunk of images, and of what the tap reads.
 *
 * Of images with few channels all that the kernel sees for one result is copied side by side, a patch; on patches the
 * convolution is one of 1x1. */
#include "nn/conv/conv_bf16.h"

#include "nn/conv/batch_parts.h"
#include "nn/conv/bf16_kernels.h"
#include "nn/conv/lasting_weights.h"
#include "par/par.h"

#include <string.h>

enum { BLOCK_PIXELS = 256, CHUNK_PIXELS = 1024, TAPS_MAX = 64 };

struct list {
    uint64_t mask;            /* bit t: tap t */
    size_t rows, taps;        /* pixels of an image; taps of a pixel */
    size_t filled;            /* rows of the block, while the list is made */
    uint32_t *out_at, *in_at; /* (block * rows), (taps, block * rows): offsets of pixels */
    size_t *tap;              /* (taps): which */
};
/* Forward, or backward data. */
struct pass {
    size_t pixels; /* of an image */
    size_t count;
    struct list *lists; /* (count) */
};
/* Images that a product of the weight gradient is over, and what it adds to. */
struct chunk {
    size_t first, images;
    uint32_t *left; /* (K / panel, chunk's pairs, panel) of diff_dst */
    float *sums;
    int thread; /* it is on this one alone; or on all */
    bool add;
};
struct conv_bf16 {
    struct conv_desc desc; /* on patches, if there are some */
    bool patched;
    struct bf16_patches shape;
    size_t image, width; /* values of an image, and of a kernel, before it is patched */
    const struct bf16_kernels *kernels;
    size_t taps, pixels; /* of the kernel; of a result */
    size_t block, chunk; /* images of a list; at most, of a product of the weight gradient, whole blocks */
    bool parted;         /* each part of the batch has sums of the weight gradient of its own */
    size_t pairs;        /* of pixels in a block */
    struct pass forward, backward;
    uint32_t *dst_at, *src_at; /* (block * pixels), (taps, block * pixels): BF16_NONE in the padding */
    struct arena memory;       /* of lists */
    struct lasting_weights lasting;
    uint32_t *panels;  /* the weights, of the running call: (results / panel, taps, depth / 2, panel) */
    uint32_t *left;    /* panels of a chunk, of each thread if parted; (threads, block's pairs, panel) */
    uint32_t *right;   /* (threads, chunk's pairs, panel) of src; block's */
    uint16_t *patches; /* (threads, patches of a block) */
    float *wide;       /* (K, room of a patch): weights */
    float *partial;    /* (parts, K, taps or room of a patch, C): sums of the weight gradient */
    /* of the running call */
    bool back, add; /* add: to what out has */
    size_t images;
    const uint16_t *in, *mask;
    void *out;
    const float *weights, *bias;
    float *diff_weights;
    const uint16_t *diff_dst;
};

/* Few channels, the gradient of which is not wanted. */
static bool by_patches(const struct conv_desc *d)
{
    return d->src.channels % BF16_GROUP && d->dst.channels % BF16_GROUP == 0 && !d->diff_src &&
           d->kernel_width * d->src.channels <= BF16_RUN && d->pad < d->kernel_width &&
           d->pad < d->kernel_height;
}

int conv_bf16_fits(const struct conv_desc *d)
{
    size_t src = d->src.height * d->src.width * d->src.channels,
           dst = d->dst.height * d->dst.width * d->dst.channels, taps = d->kernel_height * d->kernel_width;
    return bf16_kernels_best()->results && d->src_dtype == NN_BF16 && taps <= TAPS_MAX &&
           (d->src.channels % BF16_GROUP == 0 || by_patches(d)) && d->dst.channels % BF16_GROUP == 0 &&
           src * taps + dst < UINT32_MAX / BLOCK_PIXELS;
}

/* The convolution of 1x1 on what `shape` makes of its images. */
static struct conv_desc on_patches(const struct conv_desc *d, struct bf16_patches *shape)
{
    struct conv_desc e = *d;
    size_t width = d->kernel_height * d->kernel_width * d->src.channels;
    *shape =
        (struct bf16_patches){d->src.height,   d->src.width,
                              d->src.channels, d->kernel_height,
                              d->kernel_width, d->stride,
                              d->pad,          d->dst.height,
                              d->dst.width,    .room = (width + BF16_GROUP - 1) / BF16_GROUP * BF16_GROUP};
    e.src = (struct nn_shape){shape->room, d->dst.height, d->dst.width};
    e.kernel_height = e.kernel_width = e.stride = 1;
    e.pad = 0;
    return e;
}

/* ---- lists ---- */

/* Offset of what (y, x) of image n reads at this tap: of the source forward, of diff_dst backward; or BF16_NONE. A
 * position before the first wraps to a huge one. */
static uint32_t read_at(const struct conv_desc *d, bool back, size_t n, size_t pixel, size_t tap)
{
    size_t width = (back ? d->src : d->dst).width, y = pixel / width, x = pixel % width,
           down = tap / d->kernel_width, across = tap % d->kernel_width;
    struct nn_shape in = back ? d->dst : d->src;
    if (!back)
        y = y * d->stride + down - d->pad, x = x * d->stride + across - d->pad;
    else if ((y + d->pad - down) % d->stride || (x + d->pad - across) % d->stride || y + d->pad < down ||
             x + d->pad < across)
        return BF16_NONE;
    else
        y = (y + d->pad - down) / d->stride, x = (x + d->pad - across) / d->stride;
    return y < in.height && x < in.width ? (uint32_t)(((n * in.height + y) * in.width + x) * in.channels)
                                         : BF16_NONE;
}

static uint64_t mask_of(const struct conv_bf16 *c, bool back, size_t pixel)
{
    uint64_t mask = 0;
    for (size_t t = 0; t < c->taps; t++)
        if (read_at(&c->desc, back, 0, pixel, t) != BF16_NONE)
            mask |= (uint64_t)1 << t;
    return mask;
}

/* The list of this mask; count if there is none. */
static size_t list_of(const struct pass *p, uint64_t mask)
{
    size_t i = 0;
    while (i < p->count && p->lists[i].mask != mask)
        i++;
    return i;
}

static sotto_status count_rows(struct conv_bf16 *c, struct pass *p, bool back)
{
    sotto_status status = SOTTO_OK;
    struct nn_shape out = back ? c->desc.src : c->desc.dst;
    size_t room = 0;
    p->pixels = out.height * out.width;
    for (size_t pixel = 0; pixel < p->pixels; pixel++) {
        uint64_t mask = mask_of(c, back, pixel);
        size_t i = list_of(p, mask);
        if (i == room) {
            REGROW(p->lists, room, 2 * room + 16);
            room = 2 * room + 16;
        }
        if (i == p->count)
            p->lists[p->count++] = (struct list){.mask = mask, .taps = (size_t)__builtin_popcountll(mask)};
        p->lists[i].rows++;
    }
done:
    return status;
}

static void place_lists(struct conv_bf16 *c, struct pass *p)
{
    for (size_t i = 0; i < p->count; i++) {
        struct list *l = &p->lists[i];
        l->out_at = arena_take(&c->memory, c->block * l->rows, sizeof *l->out_at);
        l->in_at = arena_take(&c->memory, l->taps * c->block * l->rows, sizeof *l->in_at);
        l->tap = arena_take(&c->memory, l->taps, sizeof *l->tap);
    }
}

static void fill_lists(const struct conv_bf16 *c, const struct pass *p, bool back)
{
    size_t channels = (back ? c->desc.src : c->desc.dst).channels;
    for (struct list *l = p->lists; l < p->lists + p->count; l++)
        for (size_t t = 0, used = 0; t < c->taps; t++)
            if (l->mask >> t & 1)
                l->tap[used++] = t;
    for (size_t i = 0; i < c->block * p->pixels; i++) {
        struct list *l = &p->lists[list_of(p, mask_of(c, back, i % p->pixels))];
        size_t row = l->filled++;
        l->out_at[row] = (uint32_t)(i * channels);
        for (size_t t = 0; t < l->taps; t++)
            l->in_at[t * c->block * l->rows + row] =
                read_at(&c->desc, back, i / p->pixels, i % p->pixels, l->tap[t]);
    }
}

static void conv_bf16_place(struct conv_bf16 *c)
{
    place_lists(c, &c->forward);
    place_lists(c, &c->backward);
    c->dst_at = arena_take(&c->memory, c->block * c->pixels, sizeof *c->dst_at);
    c->src_at = arena_take(&c->memory, c->taps * c->block * c->pixels, sizeof *c->src_at);
}

static void conv_bf16_fill(struct conv_bf16 *c)
{
    fill_lists(c, &c->forward, false);
    if (c->backward.count)
        fill_lists(c, &c->backward, true);
    for (size_t i = 0; i < c->block * c->pixels; i++) {
        c->dst_at[i] = (uint32_t)(i * c->desc.dst.channels);
        for (size_t t = 0; t < c->taps; t++)
            c->src_at[t * c->block * c->pixels + i] =
                read_at(&c->desc, false, i / c->pixels, i % c->pixels, t);
    }
}

static size_t count_blocks(const struct conv_bf16 *c)
{
    return (c->desc.batch + c->block - 1) / c->block;
}

sotto_status conv_bf16_create(struct conv_bf16 **out, const struct conv_desc *d)
{
    sotto_status status = SOTTO_OK;
    struct conv_bf16 *c = NULL;
    NEW(c, 1);
    c->patched = by_patches(d);
    c->desc = c->patched ? on_patches(d, &c->shape) : *d;
    c->image = d->src.height * d->src.width * d->src.channels;
    c->width = d->kernel_height * d->kernel_width * d->src.channels;
    d = &c->desc;
    c->kernels = bf16_kernels_best();
    c->taps = d->kernel_height * d->kernel_width;
    c->pixels = d->dst.height * d->dst.width;
    c->block = c->pixels < BLOCK_PIXELS ? BLOCK_PIXELS / c->pixels : 1;
    if (c->block > d->batch)
        c->block = d->batch;
    size_t blocks = CHUNK_PIXELS / (c->block * c->pixels);
    c->chunk = c->block * (blocks && !c->patched ? blocks : 1);
    c->pairs = (c->block * c->pixels + 1) / 2;
    c->parted = c->patched || batch_parts_fit(c->taps * d->src.channels * d->dst.channels, count_blocks(c));
    TRY(count_rows(c, &c->forward, false));
    if (d->training && d->diff_src)
        TRY(count_rows(c, &c->backward, true));
    conv_bf16_place(c);
    TRY(arena_reserve(&c->memory, "convolution"));
    conv_bf16_place(c);
    conv_bf16_fill(c);
    *out = c;
    c = NULL;
done:
    conv_bf16_free(c);
    return status;
}

/* Pairs of a chunk. */
static size_t conv_bf16_room(const struct conv_bf16 *c)
{
    return c->chunk / c->block * c->pairs;
}

/* Pairs of diff_dst that are packed at a time. */
static size_t left_room(const struct conv_bf16 *c)
{
    return conv_bf16_room(c) * (c->patched ? bf16_panel(c->desc.dst.channels) : c->desc.dst.channels);
}

/* Values of a block's patches. */
static size_t patches_of_block(const struct conv_bf16 *c)
{
    return c->block * c->pixels * c->shape.room + BF16_RUN;
}

void conv_bf16_layout(struct conv_bf16 *c, struct arena *scratch)
{
    const struct conv_desc *d = &c->desc;
    const size_t weights = c->taps * d->src.channels * d->dst.channels, threads = (size_t)d->threads;
    if (c->patched) {
        c->patches = arena_take(scratch, threads * patches_of_block(c), sizeof *c->patches);
        c->wide = arena_take(scratch, weights, sizeof *c->wide);
    }
    lasting_layout(&c->lasting, scratch, weights / 2 * sizeof *c->panels);
    if (!d->training || d->single_examples)
        return;
    if (c->parted)
        c->partial = arena_take(scratch, BATCH_PARTS * weights, sizeof *c->partial);
    c->left = arena_take(scratch, (c->parted ? threads : 1) * left_room(c), sizeof *c->left);
    c->right =
        arena_take(scratch, threads * conv_bf16_room(c) * bf16_panel(d->src.channels), sizeof *c->right);
}

struct lasting_weights *conv_bf16_lasting(struct conv_bf16 *c, struct arena *memory)
{
    const size_t weights = c->taps * c->desc.src.channels * c->desc.dst.channels;
    lasting_place(&c->lasting, memory, weights / 2 * sizeof *c->panels, c->desc.training && c->desc.diff_src);
    return &c->lasting;
}

void conv_bf16_free(struct conv_bf16 *c)
{
    if (!c)
        return;
    arena_clear(&c->memory);
    base_free(c->forward.lists);
    base_free(c->backward.lists);
    base_free(c);
}

/* ---- results, forward or backward ---- */

static size_t depth_of(const struct conv_bf16 *c)
{
    return c->back ? c->desc.dst.channels : c->desc.src.channels;
}

static size_t results_of(const struct conv_bf16 *c)
{
    return c->back ? c->desc.src.channels : c->desc.dst.channels;
}

/* Weights of one tap for the panel of results `first`, ... */
static uint32_t *panel_of(const struct conv_bf16 *c, size_t first, size_t tap)
{
    return c->panels + (c->taps * first + tap * bf16_panel(results_of(c))) * depth_of(c) / 2;
}

static sotto_status pack_tap(void *arg, size_t tap, int thread)
{
    (void)thread;
    const struct conv_bf16 *c = arg;
    size_t depth = depth_of(c), results = results_of(c), columns = bf16_panel(results),
           C = c->desc.src.channels, row = c->taps * C;
    const float *weights = c->weights + tap * C;
    for (size_t first = 0; first < results; first += columns)
        if (c->back)
            c->kernels->pack_weights(panel_of(c, first, tap), weights + first, row, 1, depth, columns);
        else
            c->kernels->pack_weights(panel_of(c, first, tap), weights + first * row, 1, row, depth, columns);
    return SOTTO_OK;
}

static const uint16_t *make_patches(const struct conv_bf16 *c, size_t place, size_t first, size_t images)
{
    uint16_t *to = c->patches + place * patches_of_block(c);
    for (size_t i = 0; i < images; i++)
        c->kernels->make_patches(to + i * c->pixels * c->shape.room, c->in + (first + i) * c->image,
                                 &c->shape);
    return to;
}

static sotto_status run_block(void *arg, size_t block, int thread)
{
    const struct conv_bf16 *c = arg;
    const struct conv_desc *d = &c->desc;
    size_t first = block * c->block, left = c->images - first, images = left < c->block ? left : c->block,
           results = results_of(c), columns = bf16_panel(results);
    size_t src = first * d->src.height * d->src.width * d->src.channels,
           dst = first * c->pixels * d->dst.channels, out = c->back ? src : dst;
    bool narrow = c->back || d->dst_dtype == NN_BF16;
    const uint16_t *in =
        c->patched ? make_patches(c, (size_t)thread, first, images) : c->in + (c->back ? dst : src);
    const struct pass *p = c->back ? &c->backward : &c->forward;
    for (const struct list *l = p->lists; l < p->lists + p->count; l++)
        for (size_t r = 0; r < results && (l->taps || !c->add); r += columns)
            c->kernels->results(&(struct bf16_results){
                .out = (char *)c->out + (out + r) * (narrow ? sizeof(uint16_t) : sizeof(float)),
                .narrow = narrow,
                .add = c->add,
                .scattered = c->taps == 1 && d->stride > 1,
                .stream = c->back && bf16_streams(c->out, c->images, d->src),
                .in = in,
                .out_at = l->out_at,
                .in_at = l->in_at,
                .tap = l->tap,
                .rows = images * l->rows,
                .list = c->block * l->rows,
                .taps = l->taps,
                .near = l->taps,
                .depth = depth_of(c),
                .columns = columns,
                .panel = panel_of(c, r, 0),
                .bias = c->bias ? c->bias + r : NULL,
                .relu = !c->back && d->relu,
                .mask = c->mask ? c->mask + out + r : NULL,
            });
    return SOTTO_OK;
}

static void make_panels(struct conv_bf16 *c)
{
    c->panels = c->lasting.form[c->back];
    if (lasting_is_made(&c->lasting, c->back))
        return;
    if (c->patched) {
        memset(c->wide, 0, c->desc.dst.channels * c->shape.room * sizeof *c->wide);
        for (size_t k = 0; k < c->desc.dst.channels; k++)
            memcpy(c->wide + k * c->shape.room, c->weights + k * c->width, c->width * sizeof *c->wide);
        c->weights = c->wide;
    }
    (void)par_shares(c->taps, c->desc.threads, c->desc.stop, pack_tap, c);
}

static void conv_bf16_run(struct conv_bf16 *c)
{
    make_panels(c);
    (void)par_shares((c->images + c->block - 1) / c->block, c->desc.threads, c->desc.stop, run_block, c);
}

void conv_bf16_forward(struct conv_bf16 *c, size_t images, void *dst, const void *src, const float *weights,
                       const float *bias)
{
    c->back = c->add = false;
    c->images = images;
    c->out = dst, c->in = src, c->weights = weights, c->bias = bias, c->mask = NULL;
    conv_bf16_run(c);
}

void conv_bf16_backward_data(struct conv_bf16 *c, size_t images, void *diff_src, bool add,
                             const void *diff_dst, const void *src, const float *weights)
{
    c->back = true;
    c->images = images;
    c->out = diff_src, c->in = diff_dst, c->weights = weights, c->bias = NULL;
    c->mask = c->desc.mask_src ? src : NULL;
    c->add = add;
    conv_bf16_run(c);
}

/* ---- the weight gradient ---- */

/* Images of the chunk's block number b. */
static size_t images_of(const struct conv_bf16 *c, const struct chunk *k, size_t b)
{
    size_t left = k->images - b * c->block;
    return left < c->block ? left : c->block;
}

static size_t blocks_of(const struct conv_bf16 *c, const struct chunk *k)
{
    return (k->images + c->block - 1) / c->block;
}

/* All pairs of the chunk; an odd block ends with half a pair. */
static size_t pairs_of(const struct conv_bf16 *c, const struct chunk *k)
{
    size_t last = blocks_of(c, k) - 1;
    return last * c->pairs + (images_of(c, k, last) * c->pixels + 1) / 2;
}

/* Panel `number` of diff_dst. */
static void pack_panel(const struct conv_bf16 *c, const struct chunk *k, size_t number, int thread)
{
    (void)thread;
    size_t K = c->desc.dst.channels, columns = bf16_panel(K);
    uint32_t *panel = k->left + number * conv_bf16_room(c) * columns;
    for (size_t b = 0; b < blocks_of(c, k); b++)
        c->kernels->pack_pixels(panel + b * c->pairs * columns,
                                c->diff_dst + (k->first + b * c->block) * c->pixels * K + number * columns,
                                c->dst_at, images_of(c, k, b) * c->pixels, columns);
}

/* Panel number item % panels of src, at tap item / panels, times all of diff_dst. */
static void sum_panel(const struct conv_bf16 *c, const struct chunk *k, size_t item, int thread)
{
    const struct conv_desc *d = &c->desc;
    size_t C = d->src.channels, K = d->dst.channels, columns = bf16_panel(C), rows = bf16_panel(K),
           tap = item / (C / columns), first = item % (C / columns) * columns,
           image = d->src.height * d->src.width * C;
    uint32_t *right = c->right + (size_t)thread * conv_bf16_room(c) * columns;
    for (size_t b = 0; b < blocks_of(c, k); b++)
        c->kernels->pack_pixels(
            right + b * c->pairs * columns, c->in + (k->first + b * c->block) * image + first,
            c->src_at + tap * c->block * c->pixels, images_of(c, k, b) * c->pixels, columns);
    for (size_t i = 0; i < K; i += rows)
        c->kernels->sum(&(struct bf16_sum){.out = k->sums + (i * c->taps + tap) * C + first,
                                           .stride = c->taps * C,
                                           .rows = rows,
                                           .columns = columns,
                                           .left = k->left + i * conv_bf16_room(c),
                                           .right = right,
                                           .pairs = pairs_of(c, k),
                                           .add = k->add});
}

/* Work on a chunk. */
struct work {
    const struct conv_bf16 *c;
    const struct chunk *k;
    void (*run)(const struct conv_bf16 *c, const struct chunk *k, size_t item, int thread);
};

static sotto_status run_item(void *arg, size_t item, int thread)
{
    const struct work *w = arg;
    w->run(w->c, w->k, item, w->k->thread + thread);
    return SOTTO_OK;
}

/* Images from k->first to `end` - 1. */
static void sum_images(const struct conv_bf16 *c, struct chunk *k, size_t end, int threads)
{
    const struct conv_desc *d = &c->desc;
    const size_t left = d->dst.channels / bf16_panel(d->dst.channels),
                 sums = c->taps * (d->src.channels / bf16_panel(d->src.channels));
    for (; k->first < end && !par_stopped(d->stop); k->first += k->images, k->add = true) {
        k->images = end - k->first < c->chunk ? end - k->first : c->chunk;
        (void)par_shares(left, threads, d->stop, run_item, &(struct work){c, k, pack_panel});
        (void)par_shares(sums, threads, d->stop, run_item, &(struct work){c, k, sum_panel});
    }
}

/* ---- parts of the batch, each with sums of its own ---- */

static sotto_status sum_part(void *arg, size_t part, int thread)
{
    const struct conv_bf16 *c = arg;
    const struct conv_desc *d = &c->desc;
    const size_t end = batch_parts_begin(count_blocks(c), part + 1) * c->block;
    struct chunk k = {.first = batch_parts_begin(count_blocks(c), part) * c->block,
                      .left = c->left + (size_t)thread * left_room(c),
                      .sums = c->partial + part * c->taps * d->src.channels * d->dst.channels,
                      .thread = thread};
    sum_images(c, &k, end < d->batch ? end : d->batch, 1);
    return SOTTO_OK;
}

/* The weight gradient of one result: of a patch, without the zeros after the kernel's. */
static sotto_status add_parts(void *arg, size_t k, int thread)
{
    (void)thread;
    const struct conv_bf16 *c = arg;
    const size_t K = c->desc.dst.channels, row = c->taps * c->desc.src.channels,
                 width = c->patched ? c->width : row;
    batch_parts_add(c->diff_weights + k * width, c->partial + k * row, K * row, width);
    return SOTTO_OK;
}

/* Some patches of a block, which stay in the cache. */
struct piece {
    float *sums;
    uint32_t *left, *right;
    const uint16_t *patches, *diff_dst; /* of the block */
    size_t first, count;
    struct bf16_ahead ahead; /* what the next piece reads */
};

static void sum_piece(const struct conv_bf16 *c, const struct piece *p)
{
    size_t C = c->desc.src.channels, K = c->desc.dst.channels, columns = bf16_panel(C), rows = bf16_panel(K);
    for (size_t at = 0; at < C; at += columns) {
        c->kernels->pack_pixels(p->right, p->patches + at, c->src_at + p->first, p->count, columns);
        for (size_t k = 0; k < K; k += rows) {
            size_t from = p->ahead.bytes * k / K, to = p->ahead.bytes * (k + rows) / K;
            c->kernels->pack_pixels(p->left, p->diff_dst + k, c->dst_at + p->first, p->count, rows);
            c->kernels->sum(&(struct bf16_sum){.out = p->sums + k * C + at,
                                               .stride = C,
                                               .rows = rows,
                                               .columns = columns,
                                               .left = p->left,
                                               .right = p->right,
                                               .pairs = (p->count + 1) / 2,
                                               .add = true,
                                               .ahead = {{(const char *)p->ahead.at + from, to - from}}});
        }
    }
}

/* The sums of a part of the batch: patches are few values beside those of diff_dst, and so are their sums, so that each
 * part has sums of its own and a thread waits for no other. */
static sotto_status patches_item(void *arg, size_t part, int thread)
{
    const struct conv_bf16 *c = arg;
    size_t C = c->desc.src.channels, K = c->desc.dst.channels, image = c->pixels * K,
           end = batch_parts_begin(count_blocks(c), part + 1);
    struct piece p = {.sums = c->partial + part * K * C,
                      .left = c->left + (size_t)thread * conv_bf16_room(c) * bf16_panel(K),
                      .right = c->right + (size_t)thread * conv_bf16_room(c) * bf16_panel(C)};
    memset(p.sums, 0, K * C * sizeof *p.sums);
    for (size_t b = batch_parts_begin(count_blocks(c), part); b < end && !par_stopped(c->desc.stop); b++) {
        size_t first = b * c->block, rest = c->desc.batch - first, images = rest < c->block ? rest : c->block,
               count = images * c->pixels;
        p.patches = make_patches(c, (size_t)thread, first, images);
        p.diff_dst = c->diff_dst + first * image;
        for (p.first = 0; p.first < count; p.first += BLOCK_PIXELS) {
            size_t left = count - p.first, all = (rest * c->pixels - p.first) * K;
            p.count = left < BLOCK_PIXELS ? left : BLOCK_PIXELS;
            p.ahead = (struct bf16_ahead){p.diff_dst + (p.first + p.count) * K,
                                          (all < 2 * p.count * K ? all - p.count * K : p.count * K) *
                                              sizeof *p.diff_dst};
            sum_piece(c, &p);
        }
    }
    return SOTTO_OK;
}

void conv_bf16_weights(struct conv_bf16 *c, float *diff_weights, const void *diff_dst, const void *src)
{
    const struct conv_desc *d = &c->desc;
    c->diff_weights = diff_weights, c->diff_dst = diff_dst, c->in = src;
    if (!c->parted) {
        struct chunk all = {.left = c->left, .sums = diff_weights};
        sum_images(c, &all, d->batch, d->threads);
        return;
    }
    (void)par_shares(BATCH_PARTS, d->threads, d->stop, c->patched ? patches_item : sum_part, c);
    (void)par_shares(d->dst.channels, d->threads, d->stop, add_parts, c);
}
