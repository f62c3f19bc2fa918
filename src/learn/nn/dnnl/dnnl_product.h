/* dnnl_product.h - one planned oneDNN primitive of the form dst = src * weights (+ bias, ReLU): a matrix
 * product, a convolution or its backward data. Weights come as f32 in our own layout and are packed into the
 * layout and type that the primitive requires; all other operands are plain. */
#ifndef NN_DNNL_PRODUCT_H
#define NN_DNNL_PRODUCT_H

#include "base/memory.h"
#include "nn/dnnl/dnnl_version.h"
#include "nn/nn.h"

enum { PRODUCT_DIMS = 4 };
/** A plain tensor. Strides in elements; 0 in strides[0]: dense, last index fastest. */
struct operand {
    int ndims;
    dnnl_dims_t dims, strides;
    enum nn_dtype dtype;
    int any; /* the primitive may choose the layout (packed operands only) */
};

struct product {
    dnnl_engine_t engine;
    dnnl_stream_t stream;
    dnnl_primitive_t primitive, pack; /* pack NULL: weights are used as they are */
    dnnl_memory_t src, weights, bias, dst, scratch, unpacked;
    int src_name, dst_name; /* DNNL_ARG_... */
    size_t packed_bytes, scratch_bytes;
    void *packed, *scratch_block;
};

/** dst (M, N) = src (M, K) * weights (K, N). `weights` describes the f32 source of packing. */
sotto_status product_matmul(struct product **out, const struct operand *src, const struct operand *weights,
                            const struct operand *dst, int bias, enum epilogue epilogue);
/** src (N, C, H, W), weights (K, C, R, S), dst (N, K, P, Q) as logical dimensions; strides say NHWC. */
sotto_status product_conv_forward(struct product **out, const struct operand *src,
                                  const struct operand *weights, const struct operand *dst,
                                  const struct conv_window *window, int bias, enum epilogue epilogue);
sotto_status product_conv_backward_data(struct product **out, const struct operand *diff_src,
                                        const struct operand *weights, const struct operand *diff_dst,
                                        const struct conv_window *window);
void product_place(struct product *p, struct arena *scratch);
/** Packs weights for the runs that follow. */
void product_pack(struct product *p, const float *weights);
/** bias NULL where planned without. For backward data dst is diff_src and src is diff_dst. */
void product_run(struct product *p, void *dst, const void *src, const float *bias);
/** With weights that need no packing (planned with any = 0). */
void product_run_with(struct product *p, void *dst, const void *src, const void *weights);
void product_free(struct product *p);

#endif
