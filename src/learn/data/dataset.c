/* Making, checking and freeing sets. */
#include "data/dataset.h"

#include "base/sha256.h"

#include <math.h>
#include <string.h>

enum { CLASS_LIMIT = 1 << 20 };

sotto_status dataset_create(struct dataset **out)
{
    struct dataset *d = base_alloc(1, sizeof *d);
    if (!d)
        return status_fail(SOTTO_ENOMEM, "data set: out of memory");
    d->set.memory = (struct sotto_dataset_memory *)d;
    *out = d;
    return SOTTO_OK;
}

static void free_names(char **names, size_t count)
{
    for (size_t k = 0; names && k < count; k++)
        base_free(names[k]);
    base_free(names);
}

static void free_columns(struct dataset *d)
{
    for (size_t j = 0; j < d->column_count; j++) {
        base_free(d->columns[j].name);
        free_names(d->columns[j].codes, d->columns[j].code_count);
    }
    base_free(d->columns);
    d->columns = NULL;
    d->column_count = 0;
}

void dataset_discard(struct dataset *d)
{
    if (!d)
        return;
    free_names(d->class_names, d->set.classes);
    free_names(d->value_names, d->set.values);
    if (!d->map.base)
        base_free(d->images);
    file_unmap(&d->map);
    base_free(d->features);
    base_free(d->labels);
    base_free(d->attribute);
    base_free(d->persons);
    free_columns(d);
    base_free(d->encoding);
    base_free(d->table.missing);
    sotto_provenance_clear(&d->provenance);
    if (d->stream)
        d->stream->close(d->stream);
    base_free(d);
}

void sotto_dataset_free(struct sotto_dataset *d)
{
    if (d)
        dataset_discard(dataset_behind(d));
}

static sotto_status reserve_labels(struct dataset *d, size_t n)
{
    sotto_status status = SOTTO_OK;
    NEW(d->labels, n);
    d->set.labels = d->labels;
done:
    return status;
}

static sotto_status set_shape(struct dataset *d, size_t *bytes, size_t n, size_t channels, size_t height,
                              size_t width, bool labelled)
{
    sotto_status status = SOTTO_OK;
    size_t image;
    if (n == 0 || channels == 0 || height == 0 || width == 0)
        FAIL(SOTTO_EFORMAT, "%zu images of %zux%zux%zu; expected a data set that is not empty", n, channels,
             height, width);
    if (!size_multiply(&image, height, width) || !size_multiply(&image, image, channels) ||
        !size_multiply(bytes, image, n))
        FAIL(SOTTO_EFORMAT, "%zu images of %zux%zux%zu do not fit in memory", n, channels, height, width);
    if (labelled)
        TRY(reserve_labels(d, n));
    d->set.n = d->set.n_train = n;
    d->set.channels = channels;
    d->set.height = height;
    d->set.width = width;
done:
    return status;
}

sotto_status dataset_reserve_images(struct dataset *d, size_t n, size_t channels, size_t height, size_t width,
                                    bool labelled)
{
    sotto_status status = SOTTO_OK;
    size_t bytes;
    TRY(set_shape(d, &bytes, n, channels, height, width, labelled));
    d->images = base_alloc(bytes, 1);
    if (!d->images)
        FAIL(SOTTO_ENOMEM, "cannot allocate %zu bytes for %zu images", bytes, n);
    d->set.images = d->images;
done:
    return status;
}

sotto_status dataset_lend_images(struct dataset *d, const uint8_t *images, size_t n, size_t channels,
                                 size_t height, size_t width, bool labelled)
{
    sotto_status status = SOTTO_OK;
    size_t bytes;
    TRY(set_shape(d, &bytes, n, channels, height, width, labelled));
    d->images = (uint8_t *)images;
    d->set.images = images;
done:
    return status;
}

sotto_status dataset_stream_images(struct dataset *d, struct image_stream *stream, size_t n, size_t channels,
                                   size_t height, size_t width, bool labelled)
{
    size_t bytes;
    d->stream = stream;
    return set_shape(d, &bytes, n, channels, height, width, labelled);
}

sotto_status dataset_reserve_features(struct dataset *d, size_t n, size_t columns, bool labelled)
{
    sotto_status status = SOTTO_OK;
    size_t count;
    if (n == 0 || columns == 0)
        FAIL(SOTTO_EFORMAT, "%zu rows of %zu features; expected a data set that is not empty", n, columns);
    if (!size_multiply(&count, n, columns))
        FAIL(SOTTO_EFORMAT, "%zu rows of %zu features do not fit in memory", n, columns);
    NEW(d->features, count);
    if (labelled)
        TRY(reserve_labels(d, n));
    d->set.features = d->features;
    d->set.n = d->set.n_train = n;
    d->set.columns = columns;
done:
    return status;
}

static sotto_status copy_names(char ***out, size_t count, const char *const *names)
{
    sotto_status status = SOTTO_OK;
    char **copies = NULL;
    NEW(copies, count);
    for (size_t k = 0; k < count; k++)
        NEW_TEXT(copies[k], names[k]);
    *out = copies;
    copies = NULL;
done:
    free_names(copies, count);
    return status;
}

sotto_status dataset_set_classes(struct dataset *d, size_t classes, const char *const *names)
{
    sotto_status status = SOTTO_OK;
    char **copies = NULL;
    if (names)
        TRY(copy_names(&copies, classes, names));
    free_names(d->class_names, d->set.classes);
    d->class_names = copies;
    d->set.classes = classes;
    d->set.class_names = (const char *const *)d->class_names;
done:
    return status;
}

sotto_status dataset_reserve_attribute(struct dataset *d, const char *name, size_t values,
                                       const char *const *names)
{
    sotto_status status = SOTTO_OK;
    size_t length = strlen(name);
    if (length == 0 || length >= sizeof d->set.attribute_name)
        FAIL(SOTTO_EFORMAT, "attribute name '%.80s'; expected 1 to %zu bytes", name,
             sizeof d->set.attribute_name - 1);
    NEW(d->attribute, d->set.n);
    if (names)
        TRY(copy_names(&d->value_names, values, names));
    strcpy(d->set.attribute_name, name);
    d->set.values = values;
    d->set.attribute = d->attribute;
    d->set.value_names = (const char *const *)d->value_names;
done:
    return status;
}

sotto_status dataset_reserve_columns(struct dataset *d, size_t count)
{
    sotto_status status = SOTTO_OK;
    free_columns(d);
    NEW(d->columns, count);
    d->column_count = count;
done:
    return status;
}

sotto_status dataset_set_column(struct dataset *d, size_t j, const char *name, const char *const *codes,
                                size_t code_count)
{
    sotto_status status = SOTTO_OK;
    struct table_column *c = &d->columns[j];
    NEW_TEXT(c->name, name);
    if (codes)
        TRY(copy_names(&c->codes, code_count, codes));
    c->category = codes != NULL;
    c->code_count = codes ? code_count : 0;
done:
    return status;
}

sotto_status dataset_hash(char hex[65], const struct sotto_dataset *d, const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    struct sha256 sha;
    sha256_init(&sha);
    if (d->images)
        TRY(sha256_update_asking(&sha, d->images, d->n * d->channels * d->height * d->width, ctx));
    if (d->features)
        TRY(sha256_update_asking(&sha, d->features, d->n * d->columns * sizeof *d->features, ctx));
    if (d->labels)
        TRY(sha256_update_asking(&sha, d->labels, d->n * sizeof *d->labels, ctx));
    if (d->attribute)
        TRY(sha256_update_asking(&sha, d->attribute, d->n * sizeof *d->attribute, ctx));
    sha256_hex(&sha, hex);
done:
    return status;
}

static sotto_status check_column(const int64_t *column, size_t n, size_t values, const char *one,
                                 const char *many)
{
    sotto_status status = SOTTO_OK;
    if (column && (values == 0 || values > CLASS_LIMIT))
        FAIL(SOTTO_EFORMAT, "%s up to %zu; expected 0 to at most %d", many, values - 1, CLASS_LIMIT - 1);
    for (size_t i = 0; column && i < n; i++)
        if (column[i] < 0 || (uint64_t)column[i] >= values)
            FAIL(SOTTO_EFORMAT, "record %zu has %s %lld; expected 0 to %zu", i, one, (long long)column[i],
                 values - 1);
done:
    return status;
}

static bool may_be_missing(const struct dataset *d, size_t column)
{
    return d->column_count == d->set.columns && d->columns[column].missing > 0;
}

sotto_status dataset_finish(struct dataset *d)
{
    sotto_status status = SOTTO_OK;
    struct sotto_dataset *s = &d->set;
    TRY(check_column(s->labels, s->n, s->classes, "label", "labels"));
    TRY(check_column(s->attribute, s->n, s->values, "attribute", "attributes"));
    for (size_t i = 0; s->features && i < s->n * s->columns; i++)
        if (!isfinite(s->features[i]) && !(isnan(s->features[i]) && may_be_missing(d, i % s->columns)))
            FAIL(SOTTO_EFORMAT, "record %zu, feature %zu is not finite", i / s->columns, i % s->columns);
    if (!s->sha256[0] && !d->stream) /* else by store_write(), on the way */
        TRY(dataset_hash(s->sha256, s, d->ctx));
done:
    return status;
}

sotto_status dataset_check_encoded(const struct sotto_dataset *d)
{
    REQUIRE_GIVEN(d);
    const struct dataset *behind = dataset_behind(d);
    size_t codes = 0, gaps = 0;
    for (size_t j = 0; behind && j < behind->column_count; j++) {
        codes += behind->columns[j].category;
        gaps += !behind->columns[j].category && !behind->encoding && behind->columns[j].missing > 0;
    }
    if (codes + gaps == 0)
        return SOTTO_OK;
    sotto_status status =
        status_fail(SOTTO_EINVAL,
                    "data set '%s' is a table with %zu columns of category codes and %zu columns of numbers "
                    "that lack values; expected an encoding",
                    d->name, codes, gaps);
    status_hint("sotto data split %s --one-hot --parts train=N,... -o DIR, then 'sotto head --features "
                "DIR/train-features.npy', or for networks 'sotto data import "
                "DIR/train-features.npy:DIR/train-labels.npy --name NAME' and 'sotto train --data NAME'",
                d->name);
    return status;
}
