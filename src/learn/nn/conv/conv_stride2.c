/* Two results a and b side by side read pixels e, o, f, p, g of a row; with the weights u, v, w
 *
 *   a = e u + o v + f w = m + (e - f) u + o v,    m = f (u + w)
 *   b = f u + p v + g w = m + (g - f) w + p v
 *
 * and for the weights' gradient du = s + a (e - f), dw = s + b (g - f), s = (a + b) f. Backward, the gradients of e and f
 * are such sums of two neighbouring results. Rows of the kernel add up as in a direct sum.
 *
 * Results go by lists of pixels (stride2_lists.h). The weight gradient is, for each row of the kernel, four products over
 * pixels: what its left column, its right one and both have, and its middle one. */
#include "nn/conv/conv_stride2.h"

#include "nn/conv/batch_parts.h"
#include "nn/conv/bf16_kernels.h"
#include "nn/conv/conv_bf16.h"
#include "nn/conv/lasting_weights.h"
#include "nn/conv/stride2_lists.h"
#include "par/par.h"

enum { BLOCK_PIXELS = 256, CHUNK_PIXELS = 1024, FAR_ROWS = 8 };

/* The products of a row of the kernel. */
enum part { OF_LEFT, OF_RIGHT, OF_MIDDLE, OF_BOTH, PARTS };
/* What is read for the weight gradient in a chunk of images. Offsets of src are BF16_NONE in the padding. */
struct reads {
    size_t pairs, singles;         /* of an image */
    uint32_t *pair_at, *single_at; /* (chunk * ...) of diff_dst: a pair's left result; singles */
    uint32_t *first_at, *far_at,
        *single_reads; /* (rows of the kernel, chunk * pairs): a pair's first pixel, its
                                                   left difference; (taps, chunk * singles) */
};
/* Images that a product of the weight gradient is over, and what it adds to. */
struct chunk {
    size_t first, images;
    uint16_t *far;         /* differences */
    uint32_t *left;        /* (K / panel, pairs of a chunk, panel) of diff_dst */
    float *weights, *both; /* (K, taps, C), (K, rows of the kernel, C) */
    int thread;            /* it is on this one alone; or on all */
    bool add;
};
struct conv_stride2 {
    struct conv_desc desc;
    const struct bf16_kernels *kernels;
    size_t taps;         /* of the kernel */
    size_t block, chunk; /* images of a list; at most, of a product of the weight gradient */
    bool parted;         /* each part of the batch has sums of the weight gradient of its own */
    struct stride2_pass forward, backward;
    struct reads reads;
    struct arena memory; /* of reads */
    float *sums;         /* (K, rows of the kernel, C): outer weights added up; or OF_BOTH */
    struct lasting_weights lasting;
    uint32_t
        *panels; /* (results / panel, taps, then sums; depth / 2, panel): the weights, of the running call */
    uint16_t *far;   /* differences of a block for each thread, or of a chunk (for each thread if parted) */
    float *middle;   /* (threads, middle sums of a block, panel) */
    float *partial;  /* (parts, K, taps and rows of the kernel, C): sums of parts */
    uint32_t *left;  /* of a chunk (for each thread if parted) */
    uint32_t *right; /* (threads, pairs of a chunk, panel) of src */
    /* of the running call */
    const struct stride2_pass *pass;
    size_t images;
    const uint16_t *in, *mask;
    void *out;
    const float *weights, *bias;
    float *diff_weights;
    const uint16_t *diff_dst;
};

int conv_stride2_fits(const struct conv_desc *d)
{
    struct stride2_pass forward;
    if (d->kernel_width != STRIDE2_WIDE || d->stride != 2 || d->kernel_height > STRIDE2_ROWS_MAX ||
        d->src.channels % BF16_GROUP || d->single_examples || !conv_bf16_fits(d))
        return 0;
    stride2_pass_begin(&forward, d, false);
    return 10 * forward.pairs >= 3 * d->dst.width; /* with half of the results in pairs it is no gain */
}

static size_t count_of(struct nn_shape s)
{
    return s.height * s.width * s.channels;
}

/* ---- planning ---- */

static size_t pixel_of(struct nn_shape s, size_t n, size_t y, size_t x)
{
    return ((n * s.height + y) * s.width + x) * s.channels;
}

/* Offsets of src that result (y, x) of image n reads. */
static void fill_pair(struct conv_stride2 *c, size_t place, size_t n, size_t y, size_t x, size_t pair)
{
    const struct stride2_pass *p = &c->forward;
    struct reads *r = &c->reads;
    r->pair_at[place] = (uint32_t)pixel_of(p->out, n, y, x);
    for (size_t k = 0; k < c->desc.kernel_height; k++) {
        size_t down = stride2_meets(p, p->in.height, y, k), across = stride2_meets(p, p->in.width, x, 0),
               at = k * c->chunk * r->pairs + place;
        bool inside = down != STRIDE2_NONE;
        r->first_at[at] = inside ? (uint32_t)pixel_of(p->in, n, down, across) : BF16_NONE;
        r->far_at[at] = inside ? (uint32_t)stride2_far_of(p, n, down, pair) : BF16_NONE;
    }
}

static void fill_single(struct conv_stride2 *c, size_t place, size_t n, size_t y, size_t x)
{
    const struct stride2_pass *p = &c->forward;
    struct reads *r = &c->reads;
    r->single_at[place] = (uint32_t)pixel_of(p->out, n, y, x);
    for (size_t t = 0; t < c->taps; t++) {
        size_t down = stride2_meets(p, p->in.height, y, t / STRIDE2_WIDE),
               across = stride2_meets(p, p->in.width, x, t % STRIDE2_WIDE);
        bool inside = down != STRIDE2_NONE && across != STRIDE2_NONE;
        r->single_reads[t * c->chunk * r->singles + place] =
            inside ? (uint32_t)pixel_of(p->in, n, down, across) : BF16_NONE;
    }
}

static void fill_reads(struct conv_stride2 *c)
{
    struct nn_shape out = c->desc.dst;
    size_t pairs = 0, singles = 0;
    for (size_t i = 0; i < c->chunk * out.height * out.width; i++) {
        size_t pair, x = i % out.width, y = i / out.width % out.height, n = i / out.width / out.height;
        enum stride2_kind kind = stride2_kind_of(&c->forward, x, &pair);
        if (kind == STRIDE2_LEFT)
            fill_pair(c, pairs++, n, y, x, pair);
        else if (kind != STRIDE2_RIGHT)
            fill_single(c, singles++, n, y, x);
    }
}

static void conv_stride2_place(struct conv_stride2 *c)
{
    struct reads *r = &c->reads;
    size_t height = c->desc.kernel_height;
    r->pair_at = arena_take(&c->memory, c->chunk * r->pairs, sizeof *r->pair_at);
    r->single_at = arena_take(&c->memory, c->chunk * r->singles, sizeof *r->single_at);
    r->first_at = arena_take(&c->memory, height * c->chunk * r->pairs, sizeof *r->first_at);
    r->far_at = arena_take(&c->memory, height * c->chunk * r->pairs, sizeof *r->far_at);
    r->single_reads = arena_take(&c->memory, c->taps * c->chunk * r->singles, sizeof *r->single_reads);
}

sotto_status conv_stride2_create(struct conv_stride2 **out, const struct conv_desc *d)
{
    sotto_status status = SOTTO_OK;
    struct conv_stride2 *c = NULL;
    size_t pixels = d->dst.height * d->dst.width;
    NEW(c, 1);
    c->desc = *d;
    c->kernels = bf16_kernels_best();
    c->taps = d->kernel_height * STRIDE2_WIDE;
    c->block = pixels < BLOCK_PIXELS ? BLOCK_PIXELS / pixels : 1;
    c->chunk = pixels < CHUNK_PIXELS ? CHUNK_PIXELS / pixels : 1;
    c->block = c->block < d->batch ? c->block : d->batch;
    c->chunk = c->chunk < d->batch ? c->chunk : d->batch;
    c->parted = batch_parts_fit(c->taps * d->src.channels * d->dst.channels, d->batch / c->block);
    stride2_pass_begin(&c->forward, &c->desc, false);
    stride2_pass_begin(&c->backward, &c->desc, true);
    TRY(stride2_pass_create(&c->forward, c->block));
    if (d->training && d->diff_src)
        TRY(stride2_pass_create(&c->backward, c->block));
    if (d->training) {
        c->reads.pairs = d->dst.height * c->forward.pairs;
        c->reads.singles = pixels - 2 * c->reads.pairs;
        conv_stride2_place(c);
        TRY(arena_reserve(&c->memory, "convolution"));
        conv_stride2_place(c);
        fill_reads(c);
    }
    *out = c;
    c = NULL;
done:
    conv_stride2_free(c);
    return status;
}

/* Pairs of pixels in the panels of n images: left results (as many as right ones, and as sums), and singles. */
static size_t half_pairs(const struct conv_stride2 *c, size_t n)
{
    return (n * c->reads.pairs + 1) / 2;
}

static size_t half_singles(const struct conv_stride2 *c, size_t n)
{
    return (n * c->reads.singles + 1) / 2;
}

static size_t left_room(const struct conv_stride2 *c)
{
    return 3 * half_pairs(c, c->chunk) + half_singles(c, c->chunk);
}

static size_t right_room(const struct conv_stride2 *c)
{
    return 2 * half_pairs(c, c->chunk) + half_singles(c, c->chunk);
}

static size_t part_floats(const struct conv_stride2 *c)
{
    return (c->taps + c->desc.kernel_height) * c->desc.src.channels * c->desc.dst.channels;
}

static size_t conv_stride2_larger(size_t a, size_t b)
{
    return a > b ? a : b;
}

static size_t panels_bytes(const struct conv_stride2 *c)
{
    return part_floats(c) / 2 * sizeof *c->panels;
}

void conv_stride2_layout(struct conv_stride2 *c, struct arena *scratch)
{
    const struct conv_desc *d = &c->desc;
    size_t C = d->src.channels, K = d->dst.channels, threads = (size_t)d->threads,
           each = c->parted ? threads : 1,
           far =
               threads * c->block * conv_stride2_larger(stride2_far(&c->forward), stride2_far(&c->backward));
    if (d->training)
        far = conv_stride2_larger(far, each * c->chunk * stride2_far(&c->forward));
    c->sums = arena_take(scratch, K * d->kernel_height * C, sizeof *c->sums);
    lasting_layout(&c->lasting, scratch, panels_bytes(c));
    c->far = arena_take(scratch, far, sizeof *c->far);
    c->middle = arena_take(
        scratch,
        threads * c->block *
            conv_stride2_larger(c->forward.middles * bf16_panel(K), c->backward.middles * bf16_panel(C)),
        sizeof *c->middle);
    if (!d->training)
        return;
    if (c->parted)
        c->partial = arena_take(scratch, BATCH_PARTS * part_floats(c), sizeof *c->partial);
    c->left = arena_take(scratch, each * left_room(c) * K, sizeof *c->left);
    c->right = arena_take(scratch, threads * right_room(c) * bf16_panel(C), sizeof *c->right);
}

struct lasting_weights *conv_stride2_lasting(struct conv_stride2 *c, struct arena *memory)
{
    lasting_place(&c->lasting, memory, panels_bytes(c), c->desc.training && c->desc.diff_src);
    return &c->lasting;
}

void conv_stride2_free(struct conv_stride2 *c)
{
    if (!c)
        return;
    stride2_pass_clear(&c->forward);
    stride2_pass_clear(&c->backward);
    arena_clear(&c->memory);
    base_free(c);
}

/* ---- results, forward or backward ---- */

/* Weights of one tap for the panel of results `first`, ... */
static uint32_t *panel_of(const struct conv_stride2 *c, size_t first, size_t tap)
{
    size_t taps = c->taps + c->desc.kernel_height;
    return c->panels + (taps * first + tap * bf16_panel(c->pass->out.channels)) * c->pass->in.channels / 2;
}

/* Outer weights of each row of some kernels. */
static sotto_status add_weights(void *arg, size_t item, int thread)
{
    (void)thread;
    const struct conv_stride2 *c = arg;
    size_t C = c->desc.src.channels, rows = BF16_GROUP * c->desc.kernel_height;
    for (size_t row = item * rows; row < (item + 1) * rows; row++) {
        const float *from = c->weights + row * STRIDE2_WIDE * C;
        float *to = c->sums + row * C;
        for (size_t i = 0; i < C; i++)
            to[i] = from[i] + from[2 * C + i];
    }
    return SOTTO_OK;
}

/* A tap, or after these a row of sums. */
static sotto_status pack_tap(void *arg, size_t tap, int thread)
{
    (void)thread;
    const struct conv_stride2 *c = arg;
    bool sum = tap >= c->taps;
    size_t depth = c->pass->in.channels, results = c->pass->out.channels, columns = bf16_panel(results),
           C = c->desc.src.channels, row = (sum ? c->desc.kernel_height : c->taps) * C;
    const float *weights = sum ? c->sums + (tap - c->taps) * C : c->weights + tap * C;
    for (size_t first = 0; first < results; first += columns)
        if (c->pass->back)
            c->kernels->pack_weights(panel_of(c, first, tap), weights + first, row, 1, depth, columns);
        else
            c->kernels->pack_weights(panel_of(c, first, tap), weights + first * row, 1, row, depth, columns);
    return SOTTO_OK;
}

/* Differences of rows first to end - 1 of one image. */
static void conv_stride2_differences(const struct conv_stride2 *c, const struct stride2_pass *p, uint16_t *to,
                                     const uint16_t *image, size_t first, size_t end)
{
    for (size_t y = first; y < end; y++)
        c->kernels->differences(to + stride2_far_of(p, 0, y, 0), image + pixel_of(p->in, 0, y, p->column),
                                p->step * p->in.channels, p->pairs, p->in.channels);
}

/* What a block of images is worked on with. */
struct block {
    const uint16_t *in, *far;
    float *middle;
    size_t images, out;      /* out: offset of its results */
    struct bf16_ahead ahead; /* what the next block reads */
    size_t done, pixels;     /* of this one, panel by panel */
};

static void run_list(const struct conv_stride2 *c, const struct stride2_list *l, enum stride2_kind kind,
                     struct block *b, size_t first)
{
    size_t columns = bf16_panel(c->pass->out.channels);
    bool narrow = c->pass->back || c->desc.dst_dtype == NN_BF16, middle = kind == STRIDE2_MIDDLE;
    size_t size = narrow ? sizeof(uint16_t) : sizeof(float),
           done = b->done + (middle ? 0 : b->images * l->rows), from = b->ahead.bytes * b->done / b->pixels,
           to = b->ahead.bytes * done / b->pixels;
    c->kernels->results(&(struct bf16_results){
        .out = middle ? (char *)b->middle : (char *)c->out + (b->out + first) * size,
        .narrow = narrow && !middle,
        .stream = c->pass->back && !middle && bf16_streams(c->out, c->images, c->desc.src),
        .in = b->in,
        .far = b->far,
        .near = l->near,
        .start = kind == STRIDE2_LEFT || kind == STRIDE2_RIGHT ? b->middle : NULL,
        .out_at = l->out_at,
        .in_at = l->in_at,
        .tap = l->tap,
        .rows = b->images * l->rows,
        .list = l->room,
        .taps = l->taps,
        .depth = c->pass->in.channels,
        .columns = columns,
        .panel = panel_of(c, first, 0),
        .bias = c->bias && !middle ? c->bias + first : NULL,
        .relu = !c->pass->back && c->desc.relu && !middle,
        .mask = c->mask && !middle ? c->mask + b->out + first : NULL,
        .ahead = {(const char *)b->ahead.at + from, to - from},
    });
    b->done = done;
}

static sotto_status run_block(void *arg, size_t number, int thread)
{
    const struct conv_stride2 *c = arg;
    const struct stride2_pass *p = c->pass;
    size_t first = number * c->block, left = c->images - first, columns = bf16_panel(p->out.channels),
           image = count_of(p->in);
    uint16_t *far = c->far + (size_t)thread * c->block * stride2_far(p);
    struct block b = {.in = c->in + first * image,
                      .far = far,
                      .middle = c->middle + (size_t)thread * c->block * p->middles * columns,
                      .images = left < c->block ? left : c->block,
                      .out = first * count_of(p->out)};
    size_t next = left - b.images;
    b.ahead = (struct bf16_ahead){b.in + b.images * image,
                                  (next < c->block ? next : c->block) * image * sizeof *b.in};
    b.pixels = b.images * p->out.height * p->out.width * (p->out.channels / columns);
    for (size_t n = 0; n < b.images; n++)
        conv_stride2_differences(c, p, far + n * stride2_far(p), b.in + n * image, 0, p->in.height);
    for (const struct stride2_group *g = p->groups; g < p->groups + p->count; g++)
        for (size_t r = 0; r < p->out.channels; r += columns)
            for (int kind = 0; kind < STRIDE2_KINDS; kind++)
                run_list(c, &g->lists[kind], (enum stride2_kind)kind, &b, r);
    return SOTTO_OK;
}

static void conv_stride2_run(struct conv_stride2 *c)
{
    const struct conv_desc *d = &c->desc;
    c->panels = c->lasting.form[c->pass->back];
    if (!lasting_is_made(&c->lasting, c->pass->back)) {
        (void)par_shares(d->dst.channels / BF16_GROUP, d->threads, d->stop, add_weights, c);
        (void)par_shares(c->taps + d->kernel_height, d->threads, d->stop, pack_tap, c);
    }
    (void)par_shares((c->images + c->block - 1) / c->block, d->threads, d->stop, run_block, c);
}

void conv_stride2_forward(struct conv_stride2 *c, size_t images, void *dst, const void *src,
                          const float *weights, const float *bias)
{
    c->pass = &c->forward;
    c->images = images;
    c->out = dst, c->in = src, c->weights = weights, c->bias = bias, c->mask = NULL;
    conv_stride2_run(c);
}

void conv_stride2_backward_data(struct conv_stride2 *c, size_t images, void *diff_src, const void *diff_dst,
                                const void *src, const float *weights)
{
    c->pass = &c->backward;
    c->images = images;
    c->out = diff_src, c->in = diff_dst, c->weights = weights, c->bias = NULL;
    c->mask = c->desc.mask_src ? src : NULL;
    conv_stride2_run(c);
}

/* ---- the weight gradient ---- */

/* Differences of some rows of an image. */
static void make_far(const struct conv_stride2 *c, const struct chunk *q, size_t item, int thread)
{
    (void)thread;
    const struct stride2_pass *p = &c->forward;
    size_t runs = (p->in.height + FAR_ROWS - 1) / FAR_ROWS, n = item / runs, first = item % runs * FAR_ROWS,
           end = first + FAR_ROWS < p->in.height ? first + FAR_ROWS : p->in.height;
    conv_stride2_differences(c, p, q->far + n * stride2_far(p), c->in + (q->first + n) * count_of(p->in),
                             first, end);
}

/* Left results, singles, right results, sums of left and right: one of these in a panel of diff_dst. */
static void pack_left(const struct conv_stride2 *c, const struct chunk *q, size_t item, int thread)
{
    (void)thread;
    const struct reads *r = &c->reads;
    size_t K = c->desc.dst.channels, columns = bf16_panel(K), number = item / PARTS, n = q->images,
           pairs = half_pairs(c, n), singles = half_singles(c, n);
    uint32_t *panel = q->left + number * left_room(c) * columns;
    const uint16_t *in = c->diff_dst + q->first * count_of(c->desc.dst) + number * columns;
    if (item % PARTS == 0)
        c->kernels->pack_pixels(panel, in, r->pair_at, n * r->pairs, columns);
    else if (item % PARTS == 1)
        c->kernels->pack_pixels(panel + pairs * columns, in, r->single_at, n * r->singles, columns);
    else if (item % PARTS == 2)
        c->kernels->pack_pixels(panel + (pairs + singles) * columns, in + K, r->pair_at, n * r->pairs,
                                columns);
    else
        c->kernels->pack_sums(panel + (2 * pairs + singles) * columns, in, r->pair_at, K, n * r->pairs,
                              columns);
}

/* The pairs of pixels of a part in `right`, and where in `left` they begin. */
struct range {
    size_t begin, pairs;
};

/* Row `k` of the kernel, channels from `first` on. */
static struct range pack_right(const struct conv_stride2 *c, const struct chunk *q, uint32_t *to, size_t k,
                               enum part part, size_t first)
{
    const struct reads *r = &c->reads;
    size_t C = c->desc.src.channels, columns = bf16_panel(C), n = q->images, pairs = half_pairs(c, n),
           singles = half_singles(c, n), all = k * c->chunk * r->pairs;
    const uint16_t *in = c->in + q->first * count_of(c->desc.src) + first, *far = q->far + first;
    void (*pack)(uint32_t *, const uint16_t *, const uint32_t *, size_t, size_t) = c->kernels->pack_pixels;
    if (part == OF_BOTH) {
        pack(to, in + 2 * C, r->first_at + all, n * r->pairs, columns);
        return (struct range){2 * pairs + singles, pairs};
    }
    size_t column = part == OF_LEFT ? 0 : part == OF_MIDDLE ? 1 : 2, begin = part == OF_RIGHT ? 0 : pairs;
    pack(to + begin * columns, in, r->single_reads + (k * STRIDE2_WIDE + column) * c->chunk * r->singles,
         n * r->singles, columns);
    if (part == OF_LEFT)
        pack(to, far, r->far_at + all, n * r->pairs, columns);
    if (part == OF_RIGHT)
        pack(to + singles * columns, far + C, r->far_at + all, n * r->pairs, columns);
    if (part == OF_MIDDLE) {
        pack(to, in + C, r->first_at + all, n * r->pairs, columns);
        pack(to + (pairs + singles) * columns, in + 3 * C, r->first_at + all, n * r->pairs, columns);
    }
    return (struct range){part == OF_RIGHT ? pairs : 0, (part == OF_MIDDLE ? 2 : 1) * pairs + singles};
}

/* Part `i` of `n` of what the next chunk reads of a tensor of these images. */
static struct bf16_ahead next_chunk(const struct conv_stride2 *c, const struct chunk *q,
                                    const uint16_t *tensor, struct nn_shape s, size_t i, size_t n)
{
    size_t first = q->first + q->images, left = c->desc.batch > first ? c->desc.batch - first : 0,
           images = left < c->chunk ? left : c->chunk, values = images * count_of(s), from = values * i / n;
    return (struct bf16_ahead){tensor + first * count_of(s) + from,
                               (values * (i + 1) / n - from) * sizeof *tensor};
}

/* One part of one row of the kernel, for one panel of channels of src. */
static void sum_row(const struct conv_stride2 *c, const struct chunk *q, size_t item, int thread)
{
    const struct conv_desc *d = &c->desc;
    size_t C = d->src.channels, K = d->dst.channels, columns = bf16_panel(C), rows = bf16_panel(K),
           height = d->kernel_height, k = item / PARTS % height, first = item / PARTS / height * columns;
    enum part part = (enum part)(item % PARTS);
    uint32_t *right = c->right + (size_t)thread * right_room(c) * columns;
    struct range range = pack_right(c, q, right, k, part, first);
    size_t column = part == OF_LEFT ? 0 : part == OF_MIDDLE ? 1 : 2;
    float *out = part == OF_BOTH ? q->both + k * C : q->weights + (k * STRIDE2_WIDE + column) * C;
    size_t stride = (part == OF_BOTH ? height : c->taps) * C, calls = K / rows,
           all = C / columns * height * PARTS * calls;
    for (size_t i = 0; i < K; i += rows)
        c->kernels->sum(&(struct bf16_sum){
            .out = out + i * stride + first,
            .stride = stride,
            .rows = rows,
            .columns = columns,
            .left = q->left + i * left_room(c) + range.begin * rows,
            .right = right,
            .pairs = range.pairs,
            .add = q->add,
            .ahead = {next_chunk(c, q, c->in, d->src, item * calls + i / rows, all),
                      next_chunk(c, q, c->diff_dst, d->dst, item * calls + i / rows, all)}});
}

/* Work on a chunk. */
struct work {
    const struct conv_stride2 *c;
    const struct chunk *q;
    void (*run)(const struct conv_stride2 *c, const struct chunk *q, size_t item, int thread);
};

static sotto_status run_item(void *arg, size_t item, int thread)
{
    const struct work *w = arg;
    w->run(w->c, w->q, item, w->q->thread + thread);
    return SOTTO_OK;
}

/* Images from q->first to `end` - 1. */
static void sum_images(const struct conv_stride2 *c, struct chunk *q, size_t end, int threads)
{
    const struct conv_desc *d = &c->desc;
    const size_t runs = (d->src.height + FAR_ROWS - 1) / FAR_ROWS,
                 left = d->dst.channels / bf16_panel(d->dst.channels) * PARTS,
                 sums = d->src.channels / bf16_panel(d->src.channels) * d->kernel_height * PARTS;
    for (; q->first < end && !par_stopped(d->stop); q->first += q->images, q->add = true) {
        q->images = end - q->first < c->chunk ? end - q->first : c->chunk;
        (void)par_shares(q->images * runs, threads, d->stop, run_item, &(struct work){c, q, make_far});
        (void)par_shares(left, threads, d->stop, run_item, &(struct work){c, q, pack_left});
        (void)par_shares(sums, threads, d->stop, run_item, &(struct work){c, q, sum_row});
    }
}

/* A part of the batch, with sums of its own. */
static sotto_status sum_part(void *arg, size_t part, int thread)
{
    const struct conv_stride2 *c = arg;
    const struct conv_desc *d = &c->desc;
    struct chunk q = {.first = batch_parts_begin(d->batch, part),
                      .far = c->far + (size_t)thread * c->chunk * stride2_far(&c->forward),
                      .left = c->left + (size_t)thread * left_room(c) * d->dst.channels,
                      .weights = c->partial + part * part_floats(c),
                      .thread = thread};
    q.both = q.weights + c->taps * d->src.channels * d->dst.channels;
    sum_images(c, &q, batch_parts_begin(d->batch, part + 1), 1);
    return SOTTO_OK;
}

/* Of some kernels. */
static sotto_status add_parts(void *arg, size_t item, int thread)
{
    (void)thread;
    const struct conv_stride2 *c = arg;
    const size_t C = c->desc.src.channels, all = BF16_GROUP * c->taps * C,
                 both = BF16_GROUP * c->desc.kernel_height * C;
    batch_parts_add(c->diff_weights + item * all, c->partial + item * all, part_floats(c), all);
    batch_parts_add(c->sums + item * both, c->partial + c->taps * C * c->desc.dst.channels + item * both,
                    part_floats(c), both);
    return SOTTO_OK;
}

static sotto_status add_both(void *arg, size_t item, int thread)
{
    (void)thread;
    const struct conv_stride2 *c = arg;
    size_t C = c->desc.src.channels, rows = BF16_GROUP * c->desc.kernel_height;
    for (size_t row = item * rows; row < (item + 1) * rows; row++) {
        const float *from = c->sums + row * C;
        float *to = c->diff_weights + row * STRIDE2_WIDE * C;
        for (size_t i = 0; i < C; i++) {
            to[i] += from[i];
            to[2 * C + i] += from[i];
        }
    }
    return SOTTO_OK;
}

void conv_stride2_weights(struct conv_stride2 *c, float *diff_weights, const void *diff_dst, const void *src)
{
    const struct conv_desc *d = &c->desc;
    const size_t groups = d->dst.channels / BF16_GROUP;
    c->diff_weights = diff_weights, c->diff_dst = diff_dst, c->in = src;
    if (c->parted) {
        (void)par_shares(BATCH_PARTS, d->threads, d->stop, sum_part, c);
        (void)par_shares(groups, d->threads, d->stop, add_parts, c);
    } else {
        struct chunk all = {.far = c->far, .left = c->left, .weights = diff_weights, .both = c->sums};
        sum_images(c, &all, d->batch, d->threads);
    }
    (void)par_shares(groups, d->threads, d->stop, add_both, c);
}
