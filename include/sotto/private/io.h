/* io.h - arrays and tensors in standard files (.npy, .npz, .safetensors), and the source of records.
 *
 * Outputs are untouched when a call fails. Paths of outputs: a file appears whole or not at all. */
#ifndef SOTTO_IO_H
#define SOTTO_IO_H

#include "sotto/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Free a text, or bytes, that a function of this library handed out. Accept NULL. */
SOTTO_API void sotto_text_free(char *text);
SOTTO_API void sotto_bytes_free(void *bytes);

enum sotto_dtype {
    SOTTO_U1,
    SOTTO_B1,
    SOTTO_F2,
    SOTTO_F4,
    SOTTO_F8,
    SOTTO_I4,
    SOTTO_I8,
    SOTTO_I1,
    SOTTO_I2,
    SOTTO_U2,
    SOTTO_U4,
    SOTTO_U8
};
enum { SOTTO_MAX_DIMS = 8 };

/** A row-major array (last index fastest). Initialise with {0}; free with sotto_array_clear() unless the caller filled in
 *  data by hand. */
struct sotto_array {
    enum sotto_dtype dtype;
    int ndim;
    size_t shape[SOTTO_MAX_DIMS];
    size_t count; /**< product of shape */
    void *data;
};

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

/** Reads .npy versions 1 to 3. Big-endian numbers and Fortran order become this machine's and row-major.
 *  Returns: ENOENT, EIO
 *           EFORMAT  another layout, or sizes that do not match the file exactly
 *           ENOMEM */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_npy_load(struct sotto_array *out, const char *path);
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
/** In:      data: copied; NULL: zeros
 *  Returns: EINVAL  the name is taken
 *           ENOMEM */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_tensors_add(struct sotto_tensors *t, const char *name,
                                                          enum sotto_dtype dtype, int ndim,
                                                          const size_t *shape, const void *data);
/** Borrowed. Returns: NULL: there is no such tensor. */
SOTTO_API struct sotto_array *sotto_tensors_find(const struct sotto_tensors *t, const char *name);
/** Sets or replaces one text.
 *  Returns: ENOMEM */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_tensors_set_metadata(struct sotto_tensors *t, const char *key,
                                                                   const char *value);
/** Borrowed. Returns: NULL: there is no such key. */
SOTTO_API const char *sotto_tensors_metadata(const struct sotto_tensors *t, const char *key);
/** Reads .safetensors. Numbers of type BF16 are widened to F4.
 *  Returns: ENOENT, EIO
 *           EFORMAT  lengths that do not match the file, duplicate keys, bytes of no tensor or of two
 *           ENOMEM */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_safetensors_load(struct sotto_tensors *out, const char *path);
/** Writes tensors in the order given and metadata sorted by key: same contents, same bytes.
 *  Returns: ECREATE, EIO, ENOMEM */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_safetensors_save(const char *path,
                                                               const struct sotto_tensors *t);
/** The bytes of such a file, from memory and to memory.
 *  In:      bytes (size): borrowed during the call
 *           name: stands in error texts where a file's path would
 *  Out:     *bytes (*size): free with sotto_bytes_free()
 *  Returns: EFORMAT, ENOMEM  as above */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_safetensors_load_bytes(struct sotto_tensors *out,
                                                                     const void *bytes, size_t size,
                                                                     const char *name);
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_safetensors_save_bytes(void **bytes, size_t *size,
                                                                     const struct sotto_tensors *t);
/** .npz: a zip of .npy files, stored or deflated. There is no metadata.
 *  Returns: as of .safetensors */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_npz_load(struct sotto_tensors *out, const char *path);
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_npz_save(const char *path, const struct sotto_tensors *t);

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
/** The path, borrowed. */
SOTTO_API const char *sotto_rows_name(const struct sotto_rows *r);
/** From any thread.
 *  Out:     out (count, columns): rows first .. first + count - 1
 *  Returns: EINVAL  rows that the matrix does not have
 *           EIO     among others: the file became shorter while it was read
 *           EFORMAT booleans other than 0 and 1 */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_rows_read(double *out, const struct sotto_rows *r, size_t first,
                                                        size_t count);

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

/** How the columns of a table became numbers. An epsilon is proved only where this did not depend on the private records, or
 *  was paid for. */
enum sotto_encoding {
    SOTTO_ENCODING_NONE,     /**< not a table, or numbers taken as they are */
    SOTTO_ENCODING_PUBLIC,   /**< fitted on rows that the caller named as public */
    SOTTO_ENCODING_DECLARED, /**< written down in a schema before the data were seen */
    SOTTO_ENCODING_RELEASED, /**< bounds and categories from private releases, charged to the ledger */
    SOTTO_ENCODING_FITTED    /**< fitted on these very records: every epsilon on them is conditional */
};
/** "none", "public", "declared", "released", "fitted". */
SOTTO_API const char *sotto_encoding_name(enum sotto_encoding encoding);

enum { SOTTO_PERSON = 64 }; /**< room for the name of the column that tells persons apart */
/** Records that shaped the columns of an array: an encoding was fitted on them, an encoder was trained on them. An epsilon about
 *  other records is proved only if these are not among them. */
struct sotto_shaping {
    char what[16];        /**< "encoding", "encoder", "moments", "features", ... */
    char name[128];       /**< of the file, table or part, for people */
    char dataset_id[128]; /**< identity of the records; "": unknown */
    char set[64];         /**< imported or registered set that they were taken from; "": unknown */
    size_t n;             /**< how many; 0: unknown */
    int64_t *rows;        /**< (n) rows of `set`, ascending, owned; NULL: unknown */
    int is_public;        /**< 1: of a set that sotto generates or knows as a public benchmark */
    uint64_t reserved[4]; /**< zeros: room for later members */
};
/** The source of an array's records, and what was done to them. Kept beside the array as PATH.provenance.json (schema
 *  sotto.provenance/1), which is as private as the array. Initialise with {0}; free with sotto_provenance_clear(). */
struct sotto_provenance {
    char dataset_id[128]; /**< identity of the private set, the key of its ledger; "": anonymous */
    char set[64];         /**< imported or registered set that the records were taken from; "": unknown */
    size_t n;             /**< records of the array; 0: the array holds no records (a mean, weights) */
    int64_t *rows;        /**< (n) rows of `set`, owned; NULL: unknown, or `set` is "" */
    enum sotto_encoding encoding;
    size_t classes;     /**< public number of classes; 0: unknown */
    char **class_names; /**< (classes) texts, owned; NULL: unknown */
    /** What gave the classes: "the data set's description", "--classes", ...; "" with classes 0. */
    char classes_by[64];
    /** The unit of privacy is a person: an import kept at most so many rows of each, by the values of that column. 0
     * and "": it is one record. */
    size_t rows_per_person;
    char person[SOTTO_PERSON];
    /** What shaped the columns besides each record itself (sotto_provenance_shape()), owned; every private call meets it with the
     * records that it charges. NULL with 0: nothing that is known of. */
    struct sotto_shaping *shaped_by;
    size_t shapings;
    uint64_t reserved[4]; /**< zeros: room for later members */
};
SOTTO_API void sotto_provenance_clear(struct sotto_provenance *p);
/** Out:     *out: a deep copy; must be {0} or cleared before
 *  Returns: ENOMEM */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_provenance_copy(struct sotto_provenance *out,
                                                              const struct sotto_provenance *p);
/** Keeps some of the records.
 *  In:      chosen (count): positions in the array, 0 .. n-1, in their new order
 *  Returns: EINVAL  a position is not below n
 *           ENOMEM */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_provenance_select(struct sotto_provenance *p,
                                                                const int64_t *chosen, size_t count);
/** The records of `by`, and all that shaped them, shaped the columns of p too. What is known already is not said twice.
 *  In:      what, name: as in struct sotto_shaping; of a path its last part is kept. what NULL: not the records of `by`, as p has
 *               the same, but what shaped them; name may be NULL then
 *           by: of the file that did it; NULL, or without dataset_id: its records are unknown
 *           is_public: 1: its set is generated or a public benchmark (sotto_dataset_is_public())
 *  Returns: ENOMEM; p is as before */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_provenance_shape(struct sotto_provenance *p, const char *what,
                                                               const char *name,
                                                               const struct sotto_provenance *by,
                                                               int is_public);
/** Writes PATH.provenance.json, bound to the bytes of PATH as they are now. {0} removes the file.
 *  Returns: ECREATE, EIO, ENOMEM */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_provenance_save(const char *path,
                                                              const struct sotto_provenance *p);
/** Out:     *out: {0} where PATH has no such file
 *  Returns: EFORMAT  the file is damaged, or belongs to other bytes than those of PATH (the array was overwritten)
 *           EIO, ENOMEM */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_provenance_load(struct sotto_provenance *out, const char *path);
/** Of two arrays with one row for each record: what either file says.
 *  In:      labels: NULL: there are none
 *  Returns: EINVAL  the two hold other records
 *           EFORMAT, EIO, ENOMEM  as above */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_provenance_load_pair(struct sotto_provenance *out,
                                                                   const char *features, const char *labels);

/** For everything that ends with a certificate: a record may count once.
 *  In:      rows (n)
 *           where: starts the error text
 *  Returns: EINVAL  "indices.npy: row 17 is named twice (entries 3 and 9); a record may count once"
 *           ENOMEM */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_rows_once(const int64_t *rows, size_t n, const char *where);
/** The same of the source rows of an array.
 *  In:      p: NULL or without rows: nothing is checked */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_provenance_once(const struct sotto_provenance *p);
/** What an epsilon about these records rests on besides the mechanism. Every private verb passes it on as `condition`.
 *  In:      p: may be NULL
 *  Returns: one sentence for the conditional part of the certificate; NULL: nothing */
SOTTO_API const char *sotto_provenance_condition(const struct sotto_provenance *p);

#ifdef __cplusplus
}
#endif
#endif
