/* io.h - arrays and tensors in standard files (.npy, .npz, .safetensors). For the program and the Python package: not installed.
 *
 * Outputs are untouched when a call fails. Paths of outputs: a file appears whole or not at all. */
#ifndef SOTTO_PRIVATE_IO_H
#define SOTTO_PRIVATE_IO_H

#include "sotto/lab/array.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Bytes of one number. */
SOTTO_API size_t sotto_dtype_size(enum sotto_dtype dtype);
/** NumPy's short name: "u1", "f4", ... */
SOTTO_API const char *sotto_dtype_name(enum sotto_dtype dtype);
/** Out:     *out: zeros
 *  Returns: EINVAL  too many dimensions
 *           ENOMEM */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_array_make(struct sotto_array *out, enum sotto_dtype dtype,
                                                         int ndim, const size_t *shape);
SOTTO_API void sotto_array_clear(struct sotto_array *a);
/** Converts in place: to float types any array, to integer types one with representable values only.
 *  Returns: EINVAL  a value is not representable
 *           ENOMEM */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_array_convert(struct sotto_array *a, enum sotto_dtype to);
/** For whole numbers that become floats: none is rounded. Floats pass.
 *  Returns: EINVAL  "<name>: value 7 is 16777217; f4 holds whole numbers up to 2^24 exactly; ..." */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_array_require_exact(const struct sotto_array *a,
                                                                  enum sotto_dtype to, const char *name);
/** In:      a: of a float type
 *  Returns: EINVAL  "<name>: 3 of 5000 rows contain NaN (first: row 17, column 2); <what> must be finite" */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_array_require_finite(const struct sotto_array *a,
                                                                   const char *name, const char *what);

/** Writes version 1.0.
 *  Returns: ECREATE, EIO, ENOMEM */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_npy_save(const char *path, const struct sotto_array *a);

struct sotto_tensor {
    char *name;
    struct sotto_array array;
};
/** Named tensors and text metadata: the contents of a .safetensors or .npz file. Initialise with {0}; free with
 *  sotto_tensors_clear(). */
struct sotto_tensors {
    size_t count;
    struct sotto_tensor *items; /**< (count) */
    size_t metadata_count;
    char **metadata; /**< (2 metadata_count) key, value, key, value, ... */
};
SOTTO_API void sotto_tensors_clear(struct sotto_tensors *t);
/** .npz: a zip of .npy files, stored or deflated. There is no metadata.
 *  Returns: as of .safetensors */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_npz_load(struct sotto_tensors *out, const char *path);

/** Reads one array of any of these kinds, or of a CSV table of numbers, with or without a line of column names, which becomes
 *  (rows, columns) f8.
 *  In:      path: "x.npy"; "x.npz" or "x.safetensors" with one array in it, or "x.npz:name"; "x.csv"; "-" is standard input.
 *           Of it and of pipes, the first bytes say what they are
 *           quiet: 1 for private records: a cell of a table that is no number is NaN, and no error tells of it
 *  Returns: ENOENT, EIO
 *           EFORMAT  as above; another number of arrays, with their names; a whole number beyond 2^53 in a table
 *           ESTOPPED, ENOMEM */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_array_load(struct sotto_array *out, const char *path, int quiet,
                                                         const struct sotto_context *ctx);

/** A matrix in a file, of which some rows are read at a time: for one too large for memory. Row-major .npy files of b1, u1, f2,
 *  f4 or f8 in this machine's byte order. */
struct sotto_rows;
/** Out:     *out: free with sotto_rows_close(); NULL: not such a file (another format, a pipe, or there is none), which
 *           sotto_array_load() reads, or says what is wrong with it
 *  Returns: EIO, EFORMAT, ENOMEM */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_rows_open(struct sotto_rows **out, const char *path);
SOTTO_API void sotto_rows_close(struct sotto_rows *r);
SOTTO_API void sotto_rows_shape(size_t *rows, size_t *columns, enum sotto_dtype *dtype,
                                const struct sotto_rows *r);

/** What a file is and holds. Kinds: npy, npz, safetensors, json, csv, yaml, idx (plain or gzip), ledger.
 *  Out:     *json: one "sotto.inspect/1" object (docs/FORMATS.md); *text: lines for the terminal. Free with
 *           sotto_text_free()
 *  Returns: ENOENT, EIO
 *           EFORMAT  none of these kinds, or damaged
 *           ESTOPPED, ENOMEM */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_inspect(char **json, const char *path,
                                                      const struct sotto_context *ctx);
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_inspect_text(char **text, const char *path,
                                                           const struct sotto_context *ctx);

#ifdef __cplusplus
}
#endif
#endif
