/* Frozen layers: batch norm is its evaluation to the bit, gradients of what is trained are right, and nothing moves
 * what is frozen. */
#include "support/test.h"
#include "support/machine.h"
#include "nn/plan/plan.h"
#include "rng/rng.h"

#include <math.h>
#include <string.h>

enum { BATCH = 4, CLASSES = 5 };

static void fill(float *x, size_t n, uint64_t index)
{
    struct rng r = rng_stream(14, RNG_TEST, 0, index);
    for (size_t i = 0; i < n; i++)
        x[i] = (float)rng_normal(&r);
}

static struct nn_model_config resnet(struct nn_freeze freeze)
{
    return (struct nn_model_config){
        .name = "resnet8", .input = {3, 8, 8}, .classes = CLASSES, .freeze = freeze};
}

/* With statistics as after a training, and some weights that begin at 0 elsewhere. */
static struct nn_model *model_of(struct nn_freeze freeze)
{
    struct nn_model *m = NULL;
    struct nn_model_config config = resnet(freeze);
    assert_int_equal(nn_model_create(&m, &config, 1), SOTTO_OK);
    for (size_t i = 0; i < m->parameter_count; i++) {
        struct nn_parameter *p = &m->parameters[i];
        if (p->init == INIT_ZERO)
            fill(p->value, p->count, i);
        for (size_t k = 0; p->statistic && p->init == INIT_ONE && k < p->count; k++)
            p->value[k] = 0.5f + (float)(k % 5) / 4;
    }
    return m;
}

static struct nn_plan *plan_of(struct nn_model *m, struct nn_plan_config config)
{
    struct nn_plan *p = NULL;
    config.batch = config.batch ? config.batch : BATCH;
    config.backend = machine.kernels;
    config.dtype = machine.type;
    assert_int_equal(nn_plan_create(&p, m, &config), SOTTO_OK);
    fill(nn_plan_input(p), config.batch * 3 * 8 * 8, 77);
    return p;
}

TEST(frozen_batch_norm_is_its_evaluation_to_the_bit)
{
    struct nn_model *m = model_of((struct nn_freeze){.norms = 1});
    struct nn_plan *p = plan_of(m, (struct nn_plan_config){.training = 1});
    float expected[BATCH * CLASSES], *statistics = base_alloc(m->statistic_count, sizeof *statistics);
    memcpy(statistics, m->statistics, m->statistic_count * sizeof *statistics);
    nn_plan_forward(p, 0, 0, 0);
    memcpy(expected, nn_plan_output(p), sizeof expected);
    for (uint64_t step = 0; step < 2; step++) {
        nn_plan_forward(p, 1, 0, step);
        assert_memory_equal(nn_plan_output(p), expected, sizeof expected);
    }
    assert_memory_equal(m->statistics, statistics, m->statistic_count * sizeof *statistics);
    nn_plan_free(p);
    nn_model_free(m);
    /* the control: batch norm that is trained computes otherwise */
    m = model_of((struct nn_freeze){0});
    p = plan_of(m, (struct nn_plan_config){.training = 1});
    nn_plan_forward(p, 1, 0, 0);
    assert_memory_not_equal(nn_plan_output(p), expected, sizeof expected);
    nn_plan_free(p);
    nn_model_free(m);
    base_free(statistics);
}

TEST(a_frozen_batch_norm_trains_on_one_record)
{
    struct nn_plan *p = NULL;
    struct nn_model *m = model_of((struct nn_freeze){.norms = 1});
    nn_plan_free(plan_of(m, (struct nn_plan_config){.training = 1, .batch = 1}));
    nn_model_free(m);
    m = model_of((struct nn_freeze){.blocks = 3}); /* encoder.bn stays */
    struct nn_plan_config one = {.training = 1, .batch = 1, .backend = machine.kernels};
    assert_int_equal(nn_plan_create(&p, m, &one), SOTTO_EINVAL);
    nn_model_free(m);
}

/* Sum of all logits, weighted. */
static double loss_of(struct nn_plan *p, const float *weight)
{
    double sum = 0;
    nn_plan_forward(p, 1, 0, 0);
    for (size_t i = 0; i < BATCH * CLASSES; i++)
        sum += (double)weight[i] * (double)nn_plan_output(p)[i];
    return sum;
}

/* The tensor's slope along `direction`, by a central difference of step h. */
static double slope(struct nn_plan *p, struct tensor *x, const float *direction, double h,
                    const float *weight)
{
    float *kept = base_alloc(x->count, sizeof(float));
    double loss[2];
    memcpy(kept, x->value, x->count * sizeof(float));
    for (int side = 0; side < 2; side++) {
        for (size_t k = 0; k < x->count; k++)
            x->value[k] = (float)((double)kept[k] + (side ? h : -h) * (double)direction[k]);
        loss[side] = loss_of(p, weight);
    }
    memcpy(x->value, kept, x->count * sizeof(float));
    base_free(kept);
    return (loss[1] - loss[0]) / (2 * h);
}

/* Along a random direction of one trained tensor after the other. Rounding spoils differences of small steps, kinks
 * of the ReLU those of large ones; a wrong gradient agrees with none. */
static void check_gradients(struct nn_freeze freeze)
{
    static const double steps[] = {1e-5, 3e-5, 1e-4};
    struct nn_model *m = model_of(freeze);
    struct nn_plan *p = plan_of(m, (struct nn_plan_config){.training = 1});
    float weight[BATCH * CLASSES];
    fill(weight, BATCH * CLASSES, 5);
    loss_of(p, weight);
    memcpy(nn_plan_diff_output(p), weight, sizeof weight);
    nn_plan_backward(p);
    for (size_t t = 0; t < m->tensor_list.count; t++) {
        struct tensor *x = &m->tensors[t];
        float *direction = base_alloc(x->count, sizeof(float));
        double expected = 0, size = 0, error = INFINITY;
        fill(direction, x->count, 200 + t);
        for (size_t k = 0; k < x->count; k++) {
            expected += (double)direction[k] * (double)x->grad[k];
            size += (double)x->grad[k] * (double)x->grad[k];
        }
        for (size_t i = 0; i < sizeof steps / sizeof *steps; i++)
            error = fmin(error, fabs(slope(p, x, direction, steps[i], weight) - expected));
        if (!(size > 0 && error <= 0.01 * sqrt(size) + 0.01 * fabs(expected)))
            fail_msg("%s: the gradient says %g along the direction, differences are %g off (norm %g)",
                     x->name, expected, error, sqrt(size));
        base_free(direction);
    }
    nn_plan_free(p);
    nn_model_free(m);
}

TEST(gradients_are_those_of_differences)
{
    if (machine.type != NN_F32)
        return; /* bf16 is too coarse for differences */
    check_gradients((struct nn_freeze){.norms = 1});
    check_gradients((struct nn_freeze){.blocks = 1, .norms = 1});
    check_gradients((struct nn_freeze){.blocks = 2, .norms = 1});
    check_gradients((struct nn_freeze){.encoder = 1, .norms = 1});
}

TEST(nothing_moves_what_is_frozen)
{
    struct nn_model *m = model_of((struct nn_freeze){.blocks = 2, .norms = 1});
    struct nn_plan *p = plan_of(m, (struct nn_plan_config){.training = 1});
    struct nn_optimizer *o = NULL;
    const struct nn_optimizer_config sgd = {.name = "sgd", .momentum = 0.9, .weight_decay = 0.1};
    assert_int_equal(nn_optimizer_create(&o, m, &sgd), SOTTO_OK);
    float *before = base_alloc(m->trainable, sizeof *before);
    memcpy(before, m->values, m->trainable * sizeof *before);
    for (uint64_t step = 0; step < 3; step++) {
        nn_plan_forward(p, 1, 0, step);
        fill(nn_plan_diff_output(p), BATCH * CLASSES, step);
        nn_plan_backward(p);
        nn_optimizer_step(o, m, 0.1);
    }
    size_t frozen = 0;
    for (size_t i = 0; i < m->parameter_count; i++) {
        const struct nn_parameter *q = &m->parameters[i];
        if (q->statistic)
            continue;
        const int same = memcmp(q->value, before + (q->value - m->values), q->count * sizeof(float)) == 0;
        assert_int_equal(same, q->frozen);
        frozen += q->frozen ? q->count : 0;
    }
    assert_int_equal(frozen + nn_model_trained_count(m), nn_model_parameter_count(m, 1));
    nn_optimizer_free(o);
    nn_plan_free(p);
    nn_model_free(m);
    base_free(before);
}

/* Sizes by hand: stage 3 of resnet8 has a 1x1 shortcut 32 x 64, 3x3 convolutions 32 x 64 and 64 x 64. */
TEST(what_is_trained_is_counted)
{
    const size_t head = 64 * CLASSES + CLASSES, block = 32 * 64 + 9 * 32 * 64 + 9 * 64 * 64;
    const struct {
        struct nn_freeze freeze;
        size_t trained, tensors;
    } cases[] = {{{.encoder = 1}, head, 2},
                 {{.encoder = 1, .norms = 1}, head, 2},
                 {{.blocks = 2, .norms = 1}, head + block, 5},
                 {{.blocks = 3, .norms = 1}, head, 2},
                 {{.blocks = 3}, head + 2 * 64, 4}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct nn_model *m = model_of(cases[i].freeze);
        assert_int_equal(nn_model_trained_count(m), cases[i].trained);
        assert_int_equal(nn_model_trained_tensors(m), cases[i].tensors);
        assert_int_equal(nn_model_top_count(m), head);
        assert_int_equal(nn_model_blocks(m), 3);
        nn_model_free(m);
    }
    struct nn_model *m = NULL;
    struct nn_model_config config = resnet((struct nn_freeze){.blocks = 4});
    assert_int_equal(nn_model_create(&m, &config, 1), SOTTO_EINVAL);
    assert_non_null(strstr(sotto_error_text(), "3 blocks"));
    config =
        (struct nn_model_config){.name = "mlp", .input = {4, 1, 1}, .classes = 2, .freeze = {.blocks = 1}};
    assert_int_equal(nn_model_create(&m, &config, 1), SOTTO_EINVAL);
    assert_null(m);
}

TEST(the_top_can_be_trained_alone_for_a_while)
{
    struct nn_model *m = model_of((struct nn_freeze){.norms = 1});
    struct nn_plan *p = plan_of(m, (struct nn_plan_config){.training = 1});
    const size_t top = nn_model_top_count(m);
    float *all = base_alloc(m->trainable, sizeof *all);
    for (int turn = 0; turn < 3; turn++) { /* the top, all, the top again */
        memset(m->diffs, 0, m->trainable * sizeof *m->diffs);
        nn_plan_train_top(p, turn != 1);
        nn_plan_forward(p, 1, 0, 0);
        fill(nn_plan_diff_output(p), BATCH * CLASSES, 9);
        nn_plan_backward(p);
        size_t moved = 0;
        for (size_t t = 0; t < m->tensor_list.count; t++)
            for (size_t k = 0; k < m->tensors[t].count; k++)
                moved += m->tensors[t].grad[k] != 0;
        assert_true(turn == 1 ? moved > 2 * top : moved > 0 && moved <= top);
        if (turn == 0)
            memcpy(all, m->diffs, m->trainable * sizeof *all);
        const struct tensor *weight = &m->tensors[m->tensor_list.count - 2];
        assert_memory_equal(weight->grad, all + (weight->grad - m->diffs), weight->count * sizeof(float));
    }
    base_free(all);
    nn_plan_free(p);
    nn_model_free(m);
}

TEST(an_optimizer_starts_anew)
{
    float values[2][64];
    for (int turn = 0; turn < 2; turn++) {
        struct nn_model *m = model_of((struct nn_freeze){.encoder = 1});
        struct nn_optimizer *o = NULL;
        const struct nn_optimizer_config adam = {
            .name = "adam", .beta1 = 0.9, .beta2 = 0.999, .epsilon = 1e-7};
        nn_plan_free(plan_of(m, (struct nn_plan_config){.training = 1})); /* gradients */
        assert_int_equal(nn_optimizer_create(&o, m, &adam), SOTTO_OK);
        struct tensor *weight = &m->tensors[0];
        float kept[64];
        memcpy(kept, weight->value, sizeof kept);
        for (int step = 0; step < 3 * turn; step++) {
            fill(weight->grad, weight->count, (uint64_t)step);
            nn_optimizer_step(o, m, 0.1);
        }
        memcpy(weight->value, kept, sizeof kept);
        if (turn)
            nn_optimizer_restart(o);
        fill(weight->grad, weight->count, 50);
        nn_optimizer_step(o, m, 0.1);
        memcpy(values[turn], weight->value, sizeof kept);
        nn_optimizer_free(o);
        nn_model_free(m);
    }
    assert_memory_equal(values[0], values[1], sizeof values[0]);
}

TEST_GROUP(.next = machine_next, .tags = "matrix")
