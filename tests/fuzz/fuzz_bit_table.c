/* Purchase-100 and Texas-100 tables: 'P' and the rows, or 'T', the rows, '|' and the classes. */
#include "data/format/bit_table.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct dataset *d;
    if (size == 0 || dataset_create(&d) != SOTTO_OK)
        return 0;
    const uint8_t *bar = data[0] == 'T' ? memchr(data, '|', size) : NULL, *end = data + size;
    struct text_bytes rows = {data + 1, (size_t)((bar ? bar : end) - data) - 1, "rows"},
                      labels = {bar ? bar + 1 : end, bar ? (size_t)(end - bar) - 1 : 0, "labels"};
    (void)bit_table_from_memory(d, &rows, bar ? &labels : NULL);
    dataset_discard(d);
    return 0;
}
