/* Any bytes as sotto.schema/1 and as sotto.encoding/1: refused, or an encoding that comes back from its own
 * document. */
#include "data/encoding/encoding.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Whatever a cell holds, a row is finite and as wide as was said. */
static void encode_cells(const struct sotto_table_encoding *e)
{
    static const char *const cells[] = {"", "?", "1e300", "-inf", "nan", "a"};
    for (size_t j = 0; j < e->count; j++) {
        const struct encoding_column *c = &e->columns[j];
        size_t width = encoding_width(c);
        float *out = base_alloc(width, sizeof *out);
        for (size_t k = 0; out && k < sizeof cells / sizeof *cells; k++) {
            assert(encoding_write(out, e, c, cell_of_text(cells[k])) == out + width);
            for (size_t i = 0; i < width; i++)
                assert(isfinite(out[i]));
        }
        base_free(out);
    }
}

static void round_trip(struct sotto_table_encoding *e)
{
    char *text = NULL, *again = NULL;
    struct sotto_table_encoding *copy = NULL;
    encode_cells(e);
    if (encoding_text(&text, e) == SOTTO_OK && sotto_table_encoding_parse(&copy, text, "again") == SOTTO_OK &&
        encoding_text(&again, copy) == SOTTO_OK)
        assert(strcmp(text, again) == 0);
    sotto_text_free(text);
    sotto_text_free(again);
    sotto_table_encoding_free(copy);
    sotto_table_encoding_free(e);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct sotto_table_encoding *e = NULL;
    char *text = calloc(size + 1, 1);
    if (size)
        memcpy(text, data, size);
    if (encoding_parse_schema(&e, text, size, "schema.yaml") == SOTTO_OK)
        round_trip(e);
    if (sotto_table_encoding_parse(&e, text, "encoding.json") == SOTTO_OK)
        round_trip(e);
    free(text);
    return 0;
}
