/* What a scattering transform must be: constant images, shifts, distances, energy; and that an image's
 * features depend on nothing but the image. */
#include "support/test.h"
#include "support/worse.h"
#include "rng/rng.h"
#include "sotto/lab/ssl.h"
#include "ssl/scattering.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SIDE = 28, PIXELS = SIDE * SIDE, PLACES = 7 * 7, WIDTH = 81 * PLACES, IMAGES = 40 };

static uint8_t images[IMAGES * PIXELS];
static float features[IMAGES * WIDTH];

static struct sotto_dataset set_of(const uint8_t *pixels, size_t n, size_t channels, size_t side)
{
    return (struct sotto_dataset){
        .name = "made", .n = n, .channels = channels, .height = side, .width = side, .images = pixels};
}

static void scatter(float *out, const uint8_t *pixels, size_t n, int threads)
{
    struct sotto_dataset set = set_of(pixels, n, 1, SIDE);
    struct sotto_scattering plain = {.groups = SOTTO_NONE};
    struct sotto_context ctx = {.threads = threads};
    assert_int_equal(sotto_scatter(out, &set, NULL, n, &plain, &ctx), SOTTO_OK);
}

/* Smooth images: sums of a few waves. */
static void draw(uint8_t *image, uint64_t index)
{
    struct rng r = rng_stream(11, RNG_TEST, 0, index);
    double values[PIXELS] = {0};
    for (int wave = 0; wave < 4; wave++) {
        double a = (rng_unit(&r) - .5) * 3, b = (rng_unit(&r) - .5) * 3, phase = rng_unit(&r) * 7;
        for (size_t i = 0; i < PIXELS; i++)
            values[i] += sin(a * (double)(i / SIDE) + b * (double)(i % SIDE) + phase);
    }
    for (size_t i = 0; i < PIXELS; i++)
        image[i] = (uint8_t)lrint(127.5 + 31 * values[i]);
}

static void draw_all(void)
{
    for (uint64_t i = 0; i < IMAGES; i++)
        draw(images + i * PIXELS, i);
}

TEST(constant_images_have_a_mean_and_nothing_else)
{
    memset(images, 51, PIXELS);
    scatter(features, images, 1, 1);
    for (size_t i = 0; i < WIDTH; i++)
        assert_true(fabs((double)features[i] - (i < PLACES ? 51 / 255.0 : 0)) < 2e-6);
}

/* A shift by the step of the outputs shifts the features; here by 4 pixels, away from the borders. */
TEST(shifts_by_the_step_shift_the_features)
{
    static uint8_t pair[2 * PIXELS];
    double moved = 0, size = 0;
    memset(pair, 90, sizeof pair);
    struct rng r = rng_stream(12, RNG_TEST, 0, 0);
    for (size_t i = 12; i < 16; i++)
        for (size_t j = 12; j < 16; j++) {
            uint8_t value = (uint8_t)rng_u32(&r);
            pair[i * SIDE + j] = value;
            pair[PIXELS + i * SIDE + j + 4] = value;
        }
    scatter(features, pair, 2, 1);
    for (size_t c = 0; c < 81; c++)
        for (size_t i = 0; i < 7; i++)
            for (size_t j = 0; j + 1 < 7; j++) {
                double a = features[c * PLACES + i * 7 + j], b = features[WIDTH + c * PLACES + i * 7 + j + 1];
                moved += (a - b) * (a - b);
                size += a * a;
            }
    assert_true(moved < 1e-4 * size); /* what is left: reflections at the border */
}

static double distance(const float *a, const float *b)
{
    double sum = 0;
    for (size_t i = 0; i < WIDTH; i++)
        sum += ((double)a[i] - (double)b[i]) * ((double)a[i] - (double)b[i]);
    return sum;
}

/* Small shifts move features less than pixels: what the low pass is for. */
TEST(features_change_less_than_pixels_under_a_shift)
{
    static uint8_t pair[2 * PIXELS];
    int smaller = 0;
    for (uint64_t trial = 0; trial < 20; trial++) {
        uint8_t *a = pair, *b = pair + PIXELS;
        double pixels = 0, own = 0, size = 0;
        draw(a, 100 + trial);
        for (size_t i = 0; i < PIXELS; i++)
            b[i] = a[i % SIDE ? i - 1 : i];
        for (size_t i = 0; i < PIXELS; i++) {
            pixels += ((double)a[i] - b[i]) * ((double)a[i] - b[i]);
            own += ((double)a[i] - 127) * ((double)a[i] - 127);
        }
        scatter(features, pair, 2, 1);
        for (size_t i = PLACES; i < WIDTH; i++)
            size += (double)features[i] * (double)features[i];
        smaller += distance(features, features + WIDTH) / size < 0.5 * pixels / own;
    }
    assert_true(smaller >= 18);
}

/* 16 |Sx - Sy|^2 <= |x - y|^2, both on the padded grid (an output represents 16 pixels). */
TEST(distances_never_grow)
{
    struct scatter_plan plan;
    draw_all();
    for (size_t i = 0; i < PIXELS; i++) /* extremes: an edge, one pixel, a checkerboard against grey */
        images[i] = i % SIDE < SIDE / 2 ? 0 : 255;
    memset(images + PIXELS, 0, PIXELS);
    images[PIXELS + PIXELS / 2] = 255;
    memset(images + 2 * PIXELS, 128, PIXELS);
    for (size_t i = 0; i < PIXELS; i++)
        images[3 * PIXELS + i] = (i / SIDE + i) % 2 ? 255 : 0;
    scatter(features, images, IMAGES, 1);
    assert_int_equal(scatter_plan_make(&plan, SIDE, SIDE), SOTTO_OK);
    double largest = 0;
    for (size_t a = 0; a < IMAGES; a++)
        for (size_t b = 0; b < a; b++) {
            double pixels = 0;
            for (size_t r = 0; r < plan.rows; r++)
                for (size_t c = 0; c < plan.columns; c++) {
                    size_t from = plan.row[r] * SIDE + plan.column[c];
                    double d = ((double)images[a * PIXELS + from] - images[b * PIXELS + from]) / 255;
                    pixels += d * d;
                }
            largest = worse(largest, 16 * distance(features + a * WIDTH, features + b * WIDTH) / pixels);
        }
    scatter_plan_clear(&plan);
    assert_true(largest <= 1);
    assert_true(largest > 0.3); /* and no shrinking to nothing */
}

/* The filters cover the plane without gain: low pass and wavelets together never exceed 1. */
TEST(filters_have_no_gain)
{
    enum { N = 36 };
    static float fine[8 * N * N], coarse[8 * N * N];
    double most = 0, least = 1;
    scatter_wavelets(fine, coarse, N, N);
    for (size_t r = 0; r < N; r++)
        for (size_t c = 0; c < N; c++) {
            size_t here = r * N + c, there = (N - r) % N * N + (N - c) % N;
            double y = 2 * M_PI * (double)(r > N / 2 ? N - r : r) / N,
                   x = 2 * M_PI * (double)(c > N / 2 ? N - c : c) / N,
                   sum = exp(-1.6 * 1.6 * (y * y + x * x));
            for (size_t t = 0; t < 8; t++)
                for (int side = 0; side < 2; side++) {
                    double a = fine[t * N * N + (side ? here : there)],
                           b = coarse[t * N * N + (side ? here : there)];
                    sum += (a * a + b * b) / 2;
                }
            most = worse(most, sum);
            least = fmin(least, y * y + x * x < M_PI * M_PI ? sum : 1);
        }
    assert_true(most <= 1 + 1e-3); /* 1e-3: aliases of the low pass, which the closed form here leaves out */
    assert_true(most > 0.98);
    assert_true(least > 0.1);
}

TEST(an_image_is_transformed_alone)
{
    static float again[IMAGES * WIDTH];
    static const int64_t rows[3] = {39, 0, 17};
    struct sotto_dataset set = set_of(images, IMAGES, 1, SIDE);
    struct sotto_scattering s = {0};
    draw_all();
    assert_int_equal(sotto_scatter(features, &set, NULL, IMAGES, &s, NULL), SOTTO_OK);
    struct sotto_context three = {.threads = 3};
    assert_int_equal(sotto_scatter(again, &set, NULL, IMAGES, &s, &three), SOTTO_OK);
    assert_memory_equal(again, features, sizeof features);
    assert_int_equal(sotto_scatter(again, &set, rows, 3, &s, NULL), SOTTO_OK);
    for (size_t i = 0; i < 3; i++)
        assert_memory_equal(again + i * WIDTH, features + (size_t)rows[i] * WIDTH, WIDTH * sizeof *again);
}

/* Channels of a colour image are three grey ones. */
TEST(colours_are_planes)
{
    static float grey[6 * WIDTH];
    struct sotto_dataset colour = set_of(images, 2, 3, SIDE);
    struct sotto_scattering plain = {.groups = SOTTO_NONE};
    draw_all();
    scatter(grey, images, 6, 1);
    assert_int_equal(sotto_scatter(features, &colour, NULL, 2, &plain, NULL), SOTTO_OK);
    assert_memory_equal(features, grey, sizeof grey);
}

/* An image and its mirror image have the same features: the mean of both, at the places of the left half. */
TEST(a_mirror_changes_nothing)
{
    enum { COLUMNS = SIDE / SCATTER_STEP, LEFT = (COLUMNS + 1) / 2, HALF = WIDTH / COLUMNS * LEFT };
    static uint8_t pair[2 * PIXELS];
    static float both[2 * WIDTH], means[2 * HALF];
    struct sotto_dataset set = set_of(pair, 2, 1, SIDE);
    struct sotto_scattering mirror = {.groups = SOTTO_NONE, .mirror = 1},
                            cells = {.mirror = 1, .grid = 3, .groups = 27};
    size_t shape[3];
    draw_all();
    memcpy(pair, images, PIXELS);
    for (size_t i = 0; i < PIXELS; i++)
        pair[PIXELS + i] = pair[i / SIDE * SIDE + SIDE - 1 - i % SIDE];
    assert_int_equal(sotto_scattering_shape(shape, &set, &mirror), SOTTO_OK);
    assert_int_equal(shape[0] * shape[1] * shape[2], HALF);
    assert_int_equal(shape[2], LEFT);
    scatter(both, pair, 2, 1);
    assert_int_equal(sotto_scatter(means, &set, NULL, 2, &mirror, NULL), SOTTO_OK);
    assert_memory_equal(means, means + HALF, HALF * sizeof *means);
    for (size_t i = 0; i < HALF; i++) {
        size_t at = i / LEFT * COLUMNS + i % LEFT;
        assert_float_equal(means[i], (both[at] + both[WIDTH + at]) / 2, 1e-6f);
    }
    assert_int_equal(sotto_scattering_shape(shape, &set, &cells), SOTTO_OK);
    assert_int_equal(shape[2], 2);
    assert_int_equal(sotto_scatter(means, &set, NULL, 2, &cells, NULL), SOTTO_OK);
    assert_memory_equal(means, means + shape[0] * 6, shape[0] * 6 * sizeof *means);
}

TEST(odd_sizes_work_and_bad_ones_are_refused)
{
    static uint8_t pixels[46 * 46];
    static float out[81 * 12 * 12];
    struct sotto_scattering plain = {.groups = SOTTO_NONE}, fine = {.groups = SOTTO_NONE, .grid = 9},
                            groups = {.groups = 2};
    size_t shape[3];
    for (size_t i = 0; i < sizeof pixels; i++)
        pixels[i] = (uint8_t)(i * 7);
    struct sotto_dataset odd = set_of(pixels, 1, 1, 46), small = set_of(pixels, 1, 1, 7),
                         usual = set_of(pixels, 1, 1, SIDE), table = {.name = "table", .n = 1, .columns = 3};
    assert_int_equal(sotto_scatter(out, &odd, NULL, 1, &plain, NULL), SOTTO_OK); /* 56 = 4 2 7 places */
    for (size_t i = 0; i < sizeof out / sizeof *out; i++)
        assert_true(isfinite(out[i]));
    assert_int_equal(sotto_scatter(out, &small, NULL, 1, &plain, NULL), SOTTO_EINVAL);
    assert_string_equal(sotto_error_text(), "scattering: images of 7x7 pixels; expected sides of 8 to 256");
    assert_int_equal(sotto_scattering_shape(shape, &usual, &fine), SOTTO_EINVAL);
    assert_int_equal(sotto_scattering_shape(shape, &usual, &groups), SOTTO_EINVAL);
    assert_string_equal(sotto_error_text(),
                        "scattering: 2 groups do not divide the 81 channels of data set 'made' evenly");
    assert_int_equal(sotto_scattering_shape(shape, &table, &plain), SOTTO_EINVAL);
    assert_int_equal(sotto_scatter(out, &usual, NULL, 2, &plain, NULL), SOTTO_EINVAL);
    assert_int_equal(sotto_scatter(out, &usual, (const int64_t[]){1}, 1, &plain, NULL), SOTTO_EINVAL);
}

TEST(it_stops_and_survives_want_of_memory)
{
    struct sotto_dataset set = set_of(images, IMAGES, 1, SIDE);
    struct sotto_scattering plain = {.groups = SOTTO_NONE};
    volatile sig_atomic_t stop = 1;
    struct sotto_context stopping = {.stop = &stop};
    assert_int_equal(sotto_scatter(features, &set, NULL, IMAGES, &plain, &stopping), SOTTO_ESTOPPED);
    for (long n = 0; n < 2; n++) {
        base_alloc_fail_after(n);
        assert_int_equal(sotto_scatter(features, &set, NULL, 1, &plain, NULL), SOTTO_ENOMEM);
    }
    base_alloc_fail_after(-1);
}

TEST_GROUP(.tags = "matrix")
