/* Short runs must learn. Every class is an arrangement of four blobs; an image shows its class's arrangement
 * somewhere else, with blob strengths of its own. SimCLR learns to find an arrangement wherever it is, which
 * the untrained network cannot. For rotation every image is also brighter at its top. In f32; from the landing's effort on also in
 * bf16, as where SOTTO_TEST_DTYPE asks for it.
 *
 * The first 500 images are trained on and are the neighbours of the other 600, so a share of these has a deviation of 0.02. After 16
 * epochs SimCLR reaches 0.72 (AVX2, AVX-512, bf16), after 12 sometimes 0.66; untrained 0.63. Runs are the same at each try. At effort 1
 * it runs 6 epochs, after which its loss is 0.83 of the first, and neighbours are asked about from the landing's effort on. Were the
 * images drawn anew, the limit of .05 would fail right code in some 8 % of tries and pass an encoder that learns nothing in 4 %
 * (normal, deviation .028 of the difference); more epochs at efforts 5 and 50 lower the first. A loss that does not fall fails always. */
#include "support/test.h"
#include "support/effort.h"
#include "support/machine.h"
#include "nn/nn.h"
#include "rng/rng.h"
#include "sotto/lab/ssl.h"

#include <math.h>
#include <string.h>

enum { N = 1100, TRAIN = 500, SIDE = 32, CLASSES = 6, BLOBS = 4, NEIGHBOURS = 20 };
static uint8_t pixels[N * SIDE * SIDE];
static int64_t labels[N];

static void draw_image(uint8_t *image, int64_t label, double slope, struct rng *r)
{
    struct rng shape = rng_stream(2, RNG_TEST, 0, (uint64_t)label);
    double shift_y = 16 * rng_unit(r) - 8, shift_x = 16 * rng_unit(r) - 8, value[SIDE * SIDE];
    for (int i = 0; i < SIDE * SIDE; i++)
        value[i] = 20 + 3 * rng_normal(r) + slope * (SIDE - i / SIDE);
    for (int b = 0; b < BLOBS; b++) {
        double y = 16 + 16 * rng_unit(&shape) - 8 + shift_y, x = 16 + 16 * rng_unit(&shape) - 8 + shift_x;
        double size = 1.2 + 2 * rng_unit(&shape), strength = 30 + 200 * rng_unit(r);
        for (int i = 0; i < SIDE * SIDE; i++) {
            double dy = (i / SIDE - y) / size, dx = (i % SIDE - x) / size;
            value[i] += strength * exp(-0.5 * (dy * dy + dx * dx));
        }
    }
    for (int i = 0; i < SIDE * SIDE; i++)
        image[i] = (uint8_t)fmin(fmax(value[i], 0), 255);
}

static void draw(double slope)
{
    for (size_t i = 0; i < N; i++) {
        struct rng r = rng_stream(1, RNG_TEST, 0, i);
        labels[i] = (int64_t)rng_below(&r, CLASSES);
        draw_image(pixels + i * SIDE * SIDE, labels[i], slope, &r);
    }
}

static double quality(const struct sotto_encoder *e, const struct sotto_dataset *data)
{
    double accuracy;
    size_t width = sotto_encoder_width(e);
    float *x = base_alloc(N * width, sizeof *x);
    assert_non_null(x);
    assert_int_equal(sotto_embed(x, e, data, NULL, N, &machine.context), SOTTO_OK);
    assert_int_equal(sotto_knn_accuracy(&accuracy, x, labels, TRAIN, x + TRAIN * width, labels + TRAIN,
                                        N - TRAIN, width, NEIGHBOURS, &machine.context),
                     SOTTO_OK);
    base_free(x);
    return accuracy;
}

/* First and last: results of a run of one epoch and of `epochs`. Skips on the reference kernels. */
static struct sotto_encoder *train(struct sotto_pretrain_result *first, struct sotto_pretrain_result *last,
                                   const struct sotto_dataset *data, const char *method, size_t epochs)
{
    if (strcmp(machine.backend, "ref") == 0) {
        print_message("skipped: the reference kernels are too slow for a real run\n");
        skip();
    }
    int64_t rows[TRAIN];
    struct sotto_encoder *e;
    struct sotto_pretrain_options o;
    for (int64_t i = 0; i < TRAIN; i++)
        rows[i] = i;
    sotto_pretrain_defaults(&o);
    o.dtype = machine.dtype;
    o.backend = machine.backend;
    o.method = method;
    o.batch = 50;
    o.min_area = 0.5;
    o.brightness = 0.3;
    o.jitter = 0.1;

    o.epochs = 1;
    assert_int_equal(sotto_pretrain(&e, first, data, rows, TRAIN, &o, &machine.context), SOTTO_OK);
    sotto_encoder_free(e);
    o.epochs = epochs;
    assert_int_equal(sotto_pretrain(&e, last, data, rows, TRAIN, &o, &machine.context), SOTTO_OK);
    print_message("%s: loss %.3f to %.3f, accuracy %.3f to %.3f\n", method, first->loss, last->loss,
                  first->accuracy, last->accuracy);
    return e;
}

static const struct sotto_dataset images = {.name = "pictures",
                                            .sha256 = "-",
                                            .n = N,
                                            .n_train = N,
                                            .channels = 1,
                                            .height = SIDE,
                                            .width = SIDE,
                                            .images = pixels};

TEST(simclr_learns)
{
    struct sotto_pretrain_result first, last;
    draw(0);
    struct sotto_encoder *random,
        *trained = train(&first, &last, &images, "simclr", (size_t)by_effort(6, 30, 60));
    assert_int_equal(sotto_encoder_random(&random, &images, "keras-simclr", 0), SOTTO_OK);
    assert_true(last.loss < 0.9 * first.loss && last.accuracy > first.accuracy);
    if (effort() > 1) {
        double before = quality(random, &images), after = quality(trained, &images);
        print_message("k-NN: %.3f untrained, %.3f trained\n", before, after);
        assert_true(after > before + 0.05);
    }
    sotto_encoder_free(trained);
    sotto_encoder_free(random);
}

TEST(rotation_learns)
{
    struct sotto_pretrain_result first, last;
    draw(2);
    sotto_encoder_free(train(&first, &last, &images, "rotation", (size_t)by_effort(5, 8, 16)));
    assert_true(last.loss < 1.0 && last.accuracy > 0.6); /* chance: 1.386 and 0.25 */
}

static int next_dtype(void)
{
    const bool f32_alone = effort() == 1 && machine.turn > NN_F32 && !machine_asked("SOTTO_TEST_DTYPE", NULL);
    return f32_alone ? 0 : machine_next();
}

TEST_GROUP(.next = next_dtype, .tags = "matrix matrix-dtype")
