/* Sketches of gradients of single records: right on average (with a control that is wrong by 5 %), and taken of the very
 * gradients that a backward pass of that record alone gives. */
#include "support/test.h"

#include "nn/plan/plan_sketch.h"
#include "rng/rng.h"
#include "support/machine.h"

#include <math.h>

enum { DRAWS = 10000, OUT = 3, IN = 5, POSITIONS = 4 };

static void fill(float *x, size_t n, uint64_t seed)
{
    struct rng draw = rng_stream(seed, RNG_TEST, 4, 0);
    for (size_t i = 0; i < n; i++)
        x[i] = (float)rng_normal(&draw);
}

/* Mean of ||S||^2 over DRAWS seeds, in standard errors from ||G||^2 times `wrong`. */
static double errors_from(size_t positions, bool bias, double wrong)
{
    float diff[POSITIONS * OUT], patches[POSITIONS * IN], gradient[OUT * (IN + 1)];
    double sum = 0, squares = 0, exact = 0;
    fill(diff, POSITIONS * OUT, 1);
    fill(patches, POSITIONS * IN, 2);
    for (size_t o = 0; o < OUT; o++)
        for (size_t i = 0; i <= IN; i++) {
            double g = 0;
            for (size_t p = 0; p < positions; p++)
                g += (double)diff[p * OUT + o] * (i < IN ? (double)patches[p * IN + i] : bias);
            exact += g * g;
        }
    const struct sketch_source source = {diff, patches, positions, bias, gradient};
    for (uint64_t seed = 1; seed <= DRAWS; seed++) {
        struct sketch_matrices m;
        struct layer_sketch s;
        double own = 0;
        assert_int_equal(sketch_matrices_make(&m, OUT, IN, 0, seed), SOTTO_OK);
        sketch_gradient(&s, &m, &source);
        sketch_matrices_clear(&m);
        for (size_t j = 0; j < SKETCH; j++)
            own += s.sketch[j] * s.sketch[j];
        sum += own / DRAWS;
        squares += own * own / DRAWS;
        assert_float_equal(s.log_gradient, 0.5 * log(exact), 1e-6);
    }
    return fabs(sum - wrong * exact) / sqrt((squares - sum * sum) / DRAWS);
}

TEST(the_mean_square_is_that_of_the_gradient)
{
    for (size_t positions = 1; positions <= POSITIONS; positions += POSITIONS - 1)
        for (int bias = 0; bias < 2; bias++) {
            assert_true(errors_from(positions, bias, 1) < 3);
            assert_true(errors_from(positions, bias, 1.05) > 3);
        }
}

/* A = (1, 2)' and so on by hand: G = diff patch', with a bias. */
TEST(one_sketch_by_hand)
{
    float a[2 * SKETCH_SIDE] = {[0] = 1, [SKETCH_SIDE] = 2},
                b[3 * SKETCH_SIDE] = {[1] = 3, [SKETCH_SIDE + 1] = 1, [2 * SKETCH_SIDE + 1] = 10};
    const float diff[] = {5, -1}, patch[] = {2, 4}, result[] = {-1, 0, 3, 6};
    float gradient[6];
    const struct sketch_matrices m = {2, 2, a, b};
    const struct sketch_source s = {diff, patch, 1, true, gradient};
    struct layer_sketch out;
    sketch_gradient(&out, &m, &s);
    for (size_t j = 0; j < SKETCH; j++) /* (1 5 - 2 1) (3 2 + 1 4 + 10) = 3 times 20 */
        assert_float_equal(out.sketch[j], j == 1 ? 60 : 0, 1e-12);
    assert_float_equal(out.log_gradient, 0.5 * log(26 * 21), 1e-7);
    assert_float_equal(out.log_diff, 0.5 * log(26), 1e-12);
    assert_float_equal(out.log_input, 0.5 * log(20), 1e-12);
    sketch_results(&out, result, 4);
    assert_true(out.active == .5 && out.mean == 2 && out.largest == 6);
}

enum { BATCH = 3, CLASSES = 4 };

static struct nn_plan *make_plan(struct nn_model **m, const char *name, bool frozen_norms)
{
    struct nn_model_config config = {
        .name = name, .input = {3, 8, 8}, .classes = CLASSES, .freeze = {.norms = frozen_norms}};
    struct nn_plan_config plan = {.batch = BATCH, .dtype = NN_F32, .backend = machine.kernels, .training = 1};
    struct nn_plan *p;
    if (strcmp(name, "resnet20") != 0) {
        config.hidden_count = 2;
        config.hidden[0] = 6, config.hidden[1] = 10;
    }
    if (nn_model_create(m, &config, 3) != SOTTO_OK || nn_plan_create(&p, *m, &plan) != SOTTO_OK)
        fail_msg("%s: %s", name, sotto_error_text());
    return p;
}

/* Forward, and a gradient for the rows of `which` (all: SIZE_MAX). */
static void pass(struct nn_plan *p, size_t which)
{
    float *diff = nn_plan_diff_output(p);
    fill(nn_plan_input(p), BATCH * 3 * 8 * 8, 5);
    assert_int_equal(nn_plan_forward(p, 0, 0, 0), SOTTO_OK);
    fill(diff, BATCH * CLASSES, 6);
    for (size_t i = 0; which != SIZE_MAX && i < BATCH * CLASSES; i++)
        diff[i] = i / CLASSES == which ? diff[i] : 0;
}

/* Numbers of the sketch from the gradient that the layers leave for a batch in which only record e has one. */
static void compare(const struct layer_sketch *got, struct nn_plan *p, size_t layers)
{
    size_t l = layers;
    for (size_t i = p->row_count; i-- > 0 && l > 0;) {
        const struct layer_run *r = &p->runs[i];
        if (r->spec->layer != &layer_dense && r->spec->layer != &layer_conv)
            continue;
        const struct nn_parameter *w = &r->parameters[0];
        size_t in = w->count / w->out;
        struct sketch_matrices m;
        double sketch[SKETCH] = {0}, squares = 0;
        l--;
        assert_int_equal(sketch_matrices_make(&m, w->out, in, layers - 1 - l, 11), SOTTO_OK);
        for (size_t o = 0; o < w->out; o++)
            for (size_t j = 0; j <= in; j++) {
                double g = j < in             ? (double)w->diff[o * in + j]
                           : r->spec->no_bias ? 0
                                              : (double)r->parameters[1].diff[o];
                squares += g * g;
                for (size_t k = 0; k < SKETCH; k++)
                    sketch[k] += g * (double)m.a[o * SKETCH_SIDE + k / SKETCH_SIDE] *
                                 (double)m.b[j * SKETCH_SIDE + k % SKETCH_SIDE];
            }
        sketch_matrices_clear(&m);
        assert_true(squares > 0);
        assert_true(fabs(got[l].log_gradient - 0.5 * log(squares)) < 1e-4);
        for (size_t k = 0; k < SKETCH; k++)
            assert_true(fabs(got[l].sketch[k] - sketch[k]) < 1e-4 * (1 + sqrt(squares)));
    }
    assert_int_equal(l, 0);
}

TEST(sketches_are_of_the_records_own_gradients)
{
    static const char *const names[] = {"mlp", "cnn", "resnet20"};
    for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
        struct nn_model *m;
        struct nn_plan *p = make_plan(&m, names[k], true);
        struct plan_sketch *s;
        assert_int_equal(plan_sketch_make(&s, p, 3, 11), SOTTO_OK);
        size_t layers = plan_sketch_layers(s), outputs = plan_sketch_outputs(s);
        assert_int_equal(layers, 3);
        struct layer_sketch *got = base_alloc(BATCH * layers, sizeof *got);
        float *out = base_alloc(BATCH * outputs, sizeof *out);
        pass(p, SIZE_MAX);
        assert_int_equal(plan_sketch_run(got, out, s, BATCH), SOTTO_OK);
        assert_memory_equal(out + outputs - CLASSES, nn_plan_output(p),
                            CLASSES * sizeof *out); /* logits come last */
        for (size_t e = 0; e < BATCH; e++) {
            pass(p, e);
            assert_int_equal(nn_plan_backward(p), SOTTO_OK);
            compare(got + e * layers, p, layers);
        }
        base_free(got);
        base_free(out);
        plan_sketch_free(s);
        nn_plan_free(p);
        nn_model_free(m);
    }
}

/* A batch norm in use is the affine map of a frozen one, and what is read of a record does not depend on its neighbours. */
TEST(a_batch_norm_is_read_as_it_is_used)
{
    struct layer_sketch got[2][BATCH * 3];
    for (int frozen = 0; frozen < 2; frozen++) {
        struct nn_model *m;
        struct nn_plan *p = make_plan(&m, "resnet20", frozen);
        struct plan_sketch *s;
        float out[BATCH * 512];
        assert_int_equal(plan_sketch_make(&s, p, 3, 11), SOTTO_OK);
        assert_true(plan_sketch_outputs(s) <= 512);
        pass(p, frozen ? 1 : SIZE_MAX);
        assert_int_equal(plan_sketch_run(got[frozen], out, s, BATCH), SOTTO_OK);
        plan_sketch_free(s);
        nn_plan_free(p);
        nn_model_free(m);
    }
    for (size_t l = 3; l < 6; l++) /* of the second record */
        for (size_t k = 0; k < SKETCH; k++)
            assert_true(fabs(got[0][l].sketch[k] - got[1][l].sketch[k]) <=
                        1e-5 * exp(got[1][l].log_gradient));
}

TEST(bad_requests_are_refused)
{
    struct nn_model *m;
    struct nn_plan *p = make_plan(&m, "mlp", false);
    struct plan_sketch *s;
    assert_int_equal(plan_sketch_make(&s, p, 0, 1), SOTTO_EINVAL);
    assert_int_equal(plan_sketch_make(&s, p, 17, 1), SOTTO_EINVAL);
    assert_string_equal(sotto_error_text(), "white box: 17 layers; expected 1 to 16");
    assert_int_equal(plan_sketch_make(&s, p, 16, 1), SOTTO_OK);
    assert_int_equal(plan_sketch_layers(s), 3); /* all that there are */
    plan_sketch_free(s);
    nn_plan_free(p);
    nn_model_free(m);
}

TEST_GROUP(.start = machine_f32, .tags = "matrix")
