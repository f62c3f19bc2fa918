/* Random forest: it fits what it has seen, learns rules that no line draws, says 1/k where there is nothing
 * to learn, and is the same forest on any number of threads. */
#include "support/test.h"

#include "audit/fit/random_forest.h"
#include "support/head_blobs.h"
#include "rng/rng.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { N = 400, D = 9, K = 3 };
static float x[2 * N * D];
static int64_t y[2 * N];

static double accuracy(const struct random_forest *f, const float *rows, const int64_t *labels, size_t n,
                       size_t classes)
{
    float *p = calloc(n * classes, sizeof *p);
    size_t right = 0;
    assert_non_null(p);
    random_forest_predict(p, f, rows, n);
    for (size_t i = 0; i < n; i++) {
        size_t best = 0;
        double sum = 0;
        for (size_t k = 0; k < classes; k++) {
            sum += (double)p[i * classes + k];
            best = p[i * classes + k] > p[i * classes + best] ? k : best;
        }
        assert_true(fabs(sum - 1) < 1e-4);
        right += (int64_t)best == labels[i];
    }
    free(p);
    return (double)right / (double)n;
}

TEST(it_learns_blobs)
{
    struct forest_data train = {x, y, N, D, K};
    struct random_forest *f;
    make_blobs(x, y, 2 * N, D, K, 1, 3);
    assert_int_equal(random_forest_fit(&f, &train, 60, 1, NULL), SOTTO_OK);
    assert_true(accuracy(f, x, y, N, K) > 0.99); /* leaves are pure; each record is in most samples */
    assert_true(accuracy(f, x + N * D, y + N, N, K) > 0.9);
    random_forest_free(f);
}

/* The parity of two bits: no column says anything alone. */
TEST(it_learns_parity)
{
    struct forest_data train = {x, y, N, 4, 2};
    struct random_forest *f;
    for (size_t i = 0; i < 2 * N; i++) {
        struct rng r = rng_stream(4, RNG_TEST, 0, i);
        for (size_t j = 0; j < 4; j++)
            x[i * 4 + j] = (float)rng_below(&r, 2);
        y[i] = x[i * 4] != x[i * 4 + 2];
    }
    assert_int_equal(random_forest_fit(&f, &train, 60, 1, NULL), SOTTO_OK);
    assert_true(accuracy(f, x + N * 4, y + N, N, 2) == 1);
    random_forest_free(f);
}

TEST(noise_teaches_nothing)
{
    struct forest_data train = {x, y, N, D, 2};
    struct random_forest *f;
    for (size_t i = 0; i < 2 * N; i++) {
        struct rng r = rng_stream(6, RNG_TEST, 0, i);
        for (size_t j = 0; j < D; j++)
            x[i * D + j] = (float)rng_unit(&r);
        y[i] = (int64_t)rng_below(&r, 2);
    }
    assert_int_equal(random_forest_fit(&f, &train, 60, 1, NULL), SOTTO_OK);
    assert_true(fabs(accuracy(f, x + N * D, y + N, N, 2) - 0.5) < 0.125); /* five deviations */
    random_forest_free(f);
}

TEST(threads_do_not_change_it)
{
    struct forest_data train = {x, y, N, D, K};
    struct random_forest *f;
    static float one[N * K], other[N * K];
    make_blobs(x, y, 2 * N, D, K, 1, 5);
    for (int threads = 1; threads < 4; threads++) {
        struct sotto_context ctx = {.threads = threads};
        assert_int_equal(random_forest_fit(&f, &train, 20, 9, &ctx), SOTTO_OK);
        random_forest_predict(threads == 1 ? one : other, f, x + N * D, N);
        random_forest_free(f);
        if (threads > 1)
            assert_memory_equal(one, other, sizeof one);
    }
    assert_int_equal(random_forest_fit(&f, &train, 20, 10, NULL), SOTTO_OK);
    random_forest_predict(other, f, x + N * D, N);
    random_forest_free(f);
    assert_memory_not_equal(one, other, sizeof one);
}

/* Records that differ in nothing: the shares of their classes. A column of one rare low value still
 * splits. */
TEST(what_cannot_be_parted_is_shared)
{
    float same[20] = {0}, p[3], rare[40];
    int64_t label[20], of_rare[40];
    struct random_forest *f;
    for (size_t i = 0; i < 20; i++)
        label[i] = i < 5 ? 0 : 2;
    assert_int_equal(random_forest_fit(&f, &(struct forest_data){same, label, 20, 1, 3}, 400, 1, NULL),
                     SOTTO_OK);
    random_forest_predict(p, f, same, 1);
    assert_true(fabs((double)p[0] - 0.25) < 0.03 && p[1] == 0); /* bootstrap samples vary about it */
    random_forest_free(f);
    for (size_t i = 0; i < 40; i++) {
        rare[i] = i == 7 ? -3.0f : 1.0f;
        of_rare[i] = i == 7;
    }
    assert_int_equal(random_forest_fit(&f, &(struct forest_data){rare, of_rare, 40, 1, 2}, 100, 1, NULL),
                     SOTTO_OK);
    random_forest_predict(p, f, rare + 7, 1);
    assert_true(p[1] > 0.5f); /* is in 63 % of the samples */
    random_forest_predict(p, f, rare + 8, 1);
    assert_true(p[1] == 0);
    random_forest_free(f);
}

TEST(memory_runs_out_cleanly)
{
    struct forest_data train = {x, y, N, D, K};
    make_blobs(x, y, 2 * N, D, K, 1, 5);
    for (long n = 0; n < 80; n++) {
        struct random_forest *f = NULL;
        base_alloc_fail_after(n);
        sotto_status status = random_forest_fit(&f, &train, 3, 1, NULL);
        base_alloc_fail_after(-1);
        assert_true(status == SOTTO_ENOMEM ? f == NULL : status == SOTTO_OK);
        random_forest_free(f);
    }
    struct forest_data none = {x, y, 0, D, K};
    struct random_forest *f = NULL;
    assert_int_equal(random_forest_fit(&f, &none, 3, 1, NULL), SOTTO_EINVAL);
}
