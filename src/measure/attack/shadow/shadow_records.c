#include "attack/shadow/shadow_pool.h"

#include <string.h>

sotto_status shadow_records(float **x, int64_t **y, struct head_data *out, const struct shadow_plan *p,
                            size_t model, enum shadow_use kind)
{
    sotto_status status = SOTTO_OK;
    const uint8_t *use = p->use + model * p->data->n;
    size_t n = 0, d = p->data->d, at = 0;
    for (size_t i = 0; i < p->data->n; i++)
        n += use[i] == kind;
    NEW(*x, n * d);
    NEW(*y, n);
    for (size_t i = 0; i < p->data->n; i++)
        if (use[i] == kind) {
            memcpy(*x + at * d, p->data->x + i * d, d * sizeof **x);
            (*y)[at++] = p->data->y[i];
        }
    *out = (struct head_data){*x, *y, n, d, p->data->classes};
done:
    return status;
}
