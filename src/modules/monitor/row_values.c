#include "monitor/monitor_state.h"

#include <math.h>

/* All rows meet some of the bank before the next of it, which then comes from the cache. */
enum { TILE = 32 };

void monitor_off(double *off, const struct sotto_monitor *m, const float *rows, size_t n)
{
    const size_t d = m->shape.columns, bank = m->result.bank_rows;
    float gap[TILE];
    for (size_t i = 0; i < n; i++)
        off[i] = INFINITY;
    for (size_t first = 0; first < bank; first += TILE) {
        const size_t count = bank - first < TILE ? bank - first : TILE;
        for (size_t i = 0; i < n; i++) {
            m->shape.distances(gap, rows + i * d, m->bank + first * d, count, d);
            for (size_t j = 0; j < count; j++)
                off[i] = gap[j] < off[i] ? (double)gap[j] : off[i];
        }
    }
    for (size_t i = 0; i < n; i++)
        off[i] = sqrt(off[i]);
}

double monitor_margin(const float *answer, size_t classes)
{
    float first = -INFINITY, second = -INFINITY;
    for (size_t k = 0; k < classes; k++) {
        second = fmaxf(second, fminf(first, answer[k]));
        first = fmaxf(first, answer[k]);
    }
    return (double)first - (double)second;
}

sotto_status monitor_finite(const float *x, size_t rows, size_t columns, const char *what)
{
    for (size_t i = 0; i < rows * columns; i++)
        if (!isfinite(x[i]))
            return status_fail(SOTTO_EINVAL, "%s: row %zu, column %zu is %g; expected finite numbers", what,
                               i / columns, i % columns, (double)x[i]);
    return SOTTO_OK;
}
