/* Arrays as a set, from memory or from .npy files: bytes of three or four dimensions are images, a matrix is a table of
 * features, labels and attribute are whole numbers. */
#include "data/dataset.h"
#include "sotto/private/io.h"

#include <stdio.h>
#include <string.h>

static sotto_status take_images(struct dataset *d, const struct sotto_array *a, bool labelled)
{
    sotto_status status = SOTTO_OK;
    size_t channels = a->ndim == 4 ? a->shape[1] : 1;
    if (channels != 1 && channels != 3)
        FAIL(SOTTO_EFORMAT,
             "images have shape (%zu, %zu, %zu, %zu); expected (N, C, H, W) with 1 or 3 channels",
             a->shape[0], a->shape[1], a->shape[2], a->shape[3]);
    if (d->map.base)
        return dataset_lend_images(d, a->data, a->shape[0], channels, a->shape[a->ndim - 2],
                                   a->shape[a->ndim - 1], labelled);
    TRY(dataset_reserve_images(d, a->shape[0], channels, a->shape[a->ndim - 2], a->shape[a->ndim - 1],
                               labelled));
    memcpy(d->images, a->data, a->count);
done:
    return status;
}

/* `a`'s numbers as those of another type. */
static sotto_status copy_as(void *out, enum sotto_dtype dtype, const struct sotto_array *a)
{
    sotto_status status = SOTTO_OK;
    struct sotto_array copy = {0};
    if (a->dtype != dtype) {
        TRY(sotto_array_make(&copy, a->dtype, a->ndim, a->shape));
        memcpy(copy.data, a->data, a->count * sotto_dtype_size(a->dtype));
        TRY(sotto_array_convert(&copy, dtype));
    }
    memcpy(out, copy.data ? copy.data : a->data, a->count * sotto_dtype_size(dtype));
done:
    sotto_array_clear(&copy);
    return status;
}

sotto_status dataset_take_values(struct dataset *d, const struct sotto_array *a, bool labelled)
{
    sotto_status status = SOTTO_OK;
    if (a->dtype == SOTTO_U1 && (a->ndim == 3 || a->ndim == 4))
        return take_images(d, a, labelled);
    if (a->ndim != 2)
        FAIL(SOTTO_EFORMAT,
             "the array is %s in %d dimensions; expected u1 images (N, C, H, W) or (N, H, W), or features "
             "(N, D)",
             sotto_dtype_name(a->dtype), a->ndim);
    TRY(dataset_reserve_features(d, a->shape[0], a->shape[1], labelled));
    TRY(copy_as(d->features, SOTTO_F4, a));
done:
    return status;
}

/* Whole numbers, one for each record; *values: the largest plus one. */
static sotto_status take_column(int64_t *column, size_t *values, const struct sotto_array *a, size_t n,
                                const char *what)
{
    sotto_status status = SOTTO_OK;
    int64_t most = 0;
    if (a->ndim < 1 || a->shape[0] != n || a->count != n)
        FAIL(SOTTO_EFORMAT, "%zu %s in %d dimensions for %zu records; expected shape (%zu)", a->count, what,
             a->ndim, n, n);
    if (a->dtype == SOTTO_F2 || a->dtype == SOTTO_F4)
        FAIL(SOTTO_EFORMAT, "%s are %s; expected whole numbers", what, sotto_dtype_name(a->dtype));
    status = copy_as(column, SOTTO_I8, a); /* what a table holds are doubles */
    if (status == SOTTO_EINVAL)
        FAIL(SOTTO_EFORMAT, "%s are %s with fractions; expected whole numbers", what,
             sotto_dtype_name(a->dtype));
    TRY(status);
    for (size_t i = 0; i < a->count; i++)
        most = column[i] > most ? column[i] : most;
    *values = (size_t)most + 1;
done:
    return status;
}

sotto_status dataset_take_labels(struct dataset *d, const struct sotto_array *a, size_t first)
{
    sotto_status status = SOTTO_OK;
    int64_t *y = d->labels, least = INT64_MAX;
    TRY(take_column(y, &d->set.classes, a, d->set.n, "labels"));
    for (size_t i = 0; i < d->set.n; i++)
        least = y[i] < least ? y[i] : least;
    if (first == 0)
        goto done;
    if (least < (int64_t)first)
        FAIL(SOTTO_EFORMAT, "labels begin at %lld; {labels_from=%zu} allows %zu and above", (long long)least,
             first, first);
    for (size_t i = 0; i < d->set.n; i++)
        y[i] -= (int64_t)first;
    d->set.classes -= first;
done:
    return status;
}

sotto_status dataset_take_attribute(struct dataset *d, const struct sotto_array *a)
{
    sotto_status status = SOTTO_OK;
    TRY(dataset_reserve_attribute(d, "attribute", 0, NULL));
    TRY(take_column(d->attribute, &d->set.values, a, d->set.n, "attributes"));
done:
    return status;
}

static sotto_status copy_text(char *out, size_t capacity, const char *text, const char *what)
{
    sotto_status status = SOTTO_OK;
    REQUIRE(strlen(text) < capacity, "data set: %s has %zu bytes; expected at most %zu", what, strlen(text),
            capacity - 1);
    memcpy(out, text, strlen(text) + 1);
done:
    return status;
}

/* Arrays that a caller filled in by hand; NULL is fine. */
static sotto_status check_array(const struct sotto_array *a, const char *what)
{
    sotto_status status = SOTTO_OK;
    size_t count = 1;
    if (!a)
        return SOTTO_OK;
    REQUIRE(a->data && a->ndim > 0 && a->ndim <= SOTTO_MAX_DIMS,
            "data set: %s has %d dimensions, or no data; expected 1 to %d", what, a->ndim, SOTTO_MAX_DIMS);
    for (int i = 0; i < a->ndim; i++)
        REQUIRE(size_multiply(&count, count, a->shape[i]), "data set: the shape of %s is too large", what);
    REQUIRE(count == a->count, "data set: %s has count %zu; expected %zu, the product of its shape", what,
            a->count, count);
done:
    return status;
}

static sotto_status take_facts(struct dataset *d, const struct sotto_dataset_arrays *from)
{
    sotto_status status = SOTTO_OK;
    struct sotto_dataset *s = &d->set;
    TRY(copy_text(s->name, sizeof s->name, from->name ? from->name : "arrays", "name"));
    TRY(copy_text(s->title, sizeof s->title, s->name, "title"));
    TRY(copy_text(s->origin, sizeof s->origin, "arrays in memory", "origin"));
    if (from->dataset_id) {
        TRY(identity_check(from->dataset_id));
        TRY(copy_text(s->dataset_id, sizeof s->dataset_id, from->dataset_id, "dataset_id"));
    }
    REQUIRE(!from->class_names || from->classes, "data set: class_names without classes; give both");
    REQUIRE(!from->classes || from->labels, "data set: classes without labels; give both");
    if (from->classes)
        TRY(copy_text(s->classes_by, sizeof s->classes_by, from->classes_by ? from->classes_by : "the caller",
                      "classes_by"));
done:
    return status;
}

static sotto_status take_arrays(struct dataset *d, const struct sotto_dataset_arrays *from)
{
    sotto_status status = SOTTO_OK;
    TRY(dataset_take_values(d, from->values, from->labels != NULL));
    if (from->labels)
        TRY(dataset_take_labels(d, from->labels, 0));
    if (from->classes)
        TRY(dataset_set_classes(d, from->classes, from->class_names));
    if (from->attribute)
        TRY(dataset_take_attribute(d, from->attribute));
    TRY(dataset_finish(d));
done:
    return status;
}

sotto_status sotto_dataset_from_arrays(struct sotto_dataset **out, const struct sotto_dataset_arrays *arrays)
{
    REQUIRE_GIVEN(out, arrays);
    sotto_status status = SOTTO_OK;
    struct dataset *d = NULL;
    REQUIRE(arrays->values, "data set: values is NULL; give images or features");
    TRY(check_array(arrays->values, "values"));
    TRY(check_array(arrays->labels, "labels"));
    TRY(check_array(arrays->attribute, "attribute"));
    TRY(dataset_create(&d));
    TRY(take_facts(d, arrays));
    if ((status = take_arrays(d, arrays)) != SOTTO_OK) {
        status_prefix(d->set.name);
        goto done;
    }
    *out = &d->set;
    d = NULL;
done:
    dataset_discard(d);
    return status;
}
