/* principal.h - the directions in which records vary most, and records seen in them. */
#ifndef AUDIT_FIT_PRINCIPAL_H
#define AUDIT_FIT_PRINCIPAL_H

#include "base/cpu.h"
#include "base/memory.h"

struct principal {
    size_t width, components; /* components 0: the records do not vary */
    double *mean;             /* (width) */
    double *direction;        /* (width, PRINCIPAL_COLUMNS), the first `components` columns orthonormal */
};
enum { PRINCIPAL_COLUMNS = 64, PRINCIPAL_ROWS = 2000 };
/* The first `components` principal components of records (n, width), of at most PRINCIPAL_ROWS of them, evenly spread:
 * subspace iteration (Halko, Martinsson and Tropp 2011, algorithm 4.4) with more columns than asked for. components: at
 * most PRINCIPAL_COLUMNS - 8. ENOMEM, ESTOPPED. */
sotto_status principal_make(struct principal *out, const float *records, size_t n, size_t width,
                            size_t components, const struct sotto_context *ctx);
void principal_clear(struct principal *p);
/* out (n, components) of records (n, width). ESTOPPED. */
sotto_status principal_project(float *out, const struct principal *p, const float *records, size_t n,
                               const struct sotto_context *ctx);

/* y (PRINCIPAL_COLUMNS) = the centred row times v; and v (width, PRINCIPAL_COLUMNS) += the centred row, as a column, times y. The
 * same bits at every level. */
struct principal_kernels {
    void (*onto)(double *y, const float *row, const double *mean, const double *v, size_t width);
    void (*back)(double *v, const float *row, const double *mean, const double *y, size_t width);
};
const struct principal_kernels *principal_kernels_best(void);

#endif
