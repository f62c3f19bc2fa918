#include "io/array/tensors.h"
#include "io/array/array.h"
#include "io/array/safetensors.h"
#include "io/text/utf8.h"

#include <string.h>

void sotto_tensors_clear(struct sotto_tensors *t)
{
    if (!t)
        return;
    for (size_t i = 0; i < t->count; i++) {
        base_free(t->items[i].name);
        sotto_array_clear(&t->items[i].array);
    }
    for (size_t i = 0; i < 2 * t->metadata_count; i++)
        base_free(t->metadata[i]);
    base_free(t->items);
    base_free(t->metadata);
    *t = (struct sotto_tensors){0};
}

/* Blocks have room for the next power of two, so a full one is recognised by its count alone. */
static bool tensors_full(size_t count)
{
    return (count & (count - 1)) == 0;
}

sotto_status tensors_push(struct sotto_tensors *t, const char *name, struct sotto_array *array)
{
    sotto_status status = SOTTO_OK;
    char *copy = NULL;
    NEW_TEXT(copy, name);
    if (tensors_full(t->count))
        REGROW(t->items, t->count, t->count ? 2 * t->count : 1);
    t->items[t->count++] = (struct sotto_tensor){copy, *array};
    *array = (struct sotto_array){0};
    copy = NULL;
done:
    base_free(copy);
    return status;
}

sotto_status tensors_add(struct sotto_tensors *t, const char *name, enum sotto_dtype dtype, int ndim,
                         const size_t *shape, const void *data)
{
    REQUIRE_GIVEN(t, name, ndim < 1 || shape);
    sotto_status status = SOTTO_OK;
    struct sotto_array a = {0};
    char shown[80];
    utf8_printable(shown, sizeof shown, name, strlen(name));
    REQUIRE(name[0] && utf8_valid(name, strlen(name)) && strcmp(name, "__metadata__") != 0,
            "tensor name '%s' is not allowed; expected UTF-8 text other than '__metadata__'", shown);
    REQUIRE(!tensors_find(t, name), "tensor name '%s' is used twice; expected different names", shown);
    TRY(sotto_array_make(&a, dtype, ndim, shape));
    if (data && a.count > 0)
        memcpy(a.data, data, a.count * sotto_dtype_size(dtype));
    TRY(tensors_push(t, name, &a));
done:
    sotto_array_clear(&a);
    return status;
}

struct sotto_array *tensors_find(const struct sotto_tensors *t, const char *name)
{
    GIVEN_OR(NULL, t, name);
    for (size_t i = 0; i < t->count; i++)
        if (strcmp(t->items[i].name, name) == 0)
            return &t->items[i].array;
    return NULL;
}

/* Metadata is kept sorted by key. Index of the first pair with a key not below `key`. */
static size_t lower_bound(const struct sotto_tensors *t, const char *key)
{
    size_t low = 0, high = t->metadata_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (strcmp(t->metadata[2 * middle], key) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

sotto_status tensors_set_metadata(struct sotto_tensors *t, const char *key, const char *value)
{
    REQUIRE_GIVEN(t, key, value);
    sotto_status status = SOTTO_OK;
    char *key_copy = NULL, *value_copy = NULL;
    REQUIRE(utf8_valid(key, strlen(key)) && utf8_valid(value, strlen(value)), "metadata must be UTF-8 text");
    NEW_TEXT(key_copy, key);
    NEW_TEXT(value_copy, value);
    size_t i = lower_bound(t, key);
    if (i < t->metadata_count && strcmp(t->metadata[2 * i], key) == 0) {
        base_free(t->metadata[2 * i + 1]);
        t->metadata[2 * i + 1] = value_copy;
        value_copy = NULL;
        goto done;
    }
    if (tensors_full(t->metadata_count))
        REGROW(t->metadata, 2 * t->metadata_count, t->metadata_count ? 4 * t->metadata_count : 2);
    memmove(t->metadata + 2 * i + 2, t->metadata + 2 * i, 2 * (t->metadata_count - i) * sizeof *t->metadata);
    t->metadata[2 * i] = key_copy;
    t->metadata[2 * i + 1] = value_copy;
    t->metadata_count++;
    key_copy = value_copy = NULL;
done:
    base_free(key_copy);
    base_free(value_copy);
    return status;
}

const char *tensors_metadata(const struct sotto_tensors *t, const char *key)
{
    GIVEN_OR(NULL, t, key);
    size_t i = lower_bound(t, key);
    return i < t->metadata_count && strcmp(t->metadata[2 * i], key) == 0 ? t->metadata[2 * i + 1] : NULL;
}
