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
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_array_make(struct sotto_array *out, enum sotto_dtype dtype,
                                                         int ndim, const size_t *shape);
SOTTO_API void sotto_array_clear(struct sotto_array *a);
/** Converts in place. To float types: any; to integer types: only if every value is representable (else EINVAL). */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_array_convert(struct sotto_array *a, enum sotto_dtype to);
/** EINVAL "<name>: 3 of 5000 rows contain NaN (first: row 17, column 2); <what> must be finite". Floats only. */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_array_require_finite(const struct sotto_array *a,
                                                                   const char *name, const char *what);

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
                                                          enum sotto_dtype dtype, int ndim,
                                                          const size_t *shape, const void *data);
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
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_safetensors_save(const char *path,
                                                               const struct sotto_tensors *t);
/** The bytes of such a file, to memory and from memory. Free *bytes with sotto_bytes_free().
 *  `name` stands in error texts where a file's path would. EFORMAT, ENOMEM. */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_safetensors_save_bytes(void **bytes, size_t *size,
                                                                     const struct sotto_tensors *t);
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_safetensors_load_bytes(struct sotto_tensors *out,
                                                                     const void *bytes, size_t size,
                                                                     const char *name);
SOTTO_API void sotto_bytes_free(void *bytes);
/** .npz (zip of .npy; stored or deflated). */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_npz_load(struct sotto_tensors *out, const char *path);
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_npz_save(const char *path, const struct sotto_tensors *t);

/** "sotto inspect": what a file is and holds, as one JSON object "sotto.inspect/1" (docs/FORMATS.md) or as lines for
 *  people. Kinds: npy, npz, safetensors, json, csv, yaml, idx (plain or gzip), ledger. Free with sotto_text_free().
 *  EFORMAT: none of them, or damaged. */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_inspect(char **json, const char *path);
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_inspect_text(char **text, const char *path);
SOTTO_API void sotto_text_free(char *text);

/** How the columns of a table became numbers. Only an encoding that does not depend on the private records, or that was
 *  paid for, lets an epsilon stand as proved. */
enum sotto_encoding {
    SOTTO_ENCODING_NONE,     /**< not a table, or numbers taken as they are */
    SOTTO_ENCODING_PUBLIC,   /**< fitted on rows that the caller named as public */
    SOTTO_ENCODING_DECLARED, /**< written down in a schema before the data were seen */
    SOTTO_ENCODING_RELEASED, /**< bounds and categories from private releases, charged to the ledger */
    SOTTO_ENCODING_FITTED    /**< fitted on these very records: every epsilon on them is conditional */
};
/** "none", "public", "declared", "released", "fitted". */
SOTTO_API const char *sotto_encoding_name(enum sotto_encoding encoding);

/** Which records an array holds, and what was done to them. Kept beside the array as PATH.provenance.json (schema
 *  sotto.provenance/1), which is as private as the array. Initialise with {0}; free with sotto_provenance_clear(). */
struct sotto_provenance {
    char dataset_id[128]; /**< identity of the private set, the key of its ledger; "": anonymous */
    char set[64];  /**< imported or registered set that the records were taken from; "": none is known */
    size_t n;      /**< records of the array; 0: the array holds no records (a mean, weights) */
    int64_t *rows; /**< (n) rows of `set`, owned; NULL: unknown, or `set` is "" */
    enum sotto_encoding encoding;
    size_t classes;     /**< public number of classes; 0: unknown */
    char **class_names; /**< (classes) texts, owned; NULL: unknown */
    char classes_by
        [64]; /**< who gave the classes: "the data set's description", "--classes", ...; "" with classes 0 */
};
SOTTO_API void sotto_provenance_clear(struct sotto_provenance *p);
/** Deep copy into *out, which must be {0} or cleared. ENOMEM. */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_provenance_copy(struct sotto_provenance *out,
                                                              const struct sotto_provenance *p);
/** Keeps the records `chosen` (positions in the array, 0 .. n-1, in their new order). EINVAL: a position is not below n. */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_provenance_select(struct sotto_provenance *p,
                                                                const int64_t *chosen, size_t count);
/** Writes PATH.provenance.json, bound to the bytes of PATH as they are now; one that says nothing, as {0}, removes the
 *  file. ECREATE, EIO, ENOMEM. */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_provenance_save(const char *path,
                                                              const struct sotto_provenance *p);
/** *out = {0} where PATH has no such file. EFORMAT: the file is damaged, or belongs to other bytes than those of PATH
 *  (the array was overwritten); EIO, ENOMEM. */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_provenance_load(struct sotto_provenance *out, const char *path);
/** The same of two arrays with one row a record, as either says; labels may be NULL. Errors as above; EINVAL: they hold
 *  other records. */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_provenance_load_pair(struct sotto_provenance *out,
                                                                   const char *features, const char *labels);

/** EINVAL: a row number is there twice: "indices.npy: row 17 is named twice (entries 3 and 9); a record may
 * count once". For everything that ends with a certificate. `where` starts the text. ENOMEM. */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_rows_once(const int64_t *rows, size_t n, const char *where);
/** The same for the source rows of an array; NULL or without rows: OK. */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_provenance_once(const struct sotto_provenance *p);
/** What an epsilon about these records rests on besides the mechanism, one sentence for the certificate's conditional
 *  part; NULL: nothing. `p` may be NULL. Every private verb passes it on as `condition`. */
SOTTO_API const char *sotto_provenance_condition(const struct sotto_provenance *p);

#ifdef __cplusplus
}
#endif
#endif
