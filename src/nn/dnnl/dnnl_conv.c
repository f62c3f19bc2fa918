/* A convolution on oneDNN, with plain (N, H, W, C) tensors throughout.
 *
 * Where the kernel covers the whole source (dense layers, and the last convolution of keras-simclr at 32x32)
 * all three passes are matrix products on the tensors as they lie. Elsewhere forward and backward data are
 * oneDNN's convolutions, and backward weights is columns (im2col) and a matrix product, in chunks of images
 * that stay in cache: oneDNN's own bf16 backward weights runs at half the speed of its products
 * (bench/LOG.md). */
#include "nn/dnnl/dnnl_conv.h"

#include "nn/columns.h"
#include "nn/conv_weights.h"
#include "nn/dnnl/dnnl_product.h"
#include "nn/kernels.h"
#include <string.h>

enum { COLUMN_BYTES = 8 << 20 }; /* target size of a chunk's columns */

struct conv {
    struct conv_desc desc;
    const struct kernels *kernels;
    int dense;
    size_t taps;   /* kernel height * width * source channels */
    size_t pixels; /* of one result: P * Q */
    size_t chunk;  /* images per step of backward weights */
    struct product *forward, *backward_data;
    struct product *backward_weights, *backward_weights_rest; /* a whole chunk; what remains of the batch */
    struct conv_weights *direct_weights;                      /* instead of the two, where it fits */
    void *columns;                                            /* (chunk * pixels, taps) */
    void *narrow;   /* diff_dst as bf16 when it comes as f32 in a bf16 plan */
    float *partial; /* of the bias gradient */
};

static sotto_status plan_dense(struct conv *c)
{
    sotto_status status = SOTTO_OK;
    const struct conv_desc *d = &c->desc;
    dnnl_dim_t rows = (dnnl_dim_t)d->batch, taps = (dnnl_dim_t)c->taps, out = (dnnl_dim_t)d->dst.channels;
    struct operand src = {.ndims = 2, .dims = {rows, taps}, .dtype = d->src_dtype};
    struct operand dst = {.ndims = 2, .dims = {rows, out}, .dtype = d->dst_dtype};
    struct operand weights = {.ndims = 2, .dims = {taps, out}, .strides = {1, taps}, .any = 1};
    TRY(product_matmul(&c->forward, &src, &weights, &dst, d->bias, d->relu ? STORE_RELU : STORE));
    if (d->training && d->diff_src) {
        struct operand diff_dst = dst, transposed = {.ndims = 2, .dims = {out, taps}, .any = 1};
        diff_dst.dtype = d->src_dtype;
        TRY(product_matmul(&c->backward_data, &diff_dst, &transposed, &src, 0, STORE));
    }
done:
    return status;
}

/* Logical (N, C, H, W), physical (N, H, W, C). */
static struct operand image(size_t n, struct nn_shape s, enum nn_dtype dtype)
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
    struct operand src = image(d->batch, d->src, d->src_dtype), dst = image(d->batch, d->dst, d->dst_dtype);
    struct nn_shape kernel = {d->src.channels, d->kernel_height, d->kernel_width};
    struct operand weights = image(d->dst.channels, kernel, NN_F32); /* (out, height, width, in) */
    weights.any = 1;
    const struct conv_window window = {.strides = {(dnnl_dim_t)d->stride, (dnnl_dim_t)d->stride},
                                       .padding = {(dnnl_dim_t)d->pad, (dnnl_dim_t)d->pad}};
    TRY(product_conv_forward(&c->forward, &src, &weights, &dst, &window, d->bias,
                             d->relu ? STORE_RELU : STORE));
    if (d->training && d->diff_src) {
        dst.dtype = d->src_dtype;
        TRY(product_conv_backward_data(&c->backward_data, &src, &weights, &dst, &window));
    }
done:
    return status;
}

/* diff_weights (out, taps) += diff_dst' (out, rows) * columns (rows, taps) */
static sotto_status plan_backward_weights(struct product **out, const struct conv *c, size_t images)
{
    const struct conv_desc *d = &c->desc;
    dnnl_dim_t rows = (dnnl_dim_t)(images * c->pixels), taps = (dnnl_dim_t)c->taps,
               k = (dnnl_dim_t)d->dst.channels;
    struct operand diff_dst = {.ndims = 2, .dims = {k, rows}, .strides = {1, k}, .dtype = d->src_dtype};
    struct operand columns = {.ndims = 2, .dims = {rows, taps}, .dtype = d->src_dtype};
    struct operand diff_weights = {.ndims = 2, .dims = {k, taps}, .dtype = NN_F32};
    return product_matmul(out, &diff_dst, &columns, &diff_weights, 0, ACCUMULATE);
}

static size_t images_per_chunk(const struct conv *c)
{
    size_t bytes = c->pixels * c->taps * dtype_size(c->desc.src_dtype), images = COLUMN_BYTES / bytes;
    images = images > 0 ? images : 1;
    return c->dense || images > c->desc.batch ? c->desc.batch : images;
}

sotto_status dnnl_conv_create(struct conv **out, const struct conv_desc *desc)
{
    sotto_status status = SOTTO_OK;
    struct conv *c = base_alloc(1, sizeof *c);
    if (!c)
        FAIL(SOTTO_ENOMEM, "convolution: out of memory");
    c->desc = *desc;
    c->kernels = kernels_best();
    c->dense =
        desc->pad == 0 && desc->kernel_height == desc->src.height && desc->kernel_width == desc->src.width;
    c->taps = desc->kernel_height * desc->kernel_width * desc->src.channels;
    c->pixels = desc->dst.height * desc->dst.width;
    c->chunk = images_per_chunk(c);
    TRY(c->dense ? plan_dense(c) : plan_convolution(c));
    if (desc->training && !c->dense && conv_weights_fits(desc)) {
        TRY(conv_weights_create(&c->direct_weights, desc));
    } else if (desc->training) {
        TRY(plan_backward_weights(&c->backward_weights, c, c->chunk));
        if (desc->batch % c->chunk)
            TRY(plan_backward_weights(&c->backward_weights_rest, c, desc->batch % c->chunk));
    }
    *out = c;
    c = NULL;
done:
    dnnl_conv_free(c);
    return status;
}

void dnnl_conv_layout(struct conv *c, struct arena *keep, struct arena *scratch)
{
    const struct conv_desc *d = &c->desc;
    struct product *const products[] = {c->forward, c->backward_data, c->backward_weights,
                                        c->backward_weights_rest};
    for (size_t i = 0; i < sizeof products / sizeof *products; i++)
        if (products[i])
            product_place(products[i], keep, scratch);
    if (!d->training)
        return;
    size_t rows = d->batch * c->pixels;
    if (c->direct_weights)
        conv_weights_layout(c->direct_weights, scratch);
    else if (!c->dense)
        c->columns = arena_take(scratch, c->chunk * c->pixels * c->taps, dtype_size(d->src_dtype));
    if (d->dst_dtype != d->src_dtype)
        c->narrow = arena_take(scratch, rows * d->dst.channels, sizeof(bf16));
    c->partial = arena_take(scratch, tensor_row_sums_partial(rows, d->dst.channels), sizeof *c->partial);
}

void dnnl_conv_forward(struct conv *c, void *dst, const void *src, const float *weights, const float *bias)
{
    product_pack(c->forward, weights);
    product_run(c->forward, dst, src, bias);
}

static void backward_weights(struct conv *c, float *diff_weights, const char *diff_dst, const char *src)
{
    const struct conv_desc *d = &c->desc;
    size_t size = dtype_size(d->src_dtype), src_image = d->src.height * d->src.width * d->src.channels * size,
           dst_image = c->pixels * d->dst.channels * size;
    memset(diff_weights, 0, d->dst.channels * c->taps * sizeof *diff_weights);
    for (size_t n = 0; n < d->batch; n += c->chunk) {
        size_t images = d->batch - n < c->chunk ? d->batch - n : c->chunk;
        const void *columns = src;
        if (!c->dense) {
            columns_make(c->columns, src + n * src_image, images, size, d);
            columns = c->columns;
        }
        product_run_with(images == c->chunk ? c->backward_weights : c->backward_weights_rest, diff_weights,
                         diff_dst + n * dst_image, columns);
    }
}

void dnnl_conv_backward(struct conv *c, void *diff_src, float *diff_weights, float *diff_bias,
                        const void *diff_dst, const void *src, const float *weights)
{
    const struct conv_desc *d = &c->desc;
    size_t rows = d->batch * c->pixels;
    if (diff_bias)
        tensor_row_sums(c->kernels, d->dst_dtype, diff_bias, diff_dst, rows, d->dst.channels, c->partial,
                        d->threads);
    if (c->narrow) {
        tensor_to_bf16(c->kernels, c->narrow, diff_dst, rows * d->dst.channels, d->threads);
        diff_dst = c->narrow;
    }
    if (c->direct_weights)
        conv_weights_run(c->direct_weights, diff_weights, diff_dst, src);
    else
        backward_weights(c, diff_weights, diff_dst, src);
    if (!d->diff_src)
        return;
    product_pack(c->backward_data, weights);
    product_run(c->backward_data, diff_src, diff_dst, NULL);
    if (d->mask_src)
        tensor_mask(c->kernels, d->src_dtype, diff_src, src,
                    d->batch * d->src.height * d->src.width * d->src.channels, d->threads);
}

void dnnl_conv_free(struct conv *c)
{
    if (!c)
        return;
    product_free(c->forward);
    product_free(c->backward_data);
    product_free(c->backward_weights);
    product_free(c->backward_weights_rest);
    conv_weights_free(c->direct_weights);
    base_free(c);
}
