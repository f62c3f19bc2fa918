/* Archives of every kind, then whatever layout they hold, down to a finished set. */
#include "data/format.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct bundle_limits limits = {.entries = 64, .bytes = 1 << 20, .expansion = 1000};
    static const char *const names[] = {"x.tar", "table.csv.xz", "x.npy"};
    struct bundle b;
    if (size == 0 || bundle_from_memory(&b, names[data[size - 1] % 3], data, size, &limits) != SOTTO_OK)
        return 0;
    for (size_t i = 0; i < b.count; i++) {
        const char *name = b.entries[i].name;
        if (name[0] == '/' || strncmp(name, "../", 3) == 0 || strstr(name, "/../") || !text_is_utf8(name))
            abort();
    }
    struct dataset *d;
    const struct dataset_format *format;
    struct sotto_import_options options = {.height = 8, .width = 8};
    struct sotto_context ctx = {.threads = 1};
    if (dataset_create(&d) == SOTTO_OK) {
        if (format_read(d, &format, &b, &options, &ctx) == SOTTO_OK)
            (void)!dataset_finish(d);
        dataset_discard(d);
    }
    bundle_clear(&b);
    return 0;
}
