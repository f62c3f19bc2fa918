/* ref_conv.h - convolution by its definition. src (N, H, W, C), weights (K, R, S, C), dst (N, P, Q, K).
 *
 *   dst[n,p,q,k] = bias[k] + sum over r,s,c of src[n, p*stride + r - pad, q*stride + s - pad, c] *
 * weights[k,r,s,c] */
#ifndef NN_REF_CONV_H
#define NN_REF_CONV_H

#include "nn/ref/ref_real.h"

#include <stddef.h>

struct par_stop;
struct ref_conv_shape {
    size_t N, H, W, C, K, R, S, P, Q, stride, pad;
    struct par_stop *stop; /* asked for each line of each image; or NULL */
};
void REAL_NAME(ref_conv_forward)(real *dst, const real *src, const real *weights, const real *bias,
                                 const struct ref_conv_shape *shape);
/** diff_src[n,h,w,c] = sum of diff_dst * weights over all outputs that read it. */
void REAL_NAME(ref_conv_backward_data)(real *diff_src, const real *diff_dst, const real *weights,
                                       const struct ref_conv_shape *shape);
/** Summed over the batch, n outermost. */
void REAL_NAME(ref_conv_backward_weights)(real *diff_weights, real *diff_bias, const real *diff_dst,
                                          const real *src, const struct ref_conv_shape *shape);

#endif
