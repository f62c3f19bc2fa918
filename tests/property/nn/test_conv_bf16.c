/* Convolutions by pairs of bf16 against the definition in double precision: all passes, kernels, strides, padding
 * and finishes; what threads, other images and the batch may not change; which shapes are refused. bf16, at the level
 * v4bf16; two threads unless said otherwise. */
#include "support/test.h"
#include "support/conv_case.h"

/* Of the root mean square: what sums in f32 may be off by, in the mean of squares, and the largest of many, of which each is off by
 * some normal number: 8 deviations have a chance of 1e-15. */
static const double TOLERANCE = 2e-6, LARGEST = 8 * 2e-6;

static const struct shape SHAPES[] = {{3, 15, 15, 128, 128, 3, 3, 2, 0},
                                      {2, 16, 12, 16, 32, 3, 3, 2, 1},
                                      {7, 9, 9, 64, 16, 3, 3, 1, 1},
                                      {2, 1, 1, 16, 16, 1, 1, 1, 0},
                                      {5, 8, 7, 32, 64, 1, 1, 2, 0},
                                      {1, 5, 40, 48, 80, 5, 2, 3, 2},
                                      {40, 6, 6, 32, 96, 3, 3, 2, 1},
                                      {3, 2, 2, 16, 16, 3, 3, 1, 2},
                                      {2, 33, 35, 64, 64, 8, 8, 4, 3},
                                      {129, 4, 4, 16, 64, 2, 2, 1, 0},
                                      /* 16 parts of the batch, which are not equal */
                                      {67, 16, 16, 16, 32, 1, 1, 1, 0},
                                      {70, 15, 16, 16, 96, 3, 3, 2, 1},
                                      /* by patches, without a gradient of the images */
                                      {3, 15, 15, 3, 128, 3, 3, 2, 0},
                                      {5, 8, 8, 3, 64, 3, 3, 1, 1},
                                      {1, 33, 20, 1, 64, 5, 5, 2, 2},
                                      {300, 3, 2, 3, 64, 3, 3, 1, 1},
                                      {35, 16, 15, 3, 16, 3, 3, 1, 1},
                                      {4, 32, 32, 3, 32, 3, 3, 1, 1},
                                      {2, 40, 40, 4, 192, 7, 7, 2, 3},
                                      {9, 1, 1, 8, 64, 1, 1, 1, 0}};
enum { SHAPES_COUNT = sizeof SHAPES / sizeof *SHAPES };

static void need_kernels(void)
{
    struct conv_desc d = describe(&SHAPES[3], false);
    if (!conv_bf16_fits(&d)) {
        print_message("skipped: no AVX512-BF16\n");
        skip();
    }
}

/* FINISHED: with bias, ReLU and mask. ADDED: to a gradient of the images that is there. */
enum kind { PLAIN, FINISHED, ADDED };

static void add_before(struct tensors *t, const struct tensor *before, double *expected)
{
    t->add = true;
    memcpy(t->diff_src, before->bits, before->n * sizeof *before->bits);
    for (size_t i = 0; i < before->n; i++)
        expected[i] += (double)before->values[i];
}

/* Is every value the nearest that bf16 has to a sum which is off by LARGEST at most? Rounding is monotonic, so that is to lie between
 * the nearest to both ends. */
static bool is_rounded_once(const struct conv_desc *d, const struct tensors *t, enum pass pass,
                            const double *expected)
{
    double square = 0;
    for (size_t i = 0; i < t->counts[pass]; i++)
        square += expected[i] * expected[i];
    const double off = LARGEST * sqrt(square / (double)t->counts[pass]);
    bool all = true;
    for (size_t i = 0; i < t->counts[pass]; i++) {
        const float least = bf16_to_float(bf16_from_float((float)(expected[i] - off))),
                    most = bf16_to_float(bf16_from_float((float)(expected[i] + off)));
        all &= found(d, t, pass, i) >= least && found(d, t, pass, i) <= most;
    }
    return all;
}

TEST(agrees_with_the_definition)
{
    need_kernels();
    struct rng r = rng_stream(6, RNG_TEST, 0, 0), more = rng_stream(8, RNG_TEST, 0, 0);
    for (size_t s = 0; s < SHAPES_COUNT; s++)
        for (enum kind kind = PLAIN; kind <= ADDED; kind++) {
            struct conv_desc d = describe(&SHAPES[s], kind == FINISHED);
            struct tensors t;
            double *expected[PASSES];
            tensors_make(&t, &d, HELD, kind == ADDED ? &more : &r);
            struct tensor before = tensor_make(t.counts[DATA], HELD, &more);
            define(expected, &d, &t);
            if (kind == ADDED)
                add_before(&t, &before, expected[DATA]);
            direct(&d, d.batch, &t);
            for (enum pass pass = FORWARD; pass < PASSES; pass++) {
                const bool made = pass != DATA || d.diff_src;
                const double off = made ? distance(&d, &t, pass, expected[pass]) : 0;
                if (made &&
                    !(is_narrow(&d, pass) ? is_rounded_once(&d, &t, pass, expected[pass]) : off < TOLERANCE))
                    fail_msg("shape %zu, kind %d, pass %d: off by %g", s, kind, pass, off);
                base_free(expected[pass]);
            }
            base_free(before.values), base_free(before.bits);
            tensors_free(&t);
        }
}

TEST(threads_and_other_images_change_no_bit)
{
    need_kernels();
    for (size_t s = 0; s < SHAPES_COUNT; s++)
        threads_and_other_images_change_no_bit_of(direct, &SHAPES[s], HELD, rng_stream(7, RNG_TEST, s, 0));
}

TEST(other_shapes_are_refused)
{
    need_kernels();                                 /* without them every shape is refused */
    struct shape s = {2, 9, 9, 16, 16, 9, 9, 1, 4}; /* 81 taps */
    struct conv_desc d = describe(&s, false);
    assert_false(conv_bf16_fits(&d));
    d = describe(&SHAPES[2], false);
    d.src_dtype = NN_F32;
    assert_false(conv_bf16_fits(&d));
    d = describe(&SHAPES[2], false);
    d.src.channels = 24;
    assert_false(conv_bf16_fits(&d));
    d = describe(&SHAPES[12], false); /* patches have no gradient */
    assert_true(conv_bf16_fits(&d));
    d.diff_src = 1;
    assert_false(conv_bf16_fits(&d));
    d = describe(&SHAPES[2], false);
    d.dst.channels = 10;
    assert_false(conv_bf16_fits(&d));
}

TEST_GROUP(.tags = "matrix")
