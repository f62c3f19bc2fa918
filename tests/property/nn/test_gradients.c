/* Gradients of the reference kernels, compiled in double, against central differences (1e-6); then a whole
 * plan in f32 against the same network written out with the double kernels. */
#include "support/conv_reference.h"

#include "support/test.h"
#include "nn/plan/plan.h"
#include "rng/rng.h"
#include <math.h>
#include <string.h>

static void fill(double *x, size_t n, uint64_t index)
{
    struct rng r = rng_stream(11, RNG_TEST, 0, index);
    for (size_t i = 0; i < n; i++)
        x[i] = rng_normal(&r);
}

static double dot(const double *a, const double *b, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += a[i] * b[i];
    return sum;
}

/* ---- one convolution ---- */

struct problem {
    struct ref_conv_shape z;
    double *src, *weights, *bias, *dst, *diff_dst;
    size_t n_src, n_weights, n_dst;
};

static double loss(const struct problem *p)
{
    ref_conv_forward_in_double(p->dst, p->src, p->weights, p->bias, &p->z);
    return dot(p->dst, p->diff_dst, p->n_dst);
}

/* The loss is linear in each argument, so the step can be large and rounding is all that is left. */
static void check_span(const struct problem *p, double *x, const double *diff, size_t n, const char *what)
{
    for (size_t i = 0; i < n; i++) {
        double saved = x[i];
        x[i] = saved + 0.5;
        double up = loss(p);
        x[i] = saved - 0.5;
        double down = loss(p);
        x[i] = saved;
        if (!(fabs(up - down - diff[i]) <= 1e-6 * (1 + fabs(diff[i]))))
            fail_msg("%s[%zu]: gradient %.12g, difference %.12g", what, i, diff[i], up - down);
    }
}

static void check_conv(struct ref_conv_shape z)
{
    struct problem p = {.z = z,
                        .n_src = z.N * z.H * z.W * z.C,
                        .n_weights = z.K * z.R * z.S * z.C,
                        .n_dst = z.N * z.P * z.Q * z.K};
    double *all = base_alloc(3 * p.n_src + 3 * p.n_weights + 3 * p.n_dst + 3 * z.K, sizeof *all), *next = all;
    p.src = next, next += p.n_src;
    p.weights = next, next += p.n_weights;
    p.bias = next, next += z.K;
    p.dst = next, next += p.n_dst;
    p.diff_dst = next, next += p.n_dst;
    double *diff_src = next, *diff_weights = diff_src + p.n_src, *diff_bias = diff_weights + p.n_weights;
    fill(p.src, p.n_src, 0);
    fill(p.weights, p.n_weights, 1);
    fill(p.bias, z.K, 2);
    fill(p.diff_dst, p.n_dst, 3);
    ref_conv_backward_data_in_double(diff_src, p.diff_dst, p.weights, &z);
    ref_conv_backward_weights_in_double(diff_weights, diff_bias, p.diff_dst, p.src, &z);
    check_span(&p, p.src, diff_src, p.n_src, "diff_src");
    check_span(&p, p.weights, diff_weights, p.n_weights, "diff_weights");
    check_span(&p, p.bias, diff_bias, z.K, "diff_bias");
    base_free(all);
}

TEST(convolution_gradients_match_differences)
{
    check_conv((struct ref_conv_shape){
        .N = 2, .H = 7, .W = 5, .C = 3, .K = 4, .R = 3, .S = 3, .P = 3, .Q = 2, .stride = 2});
    check_conv((struct ref_conv_shape){
        .N = 2, .H = 4, .W = 5, .C = 2, .K = 3, .R = 3, .S = 3, .P = 4, .Q = 5, .stride = 1, .pad = 1});
    check_conv((struct ref_conv_shape){
        .N = 1, .H = 5, .W = 5, .C = 2, .K = 3, .R = 1, .S = 1, .P = 3, .Q = 3, .stride = 2});
    check_conv((struct ref_conv_shape){
        .N = 3, .H = 2, .W = 3, .C = 2, .K = 4, .R = 2, .S = 3, .P = 1, .Q = 1, .stride = 1}); /* dense */
}

/* ---- a whole network ---- */

enum { ROWS = 7, BATCH = 2, SIDE = 32 };
/* keras-simclr with its projector: sizes of the results, one by one. */
static const struct ref_conv_shape network[ROWS] = {
    {BATCH, 32, 32, 3, 128, 3, 3, 15, 15, 2, 0, NULL}, {BATCH, 15, 15, 128, 128, 3, 3, 7, 7, 2, 0, NULL},
    {BATCH, 7, 7, 128, 128, 3, 3, 3, 3, 2, 0, NULL},   {BATCH, 3, 3, 128, 128, 3, 3, 1, 1, 2, 0, NULL},
    {BATCH, 1, 1, 128, 128, 1, 1, 1, 1, 1, 0, NULL},   {BATCH, 1, 1, 128, 128, 1, 1, 1, 1, 1, 0, NULL},
    {BATCH, 1, 1, 128, 128, 1, 1, 1, 1, 1, 0, NULL},
};

static double *widened(const float *x, size_t n)
{
    double *y = base_alloc(n, sizeof *y);
    for (size_t i = 0; i < n; i++)
        y[i] = (double)x[i];
    return y;
}

static void assert_close(const float *found, const double *expected, size_t n, double tolerance,
                         const char *what)
{
    double error = 0, size = 0;
    for (size_t i = 0; i < n; i++) {
        error += pow((double)found[i] - expected[i], 2);
        size += expected[i] * expected[i];
    }
    if (!(sqrt(error) <= tolerance * sqrt(size)) || size == 0)
        fail_msg("%s: relative L2 distance %g", what, sqrt(error / size));
}

static void fill_f32(float *x, size_t n, uint64_t index)
{
    struct rng r = rng_stream(12, RNG_TEST, 0, index);
    for (size_t i = 0; i < n; i++)
        x[i] = (float)rng_normal(&r);
}

TEST(whole_plan_matches_the_network_written_out_in_double)
{
    struct nn_model *m = NULL;
    struct nn_plan *p = NULL;
    assert_int_equal(nn_model_create(&m,
                                     &(struct nn_model_config){.name = "keras-simclr",
                                                               .input = {3, SIDE, SIDE},
                                                               .projector = {128, 128},
                                                               .projector_count = 2},
                                     5),
                     SOTTO_OK);
    const struct nn_backend *ref;
    assert_int_equal(nn_backend_find(&ref, "ref"), SOTTO_OK);
    assert_int_equal(
        nn_plan_create(&p, m, &(struct nn_plan_config){.batch = BATCH, .backend = ref, .training = 1}),
        SOTTO_OK);
    for (size_t i = 0; i < m->parameter_count; i++)
        if (m->parameters[i].init == INIT_ZERO)
            fill_f32(m->parameters[i].value, m->parameters[i].count, 100 + i); /* biases off zero */
    fill_f32(nn_plan_input(p), BATCH * SIDE * SIDE * 3, 0);
    nn_plan_forward(p, 1, 0, 0);
    fill_f32(nn_plan_diff_output(p), BATCH * 128, 1);
    double *diff = widened(nn_plan_diff_output(p), BATCH * 128);
    nn_plan_backward(p);

    double *x[ROWS + 1], *weights[ROWS], *bias[ROWS];
    x[0] = widened(nn_plan_input(p), BATCH * SIDE * SIDE * 3);
    for (int i = 0; i < ROWS; i++) {
        const struct ref_conv_shape *z = &network[i];
        size_t n = z->N * z->P * z->Q * z->K;
        weights[i] = widened(m->parameters[2 * i].value, m->parameters[2 * i].count);
        bias[i] = widened(m->parameters[2 * i + 1].value, m->parameters[2 * i + 1].count);
        x[i + 1] = base_alloc(n, sizeof **x);
        ref_conv_forward_in_double(x[i + 1], x[i], weights[i], bias[i], z);
        for (size_t k = 0; i + 1 < ROWS && k < n; k++)
            x[i + 1][k] = fmax(x[i + 1][k], 0);
    }
    assert_close(nn_plan_output(p), x[ROWS], BATCH * 128, 1e-5, "output");
    for (int i = ROWS - 1; i >= 0; i--) {
        const struct ref_conv_shape *z = &network[i];
        size_t n = z->N * z->H * z->W * z->C, outputs = z->N * z->P * z->Q * z->K;
        double *diff_weights = base_alloc(m->parameters[2 * i].count, sizeof *diff_weights);
        double *diff_bias = base_alloc(z->K, sizeof *diff_bias), *diff_src = base_alloc(n, sizeof *diff_src);
        for (size_t k = 0; i + 1 < ROWS && k < outputs; k++)
            diff[k] *= x[i + 1][k] > 0;
        ref_conv_backward_weights_in_double(diff_weights, diff_bias, diff, x[i], z);
        ref_conv_backward_data_in_double(diff_src, diff, weights[i], z);
        assert_close(m->parameters[2 * i].diff, diff_weights, m->parameters[2 * i].count, 1e-4,
                     m->parameters[2 * i].name);
        assert_close(m->parameters[2 * i + 1].diff, diff_bias, z->K, 1e-4, m->parameters[2 * i + 1].name);
        base_free(diff_weights);
        base_free(diff_bias);
        base_free(diff);
        diff = diff_src;
    }
    base_free(diff);
    for (int i = 0; i <= ROWS; i++) {
        base_free(x[i]);
        if (i < ROWS) {
            base_free(weights[i]);
            base_free(bias[i]);
        }
    }
    nn_plan_free(p);
    nn_model_free(m);
}

TEST_GROUP(.tags = "matrix")
