/* A header of 128 bytes, then elements: 4 bytes type, 4 bytes length, contents, padded to 8 bytes; or type and length
 * in 2 bytes each and up to 4 bytes of contents. An array is an element of elements: class, shape, name, values. */
#include "data/format/mat.h"

#include "base/status.h"

#include <stdint.h>
#include <string.h>

enum { MAT_HEADER = 128, MAT_ARRAY = 14, MAT_PACKED = 15 };
enum mat_type {
    MAT_INT8 = 1,
    MAT_UINT8,
    MAT_INT16,
    MAT_UINT16,
    MAT_INT32,
    MAT_UINT32,
    MAT_SINGLE,
    MAT_DOUBLE = 9
};

struct element {
    uint32_t type;
    const unsigned char *data;
    size_t size;
};
struct elements {
    const unsigned char *at, *end;
};

static uint32_t mat_word(const unsigned char *p)
{
    return p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static sotto_status next_element(struct element *out, struct elements *e)
{
    size_t left = (size_t)(e->end - e->at), padded;
    if (left < 8)
        return status_fail(SOTTO_EFORMAT, "is cut: %zu bytes are left where an element of at least 8 begins",
                           left);
    uint32_t first = mat_word(e->at);
    if (first >> 16) {
        *out = (struct element){first & 0xffff, e->at + 4, first >> 16};
        e->at += 8;
        return out->size <= 4
                   ? SOTTO_OK
                   : status_fail(SOTTO_EFORMAT, "a short element states %zu bytes; expected at most 4",
                                 out->size);
    }
    *out = (struct element){first, e->at + 8, mat_word(e->at + 4)};
    if (out->size > left - 8)
        return status_fail(SOTTO_EFORMAT, "is cut: an element states %zu bytes, but %zu are left", out->size,
                           left - 8);
    padded = first == MAT_PACKED ? out->size : (out->size + 7) / 8 * 8;
    e->at += 8 + (padded < left - 8 ? padded : left - 8);
    return SOTTO_OK;
}

static size_t type_bytes(uint32_t type)
{
    switch (type) {
    case MAT_INT8:
    case MAT_UINT8:
        return 1;
    case MAT_INT16:
    case MAT_UINT16:
        return 2;
    case MAT_INT32:
    case MAT_UINT32:
    case MAT_SINGLE:
        return 4;
    case MAT_DOUBLE:
        return 8;
    default:
        return 0;
    }
}

static double value_of(uint32_t type, const unsigned char *p)
{
    uint64_t wide;
    float single;
    double real;
    uint32_t bits = type_bytes(type) >= 4 ? mat_word(p) : 0;
    switch (type) {
    case MAT_INT8:
        return (int8_t)p[0];
    case MAT_UINT8:
        return p[0];
    case MAT_INT16:
        return (int16_t)(p[0] | p[1] << 8);
    case MAT_UINT16:
        return p[0] | p[1] << 8;
    case MAT_INT32:
        return (int32_t)bits;
    case MAT_UINT32:
        return bits;
    case MAT_SINGLE:
        memcpy(&single, &bits, sizeof single);
        return single;
    default:
        wide = bits | (uint64_t)mat_word(p + 4) << 32;
        memcpy(&real, &wide, sizeof real);
        return real;
    }
}

static sotto_status read_shape(struct mat_array *a, const struct element *e)
{
    a->ndim = e->size / 4;
    a->count = 1;
    if (e->type != MAT_INT32 || e->size % 4 || a->ndim < 2 || a->ndim > MAT_DIMENSIONS)
        return status_fail(SOTTO_EFORMAT, "an array's shape has %zu bytes; expected 2 to %d whole numbers",
                           e->size, MAT_DIMENSIONS);
    for (size_t i = 0; i < a->ndim; i++) {
        a->shape[i] = mat_word(e->data + 4 * i);
        if (a->shape[i] == 0 || a->shape[i] > INT32_MAX || !size_multiply(&a->count, a->count, a->shape[i]))
            return status_fail(
                SOTTO_EFORMAT,
                "an array has side %zu of length %zu; expected sides above 0 that fit in memory", i,
                a->shape[i]);
    }
    return SOTTO_OK;
}

/* *found: it is the wanted one, and *a holds it. */
static sotto_status read_array(struct mat_array *a, bool *found, struct elements e, const char *array)
{
    sotto_status status = SOTTO_OK;
    struct element flags, shape, name, values;
    TRY(next_element(&flags, &e));
    TRY(next_element(&shape, &e));
    TRY(next_element(&name, &e));
    *found = name.size == strlen(array) && memcmp(name.data, array, name.size) == 0;
    if (!*found)
        goto done;
    if (flags.type != MAT_UINT32 || flags.size != 8 || flags.data[0] < 6 || flags.data[0] > 13 ||
        flags.data[1] & 8)
        FAIL(SOTTO_EFORMAT, "array '%s' is not one of real numbers", array);
    TRY(read_shape(a, &shape));
    TRY(next_element(&values, &e));
    size_t each = type_bytes(values.type);
    if (each == 0 || values.size % each || values.size / each != a->count)
        FAIL(SOTTO_EFORMAT, "array '%s' has %zu bytes of values of type %u; expected %zu numbers", array,
             values.size, (unsigned)values.type, a->count);
    if (values.type == MAT_UINT8) {
        a->bytes = values.data;
        goto done;
    }
    NEW(a->values, a->count);
    for (size_t i = 0; i < a->count; i++)
        a->values[i] = value_of(values.type, values.data + i * each);
done:
    return status;
}

sotto_status mat_from_memory(struct mat_array *out, const unsigned char *data, size_t size, const char *array,
                             size_t limit, const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    struct mat_array a = {0};
    struct elements file = {data + MAT_HEADER, data + size};
    bool found = false;
    if (size < MAT_HEADER || memcmp(data, "MATLAB 5.0", 10) != 0)
        FAIL(SOTTO_EFORMAT, "is not a MATLAB file of version 5; save it without -v7.3");
    if (memcmp(data + 124, "\0\1IM", 4) != 0)
        FAIL(SOTTO_EFORMAT,
             "is a big-endian MATLAB file or of another version; expected a little-endian one of version 5");
    while (!found && file.at < file.end) {
        struct element e;
        TRY(next_element(&e, &file));
        if (e.type == MAT_PACKED) {
            struct elements inside;
            bytes_clear(&a.unpacked);
            TRY(bytes_inflate(&a.unpacked, e.data, e.size, limit, ctx));
            inside = (struct elements){a.unpacked.data, a.unpacked.data + a.unpacked.size};
            TRY(next_element(&e, &inside));
        }
        if (e.type == MAT_ARRAY)
            TRY(read_array(&a, &found, (struct elements){e.data, e.data + e.size}, array));
    }
    if (!found)
        FAIL(SOTTO_EFORMAT, "has no array '%s'", array);
    *out = a;
done:
    if (status != SOTTO_OK)
        mat_clear(&a);
    return status;
}

double mat_value(const struct mat_array *a, size_t i)
{
    return a->bytes ? a->bytes[i] : a->values[i];
}

void mat_clear(struct mat_array *a)
{
    bytes_clear(&a->unpacked);
    base_free(a->values);
    *a = (struct mat_array){0};
}
