/* Gradients of single examples against a loop over batches of one, written out in double: norms and clipped
 * sums to 1e-6, for every kind of layer with parameters and for whole models. Then what clipping promises, on
 * inputs that try to break it. */
#define NN_REAL double
#include "nn/ref/ref_conv.c"
#undef NN_REAL

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "support/machine.h"
#include "nn/backend.h"
#include "nn/layer/example_product.h"
#include "nn/plan/plan.h"
#include "par/par.h"
#include "rng/rng.h"

#include <math.h>
#include <string.h>

static void fill(float *x, size_t n, uint64_t index)
{
    struct rng r = rng_stream(21, RNG_TEST, 0, index);
    for (size_t i = 0; i < n; i++)
        x[i] = (float)rng_normal(&r);
}

static double *widened(const float *x, size_t n)
{
    double *y = base_alloc(n, sizeof *y);
    for (size_t i = 0; i < n; i++)
        y[i] = (double)x[i];
    return y;
}

static double norm_of(const double *x, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += x[i] * x[i];
    return sqrt(sum);
}

static void assert_near(const double *found, const double *expected, size_t n, double tolerance,
                        const char *what)
{
    double error = 0, size = norm_of(expected, n);
    for (size_t i = 0; i < n; i++)
        error += pow(found[i] - expected[i], 2);
    if (!(sqrt(error) <= tolerance * size) || size == 0)
        fail_msg("%s: relative L2 distance %g", what, sqrt(error) / size);
}

/* ---- one layer ---- */

static struct ref_conv_shape ref_shape(const struct conv_desc *d, size_t images)
{
    return (struct ref_conv_shape){.N = images,
                                   .H = d->src.height,
                                   .W = d->src.width,
                                   .C = d->src.channels,
                                   .K = d->dst.channels,
                                   .R = d->kernel_height,
                                   .S = d->kernel_width,
                                   .P = d->dst.height,
                                   .Q = d->dst.width,
                                   .stride = d->stride,
                                   .pad = d->pad};
}

enum { EXAMPLES = 5 };

static void check_layer(struct conv_desc d, size_t views, int stored)
{
    struct example_product *e = NULL;
    struct arena keep = {0}, scratch = {0};
    size_t weights = d.kernel_height * d.kernel_width * d.src.channels * d.dst.channels,
           count = weights + (d.bias ? d.dst.channels : 0), image = shape_count(d.src),
           result = shape_count(d.dst);
    d.batch = EXAMPLES * views;
    d.training = d.threads = 1;
    assert_int_equal(example_product_create(&e, &d, views), SOTTO_OK);
    assert_int_equal(example_product_stores(e), stored);
    for (int run = 0; run < 2; run++) {
        example_product_layout(e, &keep, &scratch);
        if (run == 0) {
            assert_int_equal(arena_reserve(&keep, "keep"), SOTTO_OK);
            assert_int_equal(arena_reserve(&scratch, "scratch"), SOTTO_OK);
        }
    }
    float *src = base_alloc(d.batch * image, sizeof *src), *diff = base_alloc(d.batch * result, sizeof *diff);
    fill(src, d.batch * image, 1);
    fill(diff, d.batch * result, 2);
    const double unit = 0x1p40; /* sums are of whole numbers: so many to 1 */
    const uint32_t end[] = {2, EXAMPLES};
    const struct nn_chains chains = {end, 2};
    double *x = widened(src, d.batch * image), *g = widened(diff, d.batch * result),
           *expected = base_alloc(count, sizeof *expected), *sum = base_alloc(count, sizeof *sum),
           *one = base_alloc(count, sizeof *one), square[EXAMPLES], excess[EXAMPLES], factor[EXAMPLES];
    const struct example_norms norms = {square, excess};
    example_product_norms(e, &norms, diff, src, EXAMPLES);
    struct ref_conv_shape z = ref_shape(&d, views);
    for (size_t i = 0; i < EXAMPLES; i++) {
        ref_conv_backward_weights_in_double(one, d.bias ? one + weights : NULL, g + i * views * result,
                                            x + i * views * image, &z);
        double exact = norm_of(one, count);
        if (!(fabs(sqrt(square[i]) - exact) <= 1e-6 * exact))
            fail_msg("norm of example %zu: %.12g, expected %.12g", i, sqrt(square[i]), exact);
        if (!stored) /* of stored gradients the norm is that of what is summed */
            assert_true(square[i] + excess[i] >= exact * exact * (1 - 1e-12)); /* an upper bound */
        assert_true(excess[i] <= 0.01 * exact * exact);                        /* but not a useless one */
        factor[i] = i == 2 ? 0 : unit / (1 + (double)i);
        for (size_t k = 0; k < count; k++)
            expected[k] += factor[i] / unit * one[k];
    }
    example_product_sum(e, sum, factor, diff, src, EXAMPLES, &chains);
    for (size_t k = 0; k < count; k++) {
        assert_true(sum[k] == trunc(sum[k]));
        sum[k] /= unit;
    }
    assert_near(sum, expected, count, 1e-6, "weighted sum");
    base_free(src), base_free(diff);
    base_free(x), base_free(g), base_free(expected), base_free(sum), base_free(one);
    arena_clear(&keep);
    arena_clear(&scratch);
    example_product_free(e);
}

static struct conv_desc conv_of(struct nn_shape src, size_t outputs, size_t kernel, size_t stride, size_t pad,
                                int bias)
{
    return (struct conv_desc){.src = src,
                              .dst = {outputs, (src.height + 2 * pad - kernel) / stride + 1,
                                      (src.width + 2 * pad - kernel) / stride + 1},
                              .kernel_height = kernel,
                              .kernel_width = kernel,
                              .stride = stride,
                              .pad = pad,
                              .bias = bias};
}

static void stored_layers_match_a_loop_in_double(void **state)
{
    (void)state;
    check_layer(conv_of((struct nn_shape){3, 12, 11}, 16, 3, 1, 1, 0), 1, 1); /* first of a resnet */
    check_layer(conv_of((struct nn_shape){3, 15, 15}, 64, 3, 2, 0, 1), 1, 1); /* first of keras-simclr */
    check_layer(conv_of((struct nn_shape){16, 16, 16}, 16, 3, 1, 1, 0), 1, 1);
    check_layer(conv_of((struct nn_shape){16, 16, 16}, 32, 1, 2, 0, 0), 1, 1); /* shortcut */
    check_layer(conv_of((struct nn_shape){5, 9, 7}, 3, 3, 2, 1, 1), 2, 1);     /* odd widths, two views */
    check_layer(conv_of((struct nn_shape){32, 8, 8}, 13, 3, 1, 1, 1), 3, 1);
}

static void ghost_layers_match_a_loop_in_double(void **state)
{
    (void)state;
    check_layer(conv_of((struct nn_shape){64, 4, 4}, 64, 3, 1, 1, 0), 1, 0);
    check_layer(conv_of((struct nn_shape){128, 7, 7}, 128, 3, 2, 0, 1), 1, 0);
    check_layer(conv_of((struct nn_shape){19, 5, 5}, 21, 3, 2, 0, 1), 2, 0); /* 8 positions, odd widths */
    check_layer(conv_of((struct nn_shape){33, 3, 3}, 17, 3, 1, 1, 1), 1, 0);
}

static void dense_layers_match_a_loop_in_double(void **state)
{
    (void)state;
    for (int bias = 0; bias <= 1; bias++) {
        check_layer(conv_of((struct nn_shape){600, 1, 1}, 256, 1, 1, 0, bias), 1, 0);
        check_layer(conv_of((struct nn_shape){17, 1, 1}, 5, 1, 1, 0, bias), 1, 0);
        check_layer(conv_of((struct nn_shape){8, 3, 3}, 11, 3, 1, 0, bias), 1, 0); /* covers its source */
        check_layer(conv_of((struct nn_shape){40, 1, 1}, 30, 1, 1, 0, bias), 4, 0);
        check_layer(conv_of((struct nn_shape){5, 1, 1}, 3, 1, 1, 0, bias), 8, 1);
    }
}

/* ---- whole models ---- */

struct world {
    struct nn_model *model;
    struct nn_plan *plan, *single;
    size_t parameters, image, outputs, views, examples;
    float *images, *diffs;
    double *sum;
};

static void world_open(struct world *w, const struct nn_model_config *config, const char *backend_name,
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
    w->parameters = nn_model_parameter_count(w->model, 1);
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
}

static void world_close(struct world *w)
{
    nn_plan_free(w->plan);
    nn_plan_free(w->single);
    nn_model_free(w->model);
    base_free(w->sum);
    base_free(w->images);
    base_free(w->diffs);
}

/* Of a row with a norm's parameters: from src and the gradient that came in, before it is
 * masked. */
static void group_norm_gradient(double *out, const struct layer_run *run, const float *diff)
{
    size_t channels = run->src->shape.channels, rows = run->src->shape.height * run->src->shape.width,
           width = channels / run->spec->groups;
    const float *x = run->src->data, *y = run->dst->data;
    for (size_t first = 0; first < channels; first += width) {
        double mean = 0, variance = 0, m = (double)(rows * width);
        for (size_t i = 0; i < rows; i++)
            for (size_t c = first; c < first + width; c++)
                mean += (double)x[i * channels + c] / m;
        for (size_t i = 0; i < rows; i++)
            for (size_t c = first; c < first + width; c++)
                variance += pow((double)x[i * channels + c] - mean, 2) / m;
        for (size_t i = 0; i < rows; i++)
            for (size_t c = first; c < first + width; c++) {
                double g = run->spec->relu && !(y[i * channels + c] > 0) ? 0 : (double)diff[i * channels + c];
                out[c] += g * ((double)x[i * channels + c] - mean) / sqrt(variance + 1e-5);
                out[channels + c] += g;
            }
    }
}

/* Adds the gradient of one row of the batch: activations in float, every parameter's gradient in double. */
static void add_single(double *out, struct world *w, size_t row)
{
    struct nn_plan *p = w->single;
    double *at[MODEL_ROWS_MAX], *next = out;
    for (size_t i = 0; i < p->row_count; i++) {
        at[i] = next;
        for (size_t k = w->model->first_parameter[i]; k < w->model->first_parameter[i + 1]; k++)
            next += w->model->parameters[k].count;
    }
    memcpy(nn_plan_input(p), w->images + row * w->image, w->image * sizeof(float));
    nn_plan_forward(p, 1, 0, 0);
    memcpy(nn_plan_diff_output(p), w->diffs + row * w->outputs, w->outputs * sizeof(float));
    for (size_t i = p->row_count; i-- > 0;) {
        const struct layer_run *run = &p->runs[i];
        const struct layer *layer = run->spec->layer;
        float *incoming = base_alloc(run->dst->count, sizeof *incoming);
        memcpy(incoming, run->dst->diff, run->dst->count * sizeof *incoming);
        plan_backward_row(p, i);
        if (layer == &layer_group_norm)
            group_norm_gradient(at[i], run, incoming);
        base_free(incoming);
        if (layer != &layer_conv && layer != &layer_dense)
            continue;
        const struct layer_spec *s = run->spec;
        int dense = layer == &layer_dense;
        size_t weights = run->parameters[0].count,
               count = weights + (s->no_bias ? 0 : run->parameters[1].count);
        const struct ref_conv_shape z = {.N = 1,
                                         .H = run->src->shape.height,
                                         .W = run->src->shape.width,
                                         .C = run->src->shape.channels,
                                         .K = s->width,
                                         .R = dense ? run->src->shape.height : s->kernel,
                                         .S = dense ? run->src->shape.width : s->kernel,
                                         .P = run->dst->shape.height,
                                         .Q = run->dst->shape.width,
                                         .stride = dense ? 1 : s->stride,
                                         .pad = s->pad};
        double *x = widened(run->src->data, run->src->count), *g = widened(run->dst->diff, run->dst->count),
               *one = base_alloc(count, sizeof *one);
        ref_conv_backward_weights_in_double(one, s->no_bias ? NULL : one + weights, g, x, &z);
        for (size_t k = 0; k < count; k++)
            at[i][k] += one[k];
        base_free(x), base_free(g), base_free(one);
    }
}

/* Sums in whole numbers: what an example of the clipping norm adds is so long. */
static const double bound = 0x1p45;

static struct nn_clip clip_to(enum nn_clipping kind, double norm)
{
    return (struct nn_clip){.kind = kind, .norm = norm, .bound = bound, .gamma = 0.01};
}

static void load(struct world *w, const float *images, const float *diffs, size_t rows)
{
    memcpy(nn_plan_input(w->plan), images, rows * w->image * sizeof(float));
    nn_plan_forward(w->plan, 1, 0, 0);
    memcpy(nn_plan_diff_output(w->plan), diffs, rows * w->outputs * sizeof(float));
}

/* sum = the clipped sum in units of the clipping norm, all examples being one chain. */
static size_t run_private(struct world *w, double *sum, size_t examples, const struct nn_clip *clip)
{
    const uint32_t end = (uint32_t)examples;
    memset(w->sum, 0, w->parameters * sizeof *w->sum);
    load(w, w->images, w->diffs, examples * w->views);
    size_t whole = nn_plan_clipped_sum(w->plan, w->sum, examples, &(struct nn_chains){&end, 1}, clip);
    for (size_t i = 0; i < w->parameters; i++) {
        assert_true(w->sum[i] == trunc(w->sum[i]));
        sum[i] = w->sum[i] / clip->bound;
    }
    return whole;
}

/* The clip norm lies among the norms, so that some gradients are clipped and some are not. */
static void check_model(const struct nn_model_config *config, const char *backend, size_t examples,
                        size_t views, double tolerance)
{
    struct world w;
    world_open(&w, config, backend, examples, views);
    double *one = base_alloc(w.parameters, sizeof *one), *sum = base_alloc(w.parameters, sizeof *sum),
           *expected = base_alloc(w.parameters, sizeof *expected),
           *norms = base_alloc(examples, sizeof *norms), middle = 0;
    for (int round = 0; round < 2; round++) {
        const struct nn_clip clip = clip_to(NN_CLIP_FLAT, round ? middle : 1e4);
        memset(expected, 0, w.parameters * sizeof *expected);
        size_t whole = run_private(&w, sum, examples, &clip), unclipped = 0;
        const double *norm = nn_plan_example_norms(w.plan);
        for (size_t e = 0; e < examples; e++) {
            memset(one, 0, w.parameters * sizeof *one);
            for (size_t v = 0; v < views; v++)
                add_single(one, &w, e * views + v);
            norms[e] = norm_of(one, w.parameters);
            if (!(norm[e] >= norms[e] * (1 - tolerance) && norm[e] <= norms[e] * 1.002))
                fail_msg("%s: norm of example %zu: %g, expected %g", config->name, e, norm[e], norms[e]);
            const double factor = nn_plan_clip_factors(w.plan)[e] / bound;
            const bool clipped = norm[e] > clip.norm;
            assert_true(fabs(factor * (clipped ? norm[e] : clip.norm) - 1) < 1e-12);
            unclipped += !clipped;
            for (size_t k = 0; k < w.parameters; k++)
                expected[k] += factor * one[k];
        }
        assert_int_equal(whole, unclipped);
        assert_true(round == 0 ? whole == examples : whole > 0 && whole < examples);
        assert_near(sum, expected, w.parameters, tolerance, config->name);
        double largest = 0, smallest = INFINITY;
        for (size_t e = 0; e < examples; e++) {
            largest = fmax(largest, norms[e]);
            smallest = fmin(smallest, norms[e]);
        }
        middle = (largest + smallest) / 2;
    }
    base_free(one), base_free(sum), base_free(expected), base_free(norms);
    world_close(&w);
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

static void whole_models_match_a_loop_over_single_records(void **state)
{
    (void)state;
    check_model(&mlp, "ref", 6, 1, 1e-6);
    check_model(&mlp, machine.backend, 6, 1, 1e-6);
    check_model(&small_residual, "ref", 3, 1, 1e-6);
    check_model(&residual, machine.backend, 6, 1, 1e-5); /* oneDNN's activations differ with the batch */
    check_model(&keras, machine.backend, 4, 1, 1e-5);
    check_model(&bounded, "ref", 4, 1, 1e-6);
    check_model(&bounded, machine.backend, 4, 1, 1e-5);
}

static void views_of_a_record_are_one_gradient(void **state)
{
    (void)state;
    check_model(&mlp, "ref", 3, 4, 1e-6);
    check_model(&residual, machine.backend, 3, 2, 1e-5);
}

/* ---- what clipping promises ---- */

static double contribution(struct world *w, double *sum, const struct nn_clip *clip)
{
    run_private(w, sum, 1, clip);
    return norm_of(sum, w->parameters);
}

static void no_record_adds_more_than_the_norm(void **state)
{
    (void)state;
    const struct nn_model_config *models[] = {&mlp, &residual, &keras};
    const double sizes[] = {0, 1e-30, 1e-6, 1, 1e6, 1e18, 1e30, 3e38};
    for (size_t m = 0; m < 3; m++) {
        struct world w;
        world_open(&w, models[m], machine.backend, 2, 1);
        double *sum = base_alloc(w.parameters, sizeof *sum), largest = 0;
        for (size_t a = 0; a < sizeof sizes / sizeof *sizes; a++)
            for (size_t b = 0; b < sizeof sizes / sizeof *sizes; b++)
                for (int kind = 0; kind <= NN_CLIP_LAYERS; kind++) {
                    if (m > 0 && (a + 2 * b) % 5 != (size_t)kind) /* a fifth of them */
                        continue;
                    const struct nn_clip clip = clip_to((enum nn_clipping)kind, 0.5);
                    fill(w.images, w.image, a);
                    fill(w.diffs, w.outputs, b);
                    for (size_t i = 0; i < w.image; i++)
                        w.images[i] = (float)(w.images[i] * sizes[a] / 5);
                    for (size_t i = 0; i < w.outputs; i++)
                        w.diffs[i] = (float)(w.diffs[i] * sizes[b] / 5);
                    double found = contribution(&w, sum, &clip);
                    if (!(found <= 1 + 0x1p-20)) /* the float rounding of factor and product */
                        fail_msg("%s: a record of size %g, %g adds %g", models[m]->name, sizes[a], sizes[b],
                                 found);
                    largest = fmax(largest, found);
                }
        assert_true(largest > 0.998); /* the bound is reached */
        base_free(sum);
        world_close(&w);
    }
}

/* A record with a gradient that is not finite adds nothing, and leaves the others alone. */
static void a_record_that_is_not_finite_adds_nothing(void **state)
{
    (void)state;
    const struct nn_model_config *models[] = {&mlp, &residual, &keras};
    const float bad[] = {NAN, INFINITY, -INFINITY};
    for (size_t m = 0; m < 3; m++) {
        struct world w;
        world_open(&w, models[m], machine.backend, 4, 1);
        double *sum = base_alloc(w.parameters, sizeof *sum), *without = base_alloc(w.parameters, sizeof *sum);
        const struct nn_clip clip = clip_to(NN_CLIP_FLAT, 0.5);
        memset(w.diffs + w.outputs, 0, w.outputs * sizeof(float));
        run_private(&w, without, 4, &clip);
        for (size_t b = 0; b < 6; b++) {
            float *at = b < 3 ? w.images + w.image + 7 : w.diffs + w.outputs + 1, saved = *at;
            *at = bad[b % 3];
            if (b < 3)
                w.diffs[w.outputs] = 1;
            run_private(&w, sum, 4, &clip);
            assert_true(nn_plan_clip_factors(w.plan)[1] == 0);
            assert_near(sum, without, w.parameters, 1e-6, models[m]->name);
            *at = saved;
            w.diffs[w.outputs] = 0;
        }
        base_free(sum), base_free(without);
        world_close(&w);
    }
}

static void no_record_adds_nothing_and_unused_rows_do_not_count(void **state)
{
    (void)state;
    struct world w;
    world_open(&w, &residual, machine.backend, 4, 1);
    double *sum = base_alloc(w.parameters, sizeof *sum), *some = base_alloc(w.parameters, sizeof *some);
    const struct nn_clip clip = clip_to(NN_CLIP_FLAT, 0.5);
    run_private(&w, sum, 0, &clip);
    assert_true(norm_of(sum, w.parameters) == 0);
    run_private(&w, some, 2, &clip);
    memset(nn_plan_input(w.plan), 0xff, 4 * w.image * sizeof(float)); /* NaN left behind */
    run_private(&w, sum, 2, &clip);
    assert_near(sum, some, w.parameters, 1e-12, "rows 2 and 3");
    base_free(sum), base_free(some);
    world_close(&w);
}

/* ---- property R: what a record adds is a function of the record ---- */

/* What row `record` of `w` adds alone, at place `place` of a plan among other records; whole numbers. */
static void add_alone(double *sum, struct world *w, size_t record, size_t place, size_t count,
                      const struct nn_clip *clip)
{
    const size_t image = w->image * w->views, outputs = w->outputs * w->views;
    float *images = base_alloc(w->examples * image, sizeof *images),
          *diffs = base_alloc(w->examples * outputs, sizeof *diffs);
    uint32_t end[64];
    double *with = base_alloc(w->parameters, sizeof *with);
    fill(images, w->examples * image, 50 + place);
    fill(diffs, w->examples * outputs, 60 + count);
    for (size_t i = 0; i < count; i++)
        end[i] = (uint32_t)i + 1;
    for (int there = 0; there <= 1; there++) { /* without and with it: the others add the same */
        if (there) {
            memcpy(images + place * image, w->images + record * image, image * sizeof *images);
            memcpy(diffs + place * outputs, w->diffs + record * outputs, outputs * sizeof *diffs);
        } else {
            memset(diffs + place * outputs, 0, outputs * sizeof *diffs);
        }
        load(w, images, diffs, w->examples * w->views);
        memset(with, 0, w->parameters * sizeof *with);
        nn_plan_clipped_sum(w->plan, with, count, &(struct nn_chains){end, count}, clip);
        for (size_t k = 0; k < w->parameters; k++)
            sum[k] += there ? with[k] : -with[k];
    }
    base_free(images), base_free(diffs), base_free(with);
}

static void a_record_adds_the_same_at_every_place(void **state)
{
    (void)state;
    static const struct {
        const struct nn_model_config *model;
        size_t examples, views;
    } cases[] = {{&mlp, 16, 1},     {&mlp, 61, 1},  {&mlp, 64, 1},     {&mlp, 4, 4},
                 {&residual, 4, 1}, {&keras, 3, 1}, {&bounded, 15, 1}, {&bounded, 4, 2}};
    const char *backends[] = {"ref", "dnnl", "winograd"};
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++)
        for (size_t b = 0; b < 3; b++) {
            struct world w;
            const struct nn_clip clip = clip_to(NN_CLIP_FLAT, 0.5);
            const struct nn_backend *there;
            if (nn_backend_find(&there, backends[b]) != SOTTO_OK) /* winograd: AVX-512 only */
                continue;
            if (b == 0 && cases[c].model == &keras)
                continue; /* slow, and of the same layers as the others */
            par_set_threads(1);
            world_open(&w, cases[c].model, backends[b], cases[c].examples, cases[c].views);
            double *first = base_alloc(w.parameters, sizeof *first),
                   *other = base_alloc(w.parameters, sizeof *other);
            add_alone(first, &w, 1, 0, 1, &clip);
            assert_true(norm_of(first, w.parameters) > 0);
            for (size_t place = 1; place < w.examples; place += 1 + w.examples / 8) {
                size_t count = place + 1 + (place * 7) % (w.examples - place);
                memset(other, 0, w.parameters * sizeof *other);
                add_alone(other, &w, 1, place, count, &clip);
                for (size_t k = 0; k < w.parameters; k++)
                    if (first[k] != other[k])
                        fail_msg("%s, %s: parameter %zu at place %zu of %zu: %.17g, expected %.17g",
                                 cases[c].model->name, backends[b], k, place, count, other[k], first[k]);
            }
            base_free(first), base_free(other);
            world_close(&w);
            par_set_threads(machine.context.threads);
        }
}

/* A sample in two parts, the second not full, is the sample in one, bit for bit. */
static void parts_of_a_sample_add_up(void **state)
{
    (void)state;
    const struct nn_model_config *models[] = {&mlp, &residual, &keras};
    const struct nn_clip clip = clip_to(NN_CLIP_FLAT, 0.5);
    const uint32_t ends[] = {3, 5}, end = 2;
    for (size_t m = 0; m < 3; m++) {
        struct world w;
        par_set_threads(1);
        world_open(&w, models[m], machine.backend, 5, 1);
        double *sum = base_alloc(w.parameters, sizeof *sum);
        load(&w, w.images, w.diffs, 5);
        nn_plan_clipped_sum(w.plan, w.sum, 5, &(struct nn_chains){ends, 2}, &clip);
        load(&w, w.images, w.diffs, 3);
        nn_plan_clipped_sum(w.plan, sum, 3, &(struct nn_chains){ends, 1}, &clip);
        load(&w, w.images + 3 * w.image, w.diffs + 3 * w.outputs, 2);
        nn_plan_clipped_sum(w.plan, sum, 2, &(struct nn_chains){&end, 1}, &clip);
        for (size_t k = 0; k < w.parameters; k++)
            if (sum[k] != w.sum[k])
                fail_msg("%s: parameter %zu in two parts: %.17g, expected %.17g", models[m]->name, k, sum[k],
                         w.sum[k]);
        base_free(sum);
        world_close(&w);
        par_set_threads(machine.context.threads);
    }
}

static void layers_that_mix_records_are_refused(void **state)
{
    (void)state;
    const struct nn_backend *backend;
    struct nn_model *m = NULL;
    struct nn_plan *p = NULL;
    const struct nn_model_config batch_norm = {.name = "resnet8", .input = {3, 16, 16}, .classes = 10};
    assert_int_equal(nn_backend_find(&backend, "ref"), SOTTO_OK);
    assert_int_equal(nn_model_create(&m, &batch_norm, 1), SOTTO_OK);
    struct nn_plan_config c = {.batch = 4, .backend = backend, .training = 1, .views = 1};
    assert_int_equal(nn_plan_create(&p, m, &c), SOTTO_ENOTSUP);
    assert_non_null(strstr(sotto_error_text(), "norm: group"));
    nn_model_free(m);
    assert_int_equal(nn_model_create(&m, &mlp, 1), SOTTO_OK);
    c.dtype = NN_BF16;
    assert_int_equal(nn_plan_create(&p, m, &c), SOTTO_ENOTSUP);
    c.dtype = NN_F32;
    c.views = 3;
    assert_int_equal(nn_plan_create(&p, m, &c), SOTTO_EINVAL);
    c.views = 1;
    c.training = 0;
    assert_int_equal(nn_plan_create(&p, m, &c), SOTTO_EINVAL);
    assert_null(p);
    nn_model_free(m);
}

static void a_step_allocates_nothing(void **state)
{
    (void)state;
    struct world w;
    world_open(&w, &residual, machine.backend, 4, 1);
    double *sum = base_alloc(w.parameters, sizeof *sum);
    const struct nn_clip clip = clip_to(NN_CLIP_FLAT, 0.5);
    run_private(&w, sum, 4, &clip);
    uint64_t before = base_alloc_count();
    run_private(&w, sum, 3, &clip);
    assert_true(base_alloc_count() == before);
    base_free(sum);
    world_close(&w);
}

int main(void)
{
    machine_set(NN_F32);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stored_layers_match_a_loop_in_double),
        cmocka_unit_test(ghost_layers_match_a_loop_in_double),
        cmocka_unit_test(dense_layers_match_a_loop_in_double),
        cmocka_unit_test(whole_models_match_a_loop_over_single_records),
        cmocka_unit_test(views_of_a_record_are_one_gradient),
        cmocka_unit_test(no_record_adds_more_than_the_norm),
        cmocka_unit_test(a_record_that_is_not_finite_adds_nothing),
        cmocka_unit_test(no_record_adds_nothing_and_unused_rows_do_not_count),
        cmocka_unit_test(a_record_adds_the_same_at_every_place),
        cmocka_unit_test(parts_of_a_sample_add_up),
        cmocka_unit_test(layers_that_mix_records_are_refused),
        cmocka_unit_test(a_step_allocates_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
