#include "num/symmetric.h"

#include <float.h>
#include <math.h>
#include <string.h>

bool symmetric_factorise(double *a, size_t n)
{
    for (size_t k = 0; k < n; k++) {
        double *row = a + k * n;
        if (!(row[k] > 0) || !isfinite(row[k]))
            return false;
        double root = sqrt(row[k]);
        for (size_t j = k; j < n; j++)
            row[j] /= root;
        for (size_t i = k + 1; i < n; i++) {
            double factor = row[i], *below = a + i * n;
            for (size_t j = i; j < n; j++)
                below[j] -= factor * row[j];
        }
    }
    return true;
}

void symmetric_solve(const double *u, size_t n, double *b, size_t columns)
{
    for (size_t k = 0; k < n; k++) { /* U' y = b */
        double *row = b + k * columns;
        for (size_t c = 0; c < columns; c++)
            row[c] /= u[k * n + k];
        for (size_t i = k + 1; i < n; i++)
            for (size_t c = 0; c < columns; c++)
                b[i * columns + c] -= u[k * n + i] * row[c];
    }
    for (size_t k = n; k-- > 0;) { /* U x = y */
        double *row = b + k * columns;
        for (size_t i = k + 1; i < n; i++)
            for (size_t c = 0; c < columns; c++)
                row[c] -= u[k * n + i] * b[i * columns + c];
        for (size_t c = 0; c < columns; c++)
            row[c] /= u[k * n + k];
    }
}

static double symmetric_dot(const double *a, const double *b, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += a[i] * b[i];
    return sum;
}

/* Reflections (I - v v') from both sides, |v|^2 = 2, leave a tridiagonal matrix: diagonal d, below it e. Row
 * k of `a` then holds v of step k from column k + 1 on (0: no reflection). */
static void symmetric_tridiagonalise(double *a, double *d, double *e, double *p, size_t n)
{
    for (size_t k = 0; k < n; k++) {
        size_t m = n - k - 1;
        double *v = a + k * n + k + 1;
        d[k] = a[k * n + k];
        e[k] = m ? v[0] : 0;
        double norm = m > 1 ? sqrt(symmetric_dot(v, v, m)) : 0;
        if (norm == 0 || norm == fabs(e[k])) { /* nothing to remove */
            memset(v, 0, m * sizeof *v);
            continue;
        }
        e[k] = v[0] > 0 ? -norm : norm;
        v[0] -= e[k];
        double length = sqrt(symmetric_dot(v, v, m) / 2), half = 0;
        for (size_t i = 0; i < m; i++)
            v[i] /= length;
        for (size_t i = 0; i < m; i++)
            p[i] = symmetric_dot(a + (k + 1 + i) * n + k + 1, v, m);
        half = symmetric_dot(p, v, m) / 2;
        for (size_t i = 0; i < m; i++)
            p[i] -= half * v[i];
        for (size_t i = 0; i < m; i++) {
            double *row = a + (k + 1 + i) * n + k + 1;
            for (size_t j = 0; j < m; j++)
                row[j] -= v[i] * p[j] + p[i] * v[j];
        }
    }
}

/* One sweep of implicit QL on the block l..m; rows of z are rotated along. */
static void symmetric_sweep(double *d, double *e, double *z, size_t l, size_t m, size_t n)
{
    double g = (d[l + 1] - d[l]) / (2 * e[l]), s = 1, c = 1, p = 0;
    g = d[m] - d[l] + e[l] / (g + copysign(hypot(g, 1), g));
    for (size_t i = m; i-- > l;) {
        double f = s * e[i], b = c * e[i], r = hypot(f, g);
        e[i + 1] = r;
        if (r == 0) { /* the block falls apart here */
            d[i + 1] -= p;
            e[m] = 0;
            return;
        }
        s = f / r;
        c = g / r;
        g = d[i + 1] - p;
        r = (d[i] - g) * s + 2 * c * b;
        p = s * r;
        d[i + 1] = g + p;
        g = c * r - b;
        double *low = z + i * n, *high = low + n;
        for (size_t k = 0; k < n; k++) {
            double h = high[k];
            high[k] = s * low[k] + c * h;
            low[k] = c * low[k] - s * h;
        }
    }
    d[l] -= p;
    e[l] = g;
    e[m] = 0;
}

static bool symmetric_iterate(double *d, double *e, double *z, size_t n)
{
    enum { SWEEPS = 60 };
    for (size_t l = 0; l < n; l++)
        for (int sweeps = 0;; sweeps++) {
            size_t m = l;
            while (m + 1 < n && fabs(e[m]) > DBL_EPSILON * (fabs(d[m]) + fabs(d[m + 1])))
                m++;
            if (m == l)
                break;
            if (sweeps == SWEEPS || isnan(e[l]))
                return false;
            symmetric_sweep(d, e, z, l, m, n);
        }
    return true;
}

bool symmetric_eigen(double *a, double *values, size_t n, double *scratch)
{
    double *z = scratch, *e = z + n * n, *p = e + n;
    for (size_t i = 0; i < n; i++)
        if (!isfinite(symmetric_dot(a + i * n, a + i * n, n)))
            return false;
    symmetric_tridiagonalise(a, values, e, p, n);
    memset(z, 0, n * n * sizeof *z);
    for (size_t i = 0; i < n; i++)
        z[i * n + i] = 1;
    if (!symmetric_iterate(values, e, z, n))
        return false;
    for (size_t i = 0; i < n; i++) /* from the tridiagonal matrix's eigenvectors to those of `a` */
        for (size_t k = n; k-- > 0;) {
            const double *v = a + k * n + k + 1;
            double *row = z + i * n + k + 1, share = symmetric_dot(v, row, n - k - 1);
            for (size_t j = 0; j < n - k - 1; j++)
                row[j] -= share * v[j];
        }
    memcpy(a, z, n * n * sizeof *a);
    return true;
}
