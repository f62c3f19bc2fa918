/* Transposed convolution: a known answer, and the adjoint of convolution; leaky ReLU at its corner; cross-entropy of logits; the
 * gradient of the input alone. */
#include "support/test.h"

#include "generate/generator.h"
#include "nn/backend.h"
#include "nn/kernel/loss_kernels.h"
#include "nn/model/model.h"
#include "support/layer_bench.h"
#include "support/machine.h"

#include <math.h>

static void near(double found, double expected, double tolerance)
{
    if (!(fabs(found - expected) <= tolerance))
        fail_msg("%.12g; expected %.12g", found, expected);
}

/* layer_bench.h sets no backend. */
static void open_with_backend(struct bench *b, struct layer_spec spec, struct nn_shape shape, size_t batch)
{
    struct layer hollow = *spec.layer;
    const struct layer *whole = spec.layer;
    hollow.plan = NULL, hollow.layout = NULL;
    spec.layer = &hollow;
    open_bench(b, spec, shape, batch, NN_F32, 0);
    b->spec.layer = whole;
    b->run.backend = machine.kernels;
    b->run.threads = machine.context.threads;
    assert_int_equal(whole->plan(&b->run), SOTTO_OK);
    for (int pass = 0; pass < 2; pass++) {
        whole->layout(&b->run, &b->keep, &b->scratch);
        if (pass == 0) {
            assert_int_equal(arena_reserve(&b->keep, "test"), SOTTO_OK);
            assert_int_equal(arena_reserve(&b->scratch, "test"), SOTTO_OK);
        }
    }
}

TEST(known_answer)
{
    static const float x[] = {1, 2, 3, 4}, w[] = {1, -1, 2, .5F},
                       expected[] = {1, -1, 2, -2, 2, .5F, 4, 1, 3, -3, 4, -4, 6, 1.5F, 8, 2};
    struct bench b;
    struct layer_spec spec = {
        .layer = &layer_transposed_conv, .path = "test", .width = 1, .kernel = 2, .stride = 2, .no_bias = 0};
    open_with_backend(&b, spec, (struct nn_shape){1, 2, 2}, 1);
    memcpy(b.src.data, x, sizeof x);
    memcpy(b.parameters[0].value, w, sizeof w);
    b.parameters[1].value[0] = 10;
    spec.layer->forward(&b.run, &b.pass);
    assert_int_equal(b.dst.count, 16);
    for (size_t i = 0; i < 16; i++)
        near((double)((float *)b.dst.data)[i], (double)expected[i] + 10, 1e-6);
    close_bench(&b);
}

static double inner(const float *a, const float *b, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += (double)a[i] * (double)b[i];
    return sum;
}

/* <conv(a), b> = <a, convT(b)> with the same weights; and gradients by the adjoint: of <convT(b), c> by b it is conv(c), and
 * along its weights w it is <convT_w(b), c>, which is linear in w. */
TEST(it_is_the_adjoint)
{
    for (size_t kernel = 3; kernel <= 4; kernel++)
        for (size_t stride = 1; stride <= 2; stride++)
            for (size_t pad = 0; pad <= 1; pad++) {
                struct bench up, down;
                struct layer_spec spec = {.layer = &layer_transposed_conv,
                                          .path = "up",
                                          .width = 5,
                                          .kernel = kernel,
                                          .stride = stride,
                                          .pad = pad,
                                          .no_bias = 1};
                open_with_backend(&up, spec, (struct nn_shape){7, 4, 4}, 3);
                spec.layer = &layer_conv, spec.width = 7;
                open_with_backend(&down, spec, up.dst.shape, 3);
                assert_int_equal(down.dst.count, up.src.count);
                memcpy(down.parameters[0].value, up.parameters[0].value,
                       up.parameters[0].count * sizeof(float));
                layer_transposed_conv.forward(&up.run, &up.pass);
                layer_conv.forward(&down.run, &down.pass);
                double one = inner(down.dst.data, up.src.data, up.src.count),
                       other = inner(down.src.data, up.dst.data, up.dst.count),
                       size = sqrt(inner(down.dst.data, down.dst.data, up.src.count) *
                                   inner(up.src.data, up.src.data, up.src.count));
                near(one, other, 1e-5 * size);
                layer_transposed_conv.backward(&up.run, &up.pass);
                double value = inner(up.dst.diff, up.dst.data, up.dst.count);
                near(inner(up.src.diff, up.src.data, up.src.count), value, 1e-5 * size);
                near(inner(up.parameters[0].diff, up.parameters[0].value, up.parameters[0].count), value,
                     1e-5 * size);
                /* the weight gradient itself, along one weight */
                size_t at = up.parameters[0].count / 3;
                double slope = (double)up.parameters[0].diff[at], before = value;
                up.parameters[0].value[at] += 1;
                layer_transposed_conv.forward(&up.run, &up.pass);
                near(inner(up.dst.diff, up.dst.data, up.dst.count) - before, slope, 1e-5 * size);
                close_bench(&up);
                close_bench(&down);
            }
}

TEST(leaky_at_its_corner)
{
    static const float x[] = {-2, -0.F, 0, 3};
    struct bench b;
    struct layer_spec spec = {.layer = &layer_leaky, .path = "test", .rate = .2};
    open_bench(&b, spec, (struct nn_shape){4, 1, 1}, 1, NN_F32, 0);
    memcpy(b.src.data, x, sizeof x);
    for (size_t i = 0; i < 4; i++)
        ((float *)b.dst.diff)[i] = 1;
    layer_leaky.forward(&b.run, &b.pass);
    layer_leaky.backward(&b.run, &b.pass);
    const float *y = b.dst.data, *d = b.src.diff;
    assert_true(y[0] == .2F * -2 && y[1] == 0 && y[2] == 0 && y[3] == 3);
    assert_true(d[0] == .2F && d[1] == .2F && d[2] == .2F && d[3] == 1);
    close_bench(&b);
    struct nn_shape shape;
    spec.rate = 0;
    assert_int_equal(layer_leaky.shape(&shape, &spec, (struct nn_shape){4, 1, 1}), SOTTO_EINVAL);
}

/* Against doubles: saturated, tiny and odd numbers of logits, and more than one span of logarithms. */
TEST(logistic_loss)
{
    enum { MOST = 2500 };
    static float z[MOST], t[MOST], grad[MOST];
    static const size_t widths[] = {1, 15, 16, 17, 1024, 1039, MOST};
    struct rng r = rng_stream(3, RNG_TEST, 0, 0);
    for (size_t i = 0; i < MOST; i++)
        z[i] = (float)(5 * rng_normal(&r)), t[i] = rng_unit_f(&r);
    z[0] = 80, z[1] = -80, z[2] = 0, z[3] = 3e4F;
    for (size_t k = 0; k < sizeof widths / sizeof *widths; k++) {
        double sum = 0, found = loss_kernels_best()->logistic(grad, z, t, .5F, widths[k]);
        for (size_t i = 0; i < widths[k]; i++) {
            double x = (double)z[i];
            sum += fmax(x, 0) - x * (double)t[i] + log1p(exp(-fabs(x)));
            near((double)grad[i], .5 * (1 / (1 + exp(-x)) - (double)t[i]), 3e-7);
        }
        near(found, sum, 1e-6 * (1 + sum));
        assert_true(loss_kernels_best()->logistic(NULL, z, t, .5F, widths[k]) == found);
    }
}

/* The gradient of the input is the same when those of the weights are left out, and they stay as they were. */
TEST(frozen_passes_leave_weights_alone)
{
    struct nn_model *m;
    struct nn_plan *p;
    struct nn_model_config config = {.kind = &model_dcgan_discriminator,
                                     .name = "test",
                                     .input = {1, 32, 32},
                                     .hidden = {4, 1},
                                     .hidden_count = 2};
    struct nn_plan_config plan = {.batch = 3, .backend = machine.kernels, .training = 1, .input_gradient = 1};
    static float whole[3 * 32 * 32];
    assert_int_equal(nn_model_create(&m, &config, 1), SOTTO_OK);
    assert_int_equal(nn_plan_create(&p, m, &plan), SOTTO_OK);
    struct rng r = rng_stream(4, RNG_TEST, 0, 0);
    for (size_t i = 0; i < 3 * 32 * 32; i++)
        nn_plan_input(p)[i] = (float)rng_normal(&r);
    assert_int_equal(nn_plan_forward(p, 1, 0, 0), SOTTO_OK);
    for (size_t i = 0; i < 3; i++)
        nn_plan_diff_output(p)[i] = (float)i - .5F;
    assert_int_equal(nn_plan_backward(p), SOTTO_OK);
    memcpy(whole, nn_plan_input_gradient(p), sizeof whole);
    for (size_t i = 0; i < m->trainable; i++)
        m->diffs[i] = 7;
    assert_int_equal(nn_plan_forward(p, 1, 0, 0), SOTTO_OK);
    for (size_t i = 0; i < 3; i++)
        nn_plan_diff_output(p)[i] = (float)i - .5F;
    assert_int_equal(nn_plan_backward_input(p), SOTTO_OK);
    assert_memory_equal(whole, nn_plan_input_gradient(p), sizeof whole);
    for (size_t i = 0; i < m->trainable; i++)
        assert_true(m->diffs[i] == 7);
    nn_plan_free(p);
    nn_model_free(m);
}

TEST_GROUP(.start = machine_f32, .tags = "matrix")
