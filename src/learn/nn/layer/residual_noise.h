/* residual_noise.h - noise inside a network, after a row's residual sum (nn.h: struct nn_noise).
 *
 * Fresh for every pass, record and coordinate, in training and in use: standard normals from a ChaCha8
 * stream keyed by (seed, step, row), so that backward draws the same again and nothing is
 * stored. The bits depend on neither threads nor instruction set. 32 bits a number: tails end at 6.7
 * deviations. This noise is for measuring what residual perturbation does; noise that a certificate counts on
 * is never drawn here. */
#ifndef NN_LAYER_RESIDUAL_NOISE_H
#define NN_LAYER_RESIDUAL_NOISE_H

#include "nn/layer/layer.h"

enum { NOISE_GROUP = 256 }; /* numbers drawn together, in rows of 16 */

/** Compiled once per instruction set (residual_noise.isa.c). half: bf16 tensors, else f32. n <=
 * NOISE_GROUP. */
struct residual_noise_kernels {
    /** Box & Muller 1958: words of rows 2j and 2j + 1 become numbers of the same rows. */
    void (*normals)(float out[NOISE_GROUP], const uint32_t words[NOISE_GROUP]);
    /** y[at + i] += x[at + i] + scale z[i]; x NULL: 0 */
    void (*add)(void *y, const void *x, size_t at, const float *z, float scale, size_t n, int half);
    /** y += x + scale z sign(x) max(|x|, floor), sign(0) = 1 */
    void (*add_scaled)(void *y, const void *x, size_t at, const float *z, float scale, float floor, size_t n,
                       int half);
    /** its derivative by x: to = (keep: to +) (share + scale z [|x| > floor]) g; floor 0: everywhere */
    void (*add_scaled_back)(void *to, const void *g, const void *x, size_t at, const float *z, int keep,
                            float share, float scale, float floor, size_t n, int half);
    /** sums[0] += sum of y - shift, sums[1] += sum of its squares */
    void (*moments)(double sums[2], const void *y, size_t at, double shift, size_t n, int half);
    /** sum of g z */
    double (*dot)(const void *g, size_t at, const float *z, size_t n, int half);
    /** to += factor (y - scale z - mean) */
    void (*pull)(void *to, const void *y, size_t at, const float *z, float factor, float scale, float mean,
                 size_t n, int half);
};
const struct residual_noise_kernels *residual_noise_kernels_find(void);

/** Doubles of run->noise_parts for a result of `count` numbers. */
size_t residual_noise_parts(size_t count);
/** Adds `residual` (NULL: nothing) and the row's noise to its result, in one pass over memory. Relative noise
 * asks for the whole result first: the sum must then be there already. */
void residual_noise_forward(struct layer_run *run, const struct activation *residual,
                            const struct pass *pass);
/** Where the gradient of a sum with multiplicative noise goes to its residual. */
enum residual_share {
    RESIDUAL_COPY,  /* nothing is there yet */
    RESIDUAL_ADD,   /* other rows have written there */
    RESIDUAL_SHARED /* the same memory as the sum's: it holds it without the noise */
};
void residual_noise_backward(struct layer_run *run, struct activation *residual, enum residual_share share,
                             const struct pass *pass);
/** Relative: to the gradient of the result, before it is passed on. */
void residual_noise_backward_relative(struct layer_run *run, const struct pass *pass);
/** Relative: in leaves of a step the result's moments, and on the way back the product of gradient and noise, are those of all
 * leaves. Gathers once the row's sum, or its masked gradient, is there; remembers nothing. */
extern const struct layer_cross residual_noise_cross;

#endif
