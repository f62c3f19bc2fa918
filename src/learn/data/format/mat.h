/* mat.h - numeric arrays in MATLAB's files of version 5 (what `save` writes without -v7.3), packed or not. */
#ifndef DATA_FORMAT_MAT_H
#define DATA_FORMAT_MAT_H

#include "data/files/bundle.h"

enum { MAT_DIMENSIONS = 4 };
struct mat_array {
    size_t ndim, shape[MAT_DIMENSIONS], count; /* count: their product, above 0 */
    const unsigned char *bytes; /* values that are stored as uint8, the first index fastest; else NULL */
    double *values;             /* of any other type; NULL where bytes is set */
    struct bytes unpacked;      /* owned */
};
/** The array of that name, at most MAT_DIMENSIONS long; borrows from data. EFORMAT: no such file, damaged, big-endian,
 * more than `limit` bytes unpacked, no such array, or one that is not of real numbers; ENOMEM, ESTOPPED. */
sotto_status mat_from_memory(struct mat_array *out, const unsigned char *data, size_t size, const char *array,
                             size_t limit, const struct sotto_context *ctx);
double mat_value(const struct mat_array *a, size_t i);
void mat_clear(struct mat_array *a);

#endif
