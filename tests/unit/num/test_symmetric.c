/* Symmetric systems and eigenvectors: known answers, residuals on random matrices, degenerate ones. */
#include "support/test.h"
#include "support/worse.h"
#include "num/symmetric.h"
#include "rng/rng.h"

#include <math.h>
#include <string.h>

enum { N = 40 };

/* B'B + shift I of a random B with `rank` rows. */
static void draw(double *a, size_t n, size_t rank, double shift, uint64_t seed)
{
    struct rng r = rng_stream(seed, RNG_TEST, 3, n);
    double b[N * N];
    for (size_t i = 0; i < rank * n; i++)
        b[i] = rng_normal(&r);
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++) {
            a[i * n + j] = i == j ? shift : 0;
            for (size_t k = 0; k < rank; k++)
                a[i * n + j] += b[k * n + i] * b[k * n + j];
        }
}

TEST(a_small_system_by_hand)
{
    double a[9] = {4, 2, -2, 0, 10, 2, 0, 0, 6}, b[6] = {4, 0, 14, 3, 6, 9}; /* lower part unread */
    assert_true(symmetric_factorise(a, 3));
    assert_true(fabs(a[0] - 2) < 1e-15 && fabs(a[1] - 1) < 1e-15 && fabs(a[2] + 1) < 1e-15);
    assert_true(fabs(a[4] - 3) < 1e-15 && fabs(a[5] - 1) < 1e-15 && fabs(a[8] - 2) < 1e-15);
    symmetric_solve(a, 3, b, 2);
    const double full[9] = {4, 2, -2, 2, 10, 2, -2, 2, 6}, right[6] = {4, 0, 14, 3, 6, 9};
    for (size_t i = 0; i < 3; i++)
        for (size_t c = 0; c < 2; c++)
            assert_true(fabs(full[3 * i] * b[c] + full[3 * i + 1] * b[2 + c] + full[3 * i + 2] * b[4 + c] -
                             right[2 * i + c]) < 1e-14);
    assert_true(fabs(b[0] - 1) < 1e-15 && fabs(b[2] - 1) < 1e-15 && fabs(b[4] - 1) < 1e-15);
}

TEST(indefinite_matrices_are_refused)
{
    double indefinite[4] = {1, 2, 2, 1}, nan[1] = {NAN}, zero[1] = {0}, infinite[1] = {INFINITY};
    assert_false(symmetric_factorise(indefinite, 2));
    assert_false(symmetric_factorise(nan, 1));
    assert_false(symmetric_factorise(zero, 1));
    assert_false(symmetric_factorise(infinite, 1));
}

TEST(eigenvectors_rebuild_the_matrix)
{
    static double a[N * N], v[N * N], values[N], scratch[N * N + 3 * N];
    for (size_t trial = 0; trial < 60; trial++) {
        size_t n = trial < 8 ? trial + 1 : 9 + trial % (N - 8), rank = trial % 3 ? n : n / 2;
        double shift = trial % 2 ? -2 : 0, worst = 0, size = 1;
        draw(a, n, rank, shift, trial);
        memcpy(v, a, sizeof v);
        assert_true(symmetric_eigen(v, values, n, scratch));
        for (size_t i = 0; i < n; i++)
            for (size_t j = 0; j < n; j++) {
                double rebuilt = 0, product = 0;
                for (size_t k = 0; k < n; k++) {
                    rebuilt += values[k] * v[k * n + i] * v[k * n + j];
                    product += v[i * n + k] * v[j * n + k];
                }
                size = fmax(size, fabs(a[i * n + j]));
                worst = worse(worst, fabs(rebuilt - a[i * n + j]));
                assert_true(fabs(product - (i == j)) < 1e-12);
            }
        assert_true(worst < 1e-12 * size * (double)n);
        size_t small = 0;
        for (size_t k = 0; k < n; k++)
            small += fabs(values[k] - shift) < 1e-9 * size;
        assert_true(small == n - rank);
    }
}

TEST(known_spectra)
{
    static double a[N * N], values[N], scratch[N * N + 3 * N];
    for (size_t i = 0; i < N; i++) /* second differences: 2 - 2 cos(pi k / (n + 1)) */
        for (size_t j = 0; j < N; j++)
            a[i * N + j] = i == j ? 2 : i + 1 == j || j + 1 == i ? -1 : 0;
    assert_true(symmetric_eigen(a, values, N, scratch));
    for (size_t k = 1; k <= N; k++) {
        double wanted = 2 - 2 * cos(M_PI * (double)k / (N + 1)), nearest = 1;
        for (size_t i = 0; i < N; i++)
            nearest = fmin(nearest, fabs(values[i] - wanted));
        assert_true(nearest < 1e-13);
    }
    memset(a, 0, sizeof a); /* all eigenvalues equal */
    assert_true(symmetric_eigen(a, values, N, scratch));
    for (size_t i = 0; i < N; i++)
        assert_true(values[i] == 0 && a[i * N + i] == 1);
    a[3] = NAN;
    assert_false(symmetric_eigen(a, values, N, scratch));
}
