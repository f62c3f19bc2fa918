/* Residual perturbation in recipes: text and back, files without it, what is refused. */
#include "support/test.h"

#include "train/network/network.h"

#include <string.h>

TEST(texts_come_back)
{
    const struct sotto_residual_noise cases[] = {{.kind = "additive",
                                                  .gamma = .5,
                                                  .input_noise = .25,
                                                  .radius = 30,
                                                  .members = 5,
                                                  .separate_inputs = 1},
                                                 {.kind = "multiplicative", .gamma = 1. / 3, .floor = 1e-3},
                                                 {.kind = "additive", .gamma = 1, .relative = 1},
                                                 {.members = 3, .average_softmax = 1, .independent = 1},
                                                 {.no_skip = 1},
                                                 {.members = 2}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct sotto_residual_noise found;
        char text[TRAIN_RESIDUAL_TEXT], again[TRAIN_RESIDUAL_TEXT];
        assert_int_equal(train_residual_text(text, &cases[i]), SOTTO_OK);
        assert_int_equal(train_residual_parse(&found, text, "file"), SOTTO_OK);
        assert_int_equal(train_residual_text(again, &found), SOTTO_OK);
        assert_string_equal(text, again);
        assert_true(found.gamma == cases[i].gamma && found.floor == cases[i].floor);
        assert_true(found.input_noise == cases[i].input_noise && found.radius == cases[i].radius);
        assert_int_equal(found.no_skip, cases[i].no_skip);
        assert_int_equal(found.relative, cases[i].relative);
        assert_int_equal(found.average_softmax, cases[i].average_softmax);
        assert_int_equal(found.independent, cases[i].independent);
    }
    char none[TRAIN_RESIDUAL_TEXT] = "x";
    assert_int_equal(train_residual_text(none, &(struct sotto_residual_noise){.members = 1}), SOTTO_OK);
    assert_string_equal(none, "");
}

/* A recipe carries it; one without means none, as older files do. */
TEST(recipes_carry_it)
{
    struct sotto_train_options o, found;
    char text[TRAIN_RECIPE_TEXT];
    sotto_train_defaults(&o);
    o.model = "resnet8", o.dtype = "f32";
    o.residual = (struct sotto_residual_noise){.kind = "additive", .gamma = .5, .members = 3};
    assert_int_equal(train_options_check(&o), SOTTO_OK);
    assert_int_equal(train_recipe_text(text, &o), SOTTO_OK);
    assert_int_equal(train_recipe_parse(&found, text, "file"), SOTTO_OK);
    assert_string_equal(found.residual.kind, "additive");
    assert_int_equal(found.residual.members, 3);
    struct nn_model_config c;
    assert_int_equal(train_model_config(&c, &found, (struct nn_shape){3, 32, 32}, 10), SOTTO_OK);
    assert_int_equal(c.noise.kind, NN_NOISE_ADDITIVE);
    assert_true(c.noise.gamma == .5 && c.members == 3);
    struct sotto_residual_noise back = train_residual_of(&c);
    assert_string_equal(back.kind, "additive");
    o.residual = (struct sotto_residual_noise){0};
    assert_int_equal(train_recipe_text(text, &o), SOTTO_OK);
    assert_null(strstr(text, "residual"));
    assert_int_equal(train_recipe_parse(&found, text, "file"), SOTTO_OK);
    assert_null(found.residual.kind);
}

TEST(nonsense_is_refused)
{
    struct sotto_residual_noise r;
    static const char *const texts[] = {
        "",
        "{",
        "[]",
        "{\"kind\":\"additive\"}",
        "{\"floor\":0,\"gamma\":\"a\",\"input_noise\":0,\"kind\":\"none\",\"members\":1,"
        "\"radius\":0,\"separate_inputs\":false,\"skip\":true}",
        "{\"floor\":0,\"gamma\":1,\"input_noise\":0,\"kind\":\"cubic\",\"members\":1,"
        "\"radius\":0,\"separate_inputs\":false,\"skip\":true}"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        assert_int_equal(train_residual_parse(&r, texts[i], "file"), SOTTO_EFORMAT);
    const struct {
        struct sotto_residual_noise noise;
        const char *word;
    } cases[] = {
        {{.kind = "cubic"},
         "residual perturbation: kind 'cubic' is unknown; expected additive or multiplicative"},
        {{.gamma = 1}, "gamma and floor need residual perturbation; give additive or multiplicative"},
        {{.kind = "additive", .floor = 1}, "a floor needs multiplicative noise"},
        {{.separate_inputs = 1}, "separate inputs"},
        {{.separate_inputs = 1, .members = 2}, "separate inputs"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct sotto_train_options o;
        sotto_train_defaults(&o);
        o.model = "resnet8";
        o.residual = cases[i].noise;
        assert_int_equal(train_options_check(&o), SOTTO_EINVAL);
        assert_non_null(strstr(sotto_error_text(), cases[i].word));
    }
}
