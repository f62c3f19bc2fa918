/* Adam, SGD and the schedules: hand-computed steps, PyTorch's numbers, refusals. */
#include "support/test.h"

#include "nn/optimizer/optimizer.h"
#include "par/par.h"
#include "rng/rng.h"

#include <math.h>
#include <string.h>

static const struct nn_optimizer_config adam = {
    .name = "adam", .beta1 = 0.9, .beta2 = 0.999, .epsilon = 1e-7};

static struct nn_optimizer *make(const struct tensor_list *list, const struct nn_optimizer_config *c)
{
    struct nn_optimizer *o = NULL;
    assert_int_equal(optimizer_create(&o, list, c), SOTTO_OK);
    return o;
}

/** The first step of Adam is lr * sign(g) whatever the gradient's size (epsilon aside). */
TEST(adam_starts_with_the_sign)
{
    float value[3] = {1, 2, 3}, grad[3] = {5, -0.01f, 0};
    struct tensor t = {"w", value, grad, 3};
    struct tensor_list list = {&t, 1};
    struct nn_optimizer *o = make(&list, &adam);
    optimizer_step(o, &list, 0.1);
    assert_true(fabsf(value[0] - 0.9f) < 1e-6f);
    assert_true(fabsf(value[1] - 2.1f) < 3e-6f);
    assert_true(value[2] == 3);
    nn_optimizer_free(o);
}

/** Gradients for the comparisons below: g_t[i] = sin(1 + i + 3 t) * 10^-(i mod 4). */
static void gradient(float *grad, size_t n, int t)
{
    for (size_t i = 0; i < n; i++)
        grad[i] = (float)(sin(1.0 + (double)i + 3.0 * t) * pow(10, -(double)(i % 4)));
}

struct golden {
    struct nn_optimizer_config config;
    double lr, expected[6];
};

/* torch 2.13.0 in float64, 5 steps from value_i = i - 2 with the gradients above:
 * tools/golden_optimizer.py. */
static const struct golden golden[] = {
#include "golden/optimizer.inc"
};

TEST(steps_match_pytorch)
{
    for (size_t g = 0; g < sizeof golden / sizeof *golden; g++) {
        float value[6], grad[6];
        struct tensor t[2] = {{"a", value, grad, 4}, {"b", value + 4, grad + 4, 2}};
        struct tensor_list list = {t, 2};
        for (int i = 0; i < 6; i++)
            value[i] = (float)i - 2;
        struct nn_optimizer *o = make(&list, &golden[g].config);
        for (int step = 0; step < 5; step++) {
            gradient(grad, 6, step);
            optimizer_step(o, &list, golden[g].lr);
        }
        for (int i = 0; i < 6; i++)
            assert_true(fabs(value[i] - golden[g].expected[i]) < 2e-6);
        nn_optimizer_free(o);
    }
}

/** Many chunks, any thread count, one tensor or several: the same bits. */
TEST(chunks_and_threads_do_not_change_bits)
{
    enum { N = 70001 };
    static float values[4][N], grad[N];
    struct rng r = rng_stream(1, RNG_TEST, 0, 0);
    for (size_t i = 0; i < N; i++)
        grad[i] = (float)rng_normal(&r);
    for (int variant = 0; variant < 4; variant++) {
        size_t cut = variant < 2 ? N : 20000;
        struct tensor t[2] = {{"a", values[variant], grad, cut},
                              {"b", values[variant] + cut, grad + cut, N - cut}};
        struct tensor_list list = {t, variant < 2 ? 1 : 2};
        par_set_threads(variant % 2 ? 3 : 1);
        struct nn_optimizer *o = make(&list, &adam);
        for (int step = 0; step < 3; step++)
            optimizer_step(o, &list, 0.01);
        nn_optimizer_free(o);
        assert_memory_equal(values[0], values[variant], sizeof values[0]);
    }
    par_set_threads(2);
}

TEST(a_step_allocates_nothing)
{
    float value[4] = {0}, grad[4] = {1, 1, 1, 1};
    struct tensor t = {"w", value, grad, 4};
    struct tensor_list list = {&t, 1};
    struct nn_optimizer *o = make(&list, &adam);
    uint64_t before = base_alloc_count();
    optimizer_step(o, &list, 0.1);
    assert_int_equal(base_alloc_count(), before);
    nn_optimizer_free(o);
}

/** Three steps, save, two more = three steps, load into a fresh optimizer, two more; a damaged file changes
 * nothing. */
TEST(resuming_equals_going_on)
{
    float value[2][6] = {{0}}, grad[6];
    for (size_t g = 0; g < sizeof golden / sizeof *golden; g++) {
        struct sotto_tensors saved = {0};
        struct tensor t[2] = {{"a", value[0], grad, 4}, {"b", value[0] + 4, grad + 4, 2}};
        struct tensor_list list = {t, 2};
        struct nn_optimizer *o = make(&list, &golden[g].config), *fresh = make(&list, &golden[g].config);
        for (int step = 0; step < 5; step++) {
            if (step == 3) {
                assert_int_equal(nn_optimizer_export(&saved, o, "optimizer."), SOTTO_OK);
                memcpy(value[1], value[0], sizeof value[0]);
            }
            gradient(grad, 6, step);
            optimizer_step(o, &list, 0.1);
        }
        assert_int_equal(nn_optimizer_import(fresh, &saved, "model."), SOTTO_EFORMAT);
        assert_string_equal(sotto_error_text(), "optimizer state: tensor 'model.steps' is missing");
        assert_int_equal(nn_optimizer_import(fresh, &saved, "optimizer."), SOTTO_OK);
        t[0].value = value[1];
        t[1].value = value[1] + 4;
        for (int step = 3; step < 5; step++) {
            gradient(grad, 6, step);
            optimizer_step(fresh, &list, 0.1);
        }
        assert_memory_equal(value[0], value[1], sizeof value[0]);
        sotto_tensors_clear(&saved);
        nn_optimizer_free(o);
        nn_optimizer_free(fresh);
    }
}

TEST(bad_settings_are_refused)
{
    static const struct {
        struct nn_optimizer_config config;
        const char *text;
    } cases[] = {
        {{.name = "lion"}, "optimizer 'lion' is unknown; expected adam or sgd"},
        {{.name = "adam", .beta1 = 1, .beta2 = .9, .epsilon = 1e-7}, "adam: beta1 must be in [0, 1) (got 1)"},
        {{.name = "adam", .beta1 = .9, .beta2 = NAN, .epsilon = 1e-7},
         "adam: beta2 must be in [0, 1) (got nan)"},
        {{.name = "adam", .beta1 = .9, .beta2 = .9}, "adam: epsilon must be in (0, 1) (got 0)"},
        {{.name = "sgd", .momentum = -.1}, "sgd: momentum must be in [0, 1) (got -0.1)"},
        {{.name = "sgd", .nesterov = 1}, "sgd: nesterov needs a momentum > 0"},
        {{.name = "sgd", .weight_decay = -1}, "sgd: weight_decay must be >= 0 (got -1)"},
    };
    struct tensor_list none = {NULL, 0};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct nn_optimizer *o = NULL;
        assert_int_equal(optimizer_create(&o, &none, &cases[i].config), SOTTO_EINVAL);
        assert_string_equal(sotto_error_text(), cases[i].text);
        assert_null(o);
    }
}

TEST(every_optimizer_has_its_record)
{
    for (size_t i = 0; optimizer_table[i]; i++) {
        const struct optimizer *o = optimizer_table[i];
        assert_true(o->name[0] && o->title[0] && o->source[0] && o->states <= OPTIMIZER_STATES_MAX);
        for (size_t j = 0; j < i; j++)
            assert_string_not_equal(o->name, optimizer_table[j]->name);
        for (size_t s = 0; s < o->states; s++)
            assert_non_null(o->state_names[s]);
    }
}

TEST(schedules_at_their_corners)
{
    struct schedule constant = {.kind = SCHEDULE_CONSTANT, .lr = 0.3};
    assert_true(schedule_at(&constant, 0) == 0.3 && schedule_at(&constant, 1000000) == 0.3);
    /* He et al. 2016: 0.1, divided by 10 at 32k and 48k steps */
    struct schedule step = {
        .kind = SCHEDULE_STEP, .lr = 0.1, .factor = 0.1, .milestones = {32000, 48000}, .milestone_count = 2};
    assert_true(schedule_at(&step, 31999) == 0.1);
    assert_true(fabs(schedule_at(&step, 32000) - 0.01) < 1e-15);
    assert_true(fabs(schedule_at(&step, 63999) - 0.001) < 1e-15);
    struct schedule cosine = {
        .kind = SCHEDULE_COSINE, .lr = 1, .factor = 0.1, .warmup_steps = 10, .total_steps = 110};
    assert_true(fabs(schedule_at(&cosine, 0) - 0.1) < 1e-15);
    assert_true(schedule_at(&cosine, 9) == 1 && schedule_at(&cosine, 10) == 1);
    assert_true(fabs(schedule_at(&cosine, 60) - 0.55) < 1e-15); /* half-way: the mean of both ends */
    assert_true(fabs(schedule_at(&cosine, 110) - 0.1) < 1e-15 &&
                fabs(schedule_at(&cosine, 999) - 0.1) < 1e-15);
    for (uint64_t s = 10; s < 110; s++)
        assert_true(schedule_at(&cosine, s + 1) < schedule_at(&cosine, s));
    struct schedule only_warm_up = {.kind = SCHEDULE_COSINE, .lr = 1, .warmup_steps = 5, .total_steps = 5};
    assert_true(schedule_at(&only_warm_up, 4) == 1 && schedule_at(&only_warm_up, 5) == 0);
}

TEST_GROUP(.tags = "matrix")
