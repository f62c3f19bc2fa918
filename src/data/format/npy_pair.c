/* NumPy arrays: X.npy:Y.npy, a folder with images.npy or features.npy and perhaps labels.npy and
 * attribute.npy, or one .npy without labels. Bytes of three or four dimensions are images; a matrix is a
 * table of features. */
#include "data/format/format.h"

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
    if (b->count == 2 && b->loose && name_ends(b->entries[0].name, ".npy") &&
        name_ends(b->entries[1].name, ".npy")) {
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

static bool recognise(const struct bundle *b)
{
    struct npy_files files;
    return find_files(&files, b);
}

static sotto_status load(struct sotto_array *out, const struct bundle *b, size_t entry)
{
    sotto_status status = SOTTO_OK;
    struct bytes bytes = {0};
    char where[700];
    bundle_where(where, sizeof where, b, entry);
    TRY(bundle_load(&bytes, b, entry));
    TRY(npy_from_memory(out, bytes.data, bytes.size, where));
done:
    bytes_clear(&bytes);
    return status;
}

static sotto_status take_images(struct dataset *d, const struct sotto_array *a, bool labelled)
{
    sotto_status status = SOTTO_OK;
    size_t channels = a->ndim == 4 ? a->shape[1] : 1;
    if (channels != 1 && channels != 3)
        FAIL(SOTTO_EFORMAT,
             "images have shape (%zu, %zu, %zu, %zu); expected (N, C, H, W) with 1 or 3 channels",
             a->shape[0], a->shape[1], a->shape[2], a->shape[3]);
    TRY(dataset_reserve_images(d, a->shape[0], channels, a->shape[a->ndim - 2], a->shape[a->ndim - 1],
                               labelled));
    memcpy(d->images, a->data, a->count);
done:
    return status;
}

static sotto_status take_features(struct dataset *d, struct sotto_array *a, bool labelled)
{
    sotto_status status = SOTTO_OK;
    TRY(dataset_reserve_features(d, a->shape[0], a->shape[1], labelled));
    TRY(sotto_array_convert(a, SOTTO_F4));
    memcpy(d->features, a->data, a->count * sizeof(float));
done:
    return status;
}

/* Whole numbers, one for each record; *values: the largest plus one. */
static sotto_status take_column(int64_t *column, size_t *values, struct sotto_array *a, size_t n,
                                const char *what)
{
    sotto_status status = SOTTO_OK;
    int64_t most = 0;
    if (a->ndim != 1 || a->shape[0] != n)
        FAIL(SOTTO_EFORMAT, "%zu %s in %d dimensions for %zu records; expected shape (%zu)", a->count, what,
             a->ndim, n, n);
    if (a->dtype == SOTTO_F2 || a->dtype == SOTTO_F4 || a->dtype == SOTTO_F8)
        FAIL(SOTTO_EFORMAT, "%s are %s; expected whole numbers (i8, i4 or u1)", what,
             sotto_dtype_name(a->dtype));
    TRY(sotto_array_convert(a, SOTTO_I8));
    memcpy(column, a->data, a->count * sizeof *column);
    for (size_t i = 0; i < a->count; i++)
        most = column[i] > most ? column[i] : most;
    *values = (size_t)most + 1;
done:
    return status;
}

static sotto_status take_attribute(struct dataset *d, struct sotto_array *a)
{
    sotto_status status = SOTTO_OK;
    TRY(dataset_reserve_attribute(d, "attribute", 0, NULL));
    TRY(take_column(d->attribute, &d->set.values, a, d->set.n, "attributes"));
done:
    return status;
}

/* Whose records they are, as side files say; an archive has none. */
static sotto_status take_identity(struct dataset *d, const struct bundle *b, const struct npy_files *files)
{
    char values[4200], labels[4200];
    const char *colon = strrchr(b->origin, ':');
    if (b->loose && colon) { /* X.npy:Y.npy */
        snprintf(values, sizeof values, "%.*s", (int)(colon - b->origin), b->origin);
        snprintf(labels, sizeof labels, "%s", colon + 1);
    } else {
        bundle_where(values, sizeof values, b, files->values);
        bundle_where(labels, sizeof labels, b, files->labels);
    }
    return identity_of_arrays(d, values, files->has_labels ? labels : NULL);
}

static sotto_status read_arrays(struct dataset *d, const struct bundle *b,
                                const struct sotto_import_options *options, const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    struct npy_files files;
    struct sotto_array values = {0}, labels = {0}, attribute = {0};
    (void)options, (void)ctx;
    find_files(&files, b);
    size_t blamed = files.values;
    TRY(load(&values, b, files.values));
    if (values.dtype == SOTTO_U1 && (values.ndim == 3 || values.ndim == 4))
        status = take_images(d, &values, files.has_labels);
    else if (values.ndim == 2)
        status = take_features(d, &values, files.has_labels);
    else
        status = status_fail(SOTTO_EFORMAT,
                             "the array is %s in %d dimensions; expected u1 images (N, C, H, W) or (N, H, "
                             "W), or features (N, D)",
                             sotto_dtype_name(values.dtype), values.ndim);
    if (status == SOTTO_OK && files.has_labels) {
        blamed = files.labels;
        TRY(load(&labels, b, files.labels));
        status = take_column(d->labels, &d->set.classes, &labels, d->set.n, "labels");
    }
    if (status == SOTTO_OK && files.has_attribute) {
        blamed = files.attribute;
        TRY(load(&attribute, b, files.attribute));
        status = take_attribute(d, &attribute);
    }
    if (status != SOTTO_OK) {
        bundle_prefix_error(b, blamed);
        goto done;
    }
    TRY(take_identity(d, b, &files));
done:
    sotto_array_clear(&values);
    sotto_array_clear(&labels);
    sotto_array_clear(&attribute);
    return status;
}

const struct dataset_format format_npy = {.name = "npy",
                                          .layout =
                                              "X.npy:Y.npy (or a folder with images.npy or features.npy, "
                                              "labels.npy, attribute.npy): u1 (N,C,H,W) images "
                                              "or a (N,D) matrix; whole-number labels (N)",
                                          .recognise = recognise,
                                          .read = read_arrays};
