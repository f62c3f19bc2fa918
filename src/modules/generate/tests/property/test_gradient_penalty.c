/* The gradient penalty of WGAN-GP: a known answer, of automatic differentiation, and differences for the critic as it is
 * trained. f32, the machine's backend and threads. */
#include "support/test.h"

#include "generate/generator.h"
#include "rng/rng.h"
#include "support/machine.h"

#include <math.h>

static void near(double found, double expected, double tolerance)
{
    if (!(fabs(found - expected) <= tolerance))
        fail_msg("%.12g; expected %.12g", found, expected);
}

static sotto_status add(int *row, struct nn_model *m, const char *path, struct layer_spec spec)
{
    snprintf(spec.path, sizeof spec.path, "%s", path);
    spec.src = *row, spec.residual = SOURCE_NONE;
    return network_add(m, &spec, row);
}

/* Two units of slope .2 and an answer without bias. */
static sotto_status build_two_units(int *last, struct nn_model *m, const struct nn_model_config *config)
{
    sotto_status status = SOTTO_OK;
    int row = SOURCE_INPUT;
    (void)config;
    TRY(add(&row, m, "first", (struct layer_spec){.layer = &layer_dense, .width = 2}));
    TRY(add(&row, m, "leaky", (struct layer_spec){.layer = &layer_leaky, .rate = .2}));
    TRY(add(&row, m, "last", (struct layer_spec){.layer = &layer_dense, .width = 1, .no_bias = 1}));
    *last = row;
done:
    return status;
}
static const struct model_kind two_units = {
    .name = "two-units", .title = "two units", .build = build_two_units};

struct pair {
    struct nn_model *model;
    struct nn_plan *reader, *tangent;
};

static void make_plans(struct pair *p, size_t batch)
{
    struct nn_plan_config config = {
        .batch = batch, .backend = machine.kernels, .training = 1, .input_gradient = 1};
    par_set_threads(machine.context.threads);
    assert_int_equal(nn_plan_create(&p->reader, p->model, &config), SOTTO_OK);
    config.input_gradient = 0, config.tangent_of = p->reader;
    assert_int_equal(nn_plan_create(&p->tangent, p->model, &config), SOTTO_OK);
}

static void drop(struct pair *p)
{
    nn_plan_free(p->tangent);
    nn_plan_free(p->reader);
    nn_model_free(p->model);
}

TEST(known_answer)
{
    static const float h[] = {.3F, -.4F, .9F}, first[] = {.5F, -1, .25F, 1, .5F, -.5F}, bias[] = {.1F, -.2F},
                       last[] = {.8F, -.6F};
    static const double first_gradient[] = {-.280572791, .861759286,  -.260531877,
                                            .042085919,  -.129263893, .039079782},
                        last_gradient[] = {-1.333973314, .070143198};
    struct nn_model_config config = {.name = "two-units", .kind = &two_units, .input = {3, 1, 1}};
    struct pair p;
    assert_int_equal(nn_model_create(&p.model, &config, 0), SOTTO_OK);
    make_plans(&p, 1);
    memcpy(p.model->parameters[0].value, first, sizeof first);
    memcpy(p.model->parameters[1].value, bias, sizeof bias);
    memcpy(p.model->parameters[2].value, last, sizeof last);
    memcpy(nn_plan_input(p.reader), h, sizeof h);
    p.model->parameters[1].diff[0] = 7; /* left from another pass */
    near(gradient_penalty(p.reader, p.tangent, p.model, 1, 10), .034735430, 1e-7);
    near((double)nn_plan_output(p.reader)[0], .766, 1e-7);
    const double slope[] = {.28, -.86, .26};
    for (size_t k = 0; k < 3; k++)
        near((double)nn_plan_input_gradient(p.reader)[k], slope[k], 1e-7);
    for (size_t k = 0; k < 6; k++)
        near((double)p.model->parameters[0].diff[k], first_gradient[k], 1.5e-6);
    for (size_t k = 0; k < 2; k++) {
        near((double)p.model->parameters[1].diff[k], 0, 0);
        near((double)p.model->parameters[2].diff[k], last_gradient[k], 1.5e-6);
    }
    drop(&p);
}

/* Answers that do not depend on the record: the norm is 0, and u is 0, not NaN. */
TEST(a_constant_critic)
{
    struct nn_model_config config = {.name = "two-units", .kind = &two_units, .input = {3, 1, 1}};
    struct pair p;
    assert_int_equal(nn_model_create(&p.model, &config, 0), SOTTO_OK);
    make_plans(&p, 1);
    memset(p.model->values, 0, p.model->trainable * sizeof(float));
    near(gradient_penalty(p.reader, p.tangent, p.model, 1, 10), 10, 0);
    for (size_t k = 0; k < p.model->trainable; k++)
        near((double)p.model->diffs[k], 0, 0);
    drop(&p);
}

enum { BATCH = 3, PIXELS = 32 * 32 };

/* The penalty at the weights as they are now, with the sides on which the activations were in the reader's last pass: slopes
 * jump where an activation changes sides, so differences of the penalty itself are of no use. */
static double on_these_sides(struct nn_plan *tangent)
{
    double sum = 0;
    assert_int_equal(nn_plan_forward(tangent, 1, 0, 0), SOTTO_OK);
    for (size_t i = 0; i < BATCH; i++)
        nn_plan_diff_output(tangent)[i] = 1;
    assert_int_equal(nn_plan_backward_input(tangent), SOTTO_OK);
    for (size_t i = 0; i < BATCH; i++) {
        double square = 0;
        for (size_t k = 0; k < PIXELS; k++)
            square += pow((double)nn_plan_input_gradient(tangent)[i * PIXELS + k], 2);
        sum += 10 * pow(sqrt(square) - 1, 2) / BATCH;
    }
    return sum;
}

TEST(differences)
{
    struct sotto_generator *g;
    struct nn_plan *free_sides;
    assert_int_equal(generator_make(&g, &generator_wgan_gp, 1, 2, 7), SOTTO_OK);
    struct pair p = {.model = g->reader};
    make_plans(&p, BATCH);
    struct nn_plan_config config = {.batch = BATCH,
                                    .backend = machine.kernels,
                                    .training = 1,
                                    .input_gradient = 1,
                                    .tangent_of = p.reader};
    assert_int_equal(nn_plan_create(&free_sides, g->reader, &config), SOTTO_OK);
    struct rng r = rng_stream(1, RNG_TEST, 0, 0);
    for (size_t i = 0; i < BATCH * PIXELS; i++)
        nn_plan_input(p.reader)[i] = 2 * rng_unit_f(&r) - 1;
    for (size_t k = 0; k < g->reader->trainable; k++)
        g->reader->values[k] *= 12; /* slopes of about 1 */
    size_t compared = 0;
    for (size_t t = 0; t < g->reader->parameter_count; t++) {
        const struct nn_parameter *w = &g->reader->parameters[t];
        for (size_t k = w->count / 7; k < w->count; k += w->count / 5 + 1) {
            const float kept = w->value[k], step = 4e-3F;
            double penalty = gradient_penalty(p.reader, p.tangent, g->reader, BATCH, 10);
            double slope = (double)w->diff[k];
            near(on_these_sides(free_sides), penalty, 1e-5 * penalty);
            w->value[k] = kept + step;
            double up = on_these_sides(free_sides);
            w->value[k] = kept - step;
            double down = on_these_sides(free_sides);
            w->value[k] = kept;
            near((up - down) / (2 * (double)step), slope, .01 * (.1 + fabs(slope)));
            compared += fabs(slope) > .1;
            if (strstr(w->name, "bias"))
                near(slope, 0, 0);
        }
    }
    assert_true(compared >= 8);
    nn_plan_free(free_sides);
    p.model = NULL;
    drop(&p);
    sotto_generator_free(g);
}

TEST(tangents_are_refused_where_there_is_none)
{
    struct sotto_generator *g;
    struct nn_plan *reader, *tangent = NULL;
    struct nn_plan_config config = {
        .batch = 2, .backend = machine.kernels, .training = 1, .input_gradient = 1};
    assert_int_equal(generator_make(&g, &generator_dcgan, 1, 2, 7), SOTTO_OK); /* batch norm */
    assert_int_equal(nn_plan_create(&reader, g->reader, &config), SOTTO_OK);
    config.tangent_of = reader, config.input_gradient = 0;
    assert_int_equal(nn_plan_create(&tangent, g->reader, &config), SOTTO_ENOTSUP);
    assert_string_equal(sotto_error_text(), "3: this layer has no tangent");
    config.batch = 3;
    assert_int_equal(nn_plan_create(&tangent, g->reader, &config), SOTTO_EINVAL);
    nn_plan_free(reader);
    sotto_generator_free(g);
}

TEST_GROUP(.start = machine_f32, .tags = "matrix")
