/* dnnl_conv.h - the convolution of the oneDNN backend; see struct nn_backend for the contracts. */
#ifndef NN_DNNL_CONV_H
#define NN_DNNL_CONV_H

#include "nn/backend.h"

/** winograd: by minimal filtering (conv_winograd.h) where it fits. */
sotto_status dnnl_conv_create(struct conv **out, const struct conv_desc *desc, int winograd);
void dnnl_conv_layout(struct conv *c, struct arena *keep, struct arena *scratch);
void dnnl_conv_lasting(struct conv *c, struct arena *memory);
void dnnl_conv_weights(struct conv *c, uint64_t number);
void dnnl_conv_forward(struct conv *c, void *dst, const void *src, const float *weights, const float *bias);
int dnnl_conv_adds(const struct conv *c);
void dnnl_conv_add(struct conv *c);
void dnnl_conv_backward(struct conv *c, void *diff_src, float *diff_weights, float *diff_bias,
                        const void *diff_dst, const void *src, const float *weights);
void dnnl_conv_use(struct conv *c, size_t images);
void dnnl_conv_free(struct conv *c);

#endif
