/* fft_kernel.h - what fft.c and the copies of fft_kernel.isa.c share. */
#ifndef NUM_FFT_KERNEL_H
#define NUM_FFT_KERNEL_H

#include <stddef.h>

enum { FFT_LANES = 8 };

struct fft_twiddle {
    double re, im;
};

/* Transforms of length n, eight at a time. */
struct fft_small {
    size_t n;
    int log2_n;
    struct fft_twiddle *twiddle; /* for each radix-4 layer of length len: (w^j, w^2j, w^3j), j < len/4 */
    unsigned *reversed;          /* order of the results */
};

struct fft;
typedef void fft_transform(const struct fft *fft, double *y_re, double *y_im, double *x_re, double *x_im);

struct fft {
    size_t n;
    int log2_n;
    struct fft_small column, row; /* n = column.n * row.n */
    /* w_N^(j k), j = 8 block + lane: coarse[e >> shift] fine[e & mask] for e = 8 block k, times
     * lane[k][lane] */
    struct fft_twiddle *coarse, *fine;
    int shift;
    double *lane_re, *lane_im; /* [column.n][8] */
    double *buffer;            /* [2][largest n][8] */
    fft_transform *run;
};

#endif
