/* Augmentation: every kernel level against the oracle on random views, exact special cases, batches,
 * distributions. */
#include "support/test.h"

#include "data/augment/augment.h"
#include "rng/rng.h"

#include <math.h>
#include <string.h>

enum { MOST = 40 * 40 };
static const struct augment_strength strong = {.min_area = .25, .brightness = .6, .jitter = .2, .flip = 1};

static void fill(uint8_t *image, size_t n, uint64_t index)
{
    struct rng r = rng_stream(3, RNG_TEST, 0, index);
    for (size_t i = 0; i < n; i++)
        image[i] = (uint8_t)rng_u32(&r);
}

TEST(every_level_matches_the_oracle)
{
    static uint8_t image[3 * MOST];
    static float expected[3 * MOST], got[CPU_ISA_COUNT][3 * MOST + 1], scratch[7 * 40];
    struct rng r = rng_stream(4, RNG_TEST, 0, 0);
    int best = (int)cpu_best_isa();
    for (uint64_t trial = 0; trial < 300; trial++) {
        size_t channels = rng_below(&r, 2) ? 3 : 1, height = 1 + rng_below(&r, 40),
               width = 1 + rng_below(&r, 40);
        size_t count = height * width * 3;
        struct augment_strength s = {.min_area = rng_unit(&r) * .99 + .01,
                                     .brightness = rng_unit(&r),
                                     .jitter = rng_unit(&r),
                                     .flip = 1};
        struct augment_view v = augment_draw(&s, height, width, 1, 2, trial);
        fill(image, channels * height * width, trial);
        augment_reference(expected, image, channels, height, width, &v);
        for (int isa = 0; isa <= best; isa++) {
            got[isa][count] = 77; /* the kernel must not write behind its view: that is another thread's */
            augment_kernel_find((enum cpu_isa)isa)(got[isa], image, channels, height, width, &v, scratch);
            for (size_t i = 0; i < count; i++)
                assert_true(fabs((double)got[isa][i] - (double)expected[i]) <= 1e-6);
            assert_true(got[isa][count] == 77);
            assert_memory_equal(got[isa], got[0], count * sizeof(float));
        }
    }
}

TEST(strength_zero_changes_nothing)
{
    static uint8_t image[3 * 1024];
    static float dst[3 * 1024], scratch[7 * 32];
    fill(image, sizeof image, 1);
    struct augment_strength none = {.min_area = 1};
    struct augment_view v = augment_draw(&none, 32, 32, 5, 6, 7), identity = augment_identity();
    assert_true(v.shift_x == 0 && v.shift_y == 0 && v.zoom_x == 1 && v.zoom_y == 1 && !v.flip);
    assert_memory_equal(v.colour, identity.colour, sizeof v.colour);
    augment_kernel_find(cpu_best_isa())(dst, image, 3, 32, 32, &v, scratch);
    for (size_t i = 0; i < 1024; i++)
        for (size_t c = 0; c < 3; c++)
            assert_true(dst[3 * i + c] == (float)image[c * 1024 + i] * (1 / 255.0f));
}

TEST(a_flip_is_exact)
{
    static uint8_t image[3 * 32 * 33];
    static float plain[3 * 32 * 33], flipped[3 * 32 * 33], scratch[7 * 33];
    fill(image, sizeof image, 2);
    struct augment_view v = augment_identity();
    augment_kernel *kernel = augment_kernel_find(cpu_best_isa());
    kernel(plain, image, 3, 32, 33, &v, scratch);
    v.flip = 1;
    kernel(flipped, image, 3, 32, 33, &v, scratch);
    for (size_t y = 0; y < 32; y++)
        for (size_t x = 0; x < 33; x++)
            assert_memory_equal(flipped + (y * 33 + x) * 3, plain + (y * 33 + 32 - x) * 3, 3 * sizeof(float));
}

/* The colour affine is per image: a constant image stays constant whatever the geometry does. */
TEST(a_constant_image_stays_constant)
{
    static uint8_t image[3 * 1024];
    static float dst[3 * 1024], scratch[7 * 32];
    for (size_t c = 0; c < 3; c++)
        memset(image + c * 1024, (int)(40 + 60 * c), 1024);
    for (uint64_t i = 0; i < 50; i++) {
        struct augment_view v = augment_draw(&strong, 32, 32, 1, 1, i);
        augment_kernel_find(cpu_best_isa())(dst, image, 3, 32, 32, &v, scratch);
        for (size_t p = 1; p < 1024; p++)
            assert_memory_equal(dst + 3 * p, dst, 3 * sizeof(float));
    }
}

/* Mean and range of every parameter over 20,000 draws; the standard error of a uniform on (-1, 1) is then
 * .0041. */
TEST(parameters_follow_their_laws)
{
    enum { DRAWS = 20000 };
    double flips = 0, sums[4] = {0}, squares[4] = {0}, scale = 0;
    for (uint64_t i = 0; i < DRAWS; i++) {
        struct augment_view v = augment_draw(&strong, 32, 64, 11, 0, i);
        double unit[4] = {v.shift_y / 8, v.shift_x / 16, (v.zoom_y - .75) * 4, (v.zoom_x - .75) * 4};
        for (int k = 0; k < 4; k++) {
            assert_true(unit[k] >= -1 && unit[k] <= 1);
            sums[k] += unit[k] / DRAWS;
            squares[k] += unit[k] * unit[k] / DRAWS;
        }
        flips += v.flip / (double)DRAWS;
        scale += (double)(v.colour[0] + v.colour[4] + v.colour[8]) / 3 / DRAWS;
        for (int k = 0; k < 9; k++)
            assert_true(k % 4 == 0 ? v.colour[k] >= .2f - 1e-6f && v.colour[k] <= 1.8f + 1e-6f
                                   : fabsf(v.colour[k]) <= .2f);
        assert_true(fabsf(v.colour[0] - v.colour[4]) <=
                    .4f + 1e-6f); /* one brightness for the three channels */
    }
    for (int k = 0; k < 4; k++)
        assert_true(fabs(sums[k]) < .02 && fabs(squares[k] - 1.0 / 3) < .015);
    assert_true(fabs(flips - .5) < .018 && fabs(scale - 1) < .015);
}

TEST(batches_do_not_depend_on_threads)
{
    enum { N = 21, BYTES = 28 * 28, VIEW = 32 * 32 * 3 };
    static uint8_t images[N * BYTES];
    static float one[2 * N * VIEW], many[2 * N * VIEW];
    int64_t rows[N];
    fill(images, sizeof images, 9);
    for (int i = 0; i < N; i++)
        rows[i] = (i * 8) % N;
    for (int threads = 1; threads <= 3; threads++) {
        struct augment_config c = {
            .strength = strong, .channels = 1, .height = 28, .width = 28, .views = 2, .threads = threads};
        struct augmenter *a = NULL;
        assert_int_equal(augmenter_create(&a, &c), SOTTO_OK);
        uint64_t allocations = base_alloc_count();
        augmenter_run(a, threads == 1 ? one : many, images,
                      &(struct augment_part){.rows = rows, .n = N, .room = N}, 3, 12);
        assert_int_equal(base_alloc_count(), allocations);
        augmenter_free(a);
        if (threads > 1)
            assert_memory_equal(one, many, sizeof one);
    }
    /* Row v N + i is view v of position i, redrawn from its key alone. */
    static uint8_t padded[1024];
    static float expected[VIEW], scratch[7 * 32];
    augment_fit(padded, images + rows[4] * BYTES, 1, 28, 28, 0);
    struct augment_view v = augment_draw(&strong, 32, 32, 3, 12, 4 * 2 + 1);
    augment_kernel_find(cpu_best_isa())(expected, padded, 1, 32, 32, &v, scratch);
    assert_memory_equal(one + (N + 4) * VIEW, expected, sizeof expected);
}

TEST(grey_images_are_padded_and_replicated)
{
    static uint8_t image[784];
    static float dst[32 * 32 * 3];
    fill(image, sizeof image, 5);
    struct augment_config c = {
        .strength = {.min_area = 1}, .channels = 1, .height = 28, .width = 28, .views = 1};
    struct augmenter *a = NULL;
    assert_int_equal(augmenter_create(&a, &c), SOTTO_OK);
    augmenter_run_plain(a, dst, image, (int64_t[]){0}, 1);
    for (int y = 0; y < 32; y++)
        for (int x = 0; x < 32; x++)
            for (int k = 0; k < 3; k++) {
                int inside = y >= 2 && y < 30 && x >= 2 && x < 30;
                float expected = inside ? (float)image[(y - 2) * 28 + x - 2] * (1 / 255.0f) : 0;
                assert_true(fabsf(dst[(y * 32 + x) * 3 + k] - expected) <= 1e-6f);
            }
    augmenter_free(a);
}

TEST(quarter_turns)
{
    static uint8_t image[3 * 1024], turned[3 * 1024], again[3 * 1024];
    fill(image, sizeof image, 6);
    augment_fit(turned, image, 3, 32, 32, 1);
    assert_int_equal(turned[31 * 32],
                     image[0]); /* anti-clockwise: the top left corner comes to the bottom left */
    assert_int_equal(turned[0], image[31]);
    augment_fit(again, turned, 3, 32, 32, 1);
    augment_fit(turned, image, 3, 32, 32, 2);
    assert_memory_equal(again, turned, sizeof turned);
    augment_fit(again, turned, 3, 32, 32, 1);
    augment_fit(turned, image, 3, 32, 32, 3);
    assert_memory_equal(again, turned, sizeof turned);
    augment_fit(again, turned, 3, 32, 32, 1);
    assert_memory_equal(again, image, sizeof image);
}

TEST(bad_settings_are_named)
{
    struct augmenter *a = NULL;
    struct augment_config good = {.strength = strong, .channels = 3, .height = 32, .width = 32, .views = 2},
                          c;
    c = good, c.channels = 4;
    assert_int_equal(augmenter_create(&a, &c), SOTTO_EINVAL);
    assert_string_equal(sotto_error_text(), "images have 4 channels; expected 1 (grey) or 3 (RGB)");
    c = good, c.strength.min_area = 0;
    assert_int_equal(augmenter_create(&a, &c), SOTTO_EINVAL);
    assert_string_equal(sotto_error_text(), "min_area must be in (0, 1] (got 0)");
    c = good, c.strength.jitter = NAN;
    assert_int_equal(augmenter_create(&a, &c), SOTTO_EINVAL);
    c = good, c.width = 48, c.rotate = 1;
    assert_int_equal(augmenter_create(&a, &c), SOTTO_EINVAL);
    assert_string_equal(sotto_error_text(), "rotation needs square images (got 32x48)");
    assert_null(a);
    for (long n = 0; n < 2; n++) {
        base_alloc_fail_after(n);
        assert_int_equal(augmenter_create(&a, &good), SOTTO_ENOMEM);
        base_alloc_fail_after(-1);
        assert_null(a);
    }
}
