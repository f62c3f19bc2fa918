#include "dp/release/class_labels.h"
#include "sotto/private/io.h"

#include "base/memory.h"
#include "io/array/array.h"

#include <math.h>

sotto_status class_labels_check(const struct sotto_array *a, const char *path)
{
    const bool may_be_a_table = a->dtype == SOTTO_F8 && a->ndim == 2;
    if (!dtype_is_float(a->dtype) || may_be_a_table)
        return SOTTO_OK;
    return status_fail(SOTTO_EINVAL, "%s: dtype %s; expected integer labels", path,
                       sotto_dtype_name(a->dtype));
}

sotto_status class_labels(struct sotto_array *a, size_t classes, size_t first, int64_t other)
{
    sotto_status status = SOTTO_OK;
    struct sotto_array made = {0};
    TRY(sotto_array_convert(a, SOTTO_F8));
    TRY(sotto_array_make(&made, SOTTO_I8, a->ndim, a->shape));
    for (size_t i = 0; i < a->count; i++) {
        const double y = ((const double *)a->data)[i] - (double)first;
        ((int64_t *)made.data)[i] = y >= 0 && y < (double)classes && y == floor(y) ? (int64_t)y : other;
    }
    base_wipe(a->data, a->count * sizeof(double));
    sotto_array_clear(a);
    *a = made;
done:
    return status;
}
