/* fft.h - discrete Fourier transform of N = 2^6 .. 2^26 complex numbers in double, with a proved bound of its
 * rounding error.
 *
 * With u = 2^-53 the computed transform y of x satisfies |y - F x|_2 <= fft_error() |F x|_2, |F x|_2 =
 * sqrt(N) |x|_2, unless numbers fall below 1e-290. Proof: docs/derivations/pld.md, section 4. Assumption: sin
 * and cos of libm are within 2 ulp. Four-step algorithm: transforms of about sqrt(N) on eight columns at a
 * time. */
#ifndef NUM_FFT_H
#define NUM_FFT_H

#include "base/status.h"

struct fft;
/** log2_n = 6..26. ENOMEM. Free with fft_free(). */
sotto_status fft_make(struct fft **out, int log2_n);
void fft_free(struct fft *fft);
/** y_k = sum_j x_j e^(-2 pi i j k / N). Overwrites x; y and x are four separate arrays of N, 64-byte aligned.
 * For the inverse (times N) swap real and imaginary parts of both. */
void fft_run(const struct fft *fft, double *y_re, double *y_im, double *x_re, double *x_im);
/** Relative error in the 2-norm. */
double fft_error(const struct fft *fft);

#endif
