/* Internal influence: exact for a linear top and for one with a kink, by hand; which rows can be cut at. */
#include "support/test.h"

#include "nn/plan/plan_influence.h"
#include "rng/rng.h"
#include "support/machine.h"

#include <math.h>
#include <string.h>

enum { BATCH = 3, CLASSES = 4, STEPS = 20 };

static struct nn_plan *make_plan(struct nn_model **m, const struct nn_model_config *config)
{
    struct nn_plan_config plan = {
        .batch = BATCH, .dtype = NN_F32, .backend = machine.kernels, .training = 1, .every_result = 1};
    struct nn_plan *p;
    if (nn_model_create(m, config, 3) != SOTTO_OK || nn_plan_create(&p, *m, &plan) != SOTTO_OK)
        fail_msg("%s: %s", config->name, sotto_error_text());
    return p;
}

static void pass(struct nn_plan *p)
{
    struct rng draw = rng_stream(5, RNG_TEST, 4, 0);
    for (size_t i = 0; i < plan_activation(p, SOURCE_INPUT)->count; i++)
        p->input[i] = (float)rng_normal(&draw);
    assert_int_equal(nn_plan_forward(p, 0, 0, 0), SOTTO_OK);
}

static float *tensor(const struct nn_model *m, const char *name)
{
    for (size_t i = 0; i < m->parameter_count; i++)
        if (strcmp(m->parameters[i].name, name) == 0)
            return m->parameters[i].value;
    fail_msg("no tensor %s", name);
    return NULL;
}

/* q = z_0 - (z_0 + z_1) / 2 = relu(2 h - 1) / 2 with z = (relu(2 h - 1), 0): ten of the twenty steps lie above the kink. */
TEST(a_kink_by_hand)
{
    struct nn_model *m;
    const struct nn_model_config config = {
        .name = "mlp", .input = {1, 1, 1}, .classes = 2, .hidden = {1, 1}, .hidden_count = 2};
    struct nn_plan *p = make_plan(&m, &config);
    size_t rows[PLAN_CUTS];
    const int64_t y[BATCH] = {0, 1, 0};
    *tensor(m, "encoder.0.weight") = 1, *tensor(m, "encoder.0.bias") = 0;
    *tensor(m, "encoder.2.weight") = 2, *tensor(m, "encoder.2.bias") = -1;
    memcpy(tensor(m, "classifier.weight"), (float[]){1, 0}, 2 * sizeof(float));
    memcpy(tensor(m, "classifier.bias"), (float[]){7, 3}, 2 * sizeof(float));
    assert_int_equal(plan_cuts(rows, PLAN_CUTS, p), 2);
    memcpy(p->input, (float[]){1, 1, 0.5F}, BATCH * sizeof(float));
    assert_int_equal(nn_plan_forward(p, 0, 0, 0), SOTTO_OK);
    for (int again = 0; again < 2; again++) { /* what it moved is put back */
        double score[BATCH] = {0}, map[BATCH] = {0};
        assert_int_equal(plan_influence_add(score, map, p, rows[0], y, BATCH, STEPS, 2), SOTTO_OK);
        const double expected[BATCH] = {2 * .5, 2 * -.5, 0};
        for (size_t i = 0; i < BATCH; i++) {
            assert_float_equal(score[i], expected[i], 1e-6);
            assert_float_equal(map[i], expected[i], 1e-6);
        }
    }
    nn_plan_free(p);
    nn_model_free(m);
}

/* At the last cut of a network without a kink above it: chi is a row of the last layer, its mean taken off. */
TEST(a_linear_top_is_its_weights)
{
    const char *names[] = {"mlp", "cnn"};
    for (size_t k = 0; k < 2; k++) {
        struct nn_model *m;
        const struct nn_model_config config = {
            .name = names[k], .input = {3, 8, 8}, .classes = CLASSES, .hidden = {6, 10}, .hidden_count = 2};
        struct nn_plan *p = make_plan(&m, &config);
        const int64_t y[BATCH] = {2, 0, 3};
        size_t rows[PLAN_CUTS];
        double score[BATCH] = {0}, map[BATCH * 10] = {0};
        assert_int_equal(plan_cuts(rows, 1, p), 1);
        pass(p);
        const float *h = plan_activation(p, (int)rows[0])->data, *w = tensor(m, "classifier.weight");
        assert_int_equal(shape_count(plan_activation(p, (int)rows[0])->shape), 10);
        assert_int_equal(plan_influence_add(score, map, p, rows[0], y, BATCH, STEPS, 1), SOTTO_OK);
        for (size_t i = 0; i < BATCH; i++) {
            double sum = 0;
            for (size_t j = 0; j < 10; j++) {
                double mean = 0;
                for (size_t c = 0; c < CLASSES; c++)
                    mean += (double)w[c * 10 + j] / CLASSES;
                const double part = ((double)w[(size_t)y[i] * 10 + j] - mean) * (double)h[i * 10 + j];
                assert_float_equal(map[i * 10 + j], part, 1e-5);
                sum += part;
            }
            assert_float_equal(score[i], sum, 1e-5);
            assert_true(fabs(sum) > 1e-3);
        }
        nn_plan_free(p);
        nn_model_free(m);
    }
}

/* Nothing may be read around a cut: of a residual network what a block begins with, unless it is also added later. */
TEST(cuts_separate_the_network)
{
    const struct {
        const char *name;
        size_t cuts;
    } cases[] = {{"cnn", 2}, {"mlp", 2}, {"resnet8", 3}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        struct nn_model *m;
        struct nn_model_config config = {.name = cases[k].name, .input = {3, 8, 8}, .classes = CLASSES};
        if (strcmp(config.name, "resnet8") != 0)
            config.hidden_count = 2, config.hidden[0] = 6, config.hidden[1] = 10;
        struct nn_plan *p = make_plan(&m, &config);
        size_t rows[PLAN_CUTS];
        const size_t found = plan_cuts(rows, PLAN_CUTS, p);
        if (found != cases[k].cuts)
            fail_msg("%s: %zu cuts", cases[k].name, found);
        for (size_t i = 0; i < found; i++) {
            assert_true(i == 0 || rows[i] > rows[i - 1]);
            for (size_t j = rows[i] + 1; j < p->row_count; j++)
                assert_true(
                    p->runs[j].spec->src >= (int)rows[i] &&
                    (p->runs[j].spec->residual == SOURCE_NONE || p->runs[j].spec->residual >= (int)rows[i]));
        }
        nn_plan_free(p);
        nn_model_free(m);
    }
}

TEST_GROUP(.start = machine_f32, .tags = "matrix")
