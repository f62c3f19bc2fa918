/* Convolutions of stride 2 by minimal filtering along rows against the definition in double precision: on small whole
 * numbers, where nothing is rounded on the way, all passes, kernels, padding and finishes; on random numbers, their error
 * beside that of direct sums; what threads, other images and the batch may not change; which shapes are refused. bf16, at
 * the level v4bf16; two threads unless said otherwise. */
#include "support/test.h"
#include "support/conv_case.h"
#include "nn/conv/bf16_kernels.h"
#include "nn/conv/conv_stride2.h"

/* Of the error of direct sums, the most that minimal filtering may have. */
static const double COARSER = 1.5;

static const struct shape SHAPES[] = {{3, 15, 15, 128, 128, 3, 3, 2, 0},
                                      {2, 7, 7, 64, 64, 3, 3, 2, 0},
                                      {5, 11, 12, 16, 32, 3, 3, 2, 1},
                                      {1, 47, 23, 32, 16, 3, 3, 2, 0},
                                      {2, 16, 16, 64, 80, 3, 3, 2, 1},
                                      {41, 6, 10, 16, 16, 3, 3, 2, 1},
                                      {3, 3, 9, 48, 128, 1, 3, 2, 0},
                                      {2, 8, 10, 32, 64, 5, 3, 2, 2},
                                      {300, 5, 5, 16, 64, 3, 3, 2, 0},
                                      {1, 9, 30, 96, 48, 2, 3, 2, 0},
                                      /* 16 parts of the batch, which are not equal */
                                      {70, 16, 16, 16, 96, 3, 3, 2, 1},
                                      {150, 9, 10, 32, 64, 3, 3, 2, 1}};
enum { SHAPES_COUNT = sizeof SHAPES / sizeof *SHAPES };

static void need_kernels(void)
{
    struct conv_desc d = describe(&SHAPES[0], false);
    if (!conv_stride2_fits(&d)) {
        print_message("skipped: no AVX512-BF16\n");
        skip();
    }
}

static void filtered(const struct conv_desc *d, size_t images, struct tensors *t)
{
    struct conv_stride2 *c = NULL;
    struct arena scratch = {0};
    par_set_threads(d->threads);
    assert_true(conv_stride2_fits(d));
    assert_int_equal(conv_stride2_create(&c, d), SOTTO_OK);
    conv_stride2_layout(c, &scratch);
    assert_int_equal(arena_reserve(&scratch, "test"), SOTTO_OK);
    conv_stride2_layout(c, &scratch);
    conv_stride2_forward(c, images, t->dst, t->of[SRC].bits, t->of[WEIGHTS].values,
                         d->bias ? t->of[BIAS].values : NULL);
    conv_stride2_backward_data(c, images, t->diff_src, t->of[DIFF_DST].bits, t->of[SRC].bits,
                               t->of[WEIGHTS].values);
    conv_stride2_weights(c, t->diff_weights, t->of[DIFF_DST].bits, t->of[SRC].bits);
    conv_stride2_free(c);
    arena_clear(&scratch);
    par_set_threads(par_threads(NULL));
}

/* Of whole numbers from -4 to 4 all differences, sums and products are exact; only results are rounded, once. */
TEST(whole_numbers_come_out_exactly)
{
    need_kernels();
    struct rng r = rng_stream(9, RNG_TEST, 0, 0);
    for (size_t s = 0; s < SHAPES_COUNT; s++)
        for (int finished = 0; finished < 2; finished++) {
            struct conv_desc d = describe(&SHAPES[s], finished);
            struct tensors t;
            double *expected[PASSES];
            tensors_make(&t, &d, WHOLE, &r);
            filtered(&d, d.batch, &t);
            define(expected, &d, &t);
            for (enum pass pass = FORWARD; pass < PASSES; pass++)
                for (size_t i = 0; i < t.counts[pass]; i++) {
                    float x = (float)expected[pass][i];
                    if (is_narrow(&d, pass))
                        x = bf16_to_float(bf16_from_float(x));
                    if (!(found(&d, &t, pass, i) == x))
                        fail_msg("shape %zu, finished %d, pass %d, value %zu: %g, expected %g", s, finished,
                                 pass, i, (double)found(&d, &t, pass, i), (double)x);
                }
            for (size_t i = 0; i < PASSES; i++)
                base_free(expected[i]);
            tensors_free(&t);
        }
}

/* Normal numbers which are rounded on the way in, as both ways do it. */
TEST(errors_are_near_those_of_direct_sums)
{
    need_kernels();
    struct rng r = rng_stream(10, RNG_TEST, 0, 0);
    for (size_t s = 0; s < SHAPES_COUNT; s++) {
        struct conv_desc d = describe(&SHAPES[s], true); /* results in f32: no rounding hides the rest */
        struct tensors t;
        double *expected[PASSES], by_sum[PASSES];
        tensors_make(&t, &d, NORMAL, &r);
        define(expected, &d, &t);
        direct(&d, d.batch, &t);
        for (enum pass pass = FORWARD; pass < PASSES; pass++)
            by_sum[pass] = distance(&d, &t, pass, expected[pass]);
        filtered(&d, d.batch, &t);
        for (enum pass pass = FORWARD; pass < PASSES; pass++) {
            double off = distance(&d, &t, pass, expected[pass]);
            if (!(off <= COARSER * by_sum[pass]))
                fail_msg("shape %zu, pass %d: off by %g, direct sums by %g", s, pass, off, by_sum[pass]);
            base_free(expected[pass]);
        }
        tensors_free(&t);
    }
}

TEST(threads_and_other_images_change_no_bit)
{
    need_kernels();
    for (size_t s = 0; s < SHAPES_COUNT; s++)
        threads_and_other_images_change_no_bit_of(filtered, &SHAPES[s], NORMAL,
                                                  rng_stream(11, RNG_TEST, s, 0));
}

/* Gradients of 16 MiB and more are written past the caches, those of a few images are not. */
TEST(large_gradients_have_the_same_bits)
{
    need_kernels();
    const struct shape many = {34, 63, 63, 64, 64, 3, 3, 2, 0};
    struct shape few = many;
    few.batch = 2;
    struct conv_desc d = describe(&many, true), e = describe(&few, true);
    struct rng r = rng_stream(12, RNG_TEST, 0, 0), same = r;
    struct tensors a, b;
    assert_true(bf16_streams(NULL, d.batch, d.src) && !bf16_streams(NULL, e.batch, e.src));
    tensors_make(&a, &d, WHOLE, &r);
    tensors_make(&b, &e, WHOLE, &same);
    memcpy(b.of[DIFF_DST].bits, a.of[DIFF_DST].bits, b.counts[FORWARD] * sizeof(uint16_t));
    memcpy(b.of[WEIGHTS].values, a.of[WEIGHTS].values, b.counts[GRADIENT] * sizeof(float));
    for (int by_sum = 0; by_sum < 2; by_sum++) {
        memset(a.diff_src, 0xff, a.counts[DATA] * sizeof(uint16_t));
        if (by_sum) {
            direct(&d, d.batch, &a);
            direct(&e, e.batch, &b);
        } else {
            filtered(&d, d.batch, &a);
            filtered(&e, e.batch, &b);
        }
        assert_memory_equal(a.diff_src, b.diff_src, b.counts[DATA] * sizeof(uint16_t));
        for (size_t i = 0; i < a.counts[DATA]; i++) /* NaN: not written */
            assert_int_not_equal(((const uint16_t *)a.diff_src)[i], 0xffff);
    }
    tensors_free(&a), tensors_free(&b);
}

TEST(other_shapes_are_refused)
{
    need_kernels(); /* without them every shape is refused */
    struct conv_desc good = describe(&SHAPES[0], false), d = good;
    d = good, d.stride = 1;
    assert_false(conv_stride2_fits(&d));
    d = good, d.kernel_width = 2;
    assert_false(conv_stride2_fits(&d));
    d = good, d.src_dtype = NN_F32;
    assert_false(conv_stride2_fits(&d));
    d = good, d.src.channels = 24;
    assert_false(conv_stride2_fits(&d));
    d = good, d.dst.channels = 24;
    assert_false(conv_stride2_fits(&d));
    d = good, d.single_examples = 1;
    assert_false(conv_stride2_fits(&d));
    struct shape narrow = {2, 3, 3, 16, 16, 3, 3, 2, 0}; /* one result in a row: no pair */
    d = describe(&narrow, false);
    assert_false(conv_stride2_fits(&d));
    narrow = (struct shape){2, 8, 8, 16, 16, 3, 3, 2, 1}; /* one pair among four */
    d = describe(&narrow, false);
    assert_false(conv_stride2_fits(&d));
}

TEST_GROUP(.tags = "matrix")
