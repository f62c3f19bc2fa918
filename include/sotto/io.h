/* io.h - arrays and tensors in standard files: .npy, .npz, .safetensors. */
#ifndef SOTTO_IO_H
#define SOTTO_IO_H

#include "sotto/base.h"

#ifdef __cplusplus
extern "C" {
#endif

enum sotto_dtype { SOTTO_U1, SOTTO_B1, SOTTO_F2, SOTTO_F4, SOTTO_F8, SOTTO_I4, SOTTO_I8 };
enum { SOTTO_MAX_DIMS = 8 };

/** A row-major array that owns its memory (last index fastest). Initialise with {0}; free with sotto_array_clear(). */
struct sotto_array {
    enum sotto_dtype dtype;
    int ndim;
    size_t shape[SOTTO_MAX_DIMS];
    size_t count; /**< product of shape */
    void *data;
};

SOTTO_API size_t sotto_dtype_size(enum sotto_dtype dtype);
/** NumPy's short name: "u1", "f4", ... */
SOTTO_API const char *sotto_dtype_name(enum sotto_dtype dtype);
/** Zeroed array. EINVAL: too many dimensions; ENOMEM. */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_array_make(struct sotto_array *out, enum sotto_dtype dtype, int ndim,
                                                         const size_t *shape);
SOTTO_API void sotto_array_clear(struct sotto_array *a);
/** Converts in place. To float types: any; to integer types: only if every value is representable (else EINVAL). */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_array_convert(struct sotto_array *a, enum sotto_dtype to);
/** EINVAL "<name>: 3 of 5000 rows contain NaN (first: row 17, column 2); <what> must be finite". Floats only. */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_array_require_finite(const struct sotto_array *a, const char *name,
                                                                   const char *what);

/** .npy versions 1-3, little-endian, C order, the seven dtypes. Strict: sizes must match the file exactly. */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_npy_load(struct sotto_array *out, const char *path);
/** Atomic. Writes version 1.0. */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_npy_save(const char *path, const struct sotto_array *a);

/** Named tensors plus text metadata: the contents of a .safetensors or .npz file. */
struct sotto_tensor {
    char *name;
    struct sotto_array array;
};
struct sotto_tensors {
    size_t count;
    struct sotto_tensor *items;
    size_t metadata_count;
    char **metadata; /**< key, value, key, value, ... */
};
SOTTO_API void sotto_tensors_clear(struct sotto_tensors *t);
/** Copies. EINVAL: the name is taken. */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_tensors_add(struct sotto_tensors *t, const char *name,
                                                          enum sotto_dtype dtype, int ndim, const size_t *shape,
                                                          const void *data);
/** Borrowed pointer, or NULL. */
SOTTO_API struct sotto_array *sotto_tensors_find(const struct sotto_tensors *t, const char *name);
/** Sets or replaces. */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_tensors_set_metadata(struct sotto_tensors *t, const char *key,
                                                                   const char *value);
/** Borrowed text, or NULL. */
SOTTO_API const char *sotto_tensors_metadata(const struct sotto_tensors *t, const char *key);
/** .safetensors, strict: length-checked header, no duplicate keys, no holes, no overlap. BF16 is widened to F4. */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_safetensors_load(struct sotto_tensors *out, const char *path);
/** Atomic; tensors in the order given, metadata sorted: same contents = same bytes. */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_safetensors_save(const char *path, const struct sotto_tensors *t);
/** .npz (zip of .npy; stored or deflated). */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_npz_load(struct sotto_tensors *out, const char *path);
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_npz_save(const char *path, const struct sotto_tensors *t);

/** "sotto inspect": what a file is and holds, as one JSON object "sotto.inspect/1" (docs/FORMATS.md) or as lines for
 *  people. Kinds: npy, npz, safetensors, json, csv, yaml, idx (plain or gzip). Free with sotto_text_free().
 *  EFORMAT: none of them, or damaged. */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_inspect(char **json, const char *path);
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_inspect_text(char **text, const char *path);
SOTTO_API void sotto_text_free(char *text);

#ifdef __cplusplus
}
#endif
#endif
