/* bf16_kernels.h - the inner loops of conv_bf16.c, for CPUs that multiply pairs of bf16 (AVX512-BF16).
 * Compiled per instruction set.
 *
 * A pair is two bf16 in 32 bits: neighbours in depth of a product. A panel is (pairs, columns) of them, columns
 * 16, 32 or 64; a tensor of more columns is cut into panels, one after the other. */
#ifndef NN_CONV_BF16_KERNELS_H
#define NN_CONV_BF16_KERNELS_H

#include "nn/nn.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { BF16_GROUP = 16, BF16_STREAM = 1 << 23 /* values: 16 MiB */ };
/** No such pixel: it lies in the padding. */
#define BF16_NONE UINT32_MAX

/** Columns of a panel. */
static inline size_t bf16_panel(size_t channels)
{
    return channels % 64 == 0 ? 64 : channels % 32 == 0 ? 32 : 16;
}

/** Is a bf16 tensor of that many images so large that what is written would have left the caches before it is read? */
static inline bool bf16_streams(const void *at, size_t images, struct nn_shape s)
{
    return images * s.height * s.width * s.channels >= BF16_STREAM && s.channels % 64 == 0 &&
           (uintptr_t)at % 64 == 0;
}

/** Memory that is read soon: a call fetches it bit by bit while it computes. */
struct bf16_ahead {
    const void *at;
    size_t bytes;
};

/** One panel of results for a list of pixels that have the same taps. Offsets are in elements. */
struct bf16_results {
    void *out; /* f32, or bf16 if `narrow` */
    bool narrow;
    bool stream;              /* past the caches: narrow, whole lines of 64 bytes, more than they hold */
    bool add;                 /* to what out has: narrow */
    bool scattered;           /* one tap of pixels that lie apart, each of which is fetched before its turn */
    const uint16_t *in, *far; /* taps from number `near` on read `far` */
    size_t near;
    const float *start;     /* (rows, columns): what is added to; NULL: nothing */
    const uint32_t *out_at; /* (rows): of the panel's first column, from out and mask */
    const uint32_t *in_at;  /* (taps, list): of the pixel that a tap reads, from in or far */
    const size_t *tap;      /* (taps): which */
    size_t rows, list, taps, depth, columns;
    const uint32_t *panel; /* (all taps, depth / 2, columns) */
    const float *bias;     /* (columns), or NULL */
    bool relu;
    const uint16_t *mask; /* as out: results are 0 where it is not positive; NULL: none */
    struct bf16_ahead ahead;
};
/** out (rows, columns) (+)= left' right over the pairs. */
struct bf16_sum {
    float *out;
    size_t stride, rows, columns; /* stride: of out; rows: columns of left */
    const uint32_t *left, *right; /* (pairs, rows), (pairs, columns) */
    size_t pairs;
    bool add;
    struct bf16_ahead ahead[2];
};

/** What a kernel sees of an image (height, width, channels), pixel by pixel of the result. */
struct bf16_patches {
    size_t height, width, channels, kernel_height, kernel_width, stride, pad;
    size_t down, across; /* results */
    size_t room;         /* values of a patch, with zeros after the kernel's */
};
enum { BF16_RUN = 32 }; /* values of a kernel's row that fit into a patch */

/** All NULL where the CPU does not have them. */
struct bf16_kernels {
    /** Each result depends on its own pixels alone; rounded once. */
    void (*results)(const struct bf16_results *r);
    void (*sum)(const struct bf16_sum *s);
    /** panel ((count + 1) / 2, columns): pixels at[2 i] and at[2 i + 1] of `in` side by side; zeros for
     * BF16_NONE. */
    void (*pack_pixels)(uint32_t *panel, const uint16_t *in, const uint32_t *at, size_t count,
                        size_t columns);
    /** Sums of the pixels at[i] and at[i] + step, packed as by pack_pixels(). */
    void (*pack_sums)(uint32_t *panel, const uint16_t *in, const uint32_t *at, size_t step, size_t count,
                      size_t columns);
    /** to (count, 2, channels): a - b and c - b of pixels a, b and c that lie `step` apart; c is the next one's a. */
    void (*differences)(uint16_t *to, const uint16_t *in, size_t step, size_t count, size_t channels);
    /** to (down * across, room); BF16_RUN values after its end are overwritten. kernel_width * channels are at
     * most BF16_RUN. */
    void (*make_patches)(uint16_t *to, const uint16_t *image, const struct bf16_patches *shape);
    /** panel (depth / 2, columns) of f32 weights: row k, column c at weights[k * row + c * column]; one of both
     * strides is 1. depth is a multiple of 16. */
    void (*pack_weights)(uint32_t *panel, const float *weights, size_t row, size_t column, size_t depth,
                         size_t columns);
};
const struct bf16_kernels *bf16_kernels_best(void);

#endif
