/* The transform against sums in long double, its proved error bound, and what breaks that. */
#include "support/test.h"

#include "base/memory.h"
#include "num/fft.h"
#include "num/fft_kernel.h"
#include "rng/rng.h"

#include <complex.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct arrays {
    size_t n;
    double *x_re, *x_im, *y_re, *y_im;
    long double complex *x;
};

static struct arrays make(int log2_n, uint64_t seed)
{
    struct arrays a = {.n = (size_t)1 << log2_n};
    double *all = base_alloc(4 * a.n, sizeof *all);
    a.x = base_alloc(a.n, sizeof *a.x);
    assert_true(all && a.x);
    a.x_re = all, a.x_im = all + a.n, a.y_re = all + 2 * a.n, a.y_im = all + 3 * a.n;
    struct rng r = rng_stream(seed, RNG_EVALUATE, 0, 0);
    for (size_t i = 0; i < a.n; i++) {
        a.x_re[i] = rng_unit(&r) - 0.5;
        a.x_im[i] = rng_unit(&r) - 0.5;
        a.x[i] = (long double)a.x_re[i] + (long double)a.x_im[i] * I;
    }
    return a;
}

static void drop(struct arrays *a)
{
    base_free(a->x_re);
    base_free(a->x);
}

/* |y - F x| / |F x| */
static double relative_error(const struct arrays *a)
{
    const long double turn = -6.283185307179586476925286766559005768L;
    long double wrong = 0, size = 0;
    for (size_t k = 0; k < a->n; k++) {
        long double complex sum = 0;
        for (size_t j = 0; j < a->n; j++)
            sum += a->x[j] * cexpl(I * (turn * (long double)(j * k % a->n) / (long double)a->n));
        long double re = creall(sum) - (long double)a->y_re[k], im = cimagl(sum) - (long double)a->y_im[k];
        wrong += re * re + im * im;
        size += creall(sum) * creall(sum) + cimagl(sum) * cimagl(sum);
    }
    return (double)sqrtl(wrong / size);
}

TEST(the_bound_holds)
{
    static const char *const levels[] = {"v2", "v3", "v4", "v4bf16"};
    for (int log2_n = 6; log2_n <= 10; log2_n++)
        for (int level = 0; level < 4; level++) {
            struct arrays a = make(log2_n, 7);
            struct fft *fft;
            setenv("SOTTO_ISA", levels[level], 1);
            assert_int_equal(fft_make(&fft, log2_n), SOTTO_OK);
            unsetenv("SOTTO_ISA");
            fft_run(fft, a.y_re, a.y_im, a.x_re, a.x_im);
            double error = relative_error(&a);
            if (!(error > 0 && error < fft_error(fft) && fft_error(fft) < 3e-14))
                fail_msg("2^%d %s: %g against a bound of %g", log2_n, levels[level], error, fft_error(fft));
            fft_free(fft);
            drop(&a);
        }
}

/* Negative control: one root of unity off by 1e-12, in every table. */
TEST(a_wrong_root_breaks_it)
{
    for (int table = 0; table < 5; table++) {
        struct arrays a = make(8, 11);
        struct fft *fft;
        assert_int_equal(fft_make(&fft, 8), SOTTO_OK);
        double *roots[] = {&fft->column.twiddle[3].re, &fft->row.twiddle[4].im, &fft->fine[8].re,
                           &fft->coarse[2].im, &fft->lane_re[8 * 5 + 3]};
        *roots[table] += 1e-12;
        fft_run(fft, a.y_re, a.y_im, a.x_re, a.x_im);
        double error = relative_error(&a);
        if (!(error >= fft_error(fft)))
            fail_msg("table %d: %g is still within %g", table, error, fft_error(fft));
        fft_free(fft);
        drop(&a);
    }
}

TEST(there_and_back)
{
    for (int log2_n = 6; log2_n <= 17; log2_n++) {
        struct arrays a = make(log2_n, 3);
        struct fft *fft;
        assert_int_equal(fft_make(&fft, log2_n), SOTTO_OK);
        fft_run(fft, a.y_re, a.y_im, a.x_re, a.x_im);
        fft_run(fft, a.x_im, a.x_re, a.y_im, a.y_re);
        double wrong = 0, size = 0;
        for (size_t i = 0; i < a.n; i++) {
            double re = a.x_re[i] / (double)a.n - (double)creall(a.x[i]);
            double im = a.x_im[i] / (double)a.n - (double)cimagl(a.x[i]);
            wrong += re * re + im * im;
            size += (double)(creall(a.x[i]) * creall(a.x[i]) + cimagl(a.x[i]) * cimagl(a.x[i]));
        }
        assert_true(sqrt(wrong / size) < 2 * fft_error(fft));
        fft_free(fft);
        drop(&a);
    }
}

TEST(sizes_and_memory)
{
    struct fft *fft = (struct fft *)1;
    assert_int_equal(fft_make(&fft, 5), SOTTO_EINVAL);
    assert_string_equal(sotto_error_text(), "a transform must have 2^6 to 2^26 points (got 2^5)");
    assert_int_equal(fft_make(&fft, 27), SOTTO_EINVAL);
    long fails = 0;
    for (sotto_status status = SOTTO_ENOMEM; status == SOTTO_ENOMEM; fails++) {
        assert_ptr_equal(fft, (struct fft *)1);
        base_alloc_fail_after(fails);
        status = fft_make(&fft, 6);
        base_alloc_fail_after(-1);
    }
    assert_true(fails > 8);
    fft_free(fft);
    fft_free(NULL);
}

TEST_GROUP(.tags = "matrix")
