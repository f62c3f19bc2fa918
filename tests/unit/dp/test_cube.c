/* Noise of one radius: its law cell by cell, its size, and that Laplace noise on one number dominates it. */
#include "support/effort.h"
#include "support/test.h"

#include "base/memory.h"
#include "dp/mechanism/mechanism.h"
#include "dp/noise/cube.h"

#include <math.h>

enum { REACH = 40, SIDE = 2 * REACH };

static double *law_1(double scale)
{
    double *p = base_alloc(SIDE, sizeof *p), sum = 0;
    for (int k = -REACH; p && k < REACH; k++)
        for (int i = 0; i < 1000; i++)
            p[k + REACH] += exp(-fabs(k + (i + 0.5) / 1000) / scale);
    for (int k = 0; p && k < SIDE; k++)
        sum += p[k];
    for (int k = 0; p && k < SIDE; k++)
        p[k] /= sum;
    return p;
}

/* Of two numbers, by the midpoints of small squares: nothing of how it is drawn is in it. */
static double *law_2(double scale)
{
    enum { FINE = 24 };
    double *p = base_alloc((size_t)SIDE * SIDE, sizeof *p), sum = 0;
    for (int a = -REACH; p && a < REACH; a++)
        for (int b = -REACH; b < REACH; b++)
            for (int i = 0; i < FINE * FINE; i++) {
                const double x = fabs(a + (i / FINE + 0.5) / FINE), y = fabs(b + (i % FINE + 0.5) / FINE);
                p[(a + REACH) * SIDE + b + REACH] += exp(-fmax(x, y) / scale);
            }
    for (int k = 0; p && k < SIDE * SIDE; k++)
        sum += p[k];
    for (int k = 0; p && k < SIDE * SIDE; k++)
        p[k] /= sum;
    return p;
}

/* Chi-square over cells of at least 20 draws, in standard deviations. */
static double off(const double *seen, const double *p, size_t cells, double draws)
{
    double sum = 0, count = 0;
    for (size_t i = 0; i < cells; i++)
        if (draws * p[i] >= 20) {
            sum += (seen[i] - draws * p[i]) * (seen[i] - draws * p[i]) / (draws * p[i]);
            count++;
        }
    return (sum - count) / sqrt(2 * count);
}

TEST(floors_have_the_law_of_the_cube)
{
    const size_t draws = (size_t)by_effort(200000, 1000000, 10000000);
    struct noise *s;
    assert_int_equal(noise_open_insecure(&s, 5), SOTTO_OK);
    for (uint64_t scale = 1; scale <= 3; scale++)
        for (size_t n = 1; n <= 2; n++) {
            const size_t cells = n == 1 ? SIDE : SIDE * SIDE;
            double *seen = base_alloc(cells, sizeof *seen),
                   *p = n == 1 ? law_1((double)scale) : law_2((double)scale),
                   *wrong = n == 1 ? law_1((double)scale * 1.05) : law_2((double)scale * 1.05);
            assert_true(seen && p && wrong);
            for (size_t i = 0; i < draws; i++) {
                int128 z[2];
                cube_draw(z, n, scale, s);
                const int128 a = z[0] + REACH, b = n == 1 ? 0 : z[1] + REACH;
                if (a >= 0 && a < SIDE && b >= 0 && b < SIDE)
                    seen[n == 1 ? a : a * SIDE + b]++;
            }
            assert_true(off(seen, p, cells, (double)draws) < 5);
            assert_true(off(seen, wrong, cells, (double)draws) > 5);
            base_free(seen);
            base_free(p);
            base_free(wrong);
        }
    noise_close(s);
}

/* Known answers: the largest is Gamma(n), each has the variance (n + 1) (n + 2) / 3. */
TEST(large_cubes_have_their_size)
{
    enum { N = 10 };
    const size_t draws = (size_t)by_effort(20000, 100000, 1000000);
    const uint64_t scale = ((uint64_t)1 << 40) + 12345;
    struct noise *s;
    double radius = 0, squares = 0, mean = 0, product = 0;
    assert_int_equal(noise_open_insecure(&s, 6), SOTTO_OK);
    for (size_t i = 0; i < draws; i++) {
        int128 z[N];
        double most = 0;
        cube_draw(z, N, scale, s);
        for (size_t j = 0; j < N; j++) {
            const double x = ((double)z[j] + 0.5) / (double)scale;
            most = fmax(most, fabs(x));
            squares += x * x / N;
            mean += x / N;
        }
        product += ((double)z[0] + 0.5) * ((double)z[1] + 0.5) / (double)scale / (double)scale;
        radius += most;
    }
    const double n = (double)draws;
    assert_true(fabs(radius / n - N) < 5 * sqrt(N / n));
    assert_true(fabs(squares / n - 44) < 5 * 30 / sqrt(n)); /* R^2 / 3 has a deviation of 27 */
    assert_true(fabs(squares / n - 2 * N * N) > 100);       /* Laplace noise of the same epsilon */
    assert_true(fabs(mean / n) < 5 * sqrt(44. / N / n) && fabs(product / n) < 5 * 60 / sqrt(n));
    noise_close(s);
}

/* The divergence between two numbers and the same moved by (u, v): never above that of Laplace noise on one number that moves by the
 * larger one, and as large at the corners. */
TEST(laplace_noise_on_one_number_dominates_the_cube)
{
    const struct mechanism *laplace = mechanism_find("laplace");
    const double scale = 3;
    double *p = law_2(scale);
    assert_non_null(p);
    bool caught = false;
    for (int far = 1; far <= 3; far++)
        for (int u = -far; u <= far; u++)
            for (int v = -far; v <= far; v++)
                for (double e = 0; e < far / scale; e += 0.1) {
                    double d = 0;
                    for (int a = 4; a < SIDE - 4; a++)
                        for (int b = 4; b < SIDE - 4; b++)
                            d += fmax(0, p[a * SIDE + b] - exp(e) * p[(a - u) * SIDE + b - v]);
                    assert_true(d <=
                                laplace->delta(iv(far / scale), e).hi + 1e-4); /* squares are not small */
                    caught = caught || d > laplace->delta(iv(0.9 * far / scale), e).hi + 1e-3;
                    /* floors lose nothing at a corner of whole steps but what a shift of c by less than 1 does */
                    if (abs(u) == far && abs(v) == far && e < 1e-9)
                        assert_true(d > 0.9 * laplace->delta(iv(far / scale), e).lo);
                }
    assert_true(caught);
    base_free(p);
}
