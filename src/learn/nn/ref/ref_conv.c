/* The loops say what convolution is. All three passes visit the same (output, tap) pairs; `tap` skips the
 * ones that fall into the padding. */
#include "nn/ref/ref_conv.h"

#include "par/par.h"

#include <stdbool.h>
#include <string.h>

/* Source pixel that output (p, q) reads through tap (r, s), as an index of channel vectors; false:
 * padding. */
static bool ref_conv_tap(size_t *pixel, const struct ref_conv_shape *z, size_t n, size_t p, size_t q,
                         size_t r, size_t s)
{
    size_t h = p * z->stride + r - z->pad, w = q * z->stride + s - z->pad; /* wraps to huge when negative */
    *pixel = (n * z->H + h) * z->W + w;
    return h < z->H && w < z->W;
}

void REAL_NAME(ref_conv_forward)(real *dst, const real *src, const real *weights, const real *bias,
                                 const struct ref_conv_shape *z)
{
    for (size_t n = 0; n < z->N; n++)
        for (size_t p = 0; p < z->P && !par_stopped(z->stop); p++)
            for (size_t q = 0; q < z->Q; q++)
                for (size_t k = 0; k < z->K; k++) {
                    real sum = bias ? bias[k] : 0;
                    size_t pixel;
                    for (size_t r = 0; r < z->R; r++)
                        for (size_t s = 0; s < z->S; s++)
                            if (ref_conv_tap(&pixel, z, n, p, q, r, s))
                                for (size_t c = 0; c < z->C; c++)
                                    sum += src[pixel * z->C + c] *
                                           weights[((k * z->R + r) * z->S + s) * z->C + c];
                    dst[((n * z->P + p) * z->Q + q) * z->K + k] = sum;
                }
}

void REAL_NAME(ref_conv_backward_data)(real *diff_src, const real *diff_dst, const real *weights,
                                       const struct ref_conv_shape *z)
{
    memset(diff_src, 0, z->N * z->H * z->W * z->C * sizeof *diff_src);
    for (size_t n = 0; n < z->N; n++)
        for (size_t p = 0; p < z->P && !par_stopped(z->stop); p++)
            for (size_t q = 0; q < z->Q; q++)
                for (size_t k = 0; k < z->K; k++) {
                    real diff = diff_dst[((n * z->P + p) * z->Q + q) * z->K + k];
                    size_t pixel;
                    for (size_t r = 0; r < z->R; r++)
                        for (size_t s = 0; s < z->S; s++)
                            if (ref_conv_tap(&pixel, z, n, p, q, r, s))
                                for (size_t c = 0; c < z->C; c++)
                                    diff_src[pixel * z->C + c] +=
                                        diff * weights[((k * z->R + r) * z->S + s) * z->C + c];
                }
}

void REAL_NAME(ref_conv_backward_weights)(real *diff_weights, real *diff_bias, const real *diff_dst,
                                          const real *src, const struct ref_conv_shape *z)
{
    memset(diff_weights, 0, z->K * z->R * z->S * z->C * sizeof *diff_weights);
    if (diff_bias)
        memset(diff_bias, 0, z->K * sizeof *diff_bias);
    for (size_t n = 0; n < z->N; n++)
        for (size_t p = 0; p < z->P && !par_stopped(z->stop); p++)
            for (size_t q = 0; q < z->Q; q++)
                for (size_t k = 0; k < z->K; k++) {
                    real diff = diff_dst[((n * z->P + p) * z->Q + q) * z->K + k];
                    size_t pixel;
                    if (diff_bias)
                        diff_bias[k] += diff;
                    for (size_t r = 0; r < z->R; r++)
                        for (size_t s = 0; s < z->S; s++)
                            if (ref_conv_tap(&pixel, z, n, p, q, r, s))
                                for (size_t c = 0; c < z->C; c++)
                                    diff_weights[((k * z->R + r) * z->S + s) * z->C + c] +=
                                        diff * src[pixel * z->C + c];
                }
}
