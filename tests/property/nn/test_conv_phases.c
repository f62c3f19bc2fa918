/* 3x3 convolutions of stride 2 in f32 by minimal filtering both ways, against the definition in double precision: on small
 * whole numbers every value, on random ones the error, which may not exceed that of conv_winograd.h; what threads, other
 * images and the instruction set may not change; which shapes are refused; failed allocations. f32, at every level of this
 * CPU from v3 (AVX2) on; two threads unless said otherwise. */
#include "support/test.h"
#include "support/conv_f32.h"
#include "nn/conv/conv_phases.h"

/* Twice the largest error that conv_phases.h states, of the root mean square of what is compared, for sums over so many
 * channels; the error of a longer chain grows with the root of its length. */
static const double TOLERANCE = 2.4e-6;
enum { CHANNELS = 144 };

struct shape {
    size_t batch, height, width, C, K, pad;
};
/* Tiles of 2 to 4 results along each side, alone and mixed; a last pixel that no result reads; several blocks of images, of
 * a thread and of all, the last of them short; panels of 16, 32 and 64 channels; few weights: parts of one block and of
 * several, and fewer parts than threads could have. */
static const struct shape SHAPES[] = {
    {6, 15, 15, 128, 128, 0}, {5, 7, 7, 64, 64, 0},    {2, 8, 12, 32, 128, 1}, {1, 23, 11, 48, 96, 0},
    {3, 16, 16, 64, 80, 1},   {13, 8, 8, 16, 1040, 1}, {2, 5, 5, 96, 64, 0},   {1, 10, 27, 32, 144, 0},
    {2, 19, 6, 48, 112, 1},   {21, 32, 32, 16, 32, 1}, {5, 16, 16, 32, 64, 1}, {90, 7, 10, 48, 48, 0}};
enum { SHAPES_COUNT = sizeof SHAPES / sizeof *SHAPES };

static struct conv_desc describe(const struct shape *s, bool finished)
{
    return (struct conv_desc){
        .batch = s->batch,
        .src = {s->C, s->height, s->width},
        .dst = {s->K, (s->height + 2 * s->pad - 3) / 2 + 1, (s->width + 2 * s->pad - 3) / 2 + 1},
        .kernel_height = 3,
        .kernel_width = 3,
        .stride = 2,
        .pad = s->pad,
        .bias = finished,
        .relu = finished,
        .mask_src = finished,
        .training = 1,
        .diff_src = 1,
        .threads = 2};
}

static struct conv_phases *planned(const struct conv_desc *d, struct arena *scratch)
{
    struct conv_phases *c = NULL;
    par_set_threads(d->threads);
    assert_true(conv_phases_fits(d));
    assert_int_equal(conv_phases_create(&c, d), SOTTO_OK);
    conv_phases_layout(c, scratch);
    assert_int_equal(arena_reserve(scratch, "test"), SOTTO_OK);
    conv_phases_layout(c, scratch);
    return c;
}

static void done_with(struct conv_phases *c, struct arena *scratch)
{
    conv_phases_free(c);
    arena_clear(scratch);
    par_set_threads(par_threads(NULL));
}

/* All passes, the backward ones together. */
static void filtered(const struct conv_desc *d, struct tensors *t)
{
    struct arena scratch = {0};
    struct conv_phases *c = planned(d, &scratch);
    conv_phases_forward(c, t->found[FORWARD], t->of[SRC], t->of[WEIGHTS], d->bias ? t->of[BIAS] : NULL);
    conv_phases_backward(c, t->found[DATA], t->found[GRADIENT], t->of[DIFF_DST], t->of[SRC], t->of[WEIGHTS]);
    done_with(c, &scratch);
}

/* Each backward pass by itself. */
static void filtered_apart(const struct conv_desc *d, struct tensors *t)
{
    struct arena scratch = {0};
    struct conv_phases *c = planned(d, &scratch);
    conv_phases_backward(c, NULL, t->found[GRADIENT], t->of[DIFF_DST], t->of[SRC], t->of[WEIGHTS]);
    conv_phases_backward(c, t->found[DATA], NULL, t->of[DIFF_DST], t->of[SRC], t->of[WEIGHTS]);
    done_with(c, &scratch);
}

/* Results are whole, and rounding on the way (thirds are not exact) is far from a half. */
TEST(whole_numbers_come_out)
{
    need_kernels();
    struct rng r = rng_stream(13, RNG_TEST, 0, 0);
    for (size_t s = 0; s < SHAPES_COUNT; s++)
        for (int finished = 0; finished < 2; finished++) {
            struct conv_desc d = describe(&SHAPES[s], finished);
            struct tensors t;
            tensors_make(&t, &d, true, &r);
            filtered(&d, &t);
            expect_values(&d, &t, .1, s);
            tensors_free(&t);
        }
}

TEST(errors_are_those_of_minimal_filtering)
{
    need_kernels();
    struct rng r = rng_stream(14, RNG_TEST, 0, 0);
    double worst[PASSES] = {0}, off[PASSES];
    for (size_t s = 0; s < SHAPES_COUNT; s++) {
        struct conv_desc d = describe(&SHAPES[s], true);
        distances(off, filtered, &d, &r);
        for (size_t pass = 0; pass < PASSES; pass++) {
            size_t channels = pass == FORWARD ? d.src.channels : pass == DATA ? d.dst.channels : CHANNELS;
            off[pass] /= sqrt(fmax(1, (double)channels / CHANNELS));
            worst[pass] = fmax(worst[pass], off[pass]);
            if (!(off[pass] < TOLERANCE))
                fail_msg("shape %zu, pass %zu: off by %g", s, pass, off[pass]);
        }
    }
    print_message("off by at most %.2g, %.2g and %.2g\n", worst[FORWARD], worst[DATA], worst[GRADIENT]);
}

TEST(threads_and_other_images_change_no_bit)
{
    need_kernels();
    for (size_t s = 0; s < SHAPES_COUNT; s++) {
        struct shape larger = SHAPES[s];
        larger.batch++;
        struct conv_desc d = describe(&SHAPES[s], true), e = describe(&larger, true);
        threads_and_other_images_change_no_bit_of(filtered, &d, &e, rng_stream(15, RNG_TEST, s, 0));
    }
}

/* Every result is one chain of the same operations, whatever the width of a vector. */
TEST(levels_do_not_change_bits)
{
    need_two_levels();
    for (size_t s = 0; s < SHAPES_COUNT; s++) {
        struct conv_desc d = describe(&SHAPES[s], true);
        levels_change_no_bit_of(filtered, &d, rng_stream(16, RNG_TEST, s, 0));
    }
}

TEST(passes_may_be_left_out)
{
    need_kernels();
    for (size_t s = 0; s < SHAPES_COUNT; s++) {
        struct conv_desc d = describe(&SHAPES[s], true);
        passes_may_be_left_out_of(filtered, filtered_apart, &d, rng_stream(17, RNG_TEST, s, 0));
    }
}

TEST(failed_allocations_are_errors)
{
    need_kernels();
    struct conv_desc d = describe(&SHAPES[0], false);
    struct conv_phases *c = NULL;
    for (long after = 0; after < 2; after++) {
        base_alloc_fail_after(after);
        assert_int_equal(conv_phases_create(&c, &d), SOTTO_ENOMEM);
        base_alloc_fail_after(-1);
        assert_null(c);
    }
}

TEST(other_shapes_are_refused)
{
    struct conv_desc good = describe(&SHAPES[0], false), d = good;
    assert_int_equal(conv_phases_fits(&good), has_kernels()); /* v2 has none */
    d = good, d.stride = 1;
    assert_false(conv_phases_fits(&d));
    d = good, d.pad = 2;
    assert_false(conv_phases_fits(&d));
    d = good, d.kernel_width = 2;
    assert_false(conv_phases_fits(&d));
    d = good, d.kernel_height = 5;
    assert_false(conv_phases_fits(&d));
    d = good, d.src_dtype = d.dst_dtype = NN_BF16;
    assert_false(conv_phases_fits(&d));
    d = good, d.src.channels = 24;
    assert_false(conv_phases_fits(&d));
    d = good, d.dst.channels = 24;
    assert_false(conv_phases_fits(&d));
    d = good, d.src.channels = 16, d.dst.channels = 16; /* too few for a gain */
    assert_false(conv_phases_fits(&d));
    d = good, d.src.channels = 528, d.dst.channels = 512;
    assert_false(conv_phases_fits(&d));
    struct shape narrow = {2, 3, 15, 64, 64, 0}; /* one row of results */
    d = describe(&narrow, false);
    assert_false(conv_phases_fits(&d));
}

TEST_GROUP(.next = level_next, .tags = "matrix")
