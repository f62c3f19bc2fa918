/* k-NN accuracy: hand-made neighbours, ties, a brute-force oracle over several blocks, refusals. */
#include "support/test.h"

#include "base/memory.h"
#include "rng/rng.h"
#include "sotto/lab/ssl.h"

#include <math.h>
#include <stdlib.h>

static double accuracy(const float *train_x, const int64_t *train_y, size_t n, const float *test_x,
                       const int64_t *test_y, size_t m, size_t width, size_t k)
{
    double a = -1;
    assert_int_equal(sotto_knn_accuracy(&a, train_x, train_y, n, test_x, test_y, m, width, k, NULL),
                     SOTTO_OK);
    return a;
}

TEST(direction_counts_not_length)
{
    const float train[3][2] = {{0.01f, 0}, {0, 5}, {-3, 0}};
    const int64_t labels[3] = {7, 8, 9};
    const float test[3][2] = {{100, 1}, {0.1f, 0.2f}, {-1, 0.5f}};
    assert_true(accuracy(*train, labels, 3, *test, labels, 3, 2, 1) == 1);
    const int64_t wrong[3] = {8, 8, 8};
    assert_true(fabs(accuracy(*train, labels, 3, *test, wrong, 3, 2, 1) - 1.0 / 3) < 1e-12);
}

TEST(ties_go_to_the_nearer)
{
    const float train[4][2] = {{0, 1}, {0.1f, 1}, {1, 0}, {1, 0.1f}}, test[2] = {1, 0};
    const int64_t labels[4] = {1, 1, 2, 2}, two = 2;
    assert_true(accuracy(*train, labels, 4, test, &two, 1, 2, 4) ==
                1); /* two votes each; class 2 is nearer */
    const float same[3][2] = {{2, 0}, {1, 0}, {3, 0}};
    const int64_t first[3] = {5, 6, 6}, five = 5;
    assert_true(accuracy(*same, first, 3, test, &five, 1, 2, 1) ==
                1); /* equal similarity: the smaller index */
    assert_true(accuracy(*same, first, 3, test, &five, 1, 2, 2) == 1);
    assert_true(accuracy(*same, first, 3, test, &five, 1, 2, 3) == 0); /* two votes beat one */
}

struct scored {
    double similarity;
    int64_t label;
};

static int by_similarity(const void *a, const void *b)
{
    double x = ((const struct scored *)a)->similarity, y = ((const struct scored *)b)->similarity;
    return (x < y) - (x > y);
}

TEST(blocks_match_brute_force)
{
    enum { N = 4500, M = 300, D = 6, K = 7 };
    static float train[N][D], test[M][D];
    static int64_t train_y[N], test_y[M];
    static struct scored all[N];
    struct rng r = rng_stream(8, RNG_TEST, 0, 0);
    for (size_t i = 0; i < N + M; i++) {
        float *row = i < N ? train[i] : test[i - N];
        for (size_t d = 0; d < D; d++)
            row[d] = (float)(rng_unit(&r) - .5);
        (i < N ? train_y + i : test_y + i - N)[0] = (row[0] > 0) + 2 * (row[1] + row[2] > 0);
    }
    size_t hits = 0;
    for (size_t i = 0; i < M; i++) {
        for (size_t j = 0; j < N; j++) {
            double dot = 0, norm = 0;
            for (size_t d = 0; d < D; d++) {
                dot += (double)test[i][d] * (double)train[j][d];
                norm += (double)train[j][d] * (double)train[j][d];
            }
            all[j] = (struct scored){dot / sqrt(norm), train_y[j]};
        }
        qsort(all, N, sizeof *all, by_similarity);
        size_t votes[4] = {0}, first[4] = {K, K, K, K}, best = 0;
        for (size_t k = K; k-- > 0;) {
            votes[all[k].label]++;
            first[all[k].label] = k;
        }
        for (size_t c = 1; c < 4; c++)
            if (votes[c] > votes[best] || (votes[c] == votes[best] && first[c] < first[best]))
                best = c;
        hits += (int64_t)best == test_y[i];
    }
    double a = accuracy(*train, train_y, N, *test, test_y, M, D, K);
    assert_true(a > .8 && a < 1);
    assert_true(fabs(a - (double)hits / M) < 1e-12);
}

TEST(refusals)
{
    const float x[2] = {1, NAN}, good[2] = {1, 2};
    const int64_t y[2] = {0, 1};
    double a = 3;
    assert_int_equal(sotto_knn_accuracy(&a, good, y, 2, good, y, 2, 1, 3, NULL), SOTTO_EINVAL);
    assert_string_equal(sotto_error_text(), "k must be between 1 and 2 (got 3)");
    assert_int_equal(sotto_knn_accuracy(&a, x, y, 2, good, y, 2, 1, 1, NULL), SOTTO_EINVAL);
    assert_string_equal(sotto_error_text(), "train embeddings: row 1, column 0 is not finite");
    assert_int_equal(sotto_knn_accuracy(&a, good, y, 0, good, y, 2, 1, 1, NULL), SOTTO_EINVAL);
    for (long n = 0; n < 2; n++) {
        base_alloc_fail_after(n);
        assert_int_equal(sotto_knn_accuracy(&a, good, y, 2, good, y, 2, 1, 1, NULL), SOTTO_ENOMEM);
        base_alloc_fail_after(-1);
    }
    assert_true(a == 3);
}

TEST_GROUP(.tags = "matrix")
