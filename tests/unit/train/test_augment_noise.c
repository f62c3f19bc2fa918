/* Noise on inputs in training: its law, where it goes, what it is a function of, what a recipe says of it, and who refuses it. */
#include "support/test.h"

#include "head/train/head_plain.h"
#include "sotto/private/all.h"
#include "support/head_blobs.h"
#include "support/worse.h"
#include "train/network/network.h"

#include <math.h>
#include <string.h>

enum { SIDE = 28, PADDED = 32, N = 6 };
static uint8_t images[N * SIDE * SIDE];
static float filled[N * PADDED * PADDED * 3];

static struct record_input input_of(size_t channels, size_t side, int threads)
{
    struct record_input r;
    const struct sotto_dataset data = {
        .n = N, .images = images, .channels = 1, .height = SIDE, .width = SIDE};
    record_input_make(&r, &data, (struct nn_shape){1, SIDE, SIDE}, (struct nn_shape){channels, side, side},
                      threads);
    return r;
}

static void fill(const struct record_input *r, size_t n, double deviation, uint64_t seed, uint64_t step)
{
    static const int64_t rows[N] = {0, 1, 2, 3, 4, 5};
    record_input_fill(filled, r, rows, n, NULL);
    record_input_add_noise(filled, r, 0, n, deviation, seed, step);
}

/* Variance within four standard errors; a law that is 2 % wider is outside of them. */
TEST(noise_has_its_deviation)
{
    const struct record_input r = input_of(1, SIDE, 2);
    double square = 0, sum = 0, count = 0;
    for (uint64_t step = 0; step < 12; step++) {
        fill(&r, N, 0.25, 3, step);
        for (size_t i = 0; i < N * SIDE * SIDE; i++, count++) {
            double z = (double)filled[i] / 0.25; /* the images are black */
            square += z * z, sum += z;
        }
    }
    const double error = 4 * sqrt(2 / count); /* 2.4 % of the variance, 1.2 % of the deviation */
    assert_true(fabs(square / count - 1) < error && fabs(sum / count) < 4 / sqrt(count));
    assert_true(fabs(1.02 * 1.02 * square / count - 1) > error);
}

TEST(padding_and_the_channels_of_grey_images)
{
    const struct record_input r = input_of(3, PADDED, 1);
    fill(&r, N, 1, 3, 0);
    for (size_t y = 0; y < PADDED; y++)
        for (size_t x = 0; x < PADDED; x++) {
            const float *pixel = filled + (y * PADDED + x) * 3;
            bool inside = y >= 2 && y < 30 && x >= 2 && x < 30;
            assert_true(inside == (pixel[0] != 0) && pixel[1] == pixel[0] && pixel[2] == pixel[0]);
        }
}

/* The record at a place gets the same noise beside any others, on any number of threads, and other noise in another step. */
TEST(noise_follows_from_seed_step_and_place)
{
    static float first[N * SIDE * SIDE];
    struct record_input r = input_of(1, SIDE, 1);
    fill(&r, N, 1, 3, 7);
    memcpy(first, filled, sizeof first);
    assert_memory_not_equal(first, first + SIDE * SIDE, SIDE * SIDE * sizeof *first);
    r.threads = 3;
    fill(&r, N, 1, 3, 7);
    assert_memory_equal(first, filled, sizeof first);
    fill(&r, 1, 1, 3, 7);
    assert_memory_equal(first, filled, SIDE * SIDE * sizeof *first);
    fill(&r, 1, 1, 3, 8);
    assert_memory_not_equal(first, filled, SIDE * SIDE * sizeof *first);
    fill(&r, 1, 1, 4, 7);
    assert_memory_not_equal(first, filled, SIDE * SIDE * sizeof *first);
}

/* ---- recipes ---- */

TEST(recipes_say_it_where_it_is)
{
    char text[TRAIN_RECIPE_TEXT];
    struct sotto_train_options o, read;
    sotto_train_defaults(&o);
    o.dtype = "f32";
    assert_int_equal(train_options_check(&o), SOTTO_OK);
    assert_int_equal(train_recipe_text(text, &o), SOTTO_OK);
    assert_null(strstr(text, "augment_noise"));
    o.augment_noise = 0.25;
    assert_int_equal(train_recipe_text(text, &o), SOTTO_OK);
    assert_int_equal(train_recipe_parse(&read, text, "test"), SOTTO_OK);
    assert_true(read.augment_noise == 0.25);
    o.augment_noise = -1;
    assert_int_equal(train_options_check(&o), SOTTO_EINVAL);
}

enum { ROWS = 60, D = 4, K = 3 };
static float x[ROWS * D];
static int64_t y[ROWS];

static void train_head(float *out, const char **hash, double noise, uint64_t seed, size_t hidden)
{
    static struct sotto_head *h;
    struct sotto_head_recipe r = {.epochs = 4, .seed = seed, .augment_noise = noise};
    size_t count;
    r.hidden[0] = hidden;
    r.hidden_count = hidden > 0;
    sotto_head_free(h);
    h = NULL;
    assert_int_equal(sotto_head_train(&h, x, y, ROWS, D, K, &r, NULL), SOTTO_OK);
    const float *parameters = sotto_head_parameters(h, &count);
    memcpy(out, parameters, (K * (D + 1)) * sizeof *out); /* of a linear head all, else the first ones */
    if (hash)
        *hash = sotto_head_recipe_hash(h);
}

TEST(heads_train_with_noise)
{
    float plain[K * (D + 1)], noisy[K * (D + 1)], again[K * (D + 1)];
    char text[HEAD_RECIPE_TEXT];
    struct sotto_head_recipe r = {.augment_noise = 0.5}, read;
    size_t d, k;
    make_blobs(x, y, ROWS, D, K, 0.3, 1);
    for (size_t hidden = 0; hidden <= 5; hidden += 5) {
        train_head(plain, NULL, 0, 1, hidden);
        train_head(noisy, NULL, 0.5, 1, hidden);
        train_head(again, NULL, 0.5, 1, hidden);
        assert_memory_not_equal(plain, noisy, sizeof plain);
        assert_memory_equal(noisy, again, sizeof noisy);
    }
    r.epochs = 2, r.batch = 5, r.lr = 0.01, r.seed = 1;
    assert_int_equal(head_recipe_check(&r), SOTTO_OK);
    head_recipe_text(text, &r, D, K);
    assert_non_null(strstr(text, "{\"augment_noise\":0.5,\"batch\":5,"));
    assert_int_equal(head_recipe_parse(&read, &d, &k, text, "test"), SOTTO_OK);
    assert_true(read.augment_noise == 0.5);
    r.augment_noise = 0;
    head_recipe_text(text, &r, D, K);
    assert_null(strstr(text, "augment_noise"));
}

/* Records of zeros and ones take another path, which holds bits and no noise. */
TEST(records_of_zeros_and_ones_get_noise_too)
{
    float plain[K * (D + 1)], faint[K * (D + 1)], strong[K * (D + 1)];
    for (size_t i = 0; i < ROWS * D; i++)
        x[i] = (float)((i * 7 + i / D) % 5 == 0);
    for (size_t i = 0; i < ROWS; i++)
        y[i] = (int64_t)(i % K);
    train_head(plain, NULL, 0, 1, 5);
    train_head(faint, NULL, 1e-12, 1, 5);
    train_head(strong, NULL, 2, 1, 5);
    double most = 0;
    for (size_t i = 0; i < K * (D + 1); i++)
        most = worse(most, fabs((double)(plain[i] - faint[i])));
    assert_true(most < 1e-4);
    assert_memory_not_equal(plain, strong, sizeof plain);
}

TEST(others_refuse_it)
{
    static const char *const trainers[] = {"convex", "convex-sgd", "convex-lbfgs", "dp-sgd", "covariance"};
    for (size_t i = 0; i < sizeof trainers / sizeof *trainers; i++) {
        struct sotto_head_recipe r = {.trainer = trainers[i], .augment_noise = 0.5};
        assert_int_equal(head_recipe_check(&r), SOTTO_EINVAL);
        assert_non_null(strstr(sotto_error_text(), "augment_noise needs trainer adam or sgd"));
    }
    const struct sotto_train_options o = {.augment_noise = 0.5};
    const struct sotto_train_privacy p = {.target = {1, 1e-5}};
    const struct sotto_dataset none = {.n = 0};
    struct sotto_network *n = NULL;
    struct sotto_certificate *c = NULL;
    assert_int_equal(sotto_train_private(&n, &c, NULL, &none, NULL, 0, &o, &p, NULL), SOTTO_EINVAL);
    assert_non_null(strstr(sotto_error_text(), "augment_noise is for plain training"));
}
