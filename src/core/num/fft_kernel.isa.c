/* The transform itself, N = n1 n2, j = j1 n2 + j2, k = k1 + n1 k2:
 *   y_k = sum_j2 w_n2^(j2 k2) [ w_N^(j2 k1) sum_j1 w_n1^(j1 k1) x_j ].
 * Pass 1 does eight columns j2 at once, pass 2 eight rows k1; each lane of a vector is a transform of its
 * own. Small transforms: decimation in frequency, radix 4 (two layers of sums, one of products), results in
 * bit-reversed order. */
#include "base/cpu.h"
#include "base/simd.h"
#include "num/fft_kernel.h"

static inline f64x8 fft_kernel_spread(double x)
{
    return (f64x8){x, x, x, x, x, x, x, x};
}

static inline void put_product(f64x8 *re, f64x8 *im, f64x8 a, f64x8 b, const struct fft_twiddle *w)
{
    f64x8 wr = fft_kernel_spread(w->re), wi = fft_kernel_spread(w->im);
    *re = a * wr - b * wi;
    *im = a * wi + b * wr;
}

static inline void fft_kernel_radix4(f64x8 *re, f64x8 *im, size_t quarter, const struct fft_twiddle *w)
{
    for (size_t j = 0; j < quarter; j++, w += 3) {
        f64x8 *r = re + j, *i = im + j;
        f64x8 ar = r[0] + r[2 * quarter], ai = i[0] + i[2 * quarter];
        f64x8 br = r[0] - r[2 * quarter], bi = i[0] - i[2 * quarter];
        f64x8 cr = r[quarter] + r[3 * quarter], ci = i[quarter] + i[3 * quarter];
        f64x8 dr = i[quarter] - i[3 * quarter], di = r[3 * quarter] - r[quarter]; /* times -i */
        r[0] = ar + cr;
        i[0] = ai + ci;
        put_product(&r[quarter], &i[quarter], ar - cr, ai - ci, w + 1);
        put_product(&r[2 * quarter], &i[2 * quarter], br + dr, bi + di, w);
        put_product(&r[3 * quarter], &i[3 * quarter], br - dr, bi - di, w + 2);
    }
}

static void fft_kernel_small(const struct fft_small *s, f64x8 *re, f64x8 *im)
{
    const struct fft_twiddle *w = s->twiddle;
    size_t length = s->n;
    for (; length >= 4; w += 3 * (length / 4), length /= 4)
        for (size_t start = 0; start < s->n; start += length)
            fft_kernel_radix4(re + start, im + start, length / 4, w);
    if (length == 2)
        for (size_t j = 0; j < s->n; j += 2) {
            f64x8 ar = re[j], ai = im[j];
            re[j] = ar + re[j + 1];
            im[j] = ai + im[j + 1];
            re[j + 1] = ar - re[j + 1];
            im[j + 1] = ai - im[j + 1];
        }
}

static void fft_kernel_columns(const struct fft *f, double *x_re, double *x_im, f64x8 *re, f64x8 *im)
{
    size_t n1 = f->column.n, n2 = f->row.n, mask = ((size_t)1 << f->shift) - 1;
    const f64x8 *lane_re = (const f64x8 *)f->lane_re, *lane_im = (const f64x8 *)f->lane_im;
    for (size_t j = 0; j < n2; j += FFT_LANES) {
        for (size_t row = 0; row < n1; row++) {
            re[row] = *(const f64x8 *)(x_re + row * n2 + j);
            im[row] = *(const f64x8 *)(x_im + row * n2 + j);
        }
        fft_kernel_small(&f->column, re, im);
        for (size_t at = 0; at < n1; at++) {
            size_t k = f->column.reversed[at], e = j * k;
            const struct fft_twiddle *c = f->coarse + (e >> f->shift), *d = f->fine + (e & mask);
            struct fft_twiddle w = {c->re * d->re - c->im * d->im, c->re * d->im + c->im * d->re};
            f64x8 wr, wi, yr, yi;
            put_product(&wr, &wi, lane_re[k], lane_im[k], &w);
            yr = re[at] * wr - im[at] * wi;
            yi = re[at] * wi + im[at] * wr;
            *(f64x8 *)(x_re + k * n2 + j) = yr;
            *(f64x8 *)(x_im + k * n2 + j) = yi;
        }
    }
}

static inline void fft_kernel_gather(f64x8 *to, const double *from, size_t n, size_t stride)
{
    double *flat = (double *)to;
    for (size_t j = 0; j < n; j += FFT_LANES)
        for (size_t lane = 0; lane < FFT_LANES; lane++)
            for (size_t i = 0; i < FFT_LANES; i++)
                flat[(j + i) * FFT_LANES + lane] = from[lane * stride + j + i];
}

static void fft_kernel_rows(const struct fft *f, double *y_re, double *y_im, const double *x_re,
                            const double *x_im, f64x8 *re, f64x8 *im)
{
    size_t n1 = f->column.n, n2 = f->row.n;
    for (size_t k1 = 0; k1 < n1; k1 += FFT_LANES) {
        fft_kernel_gather(re, x_re + k1 * n2, n2, n2);
        fft_kernel_gather(im, x_im + k1 * n2, n2, n2);
        fft_kernel_small(&f->row, re, im);
        for (size_t at = 0; at < n2; at++) {
            size_t to = f->row.reversed[at] * n1 + k1;
            *(f64x8 *)(y_re + to) = re[at];
            *(f64x8 *)(y_im + to) = im[at];
        }
    }
}

fft_transform ISA_NAME(fft_run);
void ISA_NAME(fft_run)(const struct fft *f, double *y_re, double *y_im, double *x_re, double *x_im)
{
    size_t most = f->column.n > f->row.n ? f->column.n : f->row.n;
    f64x8 *re = (f64x8 *)f->buffer, *im = re + most;
    fft_kernel_columns(f, x_re, x_im, re, im);
    fft_kernel_rows(f, y_re, y_im, x_re, x_im, re, im);
}
