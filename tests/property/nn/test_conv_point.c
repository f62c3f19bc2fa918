/* 1x1 convolutions in f32 by our own products, against the definition in double precision: on small whole numbers every bit, on
 * random ones the error; numbers that are none; what threads, other images and the instruction set may not change; that
 * nothing is read or written past an end; which shapes are refused; failed allocations. f32, at every level of this CPU from v3
 * (AVX2) on; two threads unless said otherwise. */
#include "support/test.h"
#include "support/conv_f32.h"
#include "nn/conv/conv_point.h"

/* Of the root mean square of what is compared; at most 4e-7 was measured, of chains of 505 products. */
static const double TOLERANCE = 1e-6;

struct shape {
    size_t batch, height, width, C, K;
};
/* Rows and channels of no multiple of anything; panels of 1 to 3 vectors; narrow sources; several groups of sums; parts of
 * the batch; several blocks, the last one short. */
static const struct shape SHAPES[] = {
    {1, 1, 1, 1, 1},    {1, 1, 1, 17, 19},   {2, 3, 3, 1, 5},      {3, 5, 1, 24, 144}, {2, 3, 5, 144, 24},
    {1, 15, 1, 33, 50}, {1, 17, 1, 16, 96},  {3, 9, 9, 96, 24},    {5, 7, 7, 65, 100}, {2, 5, 13, 66, 505},
    {3, 9, 3, 505, 40}, {1, 16, 16, 8, 200}, {1, 128, 129, 8, 24}, {4, 65, 64, 20, 5}, {2, 91, 91, 65, 16}};
enum { SHAPES_COUNT = sizeof SHAPES / sizeof *SHAPES };

static struct conv_desc describe(const struct shape *s, bool finished)
{
    return (struct conv_desc){.batch = s->batch,
                              .src = {s->C, s->height, s->width},
                              .dst = {s->K, s->height, s->width},
                              .kernel_height = 1,
                              .kernel_width = 1,
                              .stride = 1,
                              .bias = finished,
                              .relu = finished,
                              .mask_src = finished,
                              .training = 1,
                              .diff_src = 1,
                              .threads = 2};
}

static struct conv_point *planned(const struct conv_desc *d, struct arena *scratch)
{
    struct conv_point *c = NULL;
    par_set_threads(d->threads);
    assert_int_equal(conv_point_create(&c, d), SOTTO_OK);
    conv_point_layout(c, scratch);
    assert_int_equal(arena_reserve(scratch, "test"), SOTTO_OK);
    conv_point_layout(c, scratch);
    return c;
}

static void done_with(struct conv_point *c, struct arena *scratch)
{
    conv_point_free(c);
    arena_clear(scratch);
    par_set_threads(par_threads(NULL));
}

/* All passes, the backward ones together. */
static void multiplied(const struct conv_desc *d, struct tensors *t)
{
    struct arena scratch = {0};
    struct conv_point *c = planned(d, &scratch);
    conv_point_forward(c, t->found[FORWARD], t->of[SRC], t->of[WEIGHTS], d->bias ? t->of[BIAS] : NULL);
    conv_point_backward(c, t->found[DATA], t->found[GRADIENT], t->of[DIFF_DST], t->of[SRC], t->of[WEIGHTS]);
    done_with(c, &scratch);
}

/* Each backward pass by itself. */
static void multiplied_apart(const struct conv_desc *d, struct tensors *t)
{
    struct arena scratch = {0};
    struct conv_point *c = planned(d, &scratch);
    conv_point_backward(c, NULL, t->found[GRADIENT], t->of[DIFF_DST], t->of[SRC], t->of[WEIGHTS]);
    conv_point_backward(c, t->found[DATA], NULL, t->of[DIFF_DST], t->of[SRC], t->of[WEIGHTS]);
    done_with(c, &scratch);
}

/* All sums are whole numbers below 2^24. */
TEST(whole_numbers_come_out)
{
    need_kernels();
    struct rng r = rng_stream(13, RNG_TEST, 0, 0);
    for (size_t s = 0; s < SHAPES_COUNT; s++)
        for (int finished = 0; finished < 2; finished++) {
            struct conv_desc d = describe(&SHAPES[s], finished);
            struct tensors t;
            tensors_make(&t, &d, true, &r);
            multiplied(&d, &t);
            expect_values(&d, &t, 0, s);
            tensors_free(&t);
        }
}

TEST(errors_are_those_of_chains)
{
    need_kernels();
    struct rng r = rng_stream(14, RNG_TEST, 0, 0);
    double worst[PASSES] = {0}, off[PASSES];
    for (size_t s = 0; s < SHAPES_COUNT; s++) {
        struct conv_desc d = describe(&SHAPES[s], true);
        distances(off, multiplied, &d, &r);
        for (size_t pass = 0; pass < PASSES; pass++) {
            worst[pass] = fmax(worst[pass], off[pass]);
            if (!(off[pass] < TOLERANCE))
                fail_msg("shape %zu, pass %zu: off by %g", s, pass, off[pass]);
        }
    }
    print_message("off by at most %.2g, %.2g and %.2g\n", worst[FORWARD], worst[DATA], worst[GRADIENT]);
}

/* NaN and infinity in a source, a gradient and a weight, the last one beside zeros: the same values are NaN, infinite and
 * finite as by the definition. */
TEST(what_is_no_number_spreads_as_in_the_definition)
{
    need_kernels();
    struct rng r = rng_stream(18, RNG_TEST, 0, 0);
    for (size_t s = 0; s < SHAPES_COUNT; s++) {
        struct conv_desc d = describe(&SHAPES[s], false);
        struct tensors t;
        tensors_make(&t, &d, true, &r);
        t.of[SRC][t.count[SRC] / 3] = NAN;
        t.of[SRC][t.count[SRC] / 2] = INFINITY;
        t.of[DIFF_DST][t.count[DIFF_DST] / 2] = -INFINITY;
        t.of[DIFF_DST][t.count[DIFF_DST] - 1] = NAN;
        t.of[WEIGHTS][t.count[WEIGHTS] / 2] = INFINITY;
        multiplied(&d, &t);
        expect_values(&d, &t, 0, s);
        tensors_free(&t);
    }
}

TEST(threads_and_other_images_change_no_bit)
{
    need_kernels();
    for (size_t s = 0; s < SHAPES_COUNT; s++) {
        struct shape larger = SHAPES[s];
        larger.batch++;
        struct conv_desc d = describe(&SHAPES[s], true), e = describe(&larger, true);
        threads_and_other_images_change_no_bit_of(multiplied, &d, &e, rng_stream(15, RNG_TEST, s, 0));
    }
}

/* Every value is one chain of the same operations, whatever the width of a vector. */
TEST(levels_do_not_change_bits)
{
    need_two_levels();
    for (size_t s = 0; s < SHAPES_COUNT; s++) {
        struct conv_desc d = describe(&SHAPES[s], true);
        levels_change_no_bit_of(multiplied, &d, rng_stream(16, RNG_TEST, s, 0));
    }
}

TEST(passes_may_be_left_out)
{
    need_kernels();
    for (size_t s = 0; s < SHAPES_COUNT; s++) {
        struct conv_desc d = describe(&SHAPES[s], false);
        passes_may_be_left_out_of(multiplied, multiplied_apart, &d, rng_stream(17, RNG_TEST, s, 0));
    }
}

TEST(failed_allocations_are_errors)
{
    need_kernels();
    struct conv_desc d = describe(&SHAPES[4], false);
    struct conv_point *c = NULL;
    base_alloc_fail_after(0);
    assert_int_equal(conv_point_create(&c, &d), SOTTO_ENOMEM);
    base_alloc_fail_after(-1);
    assert_null(c);
}

TEST(other_shapes_are_refused)
{
    struct conv_desc good = describe(&SHAPES[4], false), d = good;
    assert_int_equal(conv_point_fits(&good), has_kernels()); /* v2 has none */
    d = good, d.stride = 2;
    assert_false(conv_point_fits(&d));
    d = good, d.pad = 1;
    assert_false(conv_point_fits(&d));
    d = good, d.kernel_width = 2;
    assert_false(conv_point_fits(&d));
    d = good, d.kernel_height = 3;
    assert_false(conv_point_fits(&d));
    d = good, d.src_dtype = NN_BF16;
    assert_false(conv_point_fits(&d));
    d = good, d.dst_dtype = NN_BF16;
    assert_false(conv_point_fits(&d));
    d = good, d.single_examples = 1;
    assert_false(conv_point_fits(&d));
    d = good, d.src.channels = 15;
    assert_false(conv_point_fits(&d));
    d = good, d.dst.channels = 15;
    assert_false(conv_point_fits(&d));
    d = good, d.src.channels = 1024, d.dst.channels = 528;
    assert_false(conv_point_fits(&d));
    struct shape dense = {64, 1, 1, 64, 64};
    d = describe(&dense, false);
    assert_false(conv_point_fits(&d));
}

TEST_GROUP(.next = level_next, .tags = "matrix")
