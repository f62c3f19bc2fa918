/* npy.h - .npy from memory, and the header bytes that .npz shares. Format: NumPy NEP 1 and
 * numpy/lib/format. */
#ifndef IO_ARRAY_NPY_H
#define IO_ARRAY_NPY_H

#include "base/file.h"
#include "io/array/array.h"
#include "io/text/source.h"

/* What a header says besides dtype and shape. */
struct npy_layout {
    bool big_endian, fortran;
};
/** What a header says: dtype, ndim, shape and count of *out (data stays NULL), and where the data start. The
 * source may end there. */
sotto_status npy_header_parse(struct sotto_array *out, struct npy_layout *layout, size_t *data_at,
                              const struct source *s);
/** The data, as they were in the file, become this machine's numbers in row-major order. EFORMAT: booleans other than 0 and 1.
 *  ENOMEM, ESTOPPED. */
sotto_status npy_settle(struct sotto_array *a, const struct npy_layout *layout, const char *name,
                        const struct sotto_context *ctx);
/** The strict reader behind npy_load(). */
sotto_status npy_read(struct sotto_array *out, const struct source *s);
/** The same for files larger than memory: *header has no data, and each() gets the numbers of one block after the other, row-major, in
 * `count` values of unknown shape. A matrix whose first index is the fastest comes as one block. */
typedef sotto_status (*npy_block)(void *arg, const struct sotto_array *block);
sotto_status npy_walk(struct sotto_array *header, const struct source *s, npy_block each, void *arg);
/** npy_load(), asking ctx every few megabytes. ESTOPPED. */
sotto_status npy_load_asking(struct sotto_array *out, const char *path, const struct sotto_context *ctx);
/** sotto_npy_save(), likewise. */
sotto_status npy_save_asking(const char *path, const struct sotto_array *a, const struct sotto_context *ctx);
/** npy_load() of bytes (u1, row-major) as a map: pages are read when they are touched, and processes share them.
 *  out->data is read-only and out owns nothing; end with file_unmap(). EFORMAT: another type, order or length, or no file;
 *  EIO: this file system maps none. */
sotto_status npy_map(struct sotto_array *out, struct file_map *map, const char *path);
sotto_status npy_from_memory(struct sotto_array *out, const void *data, size_t size, const char *name);

enum { NPY_HEADER_LIMIT = 384 };
/** Version 1.0 header of an array, padded so that the data starts at a multiple of 64. Returns its length. */
size_t npy_header(unsigned char out[NPY_HEADER_LIMIT], const struct sotto_array *a);
/** Reads .npy versions 1 to 3. Big-endian numbers and Fortran order become this machine's and row-major.
 *  Returns: ENOENT, EIO
 *           EFORMAT  another layout, or sizes that do not match the file exactly
 *           ENOMEM */
sotto_status npy_load(struct sotto_array *out, const char *path);

#endif
