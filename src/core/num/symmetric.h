/* symmetric.h - symmetric matrices in double: systems of equations and eigenvectors. Row-major (n, n). */
#ifndef NUM_SYMMETRIC_H
#define NUM_SYMMETRIC_H

#include <stdbool.h>
#include <stddef.h>

/** a = U'U in place: the upper triangle becomes U, the lower one is not read. false: not positive definite (a
 * is then spoilt). */
bool symmetric_factorise(double *a, size_t n);
/** Solves (U'U) x = b for each of `columns` right sides: b (n, columns) becomes x. */
void symmetric_solve(const double *u, size_t n, double *b, size_t columns);
/** values ascending or not, in no order; row i of `a` becomes the unit eigenvector of values[i].
 * Householder's tridiagonal form, then implicit QL. scratch (n * n + 3 n). false: QL did not converge (a
 * NaN). */
bool symmetric_eigen(double *a, double *values, size_t n, double *scratch);

#endif
