/* "dp-gd": contributions stay within their norm, features are centred and scaled by what was released, the rate follows
 * its rule, the exported head is the one on centred features, and the account of full batches is tight. */
#include "support/test.h"

#include "head/private/head_descent.h"

#include <math.h>
#include <string.h>

enum { N = 40, D = 5, K = 3 };
static float x[N * D];
static int64_t y[N];
static struct arena memory;
static struct head_descent descent;
static const struct head_data data = {x, y, N, D, K};

static void plan(double clip)
{
    const struct sotto_head_recipe r = {.trainer = "dp-gd", .steps = 100, .clip = clip};
    arena_clear(&memory);
    memory = (struct arena){0};
    head_descent_layout(&descent, &memory, &data, &r);
    assert_int_equal(arena_reserve(&memory, "test"), SOTTO_OK);
    head_descent_layout(&descent, &memory, &data, &r);
    for (size_t i = 0; i < N; i++) {
        y[i] = (int64_t)(i % K);
        for (size_t j = 0; j < D; j++)
            x[i * D + j] = (float)(3 + (double)((i * 7 + j * 11) % 13) / 4);
    }
}

static double norm_of(const double *v, size_t count)
{
    double square = 0;
    for (size_t i = 0; i < count; i++)
        square += v[i] * v[i];
    return sqrt(square);
}

/* Of one record alone, at any size: below and beyond the clipping norm. */
TEST(a_contribution_has_norm_1_at_most)
{
    plan(10);
    for (size_t i = 1; i < N; i++)
        y[i] = HEAD_NOTHING;
    for (double size = 1e-3; size < 1e30; size *= 7) {
        for (size_t j = 0; j < D; j++)
            x[j] = (float)(size * (j % 2 ? -1 : 1));
        head_descent_sum(&descent);
        assert_true(norm_of(descent.moments, D + 1) <= 1);
    }
    assert_true(norm_of(descent.moments, D + 1) > 0.99); /* a record beyond R uses what it may */
    y[0] = HEAD_NOTHING;
    head_descent_sum(&descent);
    assert_true(norm_of(descent.moments, D + 1) == 0);
}

/* Without noise, features have mean 0 and root mean square 2, however loose the clipping norm is. */
TEST(features_are_centred_and_scaled)
{
    for (double clip = 5; clip < 12; clip *= 2) {
        plan(clip);
        for (size_t i = 0; i < N * D; i++)
            x[i] -= 4;
        double released[D + 1], mean[D] = {0}, square = 0;
        head_descent_sum(&descent);
        for (size_t j = 0; j < D + 1; j++)
            released[j] = (double)descent.centring * descent.moments[j];
        head_descent_centre(&descent, released, 1, 0);
        for (size_t i = 0; i < N * D; i++) {
            mean[i % D] += descent.z[i] / (double)N;
            square += (double)descent.z[i] * descent.z[i] / N;
        }
        assert_true(norm_of(mean, D) < 1e-4);
        assert_true(fabs(sqrt(square) - 2) < 1e-4);
    }
}

/* Where noise drowns the mean, there is none, and R stands for the size of the records. */
TEST(noise_leaves_no_centre)
{
    const double released[D + 1] = {1, -2, 3, 1, 1, 50};
    plan(10);
    head_descent_centre(&descent, released, 1, 1e4);
    assert_true(norm_of(descent.centre, D) == 0);
    assert_true(descent.scale == 2);
}

TEST(the_head_on_records_is_that_on_features)
{
    double w[K * (D + 1)], released[D + 1];
    float p[K * (D + 1)];
    plan(20);
    head_descent_sum(&descent);
    for (size_t j = 0; j < D + 1; j++)
        released[j] = (double)descent.centring * descent.moments[j];
    head_descent_centre(&descent, released, 1, 0);
    for (size_t i = 0; i < K * (D + 1); i++)
        w[i] = sin((double)i);
    head_descent_export(p, &descent, w);
    for (size_t i = 0; i < N; i++)
        for (size_t k = 0; k < K; k++) {
            double on_z = w[K * D + k], on_x = p[K * D + k];
            for (size_t j = 0; j < D; j++) {
                on_z += w[k * D + j] * descent.z[i * D + j];
                on_x += (double)p[k * D + j] * x[i * D + j];
            }
            assert_true(fabs(on_z - on_x) < 1e-4);
        }
}

TEST(the_rate_follows_its_rule)
{
    struct sotto_head_recipe r = {.trainer = "dp-gd", .steps = 400, .noise_multiplier = 100};
    /* 10 (1000 20 / (100 sqrt(15 4))) .1 / 400 */
    assert_true(fabs(head_descent_rate(&r, 1000, 14, 5) - 0.06454972243679028) < 1e-15);
    r.noise_multiplier = 0.001;
    assert_true(head_descent_rate(&r, 1000, 14, 5) == 4);
    r.step_size = 0.3;
    assert_true(head_descent_rate(&r, 1000, 14, 5) == 0.3);
}

/* mu = 2 sqrt(T) / z: the noise for one step times sqrt(T), by an account that knows nothing of the formula. */
TEST(full_batches_are_accounted_tightly)
{
    double one, many;
    struct sotto_sampled s = {.mechanism = "gaussian", .sample_rate = 1, .steps = 1, .delta = 1e-5};
    assert_int_equal(sotto_calibrate_sampled(&one, &s, 1, NULL), SOTTO_OK);
    s.steps = 100;
    assert_int_equal(sotto_calibrate_sampled(&many, &s, 1, NULL), SOTTO_OK);
    assert_true(fabs(one - 7.461263) < 1e-4);
    assert_true(fabs(many / one - 10) < 1e-4);
}

static int clear(void **state)
{
    (void)state;
    arena_clear(&memory);
    return 0;
}

TEST_GROUP(.tear_down = clear)
