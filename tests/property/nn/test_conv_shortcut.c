/* 1x1 convolutions with a stride in f32 by products of gathered pixels, against the definition in double precision: all
 * passes, alone and adding to a gradient that is there; what threads and other images may not change; which shapes are
 * refused. f32, at every level of this CPU from v3 (AVX2) on, 1 to 3 threads. */
#include "support/test.h"
#include "support/conv_f32.h"
#include "nn/conv/conv_shortcut.h"

/* Chains of at most 320 terms in f32, against their sum in double. */
static const double TOLERANCE = 1e-6;

struct shape {
    size_t batch, height, width, C, K, stride;
};
/* Fewer images than parts of the batch, and more; pixels behind the last one that is read. Above v3 the last two too, of
 * panels of 32 and 64 channels. */
static const struct shape SHAPES[] = {
    {3, 8, 8, 16, 16, 2}, {13, 11, 10, 16, 16, 3}, {21, 16, 16, 16, 32, 2}, {9, 16, 15, 64, 32, 2}};

static size_t shapes(void)
{
    return cpu_best_isa() < CPU_V3 ? 0 : cpu_best_isa() == CPU_V3 ? 2 : sizeof SHAPES / sizeof *SHAPES;
}

static struct conv_desc describe(const struct shape *s, int threads)
{
    return (struct conv_desc){.batch = s->batch,
                              .src = {s->C, s->height, s->width},
                              .dst = {s->K, (s->height - 1) / s->stride + 1, (s->width - 1) / s->stride + 1},
                              .kernel_height = 1,
                              .kernel_width = 1,
                              .stride = s->stride,
                              .training = 1,
                              .diff_src = 1,
                              .threads = threads};
}

/* In: added  a gradient that is there, or NULL: none. */
static void run(const struct conv_desc *d, struct tensors *t, float *added)
{
    struct conv_shortcut *c = NULL;
    struct arena scratch = {0};
    par_set_threads(d->threads);
    assert_true(conv_shortcut_fits(d));
    assert_int_equal(conv_shortcut_create(&c, d), SOTTO_OK);
    conv_shortcut_layout(c, &scratch);
    assert_int_equal(arena_reserve(&scratch, "test"), SOTTO_OK);
    conv_shortcut_layout(c, &scratch);
    conv_shortcut_forward(c, t->found[FORWARD], t->of[SRC], t->of[WEIGHTS]);
    conv_shortcut_backward(c, t->found[DATA], false, t->found[GRADIENT], t->of[DIFF_DST], t->of[SRC],
                           t->of[WEIGHTS]);
    if (added)
        conv_shortcut_backward(c, added, true, NULL, t->of[DIFF_DST], t->of[SRC], t->of[WEIGHTS]);
    conv_shortcut_free(c);
    arena_clear(&scratch);
    par_set_threads(par_threads(NULL));
}

static void gathered(const struct conv_desc *d, struct tensors *t)
{
    run(d, t, NULL);
}

TEST(all_passes_match_the_definition)
{
    struct rng r = rng_stream(21, RNG_TEST, 0, 0);
    double off[PASSES];
    for (size_t s = 0; s < shapes(); s++) {
        struct conv_desc d = describe(&SHAPES[s], 2);
        distances(off, gathered, &d, &r);
        for (size_t pass = 0; pass < PASSES; pass++)
            if (!(off[pass] <= TOLERANCE))
                fail_msg("shape %zu, pass %zu: off by %g", s, pass, off[pass]);
    }
}

TEST(threads_and_other_images_change_no_bit)
{
    for (size_t s = 0; s < shapes(); s++) {
        struct shape larger = SHAPES[s];
        larger.batch++;
        struct conv_desc d = describe(&SHAPES[s], 2), e = describe(&larger, 2);
        threads_and_other_images_change_no_bit_of(gathered, &d, &e, rng_stream(22, RNG_TEST, s, 0));
    }
}

/* The gradient by the images, added to the images themselves, as any numbers would do. The images are the first of `all`. */
static float *sum_of(const struct conv_desc *d, const struct tensors *all)
{
    struct tensors t;
    struct rng r = rng_stream(24, RNG_TEST, 0, 0);
    tensors_make(&t, d, false, &r);
    for (size_t k = 0; k < TENSORS; k++)
        memcpy(t.of[k], all->of[k], t.count[k] * sizeof(float));
    float *added = guarded(t.counts[DATA]);
    memcpy(added, t.of[SRC], t.counts[DATA] * sizeof(float));
    run(d, &t, added);
    tensors_free(&t);
    return added;
}

/* A gradient that is there is added to; threads and other images change no bit of the sum. */
TEST(a_gradient_is_added_to)
{
    for (size_t s = 0; s < shapes(); s++) {
        struct tensors t;
        struct shape larger = SHAPES[s];
        larger.batch++;
        const struct conv_desc one = describe(&SHAPES[s], 1), three = describe(&SHAPES[s], 3),
                               more = describe(&larger, 2);
        struct rng r = rng_stream(23, RNG_TEST, s, 0);
        double *expected[PASSES];
        tensors_make(&t, &more, false, &r);
        define(expected, &more, &t);
        const size_t n = t.counts[DATA], few = n / larger.batch * SHAPES[s].batch;
        for (size_t i = 0; i < n; i++)
            expected[DATA][i] += (double)t.of[SRC][i];
        float *a = sum_of(&one, &t), *b = sum_of(&three, &t), *c = sum_of(&more, &t);
        assert_true(distance(c, expected[DATA], n) <= TOLERANCE);
        assert_memory_equal(a, b, few * sizeof(float));
        assert_memory_equal(a, c, few * sizeof(float));
        for (size_t pass = 0; pass < PASSES; pass++)
            base_free(expected[pass]);
        release(a, few), release(b, few), release(c, n);
        tensors_free(&t);
    }
}

TEST(other_shapes_are_refused)
{
    const struct conv_desc good = describe(&SHAPES[0], 1);
    struct conv_desc d = good;
    assert_true(conv_shortcut_fits(&good) == (shapes() > 0)); /* v2 has none */
    d = good, d.stride = 1;
    assert_false(conv_shortcut_fits(&d));
    d = good, d.pad = 1;
    assert_false(conv_shortcut_fits(&d));
    d = good, d.kernel_height = 2;
    assert_false(conv_shortcut_fits(&d));
    d = good, d.bias = 1;
    assert_false(conv_shortcut_fits(&d));
    d = good, d.relu = 1;
    assert_false(conv_shortcut_fits(&d));
    d = good, d.mask_src = 1;
    assert_false(conv_shortcut_fits(&d));
    d = good, d.src_dtype = d.dst_dtype = NN_BF16;
    assert_false(conv_shortcut_fits(&d));
    d = good, d.src.channels = 48; /* not one panel */
    assert_false(conv_shortcut_fits(&d));
    d = good, d.dst.channels = 128;
    assert_false(conv_shortcut_fits(&d));
    d = good, d.dst.width = 3; /* twelve results */
    assert_false(conv_shortcut_fits(&d));
}

TEST_GROUP(.next = level_next, .tags = "matrix")
