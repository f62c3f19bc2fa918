#include "attack/query/record_order.h"

#include "rng/rng.h"

#include <string.h>

sotto_status record_order_draw(int64_t **order, size_t n, uint64_t seed)
{
    sotto_status status = SOTTO_OK;
    struct rng r = rng_stream(seed, RNG_ORDER, UINT64_MAX, 0);
    NEW(*order, n);
    for (size_t i = 0; i < n; i++)
        (*order)[i] = (int64_t)i;
    rng_shuffle(&r, *order, n);
done:
    return status;
}

static sotto_status record_order_copy(char **out, const void *rows, size_t n, size_t bytes)
{
    sotto_status status = SOTTO_OK;
    NEW_ROWS(*out, n, bytes);
    memcpy(*out, rows, n * bytes);
done:
    return status;
}

sotto_status record_order_apply(void *rows, const int64_t *order, size_t n, size_t bytes)
{
    sotto_status status = SOTTO_OK;
    char *from = NULL;
    TRY(record_order_copy(&from, rows, n, bytes));
    for (size_t i = 0; i < n; i++)
        memcpy((char *)rows + i * bytes, from + (size_t)order[i] * bytes, bytes);
done:
    base_free(from);
    return status;
}

sotto_status record_order_undo(void *rows, const int64_t *order, size_t n, size_t bytes)
{
    sotto_status status = SOTTO_OK;
    char *from = NULL;
    TRY(record_order_copy(&from, rows, n, bytes));
    for (size_t i = 0; i < n; i++)
        memcpy((char *)rows + (size_t)order[i] * bytes, from + i * bytes, bytes);
done:
    base_free(from);
    return status;
}
