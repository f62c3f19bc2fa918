/* Archives of every kind, then whatever layout they hold, down to a finished set. */
#include "data/format/format.h"

#include <stdlib.h>
#include <string.h>

static sotto_status read_as_set(const struct bundle *b, const struct sotto_import_options *options)
{
    static const struct sotto_context ctx = {.threads = 1};
    struct dataset *d;
    const struct dataset_format *format;
    sotto_status status = dataset_create(&d);
    if (status != SOTTO_OK)
        return status;
    status = format_read(d, &format, b, options, &ctx);
    if (status == SOTTO_OK)
        (void)!dataset_finish(d);
    dataset_discard(d);
    return status;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct bundle_limits limits = {.entries = 64, .bytes = 1 << 20, .expansion = 1000};
    static const struct sotto_import_options small = {.height = 8, .width = 8};
    static const char *const names[] = {"x.tar", "table.csv.xz", "x.npy"};
    struct bundle b;
    if (size == 0 || bundle_from_memory(&b, names[data[size - 1] % 3], data, size, &limits) != SOTTO_OK)
        return 0;
    for (size_t i = 0; i < b.count; i++) {
        const char *name = b.entries[i].name;
        if (name[0] == '/' || strncmp(name, "../", 3) == 0 || strstr(name, "/../") || !text_is_utf8(name))
            abort();
    }
    if (read_as_set(&b, &small) == SOTTO_EUSAGE) /* this layout has no size */
        (void)!read_as_set(&b, NULL);
    bundle_clear(&b);
    return 0;
}
