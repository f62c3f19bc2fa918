/* scattering.h - fixed features of images: a wavelet scattering transform of two orders, J = 2 octaves, 8
 * directions (Mallat 2012; Bruna & Mallat 2013). Nothing is learnt, so nothing of any record is in it.
 *
 * Of a plane x (one channel of an image) with wavelets psi and a Gaussian low pass phi, both complex or real
 * filters on the periodic grid of the padded plane:
 *
 *   S0 = phi * x,   S1 = phi * |psi_jt * x|,   S2 = phi * ||psi_0t * x| * psi_1t'|
 *
 * at every fourth pixel: 1 + 16 + 64 channels. What psi_1t gives is kept at every second pixel only. Planes
 * are reflected by 4 pixels on every side (more where the size is no multiple of 4). */
#ifndef SSL_SCATTERING_H
#define SSL_SCATTERING_H

#include "base/cpu.h"
#include "base/memory.h"

enum {
    SCATTER_DIRECTIONS = 8,
    SCATTER_CHANNELS = 1 + 2 * SCATTER_DIRECTIONS + SCATTER_DIRECTIONS * SCATTER_DIRECTIONS,
    SCATTER_STEP = 4,   /* pixels between outputs */
    SCATTER_LANES = 16, /* planes that are transformed at a time */
    SCATTER_STAGES = 16
};

/** A Fourier transform of one axis: n = radix[0] * radix[1] * ..., each 4, 2 or an odd prime. */
struct scatter_axis {
    size_t n, stages, radix[SCATTER_STAGES];
    /* (n_stage / radix, radix - 1, 2): cos, sin of the negative angle */
    const float *twiddle[SCATTER_STAGES];
    const float *root[SCATTER_STAGES]; /* odd radix: (radix, 2): cos, sin of 2 pi k / radix */
};
struct scatter_plan {
    struct arena memory;
    size_t height, width; /* of a plane */
    size_t rows, columns; /* of the padded grid, multiples of 4 */
    size_t out_rows, out_columns;
    const size_t *row, *column;       /* (rows), (columns): the pixel behind a place of the grid */
    struct scatter_axis down, across; /* rows, columns */
    struct scatter_axis half_down, half_across;
    /* (8, rows, columns) each: Fourier transforms, real, divided by rows * columns */
    const float *fine, *coarse;
    /* The low pass along an axis: (out, grid); `half`: for planes at every second pixel. */
    const float *low_down, *low_across, *half_low_down, *half_low_across;
};
/** EINVAL: a side below 8 or above 256 pixels. Clear with scatter_plan_clear(). */
sotto_status scatter_plan_make(struct scatter_plan *p, size_t height, size_t width);
void scatter_plan_clear(struct scatter_plan *p);
/** Fourier transforms of the wavelets on a grid of rows x columns, scale j in {0, 1}: out (8, rows, columns).
 * Both scales are multiplied by one factor so that |phi|^2 + (|psi(w)|^2 + |psi(-w)|^2) / 2, summed over all
 * of them, is at most 1: the transform then moves no two planes apart. */
void scatter_wavelets(float *fine, float *coarse, size_t rows, size_t columns);

struct scatter_kernels {
    /** Floats of scratch for transform(). */
    size_t (*scratch)(const struct scatter_plan *p);
    /** planes[lane]: height x width bytes, or NULL (a lane that is not wanted); out (81, out_rows,
     * out_columns, SCATTER_LANES), 64-byte aligned as scratch. A lane does not depend on the others. */
    void (*transform)(float *out, const struct scatter_plan *p, const unsigned char *const *planes,
                      float *scratch);
};
const struct scatter_kernels *scatter_kernels_find(void);

#endif
