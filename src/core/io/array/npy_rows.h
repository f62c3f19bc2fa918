/* npy_rows.h - rows of a matrix in a file, some at a time. */
#ifndef IO_ARRAY_NPY_ROWS_H
#define IO_ARRAY_NPY_ROWS_H

#include "sotto/private/io.h"

/** The path, borrowed. */
const char *npy_rows_name(const struct sotto_rows *r);
/** From any thread.
 *  Out:     out (count, columns): rows first .. first + count - 1
 *  Returns: EINVAL  rows that the matrix does not have
 *           EIO     among others: the file became shorter while it was read
 *           EFORMAT booleans other than 0 and 1 */
sotto_status npy_rows_read(double *out, const struct sotto_rows *r, size_t first, size_t count);

#endif
