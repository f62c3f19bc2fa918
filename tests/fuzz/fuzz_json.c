/* Arbitrary bytes as JSON; what is accepted must survive being written and read again. */
#include "io/json/json.h"
#include "sotto/io.h"

#include <assert.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct json *j = NULL, *again = NULL;
    char *first = NULL, *second = NULL;
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
