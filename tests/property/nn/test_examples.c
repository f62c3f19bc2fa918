/* Gradients of single examples against a loop over batches of one, written out in double: norms and clipped
 * sums to 1e-6, for every kind of layer with parameters and for whole models. */
#include "support/conv_reference.h"

#include "support/test.h"
#include "support/machine.h"
#include "nn/conv/winograd_kernels.h"
#include "support/example_world.h"
#include "nn/layer/example_product.h"

static double *widened(const float *x, size_t n)
{
    double *y = base_alloc(n, sizeof *y);
    for (size_t i = 0; i < n; i++)
        y[i] = (double)x[i];
    return y;
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

static void check_sums(struct conv_desc d, size_t views, int filters, int stored, double tolerance)
{
    struct example_product *e = NULL;
    struct arena keep = {0}, scratch = {0};
    size_t weights = d.kernel_height * d.kernel_width * d.src.channels * d.dst.channels,
           count = weights + (d.bias ? d.dst.channels : 0), image = shape_count(d.src),
           result = shape_count(d.dst);
    d.batch = EXAMPLES * views;
    d.training = d.threads = 1;
    assert_int_equal(example_product_create(&e, &d, views, filters), SOTTO_OK);
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
        if (!(fabs(sqrt(square[i]) - exact) <= tolerance * exact))
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
    assert_near(sum, expected, count, tolerance, "weighted sum");
    base_free(src), base_free(diff);
    base_free(x), base_free(g), base_free(expected), base_free(sum), base_free(one);
    arena_clear(&keep);
    arena_clear(&scratch);
    example_product_free(e);
}

static void check_layer(struct conv_desc d, size_t views, int stored)
{
    check_sums(d, views, 0, stored, 1e-6);
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

TEST(stored_layers_match_a_loop_in_double)
{
    check_layer(conv_of((struct nn_shape){3, 12, 11}, 16, 3, 1, 1, 0), 1, 1); /* first of a resnet */
    check_layer(conv_of((struct nn_shape){3, 15, 15}, 64, 3, 2, 0, 1), 1, 1); /* first of keras-simclr */
    check_layer(conv_of((struct nn_shape){16, 16, 16}, 16, 3, 1, 1, 0), 1, 1);
    check_layer(conv_of((struct nn_shape){16, 16, 16}, 32, 1, 2, 0, 0), 1, 1); /* shortcut */
    check_layer(conv_of((struct nn_shape){5, 9, 7}, 3, 3, 2, 1, 1), 2, 1);     /* odd widths, two views */
    check_layer(conv_of((struct nn_shape){32, 8, 8}, 13, 3, 1, 1, 1), 3, 1);
}

/* Twice the largest error that conv_winograd.h states. Whole tiles and tiles that stick out, one and several blocks of tiles,
 * views of which one has fewer results than a gradient needs, and what is summed directly though the caller filters. */
TEST(filtered_layers_match_a_loop_in_double)
{
    const int has = winograd_kernels_best()->multiply != NULL; /* not below AVX2 */
    const double tolerance = 2.4e-6;
    check_sums(conv_of((struct nn_shape){16, 32, 32}, 16, 3, 1, 1, 0), 1, 1, 1, tolerance);
    check_sums(conv_of((struct nn_shape){32, 16, 16}, 32, 3, 1, 1, 1), 1, 1, 1, tolerance);
    check_sums(conv_of((struct nn_shape){64, 8, 8}, 64, 3, 1, 1, 0), 1, 1, has, tolerance);
    check_sums(conv_of((struct nn_shape){32, 7, 10}, 112, 3, 1, 1, 1), 1, 1, has, tolerance);
    check_sums(conv_of((struct nn_shape){48, 5, 4}, 80, 3, 1, 1, 1), 4, 1, has, tolerance);
    check_sums(conv_of((struct nn_shape){64, 4, 4}, 64, 3, 1, 1, 0), 3, 1, 0, 1e-6);
    check_sums(conv_of((struct nn_shape){80, 8, 8}, 64, 3, 1, 1, 0), 1, 1, 0, 1e-6);
    check_sums(conv_of((struct nn_shape){16, 32, 32}, 32, 3, 2, 1, 0), 1, 1, 1, tolerance); /* stride 2 */
    check_sums(conv_of((struct nn_shape){32, 16, 16}, 64, 3, 2, 1, 1), 1, 1, has, tolerance);
    check_sums(conv_of((struct nn_shape){32, 13, 16}, 48, 3, 2, 0, 0), 2, 1, 1, tolerance);
    check_sums(conv_of((struct nn_shape){32, 8, 8}, 64, 3, 2, 1, 0), 3, 1, 0, 1e-6);
}

TEST(ghost_layers_match_a_loop_in_double)
{
    check_layer(conv_of((struct nn_shape){64, 4, 4}, 64, 3, 1, 1, 0), 1, 0);
    check_layer(conv_of((struct nn_shape){128, 7, 7}, 128, 3, 2, 0, 1), 1, 0);
    check_layer(conv_of((struct nn_shape){19, 5, 5}, 21, 3, 2, 0, 1), 2, 0); /* 8 positions, odd widths */
    check_layer(conv_of((struct nn_shape){33, 3, 3}, 17, 3, 1, 1, 1), 1, 0);
    check_layer(conv_of((struct nn_shape){24, 1, 1}, 17, 3, 1, 1, 1), 1,
                0); /* one position, most of it padding */
    check_layer(conv_of((struct nn_shape){24, 2, 2}, 32, 3, 2, 1, 0), 1, 0);
    check_layer(conv_of((struct nn_shape){24, 2, 2}, 32, 1, 2, 0, 0), 1, 0); /* or a quarter of the source */
}

TEST(dense_layers_match_a_loop_in_double)
{
    for (int bias = 0; bias <= 1; bias++) {
        check_layer(conv_of((struct nn_shape){600, 1, 1}, 256, 1, 1, 0, bias), 1, 0);
        check_layer(conv_of((struct nn_shape){17, 1, 1}, 5, 1, 1, 0, bias), 1, 0);
        check_layer(conv_of((struct nn_shape){8, 3, 3}, 11, 3, 1, 0, bias), 1, 0); /* covers its source */
        check_layer(conv_of((struct nn_shape){40, 1, 1}, 30, 1, 1, 0, bias), 4, 0);
        check_layer(conv_of((struct nn_shape){5, 1, 1}, 3, 1, 1, 0, bias), 8, 1);
    }
}

/* ---- whole models ---- */

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
            next += w->model->parameters[k].frozen ? 0 : w->model->parameters[k].count;
    }
    memcpy(nn_plan_input(p), w->images + row * w->image, w->image * sizeof(float));
    nn_plan_forward(p, 1, 0, 0);
    memcpy(nn_plan_diff_output(p), w->diffs + row * w->outputs, w->outputs * sizeof(float));
    for (size_t i = p->row_count; i-- > w->model->frozen_rows;) {
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

TEST(whole_models_match_a_loop_over_single_records)
{
    check_model(&mlp, "ref", 6, 1, 1e-6);
    check_model(&mlp, machine.backend, 6, 1, 1e-6);
    check_model(&small_residual, "ref", 3, 1, 1e-6);
    check_model(&residual, machine.backend, 6, 1, 1e-5); /* oneDNN's activations differ with the batch */
    check_model(&keras, machine.backend, 4, 1, 1e-5);
    check_model(&bounded, "ref", 4, 1, 1e-6);
    check_model(&shrunk, machine.backend, 3, 1, 1e-5);
    check_model(&bounded, machine.backend, 4, 1, 1e-5);
}

TEST(frozen_layers_add_nothing_and_the_others_as_before)
{
    check_model(&frozen_norms, "ref", 3, 1, 1e-5);
    check_model(&frozen_norms, machine.backend, 6, 1, 1e-5);
    check_model(&last_block, machine.backend, 6, 1, 1e-5);
    check_model(&last_block, machine.backend, 3, 2, 1e-5);
    check_model(&post_block, machine.backend, 3, 1, 1e-5);
    check_model(&last_layer, machine.backend, 6, 1, 1e-5);
    check_model(&upper_keras, machine.backend, 4, 1, 1e-5);
}

TEST(views_of_a_record_are_one_gradient)
{
    check_model(&mlp, "ref", 3, 4, 1e-6);
    check_model(&residual, machine.backend, 3, 2, 1e-5);
}

TEST(layers_that_mix_records_are_refused)
{
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
    struct nn_model_config half = batch_norm; /* batch norm above the frozen block still mixes records */
    half.freeze.blocks = 2;
    assert_int_equal(nn_model_create(&m, &half, 1), SOTTO_OK);
    assert_int_equal(nn_plan_create(&p, m, &c), SOTTO_ENOTSUP);
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

TEST(a_step_allocates_nothing)
{
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

TEST_GROUP(.start = machine_f32, .tags = "matrix")
