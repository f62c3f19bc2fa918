/* Batch norms that leave parts of their work to a depthwise convolution beside them: results, gradients, running moments and
 * a second step, with running moments, have the bits of a plan in which each row's result is in memory. MobileNetV2 (both strides),
 * f32 from v2 on, bf16 where this CPU has it, two threads, at the best level one, too; frozen norms; and a plan of leaves. */
#include "support/test.h"
#include "support/machine.h"
#include "base/cpu.h"
#include "nn/plan/plan.h"
#include "rng/rng.h"

#include <string.h>

/* SHARED: depthwise convolutions of images wider than two pixels, of 17 */
enum { SIDE = 9, BATCH = 3, CLASSES = 4, INPUTS = 3 * SIDE * SIDE, SHARED = 14 };

struct network {
    struct nn_model *model;
    struct nn_plan *plan;
};

static struct network network_of(struct nn_freeze freeze, struct nn_plan_config config)
{
    struct network n = {0};
    struct nn_model_config model = {.name = "mobilenetv2",
                                    .input = {3, SIDE, SIDE},
                                    .classes = CLASSES,
                                    .norm = "batch",
                                    .freeze = freeze};
    assert_int_equal(nn_model_create(&n.model, &model, 1), SOTTO_OK);
    config.backend = machine.kernels;
    config.dtype = machine.type;
    config.batch = BATCH;
    config.training = 1;
    assert_int_equal(nn_plan_create(&n.plan, n.model, &config), SOTTO_OK);
    return n;
}

static void close_network(struct network *n)
{
    nn_plan_free(n->plan);
    nn_model_free(n->model);
}

/* One pass each way; the weights then move, by plain gradient descent. */
static void step(struct network *n, int training, uint64_t number)
{
    struct rng r = rng_stream(17, RNG_TEST, 0, number);
    for (size_t i = 0; i < BATCH * INPUTS; i++)
        nn_plan_input(n->plan)[i] = (float)rng_normal(&r);
    assert_int_equal(nn_plan_forward(n->plan, training, 0, number), SOTTO_OK);
    for (size_t i = 0; i < BATCH * CLASSES; i++)
        nn_plan_diff_output(n->plan)[i] = (float)rng_normal(&r);
    assert_int_equal(nn_plan_backward(n->plan), SOTTO_OK);
    for (size_t p = 0; p < n->model->parameter_count; p++)
        for (size_t i = 0; n->model->parameters[p].diff && i < n->model->parameters[p].count; i++)
            n->model->parameters[p].value[i] -= 0.01F * n->model->parameters[p].diff[i];
}

static void compare(const struct network *a, const struct network *b)
{
    const struct nn_model *m = a->model;
    assert_memory_equal(nn_plan_output(a->plan), nn_plan_output(b->plan), BATCH * CLASSES * sizeof(float));
    for (size_t p = 0; p < m->parameter_count; p++) {
        const struct nn_parameter *x = &m->parameters[p], *y = &b->model->parameters[p];
        assert_memory_equal(x->value, y->value, x->count * sizeof *x->value);
        if (x->diff)
            assert_memory_equal(x->diff, y->diff, x->count * sizeof *x->diff);
    }
    for (size_t i = 0; i < m->statistic_count; i++)
        assert_true(m->statistics[i] == b->model->statistics[i]);
}

/* How many norms' results are not in memory. */
static size_t shared_results(const struct nn_plan *p)
{
    size_t count = 0;
    for (size_t i = 0; i < p->row_count; i++)
        count += p->activations[i + 1].data == NULL;
    return count;
}

static void check(struct nn_freeze freeze, struct nn_plan_config config, size_t shared)
{
    struct network a = network_of(freeze, config);
    config.every_result = 1;
    struct network b = network_of(freeze, config);
    assert_int_equal(shared_results(a.plan), shared);
    assert_int_equal(shared_results(b.plan), 0);
    assert_true(nn_plan_bytes(a.plan) < nn_plan_bytes(b.plan));
    for (uint64_t i = 0; i < 2; i++) { /* the second with running moments */
        step(&a, i != 1, i), step(&b, i != 1, i);
        compare(&a, &b);
    }
    close_network(&a);
    close_network(&b);
}

TEST(shared_norms_have_the_same_bits)
{
    const int best = cpu_best_isa();
    for (int level = 0; level <= best; level++)
        for (int threads = level == best ? 1 : 2; threads <= 2; threads++) {
            setenv("SOTTO_ISA", cpu_isa_name((enum cpu_isa)level), 1);
            par_set_threads(threads);
            if (machine.type == NN_BF16 && !nn_backend_supports_bf16(machine.kernels))
                continue;
            check((struct nn_freeze){0}, (struct nn_plan_config){0}, SHARED);
        }
}

TEST(frozen_norms_have_the_same_bits)
{
    check((struct nn_freeze){.norms = 1}, (struct nn_plan_config){0}, SHARED);
    check((struct nn_freeze){.blocks = 5}, (struct nn_plan_config){0}, SHARED - 5);
}

/* Without training. */
TEST(answers_have_the_same_bits)
{
    float answer[2][BATCH * CLASSES];
    size_t bytes[2];
    struct network n = network_of((struct nn_freeze){0}, (struct nn_plan_config){0});
    step(&n, 1, 0);
    for (int every = 0; every < 2; every++) {
        struct nn_plan *p = NULL;
        const struct nn_plan_config config = {
            .batch = BATCH, .dtype = machine.type, .backend = machine.kernels, .every_result = every};
        assert_int_equal(nn_plan_create(&p, n.model, &config), SOTTO_OK);
        memcpy(nn_plan_input(p), nn_plan_input(n.plan), BATCH * INPUTS * sizeof(float));
        assert_int_equal(nn_plan_forward(p, 0, 0, 0), SOTTO_OK);
        assert_int_equal(shared_results(p), every ? 0 : SHARED);
        memcpy(answer[every], nn_plan_output(p), sizeof answer[every]);
        bytes[every] = nn_plan_bytes(p);
        nn_plan_free(p);
    }
    assert_memory_equal(answer[0], answer[1], sizeof answer[0]);
    assert_true(bytes[0] <= bytes[1]);
    close_network(&n);
}

TEST(leaves_share_the_result_alone)
{
    struct network n = network_of((struct nn_freeze){0}, (struct nn_plan_config){.leaves = 1});
    assert_int_equal(shared_results(n.plan), SHARED);
    for (size_t i = 0; i < n.plan->row_count; i++) {
        const struct norm_shared s = n.plan->runs[i].shared;
        assert_false(s.images || s.slopes || s.moments || s.gradient);
    }
    close_network(&n);
}

TEST_GROUP(.next = machine_next, .tags = "matrix")
