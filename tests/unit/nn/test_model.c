/* Models: the parameter counts of the recipes, initialisation, wrong configurations. */
#include "support/test.h"
#include "support/worse.h"
#include "io/array/tensors.h"
#include "nn/model/model.h"

#include <math.h>
#include <string.h>

static struct nn_model *create(struct nn_model_config config, uint64_t seed)
{
    struct nn_model *m = NULL;
    assert_int_equal(nn_model_create(&m, &config, seed), SOTTO_OK);
    return m;
}

static struct nn_model_config keras(size_t side)
{
    return (struct nn_model_config){
        .name = "keras-simclr", .input = {3, side, side}, .projector = {128, 128}, .projector_count = 2};
}

/* Counts from the Keras example: encoder 462,848 at 32x32 and 856,064 at 96x96, projection head 33,024. */
TEST(keras_simclr_has_the_published_parameter_counts)
{
    const size_t sides[] = {32, 96}, counts[] = {462848, 856064};
    for (int i = 0; i < 2; i++) {
        struct nn_model *m = create(keras(sides[i]), 1);
        assert_int_equal(nn_model_parameter_count(m, 0), counts[i]);
        assert_int_equal(nn_model_parameter_count(m, 1), counts[i] + 33024);
        assert_int_equal(nn_model_embedding_width(m), 128);
        assert_int_equal(nn_model_output_width(m), 128);
        nn_model_free(m);
    }
}

TEST(mlp_counts_hidden_layers_and_classes)
{
    struct nn_model *m = create(
        (struct nn_model_config){
            .name = "mlp", .input = {600, 1, 1}, .hidden = {256}, .hidden_count = 1, .classes = 100},
        1);
    assert_int_equal(nn_model_parameter_count(m, 1), 600 * 256 + 256 + 256 * 100 + 100);
    assert_int_equal(nn_model_parameter_count(m, 0), 600 * 256 + 256);
    assert_int_equal(nn_model_embedding_width(m), 256);
    nn_model_free(m);
    m = create((struct nn_model_config){.name = "mlp", .input = {128, 1, 1}, .classes = 10},
               1); /* linear softmax */
    assert_int_equal(nn_model_parameter_count(m, 1), 1290);
    assert_int_equal(nn_model_embedding_width(m), 128);
    nn_model_free(m);
}

/* Uniform on +-sqrt(6 / (fan_in + fan_out)): bounds hold, are nearly reached, and the variance is limit^2
 * / 3. */
TEST(weights_start_glorot_uniform_and_biases_at_zero)
{
    struct nn_model *m = create(keras(32), 7);
    const double fans[] = {9 * 3 + 9 * 128, 9 * 128 + 9 * 128};
    for (int layer = 0; layer < 2; layer++) {
        const struct nn_parameter *w = &m->parameters[2 * layer], *b = w + 1;
        double limit = sqrt(6 / fans[layer]), top = 0, sum = 0, squares = 0;
        for (size_t i = 0; i < w->count; i++) {
            top = worse(top, fabs((double)w->value[i]));
            sum += (double)w->value[i];
            squares += (double)w->value[i] * (double)w->value[i];
        }
        double n = (double)w->count, variance = limit * limit / 3;
        assert_true(top <= limit * (1 + 1e-6) && top > 0.99 * limit);
        assert_true(fabs(sum / n) < 5 * sqrt(variance / n));
        assert_true(fabs(squares / n / variance - 1) <
                    5 * sqrt(0.8 / n)); /* var of U^2 = 4/5 of its mean squared */
        for (size_t i = 0; i < b->count; i++)
            assert_true(b->value[i] == 0);
    }
    nn_model_free(m);
}

TEST(same_seed_same_weights)
{
    struct nn_model *a = create(keras(32), 3), *b = create(keras(32), 3), *c = create(keras(32), 4);
    assert_memory_equal(a->values, b->values, a->trainable * sizeof *a->values);
    assert_memory_not_equal(a->values, c->values, a->trainable * sizeof *a->values);
    nn_model_free(a);
    nn_model_free(b);
    nn_model_free(c);
}

static void refused(struct nn_model_config config, const char *expected)
{
    struct nn_model *m = NULL;
    assert_int_equal(nn_model_create(&m, &config, 1), SOTTO_EINVAL);
    assert_null(m);
    if (!strstr(sotto_error_text(), expected))
        fail_msg("'%s' does not mention '%s'", sotto_error_text(), expected);
}

TEST(wrong_configurations_are_named)
{
    refused((struct nn_model_config){.name = "vgg", .input = {3, 32, 32}}, "keras-simclr");
    refused(keras(28), "28x28");
    refused((struct nn_model_config){.name = "mlp", .input = {0, 1, 1}, .classes = 2}, "empty");
    refused((struct nn_model_config){.name = "mlp", .input = {4, 1, 1}},
            "has no hidden layer, no projector and no classes; expected at least one of them");
    refused(
        (struct nn_model_config){
            .name = "mlp", .input = {4, 1, 1}, .classes = 2, .projector = {3}, .projector_count = 1},
        "expected only one of them");
    refused(
        (struct nn_model_config){
            .name = "mlp", .input = {4, 1, 1}, .hidden = {(size_t)1 << 60}, .hidden_count = 1},
        "too large");
}

/* ---- files ---- */

TEST(export_gives_pytorch_names_and_layouts)
{
    struct nn_model *m = create(keras(32), 3);
    struct sotto_tensors t = {0};
    assert_int_equal(nn_model_export(&t, m, "", 1), SOTTO_OK);
    /* nn.Sequential(Conv2d, ReLU, Conv2d, ReLU, Conv2d, ReLU, Conv2d, ReLU, Flatten, Linear, ReLU) */
    const char *names[] = {"encoder.0.weight",   "encoder.0.bias",  "encoder.2.weight",   "encoder.2.bias",
                           "encoder.4.weight",   "encoder.4.bias",  "encoder.6.weight",   "encoder.6.bias",
                           "encoder.9.weight",   "encoder.9.bias",  "projector.0.weight", "projector.0.bias",
                           "projector.2.weight", "projector.2.bias"};
    assert_int_equal(t.count, sizeof names / sizeof *names);
    for (size_t i = 0; i < t.count; i++)
        assert_string_equal(t.items[i].name, names[i]);
    const struct sotto_array *conv = tensors_find(&t, "encoder.0.weight");
    assert_int_equal(conv->ndim, 4);
    const size_t expected[4] = {128, 3, 3, 3};
    assert_memory_equal(conv->shape, expected, sizeof expected);
    for (size_t o = 0; o < 128; o++) /* file (o, i, h, w) = inside (o, h, w, i) */
        for (size_t i = 0; i < 3; i++)
            for (size_t hw = 0; hw < 9; hw++)
                assert_true(((float *)conv->data)[(o * 3 + i) * 9 + hw] ==
                            m->parameters[0].value[(o * 9 + hw) * 3 + i]);
    sotto_tensors_clear(&t);
    assert_int_equal(nn_model_export(&t, m, "online.", 0), SOTTO_OK);
    assert_int_equal(t.count, 10);
    assert_non_null(tensors_find(&t, "online.encoder.9.bias"));
    sotto_tensors_clear(&t);
    nn_model_free(m);
}

/* At 96x96 the dense layer follows a 5x5 image: its file layout differs from the one inside. */
TEST(import_undoes_export)
{
    struct nn_model *a = create(keras(96), 3), *b = create(keras(96), 4);
    struct sotto_tensors t = {0};
    assert_int_equal(nn_model_export(&t, a, "", 1), SOTTO_OK);
    assert_int_equal(nn_model_import(b, &t, "", 1), SOTTO_OK);
    assert_memory_equal(a->values, b->values, a->trainable * sizeof *a->values);
    sotto_tensors_clear(&t);
    nn_model_free(a);
    nn_model_free(b);
}

TEST(wrong_tensors_are_named_and_change_nothing)
{
    struct nn_model *small = create(keras(32), 3), *large = create(keras(96), 4),
                    *same = create(keras(96), 4);
    struct sotto_tensors t = {0};
    assert_int_equal(nn_model_export(&t, small, "", 0), SOTTO_OK);
    assert_int_equal(nn_model_import(large, &t, "", 0), SOTTO_EFORMAT);
    assert_non_null(
        strstr(sotto_error_text(), "'encoder.9.weight' has shape (128, 128); expected (128, 3200)"));
    assert_memory_equal(large->values, same->values, large->trainable * sizeof *large->values);
    assert_int_equal(nn_model_import(small, &t, "", 1), SOTTO_EFORMAT);
    assert_non_null(strstr(sotto_error_text(), "'projector.0.weight' is missing"));
    ((float *)tensors_find(&t, "encoder.2.bias")->data)[5] = NAN;
    assert_int_equal(nn_model_import(small, &t, "", 0), SOTTO_EFORMAT);
    assert_non_null(strstr(sotto_error_text(), "tensor 'encoder.2.bias' has the value nan at position 5"));
    sotto_tensors_clear(&t);
    nn_model_free(small);
    nn_model_free(large);
    nn_model_free(same);
}

TEST(every_failed_allocation_is_reported)
{
    struct nn_model_config config = keras(32);
    for (long n = 0;; n++) {
        struct nn_model *m = NULL;
        base_alloc_fail_after(n);
        sotto_status status = nn_model_create(&m, &config, 1);
        base_alloc_fail_after(-1);
        if (status == SOTTO_OK) {
            assert_true(n > 0);
            nn_model_free(m);
            return;
        }
        assert_int_equal(status, SOTTO_ENOMEM);
        assert_null(m);
    }
}

TEST_GROUP(.tags = "matrix")
