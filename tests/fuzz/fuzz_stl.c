/* STL-10 as a bundle: the first four bytes say which files there are, how the rest is cut into them, and what
 * is asked for; an accepted set has labels in range and every image of its files. */
#include "data/format/format.h"
#include "data/format/stl.h"

#include <stdlib.h>
#include <string.h>

static void add(struct bundle *b, const char *name, const uint8_t *data, size_t size)
{
    unsigned char *copy = base_alloc(size + 1, 1);
    if (!copy)
        abort();
    memcpy(copy, data, size);
    if (bundle_add(b, name, copy, size) != SOTTO_OK)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const names[] = {"train_X.bin", "train_y.bin", "test_X.bin", "test_y.bin",
                                        "unlabeled_X.bin"};
    static const char *const parts[] = {NULL, "labelled", "unlabelled", "all"};
    static const struct sotto_context ctx = {.threads = 1};
    struct bundle b = {0};
    struct dataset *d;
    const struct dataset_format *used;
    if (size < 4 || (data[0] & 31) == 0)
        return 0;
    struct sotto_import_options options = {.part = parts[data[1] & 3]};
    if (data[1] & 4)
        options.height = 1 + data[1] / 8, options.width = 1 + data[2] / 8;
    size_t labels = data[3], at = 4; /* files of labels are short, the rest is shared by those of images */
    size_t images = (data[0] & 1) + (data[0] >> 2 & 1) + (size_t)(data[0] >> 4 & 1);
    size_t both = (size_t)(data[0] >> 1 & 1) + (data[0] >> 3 & 1);
    if (size - 4 < both * labels)
        return 0;
    size_t share = images ? (size - 4 - both * labels) / images : 0;
    b.origin = base_strdup("stl");
    for (size_t i = 0; i < 5; i++) {
        if (!(data[0] >> i & 1))
            continue;
        size_t take = i == 1 || i == 3 ? labels : share;
        add(&b, names[i], data + at, take);
        at += take;
    }
    bundle_sort(&b);
    if (dataset_create(&d) != SOTTO_OK)
        abort();
    if (images > 0 && format_read(d, &used, &b, &options, &ctx) == SOTTO_OK && dataset_finish(d) == SOTTO_OK)
        if (d->set.n == 0 || d->set.n * STL_PIXELS > size ||
            (d->set.labels != NULL) != (d->set.classes == 10))
            abort();
    dataset_discard(d);
    bundle_clear(&b);
    return 0;
}
