#include "io/array/array.h"
#include "sotto/private/io.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const struct {
    size_t size;
    const char *name;
} dtypes[] = {[SOTTO_U1] = {1, "u1"}, [SOTTO_B1] = {1, "b1"}, [SOTTO_F2] = {2, "f2"}, [SOTTO_F4] = {4, "f4"},
              [SOTTO_F8] = {8, "f8"}, [SOTTO_I4] = {4, "i4"}, [SOTTO_I8] = {8, "i8"}, [SOTTO_I1] = {1, "i1"},
              [SOTTO_I2] = {2, "i2"}, [SOTTO_U2] = {2, "u2"}, [SOTTO_U4] = {4, "u4"}, [SOTTO_U8] = {8, "u8"}};

static bool array_known(enum sotto_dtype dtype)
{
    return (unsigned)dtype < sizeof dtypes / sizeof *dtypes;
}

bool dtype_is_float(enum sotto_dtype dtype)
{
    return dtype == SOTTO_F2 || dtype == SOTTO_F4 || dtype == SOTTO_F8;
}

bool dtype_is_integer(enum sotto_dtype dtype)
{
    return array_known(dtype) && !dtype_is_float(dtype) && dtype != SOTTO_B1;
}

size_t sotto_dtype_size(enum sotto_dtype dtype)
{
    return array_known(dtype) ? dtypes[dtype].size : 0;
}

const char *sotto_dtype_name(enum sotto_dtype dtype)
{
    return array_known(dtype) ? dtypes[dtype].name : "?";
}

bool array_bytes(size_t *count, size_t *bytes, enum sotto_dtype dtype, int ndim, const size_t *shape)
{
    /* A zero anywhere empties the array, but the other sizes must still be sane: they are multiplied
     * later. */
    size_t all = 1, nonzero = 1;
    for (int i = 0; i < ndim; i++) {
        if (!size_multiply(&nonzero, nonzero, shape[i] ? shape[i] : 1))
            return false;
        all *= shape[i];
    }
    size_t total;
    if (!size_multiply(&total, nonzero, sotto_dtype_size(dtype)) || total > SIZE_MAX / 2)
        return false;
    *count = all;
    *bytes = all * sotto_dtype_size(dtype);
    return true;
}

const char *array_describe(char out[256], enum sotto_dtype dtype, int ndim, const size_t *shape)
{
    size_t used = (size_t)snprintf(out, 256, "(");
    for (int i = 0; i < ndim; i++)
        used += (size_t)snprintf(out + used, 256 - used, "%s%zu", i ? ", " : "", shape[i]);
    snprintf(out + used, 256 - used, "%s) %s", ndim == 1 ? "," : "", sotto_dtype_name(dtype));
    return out;
}

sotto_status sotto_array_make(struct sotto_array *out, enum sotto_dtype dtype, int ndim, const size_t *shape)
{
    REQUIRE_GIVEN(out, ndim < 1 || shape);
    sotto_status status = SOTTO_OK;
    struct sotto_array a = {.dtype = dtype, .ndim = ndim};
    size_t bytes;
    REQUIRE(array_known(dtype), "array: unknown dtype %d", (int)dtype);
    REQUIRE(ndim >= 0 && ndim <= SOTTO_MAX_DIMS, "array: %d dimensions; expected at most %d", ndim,
            SOTTO_MAX_DIMS);
    if (!array_bytes(&a.count, &bytes, dtype, ndim, shape))
        FAIL(SOTTO_ENOMEM, "array: its size does not fit in memory");
    for (int i = 0; i < ndim; i++)
        a.shape[i] = shape[i];
    a.data = base_alloc(bytes, 1);
    if (!a.data)
        FAIL(SOTTO_ENOMEM, "array: cannot allocate %zu bytes", bytes);
    *out = a;
done:
    return status;
}

void sotto_bytes_free(void *bytes)
{
    base_free(bytes);
}

void sotto_array_clear(struct sotto_array *a)
{
    if (!a)
        return;
    base_free(a->data);
    *a = (struct sotto_array){0};
}

static int64_t integer_at(const struct sotto_array *a, size_t i)
{
    switch (a->dtype) {
    case SOTTO_I4:
        return ((const int32_t *)a->data)[i];
    case SOTTO_I8:
    case SOTTO_U8: /* above the largest i8: see too_large() */
        return ((const int64_t *)a->data)[i];
    case SOTTO_I1:
        return ((const int8_t *)a->data)[i];
    case SOTTO_I2:
        return ((const int16_t *)a->data)[i];
    case SOTTO_U2:
        return ((const uint16_t *)a->data)[i];
    case SOTTO_U4:
        return ((const uint32_t *)a->data)[i];
    default:
        return ((const uint8_t *)a->data)[i];
    }
}

/* Of type u8, and no i8. */
static bool too_large(const struct sotto_array *a, size_t i)
{
    return a->dtype == SOTTO_U8 && ((const uint64_t *)a->data)[i] > INT64_MAX;
}

double array_value(const struct sotto_array *a, size_t i)
{
    switch (a->dtype) {
    case SOTTO_F2:
        return half_to_float(((const uint16_t *)a->data)[i]);
    case SOTTO_F4:
        return ((const float *)a->data)[i];
    case SOTTO_F8:
        return ((const double *)a->data)[i];
    case SOTTO_U8:
        return (double)((const uint64_t *)a->data)[i];
    default:
        return (double)integer_at(a, i);
    }
}

static void store_real(struct sotto_array *to, size_t i, double x)
{
    if (to->dtype == SOTTO_F2)
        ((uint16_t *)to->data)[i] = half_from_double(x);
    else if (to->dtype == SOTTO_F4)
        ((float *)to->data)[i] = (float)x;
    else
        ((double *)to->data)[i] = x;
}

/* From an integer straight to float: through double a large int64 would be rounded twice. */
static void store_real_from_integer(struct sotto_array *to, size_t i, int64_t x)
{
    if (to->dtype == SOTTO_F4)
        ((float *)to->data)[i] = (float)x;
    else
        store_real(to, i, (double)x);
}

static bool store_integer(struct sotto_array *to, size_t i, int64_t x)
{
    switch (to->dtype) {
    case SOTTO_U1:
    case SOTTO_B1:
        ((uint8_t *)to->data)[i] = (uint8_t)x;
        return x >= 0 && x <= (to->dtype == SOTTO_B1 ? 1 : UINT8_MAX);
    case SOTTO_I1:
        ((int8_t *)to->data)[i] = (int8_t)x;
        return x >= INT8_MIN && x <= INT8_MAX;
    case SOTTO_I2:
        ((int16_t *)to->data)[i] = (int16_t)x;
        return x >= INT16_MIN && x <= INT16_MAX;
    case SOTTO_U2:
        ((uint16_t *)to->data)[i] = (uint16_t)x;
        return x >= 0 && x <= UINT16_MAX;
    case SOTTO_I4:
        ((int32_t *)to->data)[i] = (int32_t)x;
        return x >= INT32_MIN && x <= INT32_MAX;
    case SOTTO_U4:
        ((uint32_t *)to->data)[i] = (uint32_t)x;
        return x >= 0 && x <= UINT32_MAX;
    default:
        ((int64_t *)to->data)[i] = x;
        return to->dtype == SOTTO_I8 || x >= 0;
    }
}

static bool convert_one(struct sotto_array *to, const struct sotto_array *from, size_t i)
{
    bool from_float = dtype_is_float(from->dtype);
    if (dtype_is_float(to->dtype)) {
        if (from_float || too_large(from, i))
            store_real(to, i, array_value(from, i));
        else
            store_real_from_integer(to, i, integer_at(from, i));
        return true;
    }
    if (!from_float)
        return !too_large(from, i) && store_integer(to, i, integer_at(from, i));
    double x = array_value(from, i);
    /* 2^63 is exact in double, the largest int64 is not: hence the half-open range. */
    return x >= -0x1p63 && x < 0x1p63 && x == floor(x) && store_integer(to, i, (int64_t)x);
}

sotto_status sotto_array_convert(struct sotto_array *a, enum sotto_dtype to)
{
    REQUIRE_GIVEN(a);
    sotto_status status = SOTTO_OK;
    struct sotto_array result = {0};
    REQUIRE(array_known(to), "array: unknown dtype %d", (int)to);
    if (a->dtype == to)
        return SOTTO_OK;
    TRY(sotto_array_make(&result, to, a->ndim, a->shape));
    for (size_t i = 0; i < a->count; i++)
        if (!convert_one(&result, a, i))
            FAIL(SOTTO_EINVAL, "array: value %zu is %.17g, which %s cannot hold", i, array_value(a, i),
                 sotto_dtype_name(to));
    sotto_array_clear(a);
    *a = result;
    result = (struct sotto_array){0};
done:
    sotto_array_clear(&result);
    return status;
}

sotto_status sotto_array_require_exact(const struct sotto_array *a, enum sotto_dtype to, const char *name)
{
    REQUIRE_GIVEN(a, name);
    const int bits = to == SOTTO_F2 ? 11 : to == SOTTO_F4 ? 24 : 53;
    const int64_t limit = (int64_t)1 << bits;
    if (dtype_is_float(a->dtype) || !dtype_is_float(to))
        return SOTTO_OK;
    for (size_t i = 0; i < a->count; i++)
        if (too_large(a, i) || integer_at(a, i) > limit || integer_at(a, i) < -limit)
            return status_fail(SOTTO_EINVAL,
                               "%s: value %zu is %.17g; %s holds whole numbers up to 2^%d exactly; scale the "
                               "values and save them as floats",
                               name, i, array_value(a, i), sotto_dtype_name(to), bits);
    return SOTTO_OK;
}

sotto_status sotto_array_require_finite(const struct sotto_array *a, const char *name, const char *what)
{
    REQUIRE_GIVEN(a, name, what);
    if (!dtype_is_float(a->dtype) || a->count == 0)
        return SOTTO_OK;
    size_t rows = a->ndim > 0 ? a->shape[0] : 1, columns = a->count / rows;
    size_t bad_rows = 0, first_row = 0, first_column = 0, nans = 0, infinities = 0;
    for (size_t r = 0; r < rows; r++) {
        bool bad = false;
        for (size_t c = 0; c < columns; c++) {
            double x = array_value(a, r * columns + c);
            if (isfinite(x))
                continue;
            nans += isnan(x);
            infinities += !isnan(x);
            if (bad_rows == 0 && !bad) {
                first_row = r;
                first_column = c;
            }
            bad = true;
        }
        bad_rows += bad;
    }
    if (bad_rows == 0)
        return SOTTO_OK;
    const char *kind = infinities == 0 ? "NaN" : nans == 0 ? "infinity" : "NaN or infinity";
    if (a->ndim < 2)
        return status_fail(SOTTO_EINVAL, "%s: %zu of %zu values are %s (first: value %zu); %s must be finite",
                           name, bad_rows, rows, kind, first_row, what);
    return status_fail(SOTTO_EINVAL,
                       "%s: %zu of %zu rows contain %s (first: row %zu, column %zu); %s must be finite", name,
                       bad_rows, rows, kind, first_row, first_column, what);
}

sotto_status array_check_booleans(const struct sotto_array *a, size_t first, const char *name)
{
    const uint8_t *bytes = a->data;
    for (size_t i = 0; a->dtype == SOTTO_B1 && i < a->count; i++)
        if (bytes[i] > 1)
            return status_fail(SOTTO_EFORMAT, "%s: boolean %zu is stored as %u; expected 0 or 1", name,
                               first + i, bytes[i]);
    return SOTTO_OK;
}

const char *array_member(const char *path)
{
    static const char *const endings[] = {".npz:", ".safetensors:"};
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
        const char *inside = strstr(path, endings[i]);
        if (inside)
            return inside + strlen(endings[i]) - 1;
    }
    return NULL;
}
