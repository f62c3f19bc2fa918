/* IDX files: header against length first, values after. */
#include "data/format/idx.h"

#include "data/format/format.h"

#include <stdio.h>
#include <string.h>

static size_t big_endian(const unsigned char *p)
{
    return (size_t)p[0] << 24 | (size_t)p[1] << 16 | (size_t)p[2] << 8 | p[3];
}

sotto_status idx_from_memory(struct idx *out, const unsigned char *data, size_t size)
{
    sotto_status status = SOTTO_OK;
    struct idx idx = {0};
    if (size < 8)
        FAIL(SOTTO_EFORMAT, "has %zu bytes; an IDX file has a header of at least 8", size);
    if (data[0] != 0 || data[1] != 0 || (data[3] != 1 && data[3] != 3))
        FAIL(SOTTO_EFORMAT, "starts with %02x%02x%02x%02x; expected 00000801 (labels) or 00000803 (images)",
             data[0], data[1], data[2], data[3]);
    if (data[2] != 0x08)
        FAIL(SOTTO_EFORMAT, "IDX value type 0x%02x is not supported; expected unsigned bytes (0x08)",
             data[2]);
    idx.ndim = data[3];
    size_t header = 4 + 4 * (size_t)idx.ndim;
    if (size < header)
        FAIL(SOTTO_EFORMAT, "has %zu bytes; its header alone needs %zu", size, header);
    size_t record = 1, held = size - header, needed;
    for (int i = 0; i < idx.ndim; i++)
        idx.shape[i] = big_endian(data + 4 + 4 * i);
    for (int i = 1; i < idx.ndim; i++)
        if (idx.shape[i] == 0 || !size_multiply(&record, record, idx.shape[i]))
            FAIL(SOTTO_EFORMAT,
                 "header states an image size of %zux%zux%zu; expected sizes above 0 that fit in memory",
                 idx.shape[0], idx.shape[1], idx.shape[2]);
    if (!size_multiply(&needed, record, idx.shape[0]) || held < needed) {
        if (idx.ndim == 3)
            FAIL(SOTTO_EFORMAT, "header states %zux%zux%zu, but the file has %zu images", idx.shape[0],
                 idx.shape[1], idx.shape[2], held / record);
        FAIL(SOTTO_EFORMAT, "header states %zu labels, but the file has %zu", idx.shape[0], held);
    }
    if (held > needed)
        FAIL(SOTTO_EFORMAT, "%zu bytes are left after the %zu records that the header states", held - needed,
             idx.shape[0]);
    idx.data = data + header;
    *out = idx;
done:
    return status;
}

/* "train-images-idx3-ubyte.gz" and its usual spellings. */
static bool is_part(const char *name, bool train, bool images)
{
    const char *base = path_base(name);
    bool is_train = strstr(base, "train") != NULL;
    bool is_test = !is_train && (strstr(base, "t10k") || strstr(base, "test"));
    bool ends =
        name_ends(base, ".gz") || name_ends(base, "-ubyte") || name_ends(base, images ? "idx3" : "idx1");
    return ends && (train ? is_train : is_test) && strstr(base, images ? "images" : "labels") &&
           strstr(base, images ? "idx3" : "idx1");
}

static sotto_status find_part(size_t *entry, bool *found, const struct bundle *b, bool train, bool images)
{
    sotto_status status = SOTTO_OK;
    *found = false;
    for (size_t i = 0; i < b->count; i++) {
        if (!is_part(b->entries[i].name, train, images))
            continue;
        if (*found)
            FAIL(SOTTO_EFORMAT, "%s: both %s and %s could contain the %s %s; keep one of them", b->origin,
                 b->entries[*entry].name, b->entries[i].name, train ? "training" : "test",
                 images ? "images" : "labels");
        *entry = i;
        *found = true;
    }
done:
    return status;
}

sotto_status idx_find_pairs(struct idx_pair pairs[2], size_t *count, const struct bundle *b)
{
    sotto_status status = SOTTO_OK;
    *count = 0;
    for (int part = 0; part < 2; part++) {
        struct idx_pair pair = {0, 0};
        bool images, labels;
        TRY(find_part(&pair.images, &images, b, part == 0, true));
        TRY(find_part(&pair.labels, &labels, b, part == 0, false));
        if (images != labels)
            FAIL(SOTTO_EFORMAT, "%s: %s has no matching %s file", b->origin,
                 b->entries[images ? pair.images : pair.labels].name, images ? "labels" : "images");
        if (images)
            pairs[(*count)++] = pair;
    }
done:
    return status;
}

static sotto_status idx_load(struct bytes *bytes, struct idx *idx, const struct bundle *b, size_t entry,
                             int ndim)
{
    sotto_status status = SOTTO_OK;
    *bytes = (struct bytes){0};
    status = bundle_load(bytes, b, entry);
    if (status != SOTTO_OK)
        return status; /* names the file itself */
    TRY(bytes_gunzip(bytes, bundle_default_limits.bytes, b->ctx));
    TRY(idx_from_memory(idx, bytes->data, bytes->size));
    if (idx->ndim != ndim)
        FAIL(SOTTO_EFORMAT, "contains %s; expected %s", idx->ndim == 1 ? "labels" : "images",
             ndim == 1 ? "labels" : "images");
done:
    if (status != SOTTO_OK)
        bundle_prefix_error(b, entry);
    return status;
}

sotto_status idx_read_pairs(struct dataset *d, const struct bundle *b, const struct idx_pair *pairs,
                            size_t count)
{
    sotto_status status = SOTTO_OK;
    struct bytes raw[4] = {{0}};
    struct idx idx[4] = {{0}};
    size_t n = 0, classes = 0;
    for (size_t p = 0; p < count; p++) {
        struct idx *images = &idx[2 * p], *labels = &idx[2 * p + 1];
        TRY(idx_load(&raw[2 * p], images, b, pairs[p].images, 3));
        TRY(idx_load(&raw[2 * p + 1], labels, b, pairs[p].labels, 1));
        char where[700];
        bundle_where(where, sizeof where, b, pairs[p].labels);
        if (images->shape[0] != labels->shape[0])
            FAIL(SOTTO_EFORMAT, "%s: %zu labels for %zu images", where, labels->shape[0], images->shape[0]);
        if (images->shape[1] != idx[0].shape[1] || images->shape[2] != idx[0].shape[2])
            FAIL(SOTTO_EFORMAT, "%s: test images are %zux%zu, training images %zux%zu", b->origin,
                 images->shape[1], images->shape[2], idx[0].shape[1], idx[0].shape[2]);
        n += images->shape[0];
        for (size_t i = 0; i < labels->shape[0]; i++)
            classes = labels->data[i] >= classes ? labels->data[i] + (size_t)1 : classes;
    }
    size_t pixels = idx[0].shape[1] * idx[0].shape[2], row = 0;
    TRY(dataset_reserve_images(d, n, 1, idx[0].shape[1], idx[0].shape[2], true));
    for (size_t p = 0; p < count; p++) {
        size_t part = idx[2 * p].shape[0];
        memcpy(d->images + row * pixels, idx[2 * p].data, part * pixels);
        for (size_t i = 0; i < part; i++)
            d->labels[row + i] = idx[2 * p + 1].data[i];
        row += part;
    }
    d->set.n_train = idx[0].shape[0];
    d->set.classes = classes;
done:
    for (int i = 0; i < 4; i++)
        bytes_clear(&raw[i]);
    return status;
}

static bool idx_recognise(const struct bundle *b)
{
    for (size_t i = 0; i < b->count; i++)
        for (int part = 0; part < 4; part++)
            if (is_part(b->entries[i].name, part & 1, part & 2))
                return true;
    return false;
}

static sotto_status read_folder(struct dataset *d, const struct bundle *b,
                                const struct sotto_import_options *options, const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    struct idx_pair pairs[2];
    size_t count;
    (void)options, (void)ctx;
    TRY(idx_find_pairs(pairs, &count, b));
    TRY(idx_read_pairs(d, b, pairs, count));
done:
    return status;
}

const struct dataset_format format_idx = {
    .name = "idx",
    .layout = "MNIST files: {train,t10k}-images-idx3-ubyte[.gz] and {train,t10k}-labels-idx1-ubyte[.gz]",
    .recognise = idx_recognise,
    .read = read_folder};
