/* Losses against formulas in double: values and gradients on many shapes, both NT-Xent forms; symmetries;
 * extremes. */
#include "support/test.h"
#include "support/machine.h"
#include "nn/nn.h"
#include "support/oracle.h"
#include "rng/rng.h"

#include <string.h>

enum { MAX = 40 * 70 };
static const enum ntxent_form forms[] = {NTXENT_KERAS, NTXENT_SIMCLR};

static struct ntxent *make_leaves(enum ntxent_form form, size_t n, size_t d, size_t leaf)
{
    struct ntxent *w = NULL;
    assert_int_equal(ntxent_create(&w, form, n, d, leaf, machine.kernels), SOTTO_OK);
    return w;
}

static struct ntxent *make(enum ntxent_form form, size_t n, size_t d)
{
    return make_leaves(form, n, d, n);
}

static void draw(float *z, size_t n, uint64_t index)
{
    struct rng r = rng_stream(1, RNG_TEST, 0, index);
    for (size_t i = 0; i < n; i++)
        z[i] = (float)rng_normal(&r);
}

/** Value to 1e-5, gradient to 1e-4 of its norm; the oracle's own differences are good to about 1e-8. */
TEST(ntxent_matches_its_formula)
{
    static const size_t shapes[][2] = {{2, 1}, {2, 3}, {3, 16}, {5, 7}, {16, 8}, {17, 33}};
    static const float temperatures[] = {0.1f, 0.5f, 1.0f};
    static float z[MAX], diff[MAX];
    static double x[MAX], numeric[MAX];
    for (size_t form = 0; form < 2; form++)
        for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++)
            for (size_t t = 0; t < 3; t++) {
                size_t n = shapes[s][0], d = shapes[s][1], count = 2 * n * d;
                draw(z, count, s);
                for (size_t i = 0; i < count; i++)
                    x[i] = z[i];
                struct oracle_ntxent o = {forms[form] == NTXENT_SIMCLR, n, d, temperatures[t]};
                struct ntxent *w = make_leaves(forms[form], n, d, 1 + (s + t) % n);
                double loss = ntxent_run(w, diff, NULL, z, temperatures[t]),
                       expected = oracle_ntxent_loss(x, &o);
                assert_true(fabs(loss - expected) <= 1e-5 * fmax(1, expected));
                oracle_gradient(numeric, oracle_ntxent_loss, x, count, 1e-6, &o);
                if (d > 1) /* in one dimension the unit vector is a sign and the gradient rounding noise */
                    assert_true(oracle_distance(diff, numeric, count) < 1e-4);
                ntxent_free(w);
            }
}

TEST(softmax_matches_its_formula)
{
    static float x32[MAX], diff[MAX];
    static double x[MAX], numeric[MAX];
    for (size_t k = 2; k <= 35; k += 3) {
        size_t n = 11;
        long labels[11];
        int64_t labels64[11];
        draw(x32, n * k, k);
        for (size_t i = 0; i < n; i++)
            labels64[i] = labels[i] = (long)(i * 7 % k);
        for (size_t i = 0; i < n * k; i++)
            x[i] = x32[i] *= 3;
        struct oracle_softmax o = {n, k, labels};
        double loss = loss_softmax_cross_entropy(diff, x32, labels64, n, k);
        assert_true(fabs(loss - oracle_softmax_loss(x, &o)) < 1e-6);
        assert_true(loss == loss_softmax_cross_entropy(NULL, x32, labels64, n, k));
        oracle_gradient(numeric, oracle_softmax_loss, x, n * k, 1e-6, &o);
        assert_true(oracle_distance(diff, numeric, n * k) < 1e-5);
    }
}

/** Swapping the two views, or reordering the images, changes neither loss nor (reordered) gradient. */
TEST(ntxent_ignores_view_and_row_order)
{
    enum { N = 24, D = 20, HALF = N * D };
    static float z[2 * HALF], other[2 * HALF], diff[2 * HALF], diff_other[2 * HALF];
    draw(z, 2 * HALF, 99);
    for (size_t form = 0; form < 2; form++) {
        struct ntxent *w = make(forms[form], N, D);
        double hits, hits_other, loss = ntxent_run(w, diff, &hits, z, 0.2f);
        memcpy(other, z + HALF, sizeof other / 2);
        memcpy(other + HALF, z, sizeof other / 2);
        assert_true(fabs(ntxent_run(w, diff_other, &hits_other, other, 0.2f) - loss) < 1e-6);
        assert_true(hits == hits_other);
        for (size_t i = 0; i < HALF; i++)
            assert_true(fabsf(diff[i] - diff_other[HALF + i]) < 1e-6f);
        for (size_t view = 0; view < 2; view++)
            for (size_t i = 0; i < N; i++)
                memcpy(other + (view * N + i) * D, z + (view * N + (i * 7 + 3) % N) * D, D * sizeof *z);
        assert_true(fabs(ntxent_run(w, diff_other, &hits_other, other, 0.2f) - loss) < 1e-6);
        assert_true(hits == hits_other);
        for (size_t i = 0; i < N; i++)
            for (size_t c = 0; c < D; c++)
                assert_true(fabsf(diff[(i * 7 + 3) % N * D + c] - diff_other[i * D + c]) < 1e-6f);
        ntxent_free(w);
    }
}

/** The loss sees directions only: scaling z leaves it alone, and the gradient is orthogonal to z and scales
 * by 1/c. */
TEST(ntxent_ignores_length)
{
    enum { N = 9, D = 13 };
    static float z[2 * N * D], scaled[2 * N * D], diff[2 * N * D], diff_scaled[2 * N * D];
    draw(z, 2 * N * D, 5);
    for (size_t i = 0; i < 2 * N * D; i++)
        scaled[i] = 64 * z[i];
    for (size_t form = 0; form < 2; form++) {
        struct ntxent *w = make(forms[form], N, D);
        double a = ntxent_run(w, diff, NULL, z, 0.1f), b = ntxent_run(w, diff_scaled, NULL, scaled, 0.1f);
        assert_true(fabs(a - b) < 1e-6);
        for (size_t i = 0; i < 2 * N; i++) {
            double along = 0;
            for (size_t c = 0; c < D; c++) {
                along += diff[i * D + c] * z[i * D + c];
                assert_true(fabsf(diff[i * D + c] - 64 * diff_scaled[i * D + c]) < 1e-6f);
            }
            assert_true(fabs(along) < 1e-6);
        }
        ntxent_free(w);
    }
}

/** Equal views at a tiny temperature: loss 0, accuracy 1. Opposite views: loss 2/T. Nothing over- or
 * underflows. */
TEST(ntxent_survives_saturated_logits)
{
    enum { N = 8, D = 8 };
    static float z[2 * N * D], diff[2 * N * D];
    for (size_t form = 0; form < 2; form++) {
        struct ntxent *w = make(forms[form], N, D);
        for (int sign = -1; sign <= 1; sign += 2) {
            memset(z, 0, sizeof z);
            for (size_t i = 0; i < N; i++) {
                z[i * D + i] = 1;
                z[(N + i) * D + i] = (float)sign;
            }
            double hits, loss = ntxent_run(w, diff, &hits, z, 1e-3f);
            if (sign > 0)
                assert_true(loss < 1e-6 && hits == 1);
            else /* positive at -1000, the N - 1 (or 2N - 2) negatives at 0 */
                assert_true(fabs(loss - 1000 - log(forms[form] == NTXENT_KERAS ? N - 1 : 2 * N - 2)) < 1e-3 &&
                            hits == 0);
            for (size_t i = 0; i < 2 * N * D; i++)
                assert_true(isfinite(diff[i]));
        }
        ntxent_free(w);
    }
}

/** A collapsed encoder (all projections equal, or all zero) scores ln of the candidates, and no accuracy. */
TEST(ntxent_of_a_collapsed_encoder)
{
    enum { N = 12, D = 4 };
    static float z[2 * N * D], diff[2 * N * D];
    for (size_t form = 0; form < 2; form++)
        for (int value = 0; value <= 1; value++) {
            struct ntxent *w = make(forms[form], N, D);
            for (size_t i = 0; i < 2 * N * D; i++)
                z[i] = (float)value;
            double hits, loss = ntxent_run(w, diff, &hits, z, 0.1f);
            assert_true(fabs(loss - log(forms[form] == NTXENT_KERAS ? N : 2 * N - 1)) < 1e-6);
            assert_true(hits == 0);
            for (size_t i = 0; i < 2 * N * D; i++)
                assert_true(isfinite(diff[i]));
            ntxent_free(w);
        }
}

TEST(nan_and_infinity_reach_the_loss)
{
    enum { N = 4, D = 4 };
    static const float poisons[] = {NAN, INFINITY, 3e38f};
    for (size_t form = 0; form < 2; form++)
        for (size_t p = 0; p < 3; p++) {
            float z[2 * N * D], diff[2 * N * D];
            draw(z, 2 * N * D, 3);
            z[5] = poisons[p];
            struct ntxent *w = make(forms[form], N, D);
            assert_false(isfinite(ntxent_run(w, diff, NULL, z, 0.1f)));
            ntxent_free(w);
        }
    float logits[3] = {0, NAN, 1};
    int64_t label = 0;
    assert_false(isfinite(loss_softmax_cross_entropy(NULL, logits, &label, 1, 3)));
}

TEST(ntxent_refuses_one_image)
{
    struct ntxent *w = NULL;
    for (size_t form = 0; form < 2; form++) {
        assert_int_equal(ntxent_create(&w, forms[form], 1, 8, 1, NULL), SOTTO_EINVAL);
        assert_null(w);
        assert_string_equal(sotto_error_text(),
                            "contrastive loss: a batch of 1 has no negatives; expected at least 2 images");
    }
}

TEST(ntxent_fails_cleanly_without_memory_and_runs_without_allocating)
{
    struct ntxent *w = NULL;
    for (long n = 0; n < 2; n++) {
        base_alloc_fail_after(n);
        assert_int_equal(ntxent_create(&w, NTXENT_KERAS, 8, 8, 8, NULL), SOTTO_ENOMEM);
        base_alloc_fail_after(-1);
    }
    float z[2 * 8 * 8], diff[2 * 8 * 8];
    draw(z, 128, 1);
    w = make(NTXENT_SIMCLR, 8, 8);
    ntxent_run(w, diff, NULL, z, 0.1f);
    uint64_t before = base_alloc_count();
    ntxent_run(w, diff, NULL, z, 0.1f);
    assert_int_equal(base_alloc_count(), before);
    ntxent_free(w);
}

TEST_GROUP(.start = machine_f32, .tags = "matrix")
