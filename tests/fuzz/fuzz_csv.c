/* Arbitrary bytes as CSV, in both styles that data sets use. */
#include "io/table/csv.h"
#include "sotto/private/io.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct csv_style styles[] = {
        {0}, {.trim = true, .comment = '|'}, {.separator = '\t', .trim = true}};
    for (size_t s = 0; s < 3; s++) {
        struct csv c;
        struct sotto_array a = {0};
        size_t length = 0;
        if (csv_parse(&c, (const char *)data, size, "input.csv", &styles[s]) != SOTTO_OK)
            continue;
        for (size_t i = 0; i < c.rows * c.columns; i++)
            length += strlen(c.cells[i]); /* every cell ends inside the text */
        if (length <= size && csv_to_array(&a, &c, csv_has_header(&c)) == SOTTO_OK)
            sotto_array_clear(&a);
        csv_clear(&c);
    }
    return 0;
}
