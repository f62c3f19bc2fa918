/* array.h - what the readers and writers of src/core/io share about arrays. */
#ifndef IO_ARRAY_ARRAY_H
#define IO_ARRAY_ARRAY_H

#include "base/memory.h"
#include "base/sha256.h"
#include "sotto/lab/array.h"

enum { DTYPES = SOTTO_U8 + 1 };
/** For error texts. */
#define DTYPE_LIST "b1 u1 u2 u4 u8 i1 i2 i4 i8 f2 f4 f8"

bool dtype_is_float(enum sotto_dtype dtype);
/** Signed or unsigned; not booleans. */
bool dtype_is_integer(enum sotto_dtype dtype);

/** Product of a shape times the item size; false on overflow. */
bool array_bytes(size_t *count, size_t *bytes, enum sotto_dtype dtype, int ndim, const size_t *shape);
/** "(60000, 28, 28) u1" into out; returns out. */
const char *array_describe(char out[256], enum sotto_dtype dtype, int ndim, const size_t *shape);
/** Booleans are one byte, 0 or 1; to read anything else is undefined behaviour. first: the number of value 0, of a part. */
sotto_status array_check_booleans(const struct sotto_array *a, size_t first, const char *name);
/** Value i as a double (integers beyond 2^53 are rounded). */
double array_value(const struct sotto_array *a, size_t i);

/** FILE.npz:NAME and FILE.safetensors:NAME: where the colon stands; NULL: a plain path. */
const char *array_member(const char *path);

/** Of the file that holds an array, of FILE.npz:NAME the whole file; "" of a pipe, as what was read of it is gone. ENOENT, EIO,
 * ENOMEM, ESTOPPED. */
sotto_status array_file_sha256(char out[SHA256_HEX], const char *path, const struct sotto_context *ctx);

/** IEEE binary16: widening is exact, narrowing rounds to nearest even. */
float half_to_float(uint16_t half);
uint16_t half_from_double(double x);

#endif
