/* example_world.h - a model, its plan for gradients of single examples, and made-up records with output gradients. */
#ifndef TESTS_EXAMPLE_WORLD_H
#define TESTS_EXAMPLE_WORLD_H

#include "nn/backend.h"
#include "nn/plan/plan.h"
#include "rng/rng.h"

#include <math.h>
#include <string.h>

static inline void fill(float *x, size_t n, uint64_t index)
{
    struct rng r = rng_stream(21, RNG_TEST, 0, index);
    for (size_t i = 0; i < n; i++)
        x[i] = (float)rng_normal(&r);
}

static inline double norm_of(const double *x, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += x[i] * x[i];
    return sqrt(sum);
}

static inline void assert_near(const double *found, const double *expected, size_t n, double tolerance,
                               const char *what)
{
    double error = 0, size = norm_of(expected, n);
    for (size_t i = 0; i < n; i++)
        error += pow(found[i] - expected[i], 2);
    if (!(sqrt(error) <= tolerance * size) || size == 0)
        fail_msg("%s: relative L2 distance %g", what, sqrt(error) / size);
}

struct world {
    struct nn_model *model;
    struct nn_plan *plan, *single;
    size_t parameters, image, outputs, views, examples;
    float *images, *diffs;
    double *sum;
};

static inline void world_open(struct world *w, const struct nn_model_config *config, const char *backend_name,
                              size_t examples, size_t views)
{
    const struct nn_backend *backend;
    assert_int_equal(nn_backend_find(&backend, backend_name), SOTTO_OK);
    assert_int_equal(nn_model_create(&w->model, config, 3), SOTTO_OK);
    assert_int_equal(
        nn_plan_create(&w->plan, w->model,
                       &(struct nn_plan_config){
                           .batch = examples * views, .backend = backend, .training = 1, .views = views}),
        SOTTO_OK);
    assert_int_equal(nn_plan_create(&w->single, w->model,
                                    &(struct nn_plan_config){.batch = 1, .backend = backend, .training = 1}),
                     SOTTO_OK);
    w->parameters = nn_model_trained_count(w->model);
    w->image = shape_count(config->input);
    w->outputs = nn_model_output_width(w->model);
    w->sum = base_alloc(w->parameters, sizeof *w->sum);
    w->views = views;
    w->examples = examples;
    w->images = base_alloc(examples * views * w->image, sizeof *w->images);
    w->diffs = base_alloc(examples * views * w->outputs, sizeof *w->diffs);
    fill(w->images, examples * views * w->image, 3);
    fill(w->diffs, examples * views * w->outputs, 4);
    for (size_t i = 0; i < w->model->parameter_count; i++)
        if (w->model->parameters[i].init == INIT_ZERO)
            fill(w->model->parameters[i].value, w->model->parameters[i].count, 100 + i);
    for (size_t i = 0; i < w->model->parameter_count; i++) { /* variances */
        struct nn_parameter *p = &w->model->parameters[i];
        for (size_t k = 0; p->statistic && p->init == INIT_ONE && k < p->count; k++)
            p->value[k] = 0.5f + (float)(k % 5) / 4;
    }
}

static inline void world_close(struct world *w)
{
    nn_plan_free(w->plan);
    nn_plan_free(w->single);
    nn_model_free(w->model);
    base_free(w->sum);
    base_free(w->images);
    base_free(w->diffs);
}

/* Sums in whole numbers: what an example of the clipping norm adds is so long. */
static const double bound = 0x1p45;

static inline struct nn_clip clip_to(enum nn_clipping kind, double norm)
{
    return (struct nn_clip){.kind = kind, .norm = norm, .bound = bound, .gamma = 0.01};
}

static inline void load(struct world *w, const float *images, const float *diffs, size_t rows)
{
    memcpy(nn_plan_input(w->plan), images, rows * w->image * sizeof(float));
    nn_plan_forward(w->plan, 1, 0, 0);
    memcpy(nn_plan_diff_output(w->plan), diffs, rows * w->outputs * sizeof(float));
}

/* sum = the clipped sum in units of the clipping norm, all examples being one chain. */
static inline size_t run_private(struct world *w, double *sum, size_t examples, const struct nn_clip *clip)
{
    const uint32_t end = (uint32_t)examples;
    memset(w->sum, 0, w->parameters * sizeof *w->sum);
    load(w, w->images, w->diffs, examples * w->views);
    size_t whole;
    assert_int_equal(
        nn_plan_clipped_sum(w->plan, w->sum, &whole, examples, &(struct nn_chains){&end, 1}, clip), SOTTO_OK);
    for (size_t i = 0; i < w->parameters; i++) {
        assert_true(w->sum[i] == trunc(w->sum[i]));
        sum[i] = w->sum[i] / clip->bound;
    }
    return whole;
}

static const struct nn_model_config mlp = {
    .name = "mlp", .input = {60, 1, 1}, .classes = 10, .hidden = {32, 24}, .hidden_count = 2};
static const struct nn_model_config residual = {
    .name = "resnet8", .input = {3, 16, 16}, .classes = 10, .norm = "group"};
static const struct nn_model_config small_residual = {
    .name = "resnet8", .input = {3, 8, 8}, .classes = 10, .norm = "group"};
static const struct nn_model_config bounded = {
    .name = "tanh-cnn", .input = {3, 12, 10}, .classes = 10, .hidden = {6, 5, 9}, .hidden_count = 3};
static const struct nn_model_config keras = {.name = "keras-simclr", .input = {3, 32, 32}, .classes = 10};
/* Fine-tuning: frozen batch norm with all convolutions, with the last block, with the last layer alone. */
static const struct nn_model_config frozen_norms = {
    .name = "resnet8", .input = {3, 16, 16}, .classes = 10, .freeze = {.norms = 1}};
static const struct nn_model_config last_block = {
    .name = "resnet8", .input = {3, 16, 16}, .classes = 10, .freeze = {.blocks = 2, .norms = 1}};
static const struct nn_model_config post_block = {
    .name = "resnet18", .input = {3, 16, 16}, .classes = 10, .freeze = {.blocks = 7, .norms = 1}};
/* Its last convolutions have one position. */
static const struct nn_model_config shrunk = {
    .name = "resnet18", .input = {3, 8, 8}, .classes = 10, .norm = "group", .freeze = {.blocks = 5}};
static const struct nn_model_config last_layer = {
    .name = "resnet8", .input = {3, 16, 16}, .classes = 10, .freeze = {.encoder = 1}};
static const struct nn_model_config upper_keras = {
    .name = "keras-simclr", .input = {3, 32, 32}, .classes = 10, .freeze = {.blocks = 3}};

#endif
