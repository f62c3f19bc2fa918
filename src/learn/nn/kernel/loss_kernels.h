/* loss_kernels.h - the inner loops of the losses, one table per instruction set. */
#ifndef NN_KERNEL_LOSS_KERNELS_H
#define NN_KERNEL_LOSS_KERNELS_H

#include "base/cpu.h"

#include <stddef.h>
#include <stdint.h>

/** log-sum-exp of `count` rows or columns and whether their largest entry is unique. */
struct loss_kernels {
    /** top (largest entry), log_sum (ln sum exp) and ties (entries equal to top) of one row of `width`
     * floats. */
    void (*row_log_sum)(float *top, float *log_sum, size_t *ties, const float *row, size_t width);
    /** grad[j] = scale * (exp(s[j] - row_log_sum) + exp(s[j] - column_log_sum[j])); width a multiple of
     * 16; grad may be s. */
    void (*pair_gradient)(float *grad, const float *s, float row_log_sum, const float *column_log_sum,
                          float scale, size_t width);
    /** prob[j] = scale * exp(row[j] - log_sum), any width. */
    void (*row_softmax)(float *prob, const float *row, float log_sum, float scale, size_t width);
    /** dst = src * inverse, where inverse = 1 / sqrt(max(|src|^2, floor)), returned; any width. */
    float (*normalize)(float *dst, const float *src, float floor, size_t width);
    /** diff_src = inverse * (diff_dst - dst <dst, diff_dst>); the projection only if `project`. */
    void (*normalize_back)(float *diff_src, const float *diff_dst, const float *dst, float inverse,
                           int project, size_t width);
    /** Binary cross-entropy of logits z with targets t in [0, 1]: returns the sum of max(z, 0) - z t + ln(1 + e^-|z|), to 1e-6
     * of itself and of 1; grad[j] = scale * (sigmoid(z[j]) - t[j]), or NULL; any width. */
    double (*logistic)(float *grad, const float *z, const float *t, float scale, size_t width);
};
const struct loss_kernels *loss_kernels_best(void);

#endif
