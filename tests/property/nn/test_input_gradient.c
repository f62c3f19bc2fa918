/* The gradient of a plan's input against central differences, for networks in which the input has one
 * reader, several readers, or is added to a result; and that asking for it does not change the
 * parameters' gradients. */
#include "support/test.h"

#include "nn/model/model.h"
#include "rng/rng.h"
#include "support/machine.h"

#include <math.h>

enum { BATCH = 6, OUTPUTS = 3, DIRECTIONS = 12 };

static const struct nn_model_config networks[] = {
    {.name = "mlp", .input = {9, 1, 1}, .classes = OUTPUTS},
    {.name = "mlp", .input = {9, 1, 1}, .classes = OUTPUTS, .hidden = {17, 12}, .hidden_count = 2},
    {.name = "cnn", .input = {3, 16, 16}, .classes = OUTPUTS, .hidden = {8, 8, 16}, .hidden_count = 3},
    {.name = "resnet8", .input = {3, 16, 16}, .classes = OUTPUTS},
    {.name = "resnet8", .input = {3, 16, 16}, .classes = OUTPUTS, .members = 2},
};
enum { NETWORKS = sizeof networks / sizeof *networks };

struct subject {
    struct nn_model *model;
    struct nn_plan *plan;
    float *x;
    size_t cells;
};

static void fill(float *x, size_t n, uint64_t index)
{
    struct rng r = rng_stream(31, RNG_TEST, 0, index);
    for (size_t i = 0; i < n; i++)
        x[i] = (float)rng_normal(&r);
}

static void open_subject(struct subject *s, const struct nn_model_config *network, int input_gradient)
{
    const struct nn_plan_config config = {.batch = BATCH,
                                          .dtype = machine.type,
                                          .backend = machine.kernels,
                                          .training = 1,
                                          .input_gradient = input_gradient};
    assert_int_equal(nn_model_create(&s->model, network, 5), SOTTO_OK);
    assert_int_equal(nn_plan_create(&s->plan, s->model, &config), SOTTO_OK);
    s->cells = BATCH * shape_count(network->input);
    s->x = base_alloc(s->cells, sizeof *s->x);
    fill(s->x, s->cells, 0);
}

static void close_subject(struct subject *s)
{
    nn_plan_free(s->plan);
    nn_model_free(s->model);
    base_free(s->x);
}

/* Sum of the outputs times fixed weights, at x + h v. */
static double value_at(struct subject *s, const float *v, double h)
{
    double sum = 0;
    float weight[BATCH * OUTPUTS];
    for (size_t i = 0; i < s->cells; i++)
        nn_plan_input(s->plan)[i] = (float)((double)s->x[i] + h * (v ? (double)v[i] : 0));
    nn_plan_forward(s->plan, 1, 0, 0);
    fill(weight, BATCH * OUTPUTS, 1);
    for (size_t i = 0; i < BATCH * OUTPUTS; i++)
        sum += (double)weight[i] * (double)nn_plan_output(s->plan)[i];
    return sum;
}

static void run_backward(struct subject *s)
{
    value_at(s, NULL, 0);
    fill(nn_plan_diff_output(s->plan), BATCH * OUTPUTS, 1);
    nn_plan_backward(s->plan);
}

TEST(follows_differences)
{
    const double h = 1.0 / 16384; /* small: a ReLU that turns on the way is an error of the difference */
    for (size_t k = 0; k < NETWORKS; k++) {
        struct subject s;
        double error = 0, size = 0;
        open_subject(&s, &networks[k], 1);
        float *gradient = base_alloc(s.cells, sizeof *gradient), *v = base_alloc(s.cells, sizeof *v);
        run_backward(&s);
        memcpy(gradient, nn_plan_input_gradient(s.plan), s.cells * sizeof *gradient);
        for (int d = 0; d < DIRECTIONS; d++) {
            double along = 0;
            fill(v, s.cells, 2 + (uint64_t)d);
            for (size_t i = 0; i < s.cells; i++)
                along += (double)v[i] * (double)gradient[i];
            double difference = (value_at(&s, v, h) - value_at(&s, v, -h)) / (2 * h);
            error += pow(difference - along, 2), size += pow(difference, 2);
        }
        if (!(sqrt(error) < 0.03 * sqrt(size)))
            fail_msg("%s (%zu): relative distance %g", networks[k].name, k, sqrt(error / size));
        base_free(gradient);
        base_free(v);
        close_subject(&s);
    }
}

/* In bf16: near the gradient of the same network in f32. */
TEST(is_near_in_bf16)
{
    if (!nn_backend_supports_bf16(machine.kernels))
        skip();
    for (size_t k = 0; k < NETWORKS; k++) {
        struct subject fine, coarse;
        double error = 0, size = 0;
        machine_set(NN_F32);
        open_subject(&fine, &networks[k], 1);
        machine_set(NN_BF16);
        open_subject(&coarse, &networks[k], 1);
        run_backward(&fine);
        run_backward(&coarse);
        const float *a = nn_plan_input_gradient(fine.plan), *b = nn_plan_input_gradient(coarse.plan);
        for (size_t i = 0; i < fine.cells; i++)
            error += pow((double)a[i] - (double)b[i], 2), size += pow((double)a[i], 2);
        if (!(sqrt(error) < 0.25 * sqrt(size)))
            fail_msg("%s (%zu): relative distance %g", networks[k].name, k, sqrt(error / size));
        close_subject(&fine);
        close_subject(&coarse);
    }
    machine_set(NN_F32);
}

TEST(leaves_the_parameters_alone)
{
    for (size_t k = 0; k < NETWORKS; k++) {
        struct subject with, without;
        open_subject(&with, &networks[k], 1);
        open_subject(&without, &networks[k], 0);
        assert_null(nn_plan_input_gradient(without.plan));
        run_backward(&with);
        run_backward(&without);
        const struct tensor_list *a = nn_model_tensors(with.model), *b = nn_model_tensors(without.model);
        for (size_t t = 0; t < a->count; t++)
            assert_memory_equal(a->items[t].grad, b->items[t].grad, a->items[t].count * sizeof(float));
        close_subject(&with);
        close_subject(&without);
    }
}

TEST(refuses_what_it_cannot_give)
{
    struct nn_model_config noisy = networks[3];
    noisy.radius = 1;
    struct nn_plan_config config = {.batch = BATCH, .backend = machine.kernels, .input_gradient = 1};
    struct nn_model *m = NULL;
    struct nn_plan *p = NULL;
    assert_int_equal(nn_model_create(&m, &noisy, 1), SOTTO_OK);
    assert_int_equal(nn_plan_create(&p, m, &config), SOTTO_EINVAL);
    config.training = 1;
    assert_int_equal(nn_plan_create(&p, m, &config), SOTTO_ENOTSUP);
    assert_null(p);
    nn_model_free(m);
}

TEST_GROUP(.start = machine_f32, .tags = "matrix")
