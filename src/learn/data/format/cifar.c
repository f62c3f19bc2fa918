/* What CIFAR-10 and CIFAR-100 share: whole records, labels in range, files in the official order. */
#include "data/format/cifar.h"

#include <string.h>

sotto_status cifar_from_memory(size_t *records, const struct cifar_layout *layout, const unsigned char *data,
                               size_t size)
{
    sotto_status status = SOTTO_OK;
    size_t record = layout->labels + CIFAR_PIXELS;
    if (size == 0 || size % record != 0)
        FAIL(SOTTO_EFORMAT, "has %zu bytes; expected a multiple of %zu (%s and 32x32x3 pixels each)", size,
             record, layout->labels == 1 ? "a label" : "two labels");
    for (size_t i = 0; i < size / record; i++)
        for (size_t k = 0; k < layout->labels; k++)
            if (data[i * record + k] >= layout->classes[k])
                FAIL(SOTTO_EFORMAT, "record %zu has %s %d; expected 0 to %u", i, layout->what[k],
                     data[i * record + k], layout->classes[k] - 1);
    *records = size / record;
done:
    return status;
}

/* Position in layout->files, or -1. */
static int file_number(const struct cifar_layout *layout, const char *name)
{
    for (int k = 0; k < CIFAR_FILES; k++)
        if (layout->files[k] && strcmp(path_base(name), layout->files[k]) == 0)
            return k;
    return -1;
}

bool cifar_recognise(const struct bundle *b, const struct cifar_layout *layout)
{
    for (size_t i = 0; i < b->count; i++)
        if (file_number(layout, b->entries[i].name) >= 0)
            return true;
    return false;
}

/* A file that is not there has no bytes. */
static sotto_status load_files(struct bytes bytes[CIFAR_FILES], size_t records[CIFAR_FILES],
                               const struct bundle *b, const struct cifar_layout *layout)
{
    sotto_status status = SOTTO_OK;
    for (size_t i = 0; i < b->count; i++) {
        int k = file_number(layout, b->entries[i].name);
        if (k < 0)
            continue;
        if (bytes[k].data)
            FAIL(SOTTO_EFORMAT, "%s: two files are called %s", b->origin, path_base(b->entries[i].name));
        TRY(bundle_load(&bytes[k], b, i));
        status = cifar_from_memory(&records[k], layout, bytes[k].data, bytes[k].size);
        if (status != SOTTO_OK) {
            bundle_prefix_error(b, i);
            goto done;
        }
    }
done:
    return status;
}

sotto_status cifar_pool(struct dataset *d, const struct bundle *b, const struct cifar_layout *layout,
                        size_t label, const char *const *const names[2])
{
    sotto_status status = SOTTO_OK;
    struct bytes bytes[CIFAR_FILES] = {{0}};
    size_t records[CIFAR_FILES] = {0}, n = 0, row = 0, other = 1 - label;
    bool two = layout->labels == 2;
    TRY(load_files(bytes, records, b, layout));
    for (int k = 0; k < CIFAR_FILES; k++)
        n += records[k];
    TRY(dataset_reserve_images(d, n, 3, 32, 32, true));
    if (two)
        TRY(dataset_reserve_attribute(d, layout->what[other], layout->classes[other], names[other]));
    for (int k = 0; k < CIFAR_FILES; k++) {
        for (size_t i = 0; i < records[k]; i++, row++) {
            const unsigned char *record = bytes[k].data + i * (layout->labels + CIFAR_PIXELS);
            d->labels[row] = record[label];
            if (two)
                d->attribute[row] = record[other];
            memcpy(d->images + row * CIFAR_PIXELS, record + layout->labels, CIFAR_PIXELS);
        }
    }
    d->set.n_train = n - records[CIFAR_FILES - 1];
    TRY(dataset_set_classes(d, layout->classes[label], names[label]));
done:
    for (int k = 0; k < CIFAR_FILES; k++)
        bytes_clear(&bytes[k]);
    return status;
}
