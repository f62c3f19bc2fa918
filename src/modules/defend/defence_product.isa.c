/* Four rows of the matrix at a time, so that the sums are read and written a fourth as often. */
#include "defend/defence_product.h"

static void add_four(double *restrict out, const double x[4], const double *const w[4], size_t columns)
{
    const double *restrict a = w[0], *restrict b = w[1], *restrict c = w[2], *restrict d = w[3];
    for (size_t o = 0; o < columns; o++)
        out[o] = out[o] + x[0] * a[o] + x[1] * b[o] + x[2] * c[o] + x[3] * d[o];
}

static void add_one(double *restrict out, double x, const double *restrict w, size_t columns)
{
    for (size_t o = 0; o < columns; o++)
        out[o] += x * w[o];
}

defence_product ISA_NAME(defence_product_row);
void ISA_NAME(defence_product_row)(double *out, const double *x, const double *w, size_t rows, size_t columns)
{
    const double *row[4];
    double factor[4];
    size_t held = 0;
    for (size_t i = 0; i < rows; i++) {
        if (x[i] == 0)
            continue;
        factor[held] = x[i];
        row[held++] = w + i * columns;
        if (held == 4) {
            add_four(out, factor, row, columns);
            held = 0;
        }
    }
    for (size_t i = 0; i < held; i++)
        add_one(out, factor[i], row[i], columns);
}
