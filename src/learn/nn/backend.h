/* backend.h - what a backend offers to the layers: one planned convolution, and matrix products.
 *
 * A dense layer is a convolution with a kernel as large as the source, so this one operation carries all
 * products of a network. Everything is (N, H, W, C); weights are (out, height, width, in) f32 and gradients
 * come back the same. */
#ifndef NN_BACKEND_H
#define NN_BACKEND_H

#include "nn/nn.h"

struct conv; /* the backend's own: primitives, packed weights, column matrix */
struct conv_desc {
    size_t batch;
    struct nn_shape src, dst;
    size_t kernel_height, kernel_width, stride, pad;
    enum nn_dtype src_dtype, dst_dtype; /* of data and diff */
    int bias;                           /* there is one */
    int relu;                           /* dst = max(0, .) */
    int training;                       /* backward will be called */
    int single_examples;                /* but never for the weights; a row's bits depend on the row alone */
    int diff_src;                       /* backward writes diff_src */
    int mask_src;                       /* diff_src is multiplied by (src > 0) */
    int threads;
    struct par_stop *stop; /* as in struct layer_run */
};

struct nn_backend {
    const char *name;
    const char *(*title)(void);
    int filters; /* by minimal filtering where it fits, so gradients of single examples may go by it, too */
    /** Why it cannot be used on this machine, or NULL. */
    const char *(*missing)(void);
    int (*supports_bf16)(void); /* bf16 plans work on this CPU */
    sotto_status (*conv_create)(struct conv **out, const struct conv_desc *desc);
    /** Called twice, see struct layer. NULL: needs no memory. */
    void (*conv_layout)(struct conv *c, struct arena *keep, struct arena *scratch);
    void (*conv_forward)(struct conv *c, void *dst, const void *src, const float *weights, const float *bias);
    /** After conv_forward with the same src and weights. diff_src NULL: not wanted; diff_weights NULL:
     * neither they nor diff_bias are. diff_dst is already masked by the layer's own ReLU. */
    void (*conv_backward)(struct conv *c, void *diff_src, float *diff_weights, float *diff_bias,
                          const void *diff_dst, const void *src, const float *weights);
    /** From now on what is made of weights is kept in `memory` for calls with the same number of conv_weights(), between which
     * nothing else uses it; called as conv_layout. NULL: none is. */
    void (*conv_lasting)(struct conv *c, struct arena *memory);
    /** The weights of the next calls are those of all others with this number; 0: they are any. NULL: no matter. */
    void (*conv_weights)(struct conv *c, uint64_t number);
    /** Can conv_backward() add to diff_src? NULL: no. */
    int (*conv_adds)(const struct conv *c);
    /** From now on it does. */
    void (*conv_add)(struct conv *c);
    /** Of gradients of single examples: only the first `images` matter from now on. NULL: all are computed. */
    void (*conv_use)(struct conv *c, size_t images);
    void (*conv_free)(struct conv *c);
    /** See nn_sgemm. */
    void (*sgemm)(int trans_a, int trans_b, size_t m, size_t n, size_t k, float alpha, const float *A,
                  size_t lda, const float *B, size_t ldb, float beta, float *C, size_t ldc);
};
extern const struct nn_backend nn_backend_ref;
#ifdef SOTTO_HAVE_DNNL
extern const struct nn_backend nn_backend_dnnl, nn_backend_winograd;
/** Limits oneDNN to the level of SOTTO_ISA. Only the first use of oneDNN in a process settles its level:
 * later calls change nothing. */
void dnnl_limit_isa(void);
#endif
/** ENOTSUP, with what this machine has. */
sotto_status nn_refuse_bf16(const struct nn_backend *b);

#endif
