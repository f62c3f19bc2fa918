/* Views by SimCLR's recipe: finishing against its definition in double on every level, the linear algebra of
 * colours against the steps they combine, laws of the draws. */
#include "support/test.h"

#include "data/augment/augment.h"
#include "rng/rng.h"

#include <math.h>
#include <string.h>

enum { SIDE = 48, DRAWS = 20000 };
static const struct augment_strength paper = {.min_area = .08,
                                              .brightness = .8,
                                              .jitter = .2,
                                              .flip = 1,
                                              .recipe = AUGMENT_SIMCLR,
                                              .vertical_flip = 1,
                                              .grey = .2,
                                              .blur = .5};

static double luma_of(const float *rgb)
{
    return 0.299 * (double)rgb[0] + 0.587 * (double)rgb[1] + 0.114 * (double)rgb[2];
}

/* c b | a b c d | c b */
static size_t mirrored(long i, long n)
{
    while (n > 1 && (i < 0 || i >= n))
        i = i < 0 ? -i : 2 * (n - 1) - i;
    return n > 1 ? (size_t)i : 0;
}

static void define(double *out, const float *view, size_t height, size_t width,
                   const struct augment_view *how)
{
    static double cut[3 * SIDE * SIDE];
    double mean = 0, weight[2 * AUGMENT_RADIUS_MAX + 1], sum = 0;
    long radius = (long)augment_blur_radius(height);
    for (size_t i = 0; i < height * width; i++)
        mean += luma_of(view + 3 * i) / (double)(height * width);
    for (size_t i = 0; i < height * width; i++)
        for (size_t j = 0; j < 3; j++) {
            double x = (double)how->mean_share * mean;
            for (size_t k = 0; k < 3; k++)
                x += (double)view[3 * i + k] * (double)how->colour[3 * k + j];
            cut[3 * i + j] = fmin(fmax(x, 0), 1);
        }
    if (how->blur <= 0) {
        memcpy(out, cut, 3 * height * width * sizeof *out);
        return;
    }
    for (long k = -radius; k <= radius; k++)
        sum += weight[k + radius] = exp(-(double)(k * k) / (2 * how->blur * how->blur));
    for (size_t i = 0; i < 3 * height * width; i++) {
        long y = (long)(i / 3 / width), x = (long)(i / 3 % width);
        out[i] = 0;
        for (long a = -radius; a <= radius; a++)
            for (long b = -radius; b <= radius; b++)
                out[i] +=
                    weight[a + radius] * weight[b + radius] / (sum * sum) *
                    cut[3 * (mirrored(y + a, (long)height) * width + mirrored(x + b, (long)width)) + i % 3];
    }
}

TEST(every_level_matches_the_definition)
{
    static float view[3 * SIDE * SIDE], got[CPU_ISA_COUNT][3 * SIDE * SIDE],
        scratch[3 * SIDE * SIDE + 3 * (SIDE + 2 * AUGMENT_RADIUS_MAX)];
    static double expected[3 * SIDE * SIDE];
    struct rng r = rng_stream(4, RNG_TEST, 0, 0);
    for (uint64_t trial = 0; trial < 100; trial++) {
        size_t height = 1 + rng_below(&r, SIDE), width = 1 + rng_below(&r, SIDE), count = 3 * height * width;
        struct augment_view how = augment_draw(&paper, height, width, 1, 2, trial);
        assert_true(augment_finish_floats(height, width) <= sizeof scratch / sizeof *scratch);
        for (size_t i = 0; i < count; i++)
            view[i] = (float)rng_unit(&r);
        define(expected, view, height, width, &how);
        for (int isa = 0; isa <= (int)cpu_best_isa(); isa++) {
            memcpy(got[isa], view, count * sizeof *view);
            augment_finish_find((enum cpu_isa)isa)(got[isa], height, width, &how, scratch);
            for (size_t i = 0; i < count; i++)
                assert_true(fabs((double)got[isa][i] - expected[i]) <= 2e-6);
            assert_memory_equal(got[isa], got[0], count * sizeof *view);
        }
    }
}

/* What colour and mean_share do to a pixel of an image with that mean luma. */
static void apply(double out[3], const struct augment_view *v, const float rgb[3], double mean)
{
    for (size_t j = 0; j < 3; j++) {
        out[j] = (double)v->mean_share * mean;
        for (size_t i = 0; i < 3; i++)
            out[j] += (double)rgb[i] * (double)v->colour[3 * i + j];
    }
}

/* Where a colour is on the circle, in turns; by the corners of the YIQ plane. */
static double hue_of(const double rgb[3])
{
    double i = 0.595716 * rgb[0] - 0.274453 * rgb[1] - 0.321263 * rgb[2],
           q = 0.211456 * rgb[0] - 0.522591 * rgb[1] + 0.311135 * rgb[2];
    return atan2(q, i) / (2 * acos(-1));
}

/* Luma feels brightness and contrast alone, grey stays grey, hue turns by up to a fifth of the circle. */
TEST(colours_are_what_they_stand_for)
{
    const float rgb[3] = {.7F, .2F, .4F}, grey[3] = {.5F, .5F, .5F};
    const double before[3] = {(double)rgb[0], (double)rgb[1], (double)rgb[2]};
    double mean = 0.45, turned = 0, most = 0;
    size_t plain = 0, no_chroma = 0;
    for (uint64_t i = 0; i < DRAWS; i++) {
        struct augment_view v = augment_draw(&paper, 32, 32, 1, 2, i);
        double out[3], flat[3], luma = luma_of(rgb);
        apply(out, &v, rgb, mean);
        apply(flat, &v, grey, mean);
        assert_true(fabs(flat[0] - flat[1]) < 1e-6 && fabs(flat[1] - flat[2]) < 1e-6);
        /* flat = b c grey + b (1 - c) mean, and b (1 - c) is mean_share */
        double bc = (flat[0] - (double)v.mean_share * mean) / (double)grey[0];
        double now = 0.299 * out[0] + 0.587 * out[1] + 0.114 * out[2];
        assert_true(fabs(now - (bc * luma + (double)v.mean_share * mean)) < 1e-6);
        assert_true(bc > -1e-6 && bc < 1.8 * 1.8 + 1e-6);
        plain += v.mean_share == 0 && fabs(bc - 1) < 1e-6;
        int grey_view = fabs(out[0] - out[1]) < 1e-6 && fabs(out[1] - out[2]) < 1e-6;
        no_chroma += (size_t)grey_view;
        double turn = grey_view ? 0 : remainder(hue_of(out) - hue_of(before), 1);
        assert_true(fabs(turn) < 0.2 + 1e-5);
        turned += fabs(turn) / DRAWS;
        most = fmax(most, fabs(turn));
    }
    assert_true(fabs((double)plain / DRAWS - 0.2) < 0.02); /* a fifth of the views keeps its colours */
    assert_true(fabs((double)no_chroma / DRAWS - 0.2) < 0.02);
    assert_true(most > 0.199);
    assert_true(fabs(turned - 0.1 * 0.8 * 0.8) < 0.003); /* uniform, in coloured views that are not grey */
}

/* Area uniform on (min_area, 1) but for crops that do not fit; inside the image; both flips half the time. */
TEST(crops_follow_their_law)
{
    double area = 0, flips = 0, heads = 0, blurred = 0, smallest = 1;
    for (uint64_t i = 0; i < DRAWS; i++) {
        struct augment_view v = augment_draw(&paper, 40, 32, 1, 2, i);
        double h = 40 * v.zoom_y, w = 32 * v.zoom_x, ratio = w / h;
        double top = (40 - h) / 2 - v.shift_y, left = (32 - w) / 2 - v.shift_x;
        assert_true(top > -1e-9 && left > -1e-9 && top + h < 40 + 1e-9 && left + w < 32 + 1e-9);
        assert_true((ratio > 0.75 - 1e-9 && ratio < 4.0 / 3 + 1e-9) || (v.zoom_x == 1 && v.zoom_y == 1));
        area += v.zoom_x * v.zoom_y / DRAWS;
        smallest = fmin(smallest, v.zoom_x * v.zoom_y);
        flips += v.flip / (double)DRAWS;
        heads += v.flip_y / (double)DRAWS;
        blurred += (v.blur > 0) / (double)DRAWS;
        assert_true(v.blur == 0 || (v.blur >= 0.1 && v.blur <= 2));
    }
    assert_true(smallest >= 0.08 && smallest < 0.09);
    assert_true(area > 0.45 && area < 0.54); /* .54 if every crop fitted */
    assert_true(fabs(flips - 0.5) < 0.02 && fabs(heads - 0.5) < 0.02 && fabs(blurred - 0.5) < 0.02);
}

/* Without anything to do the view is the image. */
TEST(strength_zero_changes_nothing)
{
    struct augment_strength none = {.min_area = 1, .recipe = AUGMENT_SIMCLR};
    for (uint64_t i = 0; i < 100; i++) {
        struct augment_view v = augment_draw(&none, 32, 32, 5, 6, i), identity = augment_identity();
        assert_true(!v.flip && !v.flip_y && v.blur == 0 && v.mean_share == 0);
        assert_true(v.zoom_x == 1 && v.zoom_y == 1 && v.shift_x == 0 && v.shift_y == 0);
        for (size_t j = 0; j < 9; j++)
            assert_true(fabsf(v.colour[j] - identity.colour[j]) < 1e-6F);
    }
}

TEST(recipes_have_names)
{
    enum augment_recipe recipe;
    assert_int_equal(augment_recipe_find(&recipe, "simclr"), SOTTO_OK);
    assert_int_equal(recipe, AUGMENT_SIMCLR);
    assert_int_equal(augment_recipe_find(&recipe, NULL), SOTTO_OK);
    assert_int_equal(recipe, AUGMENT_KERAS);
    assert_int_equal(augment_recipe_find(&recipe, "strong"), SOTTO_EINVAL);
    assert_string_equal(sotto_error_text(), "augmentation 'strong' is unknown; expected keras or simclr");
}
