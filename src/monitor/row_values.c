#include "monitor/monitor_state.h"

#include <math.h>

double monitor_off(struct sotto_monitor *m, const float *row)
{
    float least = INFINITY;
    m->shape.distances(m->gap, row, m->bank, m->result.bank_rows, m->shape.columns);
    for (size_t i = 0; i < m->result.bank_rows; i++)
        least = m->gap[i] < least ? m->gap[i] : least;
    return sqrt((double)least);
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
