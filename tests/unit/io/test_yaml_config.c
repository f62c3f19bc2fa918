/* src/core/io: YAML trees and configuration files. */
#include "support/test.h"

#include "io/yaml/yaml_config.h"
#include "io/yaml/yaml_tree.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const struct config_row rows[] = {
    {"name", CONFIG_TEXT, .required = true},
    {"seed", CONFIG_WHOLE, .fallback = "1"},
    {"pretrain.method", CONFIG_TEXT, "simclr", .names = "simclr|rotation"},
    {"pretrain.epochs", CONFIG_WHOLE, "10", .range = "[1,100000]"},
    {"pretrain.temperature", CONFIG_REAL, "0.1", .range = "(0,inf)"},
    {"pretrain.fast", CONFIG_FLAG, .fallback = "false"},
    {"head.hidden", CONFIG_WHOLES, "[512]", .range = "[1,inf)"},
    {"protect[].mechanism", CONFIG_TEXT, .required = true, .names = "logistic|laplace|gaussian"},
    {"protect[].epsilon", CONFIG_REAL, NULL, .range = "(0,inf)"},
    {"protect[].delta", CONFIG_REAL, NULL, .range = "(0,1)"},
    {"attack.names", CONFIG_TEXTS, "[loss]", .names = "loss|entropy"},
    {.path = NULL}};

static sotto_status read_config(struct config **c, const char *text, const char *const *overrides)
{
    *c = NULL;
    return config_read(c, text, strlen(text), "run.yaml", rows, overrides);
}

TEST(defaults_are_filled_in)
{
    struct config *c;
    char *text;
    assert_int_equal(
        read_config(&c,
                    "name: 'null'\npretrain: {epochs: 3}\nprotect:\n  - {mechanism: logistic, delta: 1e-5}\n",
                    NULL),
        SOTTO_OK);
    assert_string_equal(config_text(c, "name"), "null");
    assert_int_equal(config_whole(c, "seed"), 1);
    assert_int_equal(config_whole(c, "pretrain.epochs"), 3);
    assert_true(config_given(c, "pretrain.epochs") && config_given(c, "pretrain") &&
                config_given(c, "protect"));
    assert_false(config_given(c, "seed") || config_given(c, "head") || config_given(c, "pretrain.method"));
    assert_int_equal(config_length(c, "head.hidden"), 1);
    assert_int_equal(config_whole(c, "head.hidden[%d]", 0), 512);
    assert_int_equal(config_length(c, "protect"), 1);
    assert_true(config_real(c, "protect[%d].delta", 0) == 1e-5);
    assert_true(isnan(config_real(c, "protect[%d].epsilon", 0)));
    assert_string_equal(config_text(c, "attack.names[%d]", 0), "loss");
    assert_false(config_flag(c, "pretrain.fast"));
    assert_int_equal(config_dump(&text, c), SOTTO_OK);
    assert_string_equal(
        text, "name: 'null'\nseed: 1\npretrain:\n  method: simclr\n  epochs: 3\n  temperature: 0.1\n"
              "  fast: false\nhead:\n  hidden: [512]\nprotect:\n- mechanism: logistic\n  delta: 1e-5\n"
              "attack:\n  names: [loss]\n");
    struct config *again;
    char *twice;
    assert_int_equal(read_config(&again, text, NULL), SOTTO_OK);
    assert_int_equal(config_dump(&twice, again), SOTTO_OK);
    assert_string_equal(text, twice);
    sotto_text_free(text);
    sotto_text_free(twice);
    struct json *j = config_json(c, "protect[0]");
    assert_int_equal(json_dump(&text, j, JSON_LINE), SOTTO_OK);
    assert_string_equal(text, "{\"mechanism\":\"logistic\",\"delta\":1.0000000000000001e-5}");
    sotto_text_free(text);
    json_free(j);
    assert_int_equal(config_fail(c, "protect[0].delta", "delta %g is not smaller than 1/n", 1e-5),
                     SOTTO_ECONFIG);
    assert_string_equal(sotto_error_text(), "run.yaml:4:27: delta 1e-05 is not smaller than 1/n");
    assert_int_equal(config_fail(c, "protect[0].epsilon", "missing"), SOTTO_ECONFIG);
    assert_string_equal(sotto_error_text(), "run.yaml: missing");
    config_free(c);
    config_free(again);
}

TEST(real_numbers_hash_alike)
{
    static const char *const spellings[] = {"1e-5", "1.0e-5", "0.00001", "+1E-05", "0.1e-4"};
    for (size_t i = 0; i < 5; i++) {
        struct config *c;
        char text[80] = "name: x\nprotect: [{mechanism: laplace, delta: ", *out;
        strcat(strcat(text, spellings[i]), "}]");
        assert_int_equal(read_config(&c, text, NULL), SOTTO_OK);
        struct json *j = config_json(c, "protect[0].delta");
        assert_int_equal(json_dump(&out, j, JSON_SORTED), SOTTO_OK);
        assert_string_equal(out, "1.0000000000000001e-5");
        sotto_text_free(out);
        json_free(j);
        config_free(c);
    }
}

TEST(overrides_win)
{
    struct config *c;
    const char *const set[] = {"pretrain.epochs=7",
                               "protect[0].epsilon=2",
                               "protect[1].mechanism=gaussian",
                               "head.hidden=[64, 32]",
                               "seed=",
                               "attack.names[0]=entropy",
                               NULL};
    assert_int_equal(
        read_config(&c, "name: x\nseed: 5\npretrain: {epochs: 3}\nprotect: [{mechanism: logistic}]\n", set),
        SOTTO_OK);
    assert_int_equal(config_whole(c, "pretrain.epochs"), 7);
    assert_int_equal(config_whole(c, "seed"), 1);
    assert_true(config_real(c, "protect[0].epsilon") == 2);
    assert_string_equal(config_text(c, "protect[1].mechanism"), "gaussian");
    assert_int_equal(config_length(c, "head.hidden"), 2);
    assert_string_equal(config_text(c, "attack.names[0]"), "entropy");
    config_free(c);
    static const char *const wrong[][2] = {
        {"pretrain.epoch=3",
         "-s pretrain.epoch=3: unknown key 'epoch' under pretrain; did you mean 'epochs'?"},
        {"pretrain.epochs=x",
         "-s pretrain.epochs=x: pretrain.epochs must be a whole number in [1, 100000] (got 'x')"},
        {"seed", "-s seed: expected KEY=VALUE"},
        {"=3", "-s =3: expected KEY=VALUE with a key such as pretrain.epochs"},
        {"seed.=3", "-s seed.=3: expected a key after '.'"},
        {"name.x=3", "-s name.x=3: 'name' is not a section"},
        {"protect[4].epsilon=3", "-s protect[4].epsilon=3: index 4 is out of range; the list has 0 elements"},
        {"protect[x]=3", "-s protect[x]=3: expected an index such as [0]"},
        {"seed=[", "-s seed=[:2:1: not valid YAML: did not find expected node content"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        assert_int_equal(read_config(&c, "name: x\n", (const char *const[]){wrong[i][0], NULL}),
                         SOTTO_ECONFIG);
        assert_string_equal(sotto_error_text(), wrong[i][1]);
        assert_null(c);
    }
}

TEST(errors_say_where_and_what)
{
    static const char *const cases[][2] = {
        {"name: x\nprotect:\n  - mechanism: logistic\n  - mechanism: gaussian\n    epsilonn: 2\n",
         "run.yaml:5:5: unknown key 'epsilonn' under protect[1]; did you mean 'epsilon'?"},
        {"name: x\nsed: 3\n", "run.yaml:2:1: unknown key 'sed'; did you mean 'seed'?"},
        {"name: x\nzebra: 3\n", "run.yaml:2:1: unknown key 'zebra'"},
        {"name: x\npretrain: {method: simclrr}\n",
         "run.yaml:2:12: pretrain.method must be simclr or rotation (got 'simclrr'); did you mean 'simclr'?"},
        {"name: x\npretrain: {epochs: -3}\n",
         "run.yaml:2:12: pretrain.epochs must be a whole number in [1, 100000] (got -3)"},
        {"name: x\nseed: 1.5\n", "run.yaml:2:1: seed must be a whole number >= 0 (got 1.5)"},
        {"name: x\nseed: 9223372036854775808\n",
         "run.yaml:2:1: seed must be a whole number >= 0 (got 9223372036854775808)"},
        {"name: x\npretrain: {temperature: 0}\n",
         "run.yaml:2:12: pretrain.temperature must be a number > 0 (got 0)"},
        {"name: x\npretrain: {temperature: nan}\n",
         "run.yaml:2:12: pretrain.temperature must be a number > 0 (got nan)"},
        {"name: x\npretrain: {fast: yes}\n",
         "run.yaml:2:12: pretrain.fast must be true or false (got 'yes')"},
        {"name: x\nprotect: [{mechanism: laplace, delta: 1}]\n",
         "run.yaml:2:32: protect[0].delta must be a number in (0, 1) (got 1)"},
        {"name: x\nprotect: [{epsilon: 1}]\n",
         "run.yaml:2:11: 'protect[0].mechanism' is missing; expected logistic, laplace or gaussian"},
        {"seed: 1\n", "run.yaml:1:1: 'name' is missing; expected a text"},
        {"", "run.yaml: 'name' is missing; expected a text"},
        {"name: x\nhead: {hidden: 5}\n",
         "run.yaml:2:8: head.hidden must be a list, each a whole number >= 1 (got 5)"},
        {"name: x\nhead: {hidden: [5, 0]}\n",
         "run.yaml:2:20: head.hidden[1] must be a whole number >= 1 (got 0)"},
        {"name: x\nhead: [1]\n", "run.yaml:2:1: head must be a section of keys"},
        {"name: x\nprotect: {mechanism: laplace}\n", "run.yaml:2:1: protect must be a list of sections"},
        {"name: [x]\n", "run.yaml:1:1: name must be a text (got a list)"},
        {"- x\n", "run.yaml:1:1: a configuration must be a section of keys"},
        {"name: &a x\nseed: *a\n", "run.yaml:1:7: anchors (&name) are not supported; write the value out"},
        {"name: *a\n", "run.yaml:1:7: aliases (*name) are not supported; write the value out"},
        {"name: !!str x\n", "run.yaml:1:7: tags (!name) are not supported; write a plain value"},
        {"name: x\nname: y\n", "run.yaml:2:1: duplicate key 'name'"},
        {"name: x\n---\nname: y\n", "run.yaml:2:1: a second document starts here; expected only one"},
        {"%YAML 1.1\n---\nname: y\n", "run.yaml:1:1: directives (%NAME) are not supported; remove the line"},
        {"? [a]\n: b\n", "run.yaml:1:3: a key must be a plain text"},
        {"name: \"a\\0b\"\n", "run.yaml:1:7: a text must not contain a zero byte"},
        {"name: x\n\tseed: 3\n",
         "run.yaml:2:1: not valid YAML: found a tab character that violates indentation"},
        {"name: [[[[[[[[[[[[[[[[[[[[x]]]]]]]]]]]]]]]]]]]]",
         "run.yaml:1:22: too many nested levels; expected at most 16"},
        {"name: \xff\n", "run.yaml: not valid YAML: invalid leading UTF-8 octet (byte 6)"},
    };
    struct config *c;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(read_config(&c, cases[i][0], NULL), SOTTO_ECONFIG);
        assert_string_equal(sotto_error_text(), cases[i][1]);
        assert_null(c);
    }
}
