/* Arbitrary bytes as a configuration file; what is accepted must survive being written and read again. Input
 * after a zero byte is an override. */
#include "io/yaml/yaml_config.h"
#include "io/yaml/yaml_tree.h"

#include <assert.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct config_row rows[] = {
    {"name", CONFIG_TEXT, .fallback = "x"},
    {"seed", CONFIG_WHOLE, .fallback = "1", .range = "[0,1000]"},
    {"pretrain.method", CONFIG_TEXT, .fallback = "simclr", .names = "simclr|rotation"},
    {"pretrain.temperature", CONFIG_REAL, .fallback = "0.1", .range = "(0,inf)"},
    {"pretrain.fast", CONFIG_FLAG, .fallback = "false"},
    {"head.hidden", CONFIG_WHOLES, .fallback = "[512]"},
    {"protect[].mechanism", CONFIG_TEXT, .required = true},
    {"protect[].epsilon", CONFIG_REAL, .fallback = NULL},
    {"attack.names", CONFIG_TEXTS, .fallback = NULL},
    {.path = NULL}};

static void check_round_trip(const struct config *c)
{
    struct config *again = NULL;
    char *first = NULL, *second = NULL;
    assert(config_dump(&first, c) == SOTTO_OK);
    assert(config_read(&again, first, strlen(first), "again.yaml", rows, NULL) == SOTTO_OK);
    assert(config_dump(&second, again) == SOTTO_OK);
    assert(strcmp(first, second) == 0);
    struct json *j = config_json(c, "");
    assert(j);
    json_free(j);
    config_free(again);
    sotto_text_free(first);
    sotto_text_free(second);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct yaml_node *tree = NULL;
    struct config *c = NULL;
    char set[64] = "";
    const uint8_t *zero = size > 0 ? memchr(data, 0, size) : NULL;
    size_t length = zero ? (size_t)(zero - data) : size;
    if (zero) {
        size_t rest = size - length - 1 < sizeof set - 1 ? size - length - 1 : sizeof set - 1;
        memcpy(set, zero + 1, rest);
    }
    const char *const overrides[] = {zero ? set : NULL, NULL};
    if (yaml_parse(&tree, (const char *)data, size, "input.yaml") == SOTTO_OK)
        yaml_free(tree);
    if (config_read(&c, (const char *)data, length, "input.yaml", rows, overrides) == SOTTO_OK)
        check_round_trip(c);
    config_free(c);
    return 0;
}
