/* Rows are the pixels of all images. They are worked on in blocks that stay in the second-level cache; in the backward pass
 * of few weights, diff_dst is read once for both gradients. */
#include "nn/conv/conv_point.h"

#include "nn/conv/batch_parts.h"
#include "nn/conv/point_kernels.h"
#include "par/par.h"

#include <string.h>

enum {
    FEWEST = 16, /* channels */
    MOST_WEIGHTS = 1 << 19,
    BLOCK = 64 << 10,      /* floats of a block of rows of source and result, about */
    SUMS_BLOCK = 96 << 10, /* of the rows that sums of weight gradients copy */
    LONGEST = 144,         /* pixels of a chain of the weight gradient */
    MOST_ROWS = 480,       /* of sums that are worked on together */
    PARTED_ROWS = 1 << 14, /* from so many pixels on the sums of parts cost little beside the products */
    NARROW = 64,           /* channels of a source below which turned sums are faster */
    PACKED = 64,           /* depths of weights that are packed at a time */
    TURNED = 16            /* results of which sums are turned at a time */
};

struct conv_point {
    struct conv_desc desc;
    const struct point_kernels *kernels;
    size_t rows, block, sums_block; /* pixels: of the batch, of a block, of one of the weight gradient */
    bool parted;                    /* each part of the batch has sums of its own */
    bool wide;                      /* the sums are (C, K), as the source is narrow */
    float *panels;                  /* weights */
    float *partial;                 /* (parts), each as sums */
    float *room;                    /* (threads): of kernels */
    float *sums;                    /* (C, K), if wide; else the gradient itself */
    /* of the running call */
    const float *src, *weights, *bias, *diff_dst;
    float *dst, *diff_src, *diff_weights;
    bool back;
};

/* Of dense layers and of many weights a library's product is as fast. */
int conv_point_fits(const struct conv_desc *d)
{
    return point_kernels_best()->multiply && d->src_dtype == NN_F32 && d->dst_dtype == NN_F32 &&
           d->kernel_height == 1 && d->kernel_width == 1 && d->stride == 1 && d->pad == 0 &&
           !d->single_examples && d->src.height * d->src.width > 1 && d->src.channels >= FEWEST &&
           d->dst.channels >= FEWEST && d->src.channels * d->dst.channels <= MOST_WEIGHTS;
}

/* ---- planning ---- */

/* Whole groups of rows, at least one. */
static size_t block_of(size_t floats, size_t row)
{
    size_t rows = floats / row / POINT_ROWS * POINT_ROWS;
    return rows ? rows : POINT_ROWS;
}

static size_t sum_count(const struct conv_point *c)
{
    return c->wide ? c->desc.src.channels : c->desc.dst.channels;
}

static size_t most_rows(const struct conv_point *c)
{
    return c->parted || sum_count(c) < MOST_ROWS ? sum_count(c) : MOST_ROWS;
}

sotto_status conv_point_create(struct conv_point **out, const struct conv_desc *d)
{
    sotto_status status = SOTTO_OK;
    struct conv_point *c = NULL;
    NEW(c, 1);
    c->desc = *d;
    c->kernels = point_kernels_best();
    c->rows = d->batch * d->src.height * d->src.width;
    c->block = block_of(BLOCK, d->src.channels + d->dst.channels);
    c->wide = d->dst.channels > d->src.channels && d->src.channels < NARROW;
    c->parted = c->rows >= PARTED_ROWS && batch_parts_fit(d->src.channels * d->dst.channels, c->rows);
    size_t pixels = block_of(SUMS_BLOCK, most_rows(c));
    c->sums_block = pixels > LONGEST ? LONGEST : pixels;
    *out = c;
done:
    return status;
}

static size_t weights_of(const struct conv_point *c)
{
    return c->desc.src.channels * c->desc.dst.channels;
}

/* (depth, columns) with whole vectors. */
static size_t panels_size(size_t depth, size_t columns)
{
    return depth * ((columns + POINT_VECTOR - 1) / POINT_VECTOR * POINT_VECTOR);
}

static size_t room_of(const struct conv_point *c)
{
    return (c->sums_block * (POINT_ROOM + most_rows(c)) + POINT_VECTOR - 1) / POINT_VECTOR * POINT_VECTOR;
}

void conv_point_layout(struct conv_point *c, struct arena *scratch)
{
    const struct conv_desc *d = &c->desc;
    size_t C = d->src.channels, K = d->dst.channels, forward = panels_size(C, K), back = panels_size(K, C);
    c->panels = arena_take(scratch, d->training && back > forward ? back : forward, sizeof *c->panels);
    if (d->training && c->parted)
        c->partial = arena_take(scratch, BATCH_PARTS * weights_of(c), sizeof *c->partial);
    if (d->training)
        c->room = arena_take(scratch, (size_t)d->threads * room_of(c), sizeof *c->room);
    if (d->training && c->wide)
        c->sums = arena_take(scratch, weights_of(c), sizeof *c->sums);
}

void conv_point_free(struct conv_point *c)
{
    base_free(c);
}

/* ---- weights ---- */

static sotto_status pack_weights(void *arg, size_t chunk, int thread)
{
    (void)thread;
    const struct conv_point *c = arg;
    size_t C = c->desc.src.channels, K = c->desc.dst.channels, depth = c->back ? K : C,
           first = chunk * PACKED, end = depth - first < PACKED ? depth : first + PACKED;
    if (c->back)
        c->kernels->pack(c->panels, K, C, c->weights, 1, C, first, end);
    else
        c->kernels->pack(c->panels, C, K, c->weights, C, 1, first, end);
    return SOTTO_OK;
}

static void conv_point_pack(struct conv_point *c)
{
    size_t depth = c->back ? c->desc.dst.channels : c->desc.src.channels;
    (void)par_shares((depth + PACKED - 1) / PACKED, c->desc.threads, c->desc.stop, pack_weights, c);
}

/* ---- forward ---- */

static sotto_status forward_block(void *arg, size_t block, int thread)
{
    (void)thread;
    const struct conv_point *c = arg;
    size_t C = c->desc.src.channels, K = c->desc.dst.channels, first = block * c->block,
           left = c->rows - first;
    c->kernels->multiply(&(struct point_product){
        .out = c->dst + first * K,
        .left = c->src + first * C,
        .right = c->panels,
        .out_row = K,
        .left_row = C,
        .rows = left < c->block ? left : c->block,
        .columns = K,
        .depth = C,
        .bias = c->bias,
        .relu = c->desc.relu,
    });
    return SOTTO_OK;
}

void conv_point_forward(struct conv_point *c, float *dst, const float *src, const float *weights,
                        const float *bias)
{
    c->back = false;
    c->dst = dst, c->src = src, c->weights = weights, c->bias = bias;
    conv_point_pack(c);
    (void)par_shares((c->rows + c->block - 1) / c->block, c->desc.threads, c->desc.stop, forward_block, c);
}

/* ---- backward ---- */

static void data_rows(const struct conv_point *c, size_t first, size_t rows)
{
    size_t C = c->desc.src.channels, K = c->desc.dst.channels;
    c->kernels->multiply(&(struct point_product){
        .out = c->diff_src + first * C,
        .left = c->diff_dst + first * K,
        .right = c->panels,
        .out_row = C,
        .left_row = K,
        .rows = rows,
        .columns = C,
        .depth = K,
        .mask = c->desc.mask_src ? c->src + first * C : NULL,
    });
}

/* A product that sums the weight gradient from pixel `first` on. */
static struct point_product sums_of(const struct conv_point *c, float *sums, size_t first, int thread)
{
    size_t C = c->desc.src.channels, K = c->desc.dst.channels;
    const float *src = c->src + first * C, *diff_dst = c->diff_dst + first * K;
    return (struct point_product){
        .out = sums,
        .left = c->wide ? src : diff_dst,
        .right = c->wide ? diff_dst : src,
        .out_row = c->wide ? K : C,
        .left_row = c->wide ? C : K,
        .right_row = c->wide ? K : C,
        .rows = c->wide ? C : K,
        .columns = c->wide ? K : C,
        .next_left = true,
        .room = c->room + (size_t)thread * room_of(c),
    };
}

/* Over pixels `first` to before `end`, or fewer; returns how many. */
static size_t block_rows(const struct conv_point *c, size_t first, size_t end)
{
    return end - first < c->sums_block ? end - first : c->sums_block;
}

static sotto_status data_block(void *arg, size_t block, int thread)
{
    (void)thread;
    const struct conv_point *c = arg;
    size_t first = block * c->block, left = c->rows - first;
    data_rows(c, first, left < c->block ? left : c->block);
    return SOTTO_OK;
}

/* All of a part of the batch. */
static sotto_status backward_part(void *arg, size_t part, int thread)
{
    const struct conv_point *c = arg;
    size_t begin = batch_parts_begin(c->rows, part), end = batch_parts_begin(c->rows, part + 1);
    for (size_t first = begin, rows; first < end && !par_stopped(c->desc.stop); first += rows) {
        rows = block_rows(c, first, end);
        if (c->diff_src)
            data_rows(c, first, rows);
        struct point_product p = sums_of(c, c->partial + part * weights_of(c), first, thread);
        p.depth = rows;
        p.next = block_rows(c, first + rows, end);
        p.add = first > begin;
        c->kernels->multiply_turned(&p);
    }
    return SOTTO_OK;
}

/* One row of sums. */
static sotto_status add_up(void *arg, size_t row, int thread)
{
    (void)thread;
    const struct conv_point *c = arg;
    size_t columns = c->wide ? c->desc.dst.channels : c->desc.src.channels;
    float *to = c->wide ? c->sums : c->diff_weights;
    batch_parts_add(to + row * columns, c->partial + row * columns, weights_of(c), columns);
    return SOTTO_OK;
}

/* The gradient of some results. */
static sotto_status conv_point_turn(void *arg, size_t chunk, int thread)
{
    (void)thread;
    const struct conv_point *c = arg;
    size_t C = c->desc.src.channels, K = c->desc.dst.channels, first = chunk * TURNED;
    for (size_t i = 0; i < C; i++)
        for (size_t k = first; k < first + TURNED && k < K; k++)
            c->diff_weights[k * C + i] = c->sums[i * K + k];
    return SOTTO_OK;
}

/* Rows of sums, as many for a thread as keep all busy; a sum's bits do not depend on its group. */
static size_t group_of(const struct conv_point *c)
{
    size_t groups = c->desc.threads > 1 ? 2 * (size_t)c->desc.threads : 1;
    size_t rows = block_of(sum_count(c) + groups * POINT_ROWS - 1, groups);
    return rows < MOST_ROWS ? rows : MOST_ROWS;
}

static sotto_status sum_group(void *arg, size_t group, int thread)
{
    const struct conv_point *c = arg;
    size_t size = group_of(c), row = group * size, left = sum_count(c) - row;
    for (size_t first = 0, rows; first < c->rows && !par_stopped(c->desc.stop); first += rows) {
        rows = block_rows(c, first, c->rows);
        struct point_product p = sums_of(c, c->wide ? c->sums : c->diff_weights, first, thread);
        p.out += row * p.out_row;
        p.left += row;
        p.rows = left < size ? left : size;
        p.depth = rows;
        p.next = block_rows(c, first + rows, c->rows);
        p.add = first > 0;
        c->kernels->multiply_turned(&p);
    }
    return SOTTO_OK;
}

static void weights_gradient(struct conv_point *c)
{
    const struct conv_desc *d = &c->desc;
    if (c->parted) {
        (void)par_shares(BATCH_PARTS, d->threads, d->stop, backward_part, c);
        (void)par_shares(sum_count(c), d->threads, d->stop, add_up, c);
    } else {
        (void)par_shares((sum_count(c) + group_of(c) - 1) / group_of(c), d->threads, d->stop, sum_group, c);
    }
    if (c->wide)
        (void)par_shares((d->dst.channels + TURNED - 1) / TURNED, d->threads, d->stop, conv_point_turn, c);
}

void conv_point_backward(struct conv_point *c, float *diff_src, float *diff_weights, const float *diff_dst,
                         const float *src, const float *weights)
{
    const struct conv_desc *d = &c->desc;
    c->back = true;
    c->diff_src = diff_src, c->diff_weights = diff_weights;
    c->diff_dst = diff_dst, c->src = src, c->weights = weights;
    if (diff_src)
        conv_point_pack(c);
    if (diff_src && !(diff_weights && c->parted))
        (void)par_shares((c->rows + c->block - 1) / c->block, d->threads, d->stop, data_block, c);
    if (diff_weights)
        weights_gradient(c);
}
