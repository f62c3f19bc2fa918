/* CIFAR-10's six binary files: data_batch_1.bin ... data_batch_5.bin and test_batch.bin. */
#include "data/cifar.h"

#include "data/format.h"

#include <stdio.h>
#include <string.h>

sotto_status cifar_from_memory(size_t *records, const unsigned char *data, size_t size)
{
    sotto_status status = SOTTO_OK;
    if (size == 0 || size % CIFAR_RECORD != 0)
        FAIL(SOTTO_EFORMAT, "has %zu bytes; expected a multiple of %d (a label and 32x32x3 pixels each)",
             size, CIFAR_RECORD);
    for (size_t i = 0; i < size / CIFAR_RECORD; i++)
        if (data[i * CIFAR_RECORD] >= CIFAR_CLASSES)
            FAIL(SOTTO_EFORMAT, "record %zu has label %d; expected 0 to 9", i, data[i * CIFAR_RECORD]);
    *records = size / CIFAR_RECORD;
done:
    return status;
}

/* 1 to 5: a training batch; 6: the test batch; 0: another file. */
static int batch_number(const char *name)
{
    const char *base = path_base(name);
    if (strcmp(base, "test_batch.bin") == 0)
        return 6;
    if (strncmp(base, "data_batch_", 11) == 0 && base[11] >= '1' && base[11] <= '5' &&
        strcmp(base + 12, ".bin") == 0)
        return base[11] - '0';
    return 0;
}

static bool recognise(const struct bundle *b)
{
    for (size_t i = 0; i < b->count; i++)
        if (batch_number(b->entries[i].name))
            return true;
    return false;
}

/* Six batches in their order; a batch that is not there has no bytes. */
static sotto_status load_batches(struct bytes bytes[7], size_t records[7], const struct bundle *b)
{
    sotto_status status = SOTTO_OK;
    for (size_t i = 0; i < b->count; i++) {
        int k = batch_number(b->entries[i].name);
        if (k == 0)
            continue;
        if (bytes[k].data)
            FAIL(SOTTO_EFORMAT, "%s: two files are called %s", b->origin, path_base(b->entries[i].name));
        TRY(bundle_load(&bytes[k], b, i));
        status = cifar_from_memory(&records[k], bytes[k].data, bytes[k].size);
        if (status != SOTTO_OK) {
            bundle_blame(b, i);
            goto done;
        }
    }
done:
    return status;
}

static sotto_status read_batches(struct dataset *d, const struct bundle *b,
                                 const struct sotto_import_options *options, const struct sotto_context *ctx)
{
    static const char *const names[CIFAR_CLASSES] = {"airplane", "automobile", "bird",  "cat",  "deer",
                                                     "dog",      "frog",       "horse", "ship", "truck"};
    sotto_status status = SOTTO_OK;
    struct bytes bytes[7] = {{0}};
    size_t records[7] = {0}, n = 0, row = 0;
    (void)options, (void)ctx;
    TRY(load_batches(bytes, records, b));
    for (int k = 1; k < 7; k++)
        n += records[k];
    TRY(dataset_reserve_images(d, n, 3, 32, 32, true));
    for (int k = 1; k < 7; k++) {
        for (size_t i = 0; i < records[k]; i++, row++) {
            const unsigned char *record = bytes[k].data + i * CIFAR_RECORD;
            d->labels[row] = record[0];
            memcpy(d->images + row * CIFAR_PIXELS, record + 1, CIFAR_PIXELS);
        }
    }
    d->set.n_train = n - records[6];
    TRY(dataset_set_classes(d, CIFAR_CLASSES, names));
done:
    for (int k = 0; k < 7; k++)
        bytes_clear(&bytes[k]);
    return status;
}

const struct dataset_format format_cifar10 = {.name = "cifar10",
                                              .layout =
                                                  "CIFAR-10 binary: data_batch_{1..5}.bin and test_batch.bin",
                                              .recognise = recognise,
                                              .read = read_batches};
