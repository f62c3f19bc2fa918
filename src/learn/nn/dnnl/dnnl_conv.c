/* A convolution of the oneDNN backend, with plain (N, H, W, C) tensors throughout. Twelve ways, chosen by the
 * numbers in notes/speed.md:
 *
 *   winograd all passes by minimal filtering (conv_winograd.h), where it fits and the backend is of that name
 *   stride2  the same along rows (conv_stride2.h), for bf16
 *   phases   the same both ways for stride 2 (conv_phases.h), for f32
 *   pairs    our own kernels for bf16 (conv_bf16.h), all passes
 *   point    our own kernels for f32 products of pixels (conv_point.h), all passes
 *   shortcut our own products for 1x1 kernels with a stride (conv_shortcut.h), all passes, if the backend is `winograd`
 *   image    our own kernels for the first layer (conv_image.h), its weight gradient too
 *   dense    a kernel as large as the source (dense layers) or 1x1: products on the tensors as they lie
 *   rows     the same for gradients of single examples: our own product (row_kernels.h)
 *   taps     our own kernels (conv_taps.h), where they fit: backward data, and forward for small results
 *   columns  a column matrix (im2col) and a product, in chunks of images that stay in cache: small results
 *   direct   oneDNN's convolution; for gradients of single examples each image by a call of its own
 *
 * The weight gradient is ours (conv_weights.h) in f32 with a bias, oneDNN's (dnnl_weights.h) in f32 without,
 * and a product over columns in bf16, where oneDNN's is slow. */
#include "nn/dnnl/dnnl_conv.h"

#include "nn/conv/columns.h"
#include "nn/conv/conv_bf16.h"
#include "nn/conv/conv_image.h"
#include "nn/conv/conv_phases.h"
#include "nn/conv/conv_point.h"
#include "nn/conv/conv_shortcut.h"
#include "nn/conv/conv_stride2.h"
#include "nn/conv/conv_taps.h"
#include "nn/conv/conv_weights.h"
#include "nn/conv/conv_winograd.h"
#include "nn/conv/lasting_weights.h"
#include "nn/dnnl/dnnl_isa.h"
#include "nn/dnnl/dnnl_product.h"
#include "nn/dnnl/dnnl_weights.h"
#include "nn/kernel/kernels.h"
#include "nn/kernel/row_kernels.h"
#include "par/par.h"

#include <stdbool.h>
#include <string.h>

enum { COLUMN_BYTES = 8 << 20 }; /* of a chunk's columns */
/* Multiplications of one call of oneDNN, which nothing stops: a tenth of a second or less on one core. */
static const double CALL_WORK = 0x1p32;
enum { TAPS_RESULT = 64, COLUMNS_RESULT = 16 }; /* pixels of a result up to which these ways are taken */

enum way { WINOGRAD, STRIDE2, PHASES, POINT, SHORTCUT, PAIRS, PICTURE, DENSE, ROWS, TAPS, COLUMNS, DIRECT };
struct conv {
    struct conv_desc desc;
    const struct kernels *kernels;
    enum way way;  /* of forward; backward data goes by taps wherever it can */
    size_t taps;   /* kernel height * width * source channels */
    size_t pixels; /* of one result: P * Q */
    size_t used;   /* images that matter */
    bool add;      /* to diff_src */
    size_t images; /* images per call of oneDNN; divides the batch */
    size_t chunk;  /* images per product over columns; divides `images` */
    struct product *forward, *backward_data, *backward_weights;
    struct conv_winograd *winograd;           /* instead of all others, if way is WINOGRAD */
    struct conv_stride2 *stride2;             /* instead of all others, if way is STRIDE2 */
    struct conv_phases *phases;               /* instead of all others, if way is PHASES */
    struct conv_point *point;                 /* instead of all others, if way is POINT */
    struct conv_shortcut *shortcut;           /* instead of all others, if way is SHORTCUT */
    struct conv_bf16 *pairs;                  /* instead of all others, if way is PAIRS */
    struct conv_image *image;                 /* instead of all others, if way is PICTURE */
    struct conv_taps *by_taps;                /* instead of backward_data, and of forward if way is TAPS */
    struct conv_weights *direct_weights;      /* instead of backward_weights, where it fits */
    struct weights_gradient *library_weights; /* likewise */
    struct lasting_weights *lasting;          /* of one of these; NULL: none */
    void *columns;                            /* (chunk * pixels, taps) */
    void *narrow;                             /* diff_dst as bf16 when it comes as f32 in a bf16 plan */
    float *partial;                           /* of the bias gradient */
};

/* ---- planning ---- */

/* dst (rows, out) = src (rows, taps) * weights' (taps, out), and diff_src (rows, taps) = diff_dst *
 * weights. */
static sotto_status plan_products(struct conv *c)
{
    sotto_status status = SOTTO_OK;
    const struct conv_desc *d = &c->desc;
    dnnl_dim_t rows = (dnnl_dim_t)(c->chunk * c->pixels), taps = (dnnl_dim_t)c->taps,
               out = (dnnl_dim_t)d->dst.channels;
    struct operand src = {.ndims = 2, .dims = {rows, taps}, .dtype = d->src_dtype};
    struct operand dst = {.ndims = 2, .dims = {rows, out}, .dtype = d->dst_dtype};
    struct operand weights = {.ndims = 2, .dims = {taps, out}, .strides = {1, taps}, .any = 1};
    TRY(product_matmul(&c->forward, &src, &weights, &dst, d->bias, d->relu ? STORE_RELU : STORE));
    if (d->training && d->diff_src) {
        struct operand transposed = {.ndims = 2, .dims = {out, taps}, .any = 1}, diff_src = src;
        dst.dtype = d->src_dtype;
        if (c->way == COLUMNS)
            diff_src.dtype = NN_F32; /* columns_sum rounds once, after adding up */
        TRY(product_matmul(&c->backward_data, &dst, &transposed, &diff_src, 0, STORE));
    }
done:
    return status;
}

/* Logical (N, C, H, W), physical (N, H, W, C). */
static struct operand dnnl_conv_image(size_t n, struct nn_shape s, enum nn_dtype dtype)
{
    dnnl_dim_t channels = (dnnl_dim_t)s.channels, height = (dnnl_dim_t)s.height, width = (dnnl_dim_t)s.width;
    return (struct operand){.ndims = 4,
                            .dims = {(dnnl_dim_t)n, channels, height, width},
                            .strides = {height * width * channels, 1, width * channels, channels},
                            .dtype = dtype};
}

static sotto_status plan_convolution(struct conv *c)
{
    sotto_status status = SOTTO_OK;
    const struct conv_desc *d = &c->desc;
    struct operand src = dnnl_conv_image(c->images, d->src, d->src_dtype),
                   dst = dnnl_conv_image(c->images, d->dst, d->dst_dtype);
    struct nn_shape kernel = {d->src.channels, d->kernel_height, d->kernel_width};
    struct operand weights = dnnl_conv_image(d->dst.channels, kernel, NN_F32); /* (out, height, width, in) */
    weights.any = 1;
    const struct conv_window window = {.strides = {(dnnl_dim_t)d->stride, (dnnl_dim_t)d->stride},
                                       .padding = {(dnnl_dim_t)d->pad, (dnnl_dim_t)d->pad}};
    TRY(product_conv_forward(&c->forward, &src, &weights, &dst, &window, d->bias,
                             d->relu ? STORE_RELU : STORE));
    if (d->training && d->diff_src && !c->by_taps) {
        dst.dtype = d->src_dtype;
        TRY(product_conv_backward_data(&c->backward_data, &src, &weights, &dst, &window));
    }
done:
    return status;
}

/* diff_weights (out, taps) += diff_dst' (out, rows) * columns (rows, taps) */
static sotto_status plan_backward_weights(struct conv *c)
{
    const struct conv_desc *d = &c->desc;
    dnnl_dim_t rows = (dnnl_dim_t)(c->chunk * c->pixels), taps = (dnnl_dim_t)c->taps,
               k = (dnnl_dim_t)d->dst.channels;
    struct operand diff_dst = {.ndims = 2, .dims = {k, rows}, .strides = {1, k}, .dtype = d->src_dtype};
    struct operand columns = {.ndims = 2, .dims = {rows, taps}, .dtype = d->src_dtype};
    struct operand diff_weights = {.ndims = 2, .dims = {k, taps}, .dtype = NN_F32};
    return product_matmul(&c->backward_weights, &diff_dst, &columns, &diff_weights, 0, ACCUMULATE);
}

/* The largest divisor of the batch up to `most`, but at least 1. */
static size_t dnnl_conv_divisor(size_t batch, double most)
{
    size_t images = most >= (double)batch ? batch : most >= 1 ? (size_t)most : 1;
    while (batch % images)
        images--;
    return images;
}

/* Images per call of oneDNN. For gradients of single examples one: what it computes of an image cannot depend on the
 * others then. */
static size_t images_per_call(const struct conv *c)
{
    if (c->desc.single_examples)
        return 1;
    return dnnl_conv_divisor(
        c->desc.batch, CALL_WORK / ((double)c->pixels * (double)c->taps * (double)c->desc.dst.channels));
}

/* Images per product: fewer where their columns would not stay in cache. */
static size_t images_per_chunk(const struct conv *c)
{
    if (c->way == DENSE || c->images == 1)
        return c->images;
    return dnnl_conv_divisor(c->images, COLUMN_BYTES / ((double)c->pixels * (double)c->taps * sizeof(float)));
}

static enum way dnnl_conv_choose(const struct conv_desc *d, int winograd)
{
    if (winograd && conv_winograd_fits(d))
        return WINOGRAD;
    if (conv_image_fits(d))
        return PICTURE;
    int pointwise = d->kernel_height == 1 && d->kernel_width == 1 && d->pad == 0;
    if ((d->pad == 0 && d->kernel_height == d->src.height && d->kernel_width == d->src.width) ||
        (pointwise && d->stride == 1))
        return d->single_examples ? ROWS : conv_point_fits(d) ? POINT : DENSE;
    /* large padded ones, of ResNet-18, gained nothing measurable */
    if (winograd && conv_phases_fits(d) && (d->pad == 0 || conv_phases_small(d)))
        return PHASES;
    if (winograd && conv_shortcut_fits(d))
        return SHORTCUT;
    if (!dnnl_has_isa(dnnl_cpu_isa_avx512_core_amx) && conv_bf16_fits(d))
        return winograd && conv_stride2_fits(d) ? STRIDE2
                                                : PAIRS; /* matrix tiles (AMX) are faster than pairs */
    size_t pixels = d->dst.height * d->dst.width;
    if (pixels <= TAPS_RESULT && conv_taps_fits(d))
        return TAPS;
    if (pointwise) /* oneDNN 2.6.3: wrong bf16 backward data of a 1x1 kernel from 3 to 16 channels */
        return d->src_dtype == NN_BF16 ? COLUMNS : DIRECT;
    return pixels <= COLUMNS_RESULT ? COLUMNS : DIRECT;
}

/* Without a bias to sum on the way, as in residual networks, oneDNN's f32 weight gradient is the fastest. */
static sotto_status plan_weights_gradient(struct conv *c)
{
    sotto_status status = SOTTO_OK;
    const struct conv_desc *d = &c->desc;
    if (c->way != DENSE && !d->bias && d->src_dtype == NN_F32 && d->dst_dtype == NN_F32)
        TRY(weights_gradient_create(&c->library_weights, d, c->images));
    if (c->library_weights)
        goto done;
    if (c->way != DENSE && conv_weights_fits(d))
        TRY(conv_weights_create(&c->direct_weights, d));
    else
        TRY(plan_backward_weights(c));
done:
    return status;
}

sotto_status dnnl_conv_create(struct conv **out, const struct conv_desc *desc, int winograd)
{
    sotto_status status = SOTTO_OK;
    struct conv *c = NULL;
    NEW(c, 1);
    c->desc = *desc;
    c->used = desc->batch;
    c->kernels = kernels_best();
    c->way = dnnl_conv_choose(desc, winograd);
    c->taps = desc->kernel_height * desc->kernel_width * desc->src.channels;
    c->pixels = desc->dst.height * desc->dst.width;
    c->images = images_per_call(c);
    c->chunk = images_per_chunk(c);
    if (c->way == WINOGRAD) {
        TRY(conv_winograd_create(&c->winograd, desc));
        goto made;
    }
    if (c->way == STRIDE2) {
        TRY(conv_stride2_create(&c->stride2, desc));
        goto made;
    }
    if (c->way == PHASES) {
        TRY(conv_phases_create(&c->phases, desc));
        goto made;
    }
    if (c->way == POINT) {
        TRY(conv_point_create(&c->point, desc));
        goto made;
    }
    if (c->way == SHORTCUT) {
        TRY(conv_shortcut_create(&c->shortcut, desc));
        goto made;
    }
    if (c->way == PAIRS) {
        TRY(conv_bf16_create(&c->pairs, desc));
        goto made;
    }
    if (c->way == PICTURE) {
        TRY(conv_image_create(&c->image, desc));
        goto made;
    }
    if (c->way == ROWS)
        goto made;
    if (c->way == TAPS || (c->way != DENSE && desc->training && desc->diff_src && conv_taps_fits(desc)))
        TRY(conv_taps_create(&c->by_taps, desc));
    if (c->way != TAPS)
        TRY(c->way == DIRECT ? plan_convolution(c) : plan_products(c));
    if (desc->training && !desc->single_examples)
        TRY(plan_weights_gradient(c));
made:
    *out = c;
    c = NULL;
done:
    dnnl_conv_free(c);
    return status;
}

void dnnl_conv_layout(struct conv *c, struct arena *keep, struct arena *scratch)
{
    const struct conv_desc *d = &c->desc;
    (void)keep; /* weights are packed anew in each pass */
    if (c->way == PICTURE) {
        conv_image_layout(c->image, scratch);
        return;
    }
    if (c->way == WINOGRAD)
        conv_winograd_layout(c->winograd, scratch);
    if (c->way == STRIDE2)
        conv_stride2_layout(c->stride2, scratch);
    if (c->way == PHASES)
        conv_phases_layout(c->phases, scratch);
    if (c->way == POINT)
        conv_point_layout(c->point, scratch);
    if (c->way == SHORTCUT)
        conv_shortcut_layout(c->shortcut, scratch);
    if (c->way == PAIRS)
        conv_bf16_layout(c->pairs, scratch);
    struct product *const products[] = {c->forward, c->backward_data, c->backward_weights};
    for (size_t i = 0; i < sizeof products / sizeof *products; i++)
        if (products[i])
            product_place(products[i], scratch);
    if (c->by_taps)
        conv_taps_layout(c->by_taps, scratch);
    if (c->way == COLUMNS || (c->way != DENSE && c->backward_weights))
        c->columns = arena_take(scratch, c->chunk * c->pixels * c->taps, sizeof(float));
    if (!d->training)
        return;
    size_t rows = d->batch * c->pixels;
    if (c->direct_weights)
        conv_weights_layout(c->direct_weights, scratch);
    if (c->library_weights)
        weights_gradient_layout(c->library_weights, scratch);
    if (d->dst_dtype != d->src_dtype)
        c->narrow = arena_take(scratch, rows * d->dst.channels, sizeof(bf16));
    c->partial = arena_take(scratch, tensor_row_sums_partial(rows, d->dst.channels), sizeof *c->partial);
}

void dnnl_conv_lasting(struct conv *c, struct arena *memory)
{
    if (c->way == WINOGRAD)
        c->lasting = conv_winograd_lasting(c->winograd, memory);
    if (c->way == STRIDE2)
        c->lasting = conv_stride2_lasting(c->stride2, memory);
    if (c->way == PHASES)
        c->lasting = conv_phases_lasting(c->phases, memory);
    if (c->way == PAIRS)
        c->lasting = conv_bf16_lasting(c->pairs, memory);
}

void dnnl_conv_weights(struct conv *c, uint64_t number)
{
    if (c->lasting)
        c->lasting->weights = number;
}

/* ---- running ---- */

/* Bytes of one image of the source and of the result. */
static size_t src_bytes(const struct conv *c)
{
    return c->desc.src.height * c->desc.src.width * c->desc.src.channels * dtype_size(c->desc.src_dtype);
}

static size_t dst_bytes(const struct conv *c, enum nn_dtype dtype)
{
    return c->pixels * c->desc.dst.channels * dtype_size(dtype);
}

/* The column matrix of a chunk of images, or the images themselves where they are it. */
static const void *columns_of(struct conv *c, const void *src)
{
    if (c->way == DENSE)
        return src;
    columns_make(c->columns, src, c->chunk, dtype_size(c->desc.src_dtype), &c->desc);
    return c->columns;
}

/* Results (rows, .) from values (rows, .), rows being records or their pixels. */
struct rows_work {
    const struct conv *c;
    float *results;
    const float *values, *weights, *bias;
    bool forward;
};
enum { ROWS_CHUNK = 32 };

static sotto_status rows_chunk(void *arg, size_t chunk, int thread)
{
    (void)thread;
    const struct rows_work *w = arg;
    const struct row_kernels *k = row_kernels_best();
    const size_t all = w->c->used * w->c->pixels, first = chunk * ROWS_CHUNK, inputs = w->c->taps,
                 outputs = w->c->desc.dst.channels;
    const struct row_shape s = {all - first < ROWS_CHUNK ? all - first : ROWS_CHUNK, inputs, outputs};
    if (w->forward)
        k->forward(w->results + first * outputs, w->values + first * inputs, w->weights, w->bias,
                   w->c->desc.relu, &s);
    else
        k->backward(w->results + first * inputs, w->values + first * outputs, w->weights, &s);
    return SOTTO_OK;
}

static void rows_run(struct rows_work *w)
{
    const size_t rows = w->c->used * w->c->pixels;
    (void)par_shares((rows + ROWS_CHUNK - 1) / ROWS_CHUNK, w->c->desc.threads, w->c->desc.stop, rows_chunk,
                     w);
}

void dnnl_conv_forward(struct conv *c, void *dst, const void *src, const float *weights, const float *bias)
{
    const struct conv_desc *d = &c->desc;
    if (c->way == WINOGRAD) {
        conv_winograd_forward(c->winograd, dst, src, weights, bias);
        return;
    }
    if (c->way == STRIDE2) {
        conv_stride2_forward(c->stride2, c->used, dst, src, weights, bias);
        return;
    }
    if (c->way == PHASES) {
        conv_phases_forward(c->phases, dst, src, weights, bias);
        return;
    }
    if (c->way == POINT) {
        conv_point_forward(c->point, dst, src, weights, bias);
        return;
    }
    if (c->way == SHORTCUT) {
        conv_shortcut_forward(c->shortcut, dst, src, weights);
        return;
    }
    if (c->way == PAIRS) {
        conv_bf16_forward(c->pairs, c->used, dst, src, weights, bias);
        return;
    }
    if (c->way == PICTURE) {
        conv_image_forward(c->image, dst, src, weights, bias);
        return;
    }
    if (c->way == TAPS) {
        conv_taps_forward(c->by_taps, dst, src, weights, bias);
        return;
    }
    if (c->way == ROWS) {
        rows_run(&(struct rows_work){c, dst, src, weights, bias, true});
        return;
    }
    product_pack(c->forward, weights);
    const size_t step = c->way == COLUMNS ? c->chunk : c->images;
    for (size_t n = 0; n < c->used && !par_stopped(d->stop); n += step) {
        const char *from = (const char *)src + n * src_bytes(c);
        product_run(c->forward, (char *)dst + n * dst_bytes(c, d->dst_dtype),
                    c->way == DIRECT ? from : columns_of(c, from), bias);
    }
}

static void backward_weights(struct conv *c, float *diff_weights, float *diff_bias, const void *diff_dst,
                             const void *src)
{
    const struct conv_desc *d = &c->desc;
    if (c->way == STRIDE2) {
        conv_stride2_weights(c->stride2, diff_weights, diff_dst, src);
        return;
    }
    if (c->way == PAIRS) {
        conv_bf16_weights(c->pairs, diff_weights, diff_dst, src);
        return;
    }
    if (c->direct_weights) {
        conv_weights_run(c->direct_weights, diff_weights, diff_bias, diff_dst, src);
        return;
    }
    if (c->library_weights) {
        for (size_t n = 0; n < d->batch && !par_stopped(d->stop); n += c->images)
            weights_gradient_run(c->library_weights, diff_weights,
                                 (const float *)diff_dst + n * c->pixels * d->dst.channels,
                                 (const float *)src + n * src_bytes(c) / sizeof(float), n > 0);
        return;
    }
    memset(diff_weights, 0, d->dst.channels * c->taps * sizeof *diff_weights);
    for (size_t n = 0; n < d->batch && !par_stopped(d->stop); n += c->chunk)
        product_run_with(c->backward_weights, diff_weights,
                         (const char *)diff_dst + n * dst_bytes(c, d->src_dtype),
                         columns_of(c, (const char *)src + n * src_bytes(c)));
}

static void backward_data(struct conv *c, void *diff_src, const void *diff_dst, const void *src,
                          const float *weights)
{
    const struct conv_desc *d = &c->desc;
    const void *mask = d->mask_src ? src : NULL;
    if (c->way == STRIDE2) {
        conv_stride2_backward_data(c->stride2, c->used, diff_src, diff_dst, src, weights);
        return;
    }
    if (c->way == PAIRS) {
        conv_bf16_backward_data(c->pairs, c->used, diff_src, c->add, diff_dst, src, weights);
        return;
    }
    if (c->by_taps) {
        conv_taps_backward_data(c->by_taps, diff_src, diff_dst, src, weights);
        return;
    }
    if (c->way == ROWS) {
        rows_run(&(struct rows_work){c, diff_src, diff_dst, weights, NULL, false});
        if (mask)
            tensor_mask(c->kernels, NN_F32, diff_src, mask, c->used * c->pixels * c->taps, d->threads,
                        d->stop);
        return;
    }
    product_pack(c->backward_data, weights);
    if (c->way == COLUMNS) {
        for (size_t n = 0; n < c->used && !par_stopped(d->stop); n += c->chunk) {
            size_t at = n * src_bytes(c);
            product_run(c->backward_data, c->columns, (const char *)diff_dst + n * dst_bytes(c, d->src_dtype),
                        NULL);
            columns_sum((char *)diff_src + at, c->columns, c->chunk, mask ? (const char *)mask + at : NULL,
                        c->kernels, d);
        }
        return;
    }
    for (size_t n = 0; n < c->used && !par_stopped(d->stop); n += c->images)
        product_run(c->backward_data, (char *)diff_src + n * src_bytes(c),
                    (const char *)diff_dst + n * dst_bytes(c, d->src_dtype), NULL);
    if (mask)
        tensor_mask(c->kernels, d->src_dtype, diff_src, mask,
                    c->used * d->src.height * d->src.width * d->src.channels, d->threads, d->stop);
}

void dnnl_conv_backward(struct conv *c, void *diff_src, float *diff_weights, float *diff_bias,
                        const void *diff_dst, const void *src, const float *weights)
{
    const struct conv_desc *d = &c->desc;
    size_t rows = d->batch * c->pixels;
    if (c->way == PICTURE) {
        if (diff_weights)
            conv_image_weights(c->image, diff_weights, diff_bias, diff_dst, src);
        return;
    }
    if (diff_weights && diff_bias && !(c->direct_weights && conv_weights_sums_bias(d)))
        tensor_row_sums(c->kernels, d->dst_dtype, diff_bias, diff_dst, rows, d->dst.channels, c->partial,
                        d->threads, d->stop);
    if (c->way == WINOGRAD) {
        conv_winograd_backward(c->winograd, d->diff_src ? diff_src : NULL, diff_weights, diff_dst, src,
                               weights);
        return;
    }
    if (c->way == PHASES) {
        conv_phases_backward(c->phases, d->diff_src ? diff_src : NULL, diff_weights, diff_dst, src, weights);
        return;
    }
    if (c->way == POINT) {
        conv_point_backward(c->point, d->diff_src ? diff_src : NULL, diff_weights, diff_dst, src, weights);
        return;
    }
    if (c->way == SHORTCUT) {
        conv_shortcut_backward(c->shortcut, d->diff_src ? diff_src : NULL, c->add, diff_weights, diff_dst,
                               src, weights);
        return;
    }
    if (c->narrow) {
        tensor_to_bf16(c->kernels, c->narrow, diff_dst, rows * d->dst.channels, d->threads, d->stop);
        diff_dst = c->narrow;
    }
    if (diff_weights && !par_stopped(d->stop))
        backward_weights(c, diff_weights, diff_bias, diff_dst, src);
    if (d->diff_src && diff_src && !par_stopped(d->stop))
        backward_data(c, diff_src, diff_dst, src, weights);
}

/* A stride leaves most of diff_src as it is, so there is much to gain; elsewhere there was nothing (notes/speed.md). */
int dnnl_conv_adds(const struct conv *c)
{
    return c->way == SHORTCUT ||
           (c->way == PAIRS && c->desc.kernel_width < c->desc.stride && !c->desc.mask_src);
}

void dnnl_conv_add(struct conv *c)
{
    c->add = true;
}

void dnnl_conv_use(struct conv *c, size_t images)
{
    c->used = images;
}

void dnnl_conv_free(struct conv *c)
{
    if (!c)
        return;
    product_free(c->forward);
    product_free(c->backward_data);
    product_free(c->backward_weights);
    conv_winograd_free(c->winograd);
    conv_stride2_free(c->stride2);
    conv_phases_free(c->phases);
    conv_point_free(c->point);
    conv_shortcut_free(c->shortcut);
    conv_bf16_free(c->pairs);
    conv_image_free(c->image);
    conv_taps_free(c->by_taps);
    conv_weights_free(c->direct_weights);
    weights_gradient_free(c->library_weights);
    base_free(c);
}
