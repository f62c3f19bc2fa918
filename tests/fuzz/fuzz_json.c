/* Arbitrary bytes as JSON; what is accepted must survive being written and read again, and the reader of lines says the same. */
#include "io/json/json.h"

#include <assert.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct json *j = NULL, *again = NULL, *line = NULL;
    char *first = NULL, *second = NULL, *third = NULL;
    assert(json_parse_line(&line, (const char *)data, size, "input.json") ==
           json_parse(&j, (const char *)data, size, "input.json"));
    if (j) {
        assert(json_dump(&second, j, JSON_LINE) == SOTTO_OK &&
               json_dump(&third, line, JSON_LINE) == SOTTO_OK);
        assert(strcmp(second, third) == 0);
        struct json *cut = NULL; /* in the memory of the line: the same, and half of it */
        assert(json_parse_line(&line, (const char *)data, size, "input.json") == SOTTO_OK);
        assert(json_parse_line(&line, (const char *)data, size / 2, "input.json") ==
               json_parse(&cut, (const char *)data, size / 2, "input.json"));
        json_free(cut);
    }
    json_free(j);
    json_free(line);
    sotto_text_free(second);
    sotto_text_free(third);
    j = NULL;
    second = NULL;
    if (json_parse(&j, (const char *)data, size, "input.json") == SOTTO_OK) {
        double x;
        if (json_get_real(&x, j, "input.json", "a.b[0].c") != SOTTO_OK && json_kind(j) == JSON_KIND_OBJECT)
            for (const char *key = json_first_key(j); key; key = json_next_key(j, key))
                (void)json_find(j, key);
        assert(json_dump(&first, j, JSON_SORTED) == SOTTO_OK);
        assert(json_parse(&again, first, strlen(first), "again.json") == SOTTO_OK);
        assert(json_dump(&second, again, JSON_SORTED) == SOTTO_OK);
        assert(strcmp(first, second) == 0);
    }
    json_free(j);
    json_free(again);
    sotto_text_free(first);
    sotto_text_free(second);
    return 0;
}
