/* Arrays: X:Y, each of any kind that sotto_array_load() takes; of NumPy a folder with images.npy or features.npy and perhaps labels.npy and
 * attribute.npy, or one .npy without labels. */
#include "data/format/format.h"
#include "sotto/private/io.h"

#include "io/array/npy.h"

#include <stdio.h>
#include <string.h>

struct npy_files {
    size_t values, labels, attribute;
    bool has_labels, has_attribute;
};

static bool find_files(struct npy_files *out, const struct bundle *b)
{
    bool found = false;
    *out = (struct npy_files){0};
    if (b->count == 1) /* one file, compressed or not */
        return name_ends(b->entries[0].name, ".npy");
    if (b->colon) {
        *out = (struct npy_files){.labels = 1, .has_labels = true};
        return true;
    }
    for (size_t i = 0; i < b->count; i++) {
        const char *base = path_base(b->entries[i].name);
        if (strcmp(base, "images.npy") == 0 || strcmp(base, "features.npy") == 0) {
            if (found)
                return false;
            out->values = i;
            found = true;
        } else if (strcmp(base, "labels.npy") == 0) {
            if (out->has_labels)
                return false;
            out->labels = i;
            out->has_labels = true;
        } else if (strcmp(base, "attribute.npy") == 0) {
            if (out->has_attribute)
                return false;
            out->attribute = i;
            out->has_attribute = true;
        }
    }
    return found;
}

static bool npy_pair_recognise(const struct bundle *b)
{
    struct npy_files files;
    return find_files(&files, b);
}

static sotto_status npy_pair_load(struct sotto_array *out, const struct bundle *b, size_t entry)
{
    sotto_status status = SOTTO_OK;
    struct bytes bytes = {0};
    char where[700];
    if (b->colon)
        return sotto_array_load(out, b->entries[entry].name, 0, b->ctx);
    char path[4096];
    if (bundle_path(path, sizeof path, b, entry))
        return npy_load_asking(out, path, b->ctx);
    bundle_where(where, sizeof where, b, entry);
    TRY(bundle_load(&bytes, b, entry));
    TRY(npy_from_memory(out, bytes.data, bytes.size, where));
done:
    bytes_clear(&bytes);
    return status;
}

/* An import writes images of a file from there, so that they need not lie in memory; all else is loaded. */
static sotto_status load_values(struct sotto_array *out, struct dataset *d, const struct bundle *b,
                                size_t entry)
{
    char path[4096];
    if (d->may_stream && bundle_path(path, sizeof path, b, entry) &&
        npy_map(out, &d->map, path) == SOTTO_OK) {
        if (out->ndim == 3 || out->ndim == 4)
            return SOTTO_OK;
        file_unmap(&d->map);
    }
    return npy_pair_load(out, b, entry);
}

/* The source of the records, as side files state it; an archive has none. */
static sotto_status take_identity(struct dataset *d, const struct bundle *b, const struct npy_files *files)
{
    char values[4200], labels[4200];
    bundle_where(values, sizeof values, b, files->values);
    bundle_where(labels, sizeof labels, b, files->labels);
    return identity_of_arrays(d, values, files->has_labels ? labels : NULL);
}

static sotto_status read_arrays(struct dataset *d, const struct bundle *b,
                                const struct sotto_import_options *options, const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    struct npy_files files;
    struct sotto_array values = {0}, labels = {0}, attribute = {0};
    (void)ctx;
    find_files(&files, b);
    size_t blamed = files.values;
    TRY(load_values(&values, d, b, files.values));
    status = dataset_take_values(d, &values, files.has_labels);
    if (status == SOTTO_OK && files.has_labels) {
        blamed = files.labels;
        TRY(npy_pair_load(&labels, b, files.labels));
        status = dataset_take_labels(d, &labels, options->labels_from);
    }
    if (status == SOTTO_OK && files.has_attribute) {
        blamed = files.attribute;
        TRY(npy_pair_load(&attribute, b, files.attribute));
        status = dataset_take_attribute(d, &attribute);
    }
    if (status != SOTTO_OK) {
        bundle_prefix_error(b, blamed);
        goto done;
    }
    TRY(take_identity(d, b, &files));
done:
    if (d->map.base)
        values.data = NULL; /* of the map */
    sotto_array_clear(&values);
    sotto_array_clear(&labels);
    sotto_array_clear(&attribute);
    return status;
}

const struct dataset_format format_npy = {
    .name = "npy",
    .layout = "X.npy:Y.npy, likewise .npz and .csv (or a folder with "
              "images.npy or features.npy, labels.npy, attribute.npy): u1 (N,C,H,W) images "
              "or a (N,D) matrix; whole-number labels (N)",
    .recognise = npy_pair_recognise,
    .read = read_arrays};
