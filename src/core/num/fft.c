/* Plans: tables of roots of unity, each computed by libm from an angle reduced to the first octant. */
#include "num/fft.h"

#include "base/cpu.h"
#include "base/memory.h"
#include "num/fft_kernel.h"

#include <math.h>

/* e^(-2 pi i m / n), m < n, n a power of two: within 5 * 2^-53: the angle is off by at most 1.6 u, either part by two
 * ulp, u each. */
static struct fft_twiddle fft_root(size_t m, size_t n)
{
    size_t octant = 8 * m / n, rest = 8 * m % n; /* angle = (octant + rest/n) pi/4 */
    double fold = (double)(octant % 2 ? n - rest : rest) / (double)n;
    double c = cos(fold * 0.78539816339744830962), s = sin(fold * 0.78539816339744830962);
    if ((octant + 1) / 2 % 2) { /* nearer to the imaginary axis */
        double swap = c;
        c = s;
        s = swap;
    }
    bool left = octant >= 2 && octant < 6, up = octant < 4;
    return (struct fft_twiddle){left ? -c : c, up ? -s : s};
}

static void small_free(struct fft_small *s)
{
    base_free(s->twiddle);
    base_free(s->reversed);
}

static bool small_make(struct fft_small *s, int log2_n)
{
    size_t n = (size_t)1 << log2_n, at = 0;
    s->n = n;
    s->log2_n = log2_n;
    s->twiddle = base_alloc(n, sizeof *s->twiddle); /* 3/4 n + 3/16 n + ... */
    s->reversed = base_alloc(n, sizeof *s->reversed);
    if (!s->twiddle || !s->reversed)
        return false;
    for (size_t length = n; length >= 4; length /= 4)
        for (size_t j = 0; j < length / 4; j++)
            for (size_t k = 1; k <= 3; k++)
                s->twiddle[at++] = fft_root(j * k, length);
    for (size_t i = 1; i < n; i++)
        s->reversed[i] = s->reversed[i / 2] / 2 + (i % 2 ? (unsigned)(n / 2) : 0);
    return true;
}

ISA_LEVELS(fft_transform, fft_run);

static bool big_make(struct fft *f)
{
    size_t n1 = f->column.n, most = n1 > f->row.n ? n1 : f->row.n;
    f->shift = f->log2_n / 2;
    size_t fine = (size_t)1 << f->shift, coarse = f->n >> f->shift;
    f->fine = base_alloc(fine, sizeof *f->fine);
    f->coarse = base_alloc(coarse, sizeof *f->coarse);
    f->lane_re = base_alloc(n1 * FFT_LANES, sizeof *f->lane_re);
    f->lane_im = base_alloc(n1 * FFT_LANES, sizeof *f->lane_im);
    f->buffer = base_alloc(most * FFT_LANES * 2, sizeof *f->buffer);
    if (!f->fine || !f->coarse || !f->lane_re || !f->lane_im || !f->buffer)
        return false;
    for (size_t i = 0; i < fine; i++)
        f->fine[i] = fft_root(i, f->n);
    for (size_t i = 0; i < coarse; i++)
        f->coarse[i] = fft_root(i, coarse);
    for (size_t k = 0; k < n1; k++)
        for (size_t lane = 0; lane < FFT_LANES; lane++) {
            struct fft_twiddle w = fft_root(k * lane, f->n);
            f->lane_re[k * FFT_LANES + lane] = w.re;
            f->lane_im[k * FFT_LANES + lane] = w.im;
        }
    return true;
}

sotto_status fft_make(struct fft **out, int log2_n)
{
    sotto_status status = SOTTO_OK;
    struct fft *f = NULL;
    REQUIRE(log2_n >= 6 && log2_n <= 26, "a transform must have 2^6 to 2^26 points (got 2^%d)", log2_n);
    NEW(f, 1);
    f->log2_n = log2_n;
    f->n = (size_t)1 << log2_n;
    f->run = fft_run_levels[cpu_best_isa()];
    if (!small_make(&f->column, log2_n / 2) || !small_make(&f->row, log2_n - log2_n / 2) || !big_make(f))
        FAIL(SOTTO_ENOMEM, "out of memory for a transform of 2^%d points", log2_n);
    *out = f;
    f = NULL;
done:
    fft_free(f);
    return status;
}

void fft_free(struct fft *f)
{
    if (!f)
        return;
    small_free(&f->column);
    small_free(&f->row);
    base_free(f->fine);
    base_free(f->coarse);
    base_free(f->lane_re);
    base_free(f->lane_im);
    base_free(f->buffer);
    base_free(f);
}

void fft_run(const struct fft *f, double *y_re, double *y_im, double *x_re, double *x_im)
{
    f->run(f, y_re, y_im, x_re, x_im);
}

double fft_error(const struct fft *f)
{
    /* u = 2^-53. A layer of sums: u. A product with a tabled root: sqrt 5 u + mu, mu = 5u. The root between
     * the passes is a product of three: 3 mu + 2 sqrt 5 u, and sqrt 5 u to apply it. */
    int products = (f->column.log2_n / 2) + (f->row.log2_n / 2);
    double units = f->log2_n + products * (2.24 + 5) + 3 * 5 + 3 * 2.24;
    return units * 0x1p-53 * (1 + 1e-9);
}
