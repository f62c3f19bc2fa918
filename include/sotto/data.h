/* data.h - data sets and splits. A set is one pool of records; train and test parts are pooled. */
#ifndef SOTTO_DATA_H
#define SOTTO_DATA_H

#include "sotto/dp.h"

#ifdef __cplusplus
extern "C" {
#endif

/** A loaded set. Exactly one of images and features is non-NULL. Read-only for callers; free with sotto_dataset_free(). */
struct sotto_dataset {
    char name[64];
    char dataset_id
        [128]; /**< identity: whose records these are, and so which ledger is charged for them. Of an imported
                               set as its import recorded it, of a registered one its name; "": anonymous (a path, or
                               an import of version 1) */
    char title[128];
    char origin[512]; /**< where it came from, one line */
    char sha256
        [65]; /**< of the decoded contents (images or features, then labels, then attribute); of an imported
                               set: as recorded at its import, checked again only by sotto_data_verify() */
    int synthetic; /**< 1: made up; every result that uses it must say "synthetic" */
    size_t n;      /**< records; rows [0, n_train) are the official training part, the rest the test part */
    size_t n_train;
    size_t channels, height, width;
    const uint8_t *images; /**< (N, C, H, W) */
    size_t columns;
    const float *features;          /**< (N, D) */
    size_t classes;                 /**< 0: no labels */
    const int64_t *labels;          /**< (N), 0 .. classes-1; NULL without labels */
    const char *const *class_names; /**< classes strings, or NULL */
    char classes_by
        [64]; /**< what fixes the classes whatever the records are; "": they were read off the records */
    /** A second label: what attribute inference is after (include/sotto/attack.h) and Talos hides (ssl.h). */
    char attribute_name[64];        /**< what it says, such as "race"; "": no attribute */
    size_t values;                  /**< 0: no attribute */
    const int64_t *attribute;       /**< (N), 0 .. values-1; NULL without an attribute */
    const char *const *value_names; /**< values strings, or NULL */
    void *owner;
};

/** By registered or imported name, or by path (formats: `sotto data list`).
 *  ENOENT "data set 'x' not found" with a hint; EFORMAT names the file and what is wrong in it. */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_dataset_open(struct sotto_dataset **out,
                                                           const char *name_or_path,
                                                           const struct sotto_context *ctx);
/** 1: the name stands for files that sotto_dataset_open() would read as they are, so that what it says of them
 * may depend on their records; 0: a registered or an imported set (its records were checked by the import),
 * or nothing. */
SOTTO_API int sotto_dataset_is_path(const char *name_or_path);
SOTTO_API void sotto_dataset_free(struct sotto_dataset *d);

/** {0} or NULL: decide from the files. */
struct sotto_import_options {
    size_t height, width; /**< [the most common size] resize every image to this */
    const char
        *label; /**< of a CSV table: "first", "last", or a column's name; of CIFAR-100: "fine", "coarse"; of
                               CelebA, UTKFace, labels.csv: as attribute */
    const char
        *attribute; /**< second label of images: a column of CelebA ("A+B": both of them) or of labels.csv; of
                                UTKFace "race", "gender", "age" */
    const char *part; /**< of STL-10: "labelled" (default) or "unlabelled" */
    const char *
        dataset_id; /**< identity of the records, below 128 bytes; NULL: NAME-<16 random hexadecimal digits>. Not
                                 a registered name: those stand for public sets */
    const char *
        schema; /**< of a table: sotto.schema/1 (docs/FORMATS.md): codes, classes and bounds come from it, not
                               from the rows, and no cell is refused */
    uint64_t reserved[4]; /**< zeros: room for later members */
};
/** Imports an archive or folder in any supported layout as NAME below the data folder ($SOTTO_DATA_DIR, else
 *  $XDG_DATA_HOME/sotto/data, else ~/.local/share/sotto/data). Appears whole or not at all. `options` may be NULL.
 *  EUSAGE: bad name; ECREATE: the name is taken; ENOENT, EFORMAT, EINVAL: as sotto_dataset_open(). */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_data_import(const char *path, const char *name,
                                                          const struct sotto_import_options *options,
                                                          const struct sotto_context *ctx);
/** {0} or NULL: what is registered. */
struct sotto_fetch_options {
    const char *url;    /**< instead of the official address: a mirror, or a file that sotto does not know */
    const char *sha256; /**< of that file; needed where sotto has none on record */
    int keep;           /**< keep the downloaded files after the import */
    struct sotto_import_options import;
    uint64_t reserved[4]; /**< zeros: room for later members */
};
/** Downloads a set and imports it; all registered sets that come in the same file at once (STL-10's two parts). Bytes
 *  gather in the data folder and are kept when something interrupts; calling again continues. Length and SHA-256 must
 *  be those on record before anything is imported. Never called by another function: sotto is offline otherwise.
 *  ENOTSUP: built without libcurl; ENOENT: no address is known, or no such file there; EUSAGE: no SHA-256, or an address
 *  that is not https (http only for loopback and for registered files); EFORMAT: another length or hash; EAGAIN: no
 *  connection, or another process is at it; EIO; ECREATE: the name is taken; ESTOPPED. `options` may be NULL. */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_data_fetch(const char *name,
                                                         const struct sotto_fetch_options *options,
                                                         const struct sotto_context *ctx);
/** What it would do, in lines for people: addresses, sizes, how they are checked, licence. Errors as above. */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_data_fetch_plan(char **text, const char *name,
                                                              const struct sotto_fetch_options *options);
/** All sets as a table for people: what is registered, imported, found, missing, and how to get it. */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_data_table(char **text);
/** JSON texts for the verbs (free with sotto_text_free): all sets; one set; checksums of one set (EGATE: mismatch). */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_data_list(char **json);
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_data_info(char **json, const char *name_or_path,
                                                        const struct sotto_context *ctx);
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_data_verify(char **json, const char *name_or_path,
                                                          const struct sotto_context *ctx);

/** 1: a registered name, which stands for a set that sotto generates or knows as a public benchmark. */
SOTTO_API int sotto_dataset_is_public(const char *dataset_id);
/** Whose records rows[0..n) of a set are (rows NULL: all n of the set), into *out, which must be {0} or cleared: what the
 *  arrays it was read from say of themselves, else the rows of this set. The member `set` is "" where the set cannot be
 *  opened again by its name. EINVAL: a row is not below the set's n; ENOMEM. */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_provenance_of_rows(struct sotto_provenance *out,
                                                                 const struct sotto_dataset *d,
                                                                 const int64_t *rows, size_t n);
/** out[0..n): digests of records for struct sotto_source_records: the bytes of features or image, their shape, and the
 *  label. Rows as above; of a set that was read from arrays which name their source, the records of that source. Or of
 *  arrays, x (n, d) and y (n) or NULL, which are the same as those of an imported table. Errors of
 *  sotto_provenance_digests(). */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_dataset_digests(unsigned char (*out)[SOTTO_DIGEST],
                                                              const struct sotto_dataset *d,
                                                              const int64_t *rows, size_t n,
                                                              const struct sotto_context *ctx);
SOTTO_API void sotto_array_digests(unsigned char (*out)[SOTTO_DIGEST], const float *x, const int64_t *y,
                                   size_t n, size_t d);
/** Digests of the rows that a provenance names, taken from its set in the data folder: out has room for p->n.
 *  EUSAGE: the set is not there, or holds other records by now. */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_provenance_digests(unsigned char (*out)[SOTTO_DIGEST],
                                                                 const struct sotto_provenance *p,
                                                                 const struct sotto_context *ctx);

/** One named part of a set; names are of a-z 0-9 _ -. */
struct sotto_data_part {
    const char *name;
    size_t n;
};
/** {0} or NULL: none of them, seed 1. */
struct sotto_split_options {
    int one_hot;   /**< tables: categories become bits, numbers are scaled, by an encoding */
    uint64_t seed; /**< [1] which records go where */
    /* Whose rows decide the encoding. Without any of these: all rows of the set, and its stamp is "fitted". */
    const char *
        schema; /**< sotto.schema/1; numbers are scaled from their bounds to [-1, 1]. Not needed for a set that
                                was imported by one */
    const char
        *fit_part; /**< the part that the caller names as public: kinds, categories and classes of its rows
                                (unless declared), numbers centred and scaled to its unit variance */
    const char *fit_table; /**< the same by another, public table: a name or a path */
    double
        private_epsilon; /**< bounds of all numbers by the exponential mechanism, within those declared: this much
                                 pure epsilon in all, charged to the ledger of dataset_id */
    const char *dataset_id, *ledger; /**< of the private fit; ledger NULL: as in struct sotto_release */
    uint64_t reserved[4];            /**< zeros: room for later members */
};
/** Disjoint uniformly random parts of a set as files: folder/NAME-features.npy (n, D) f4 NAME-labels.npy and
 *  NAME-attribute.npy (n) i8 if the set has them, each with its provenance (io.h) beside it, NAME-rows.npy (n) i8, their rows in the set; with
 *  one_hot also encoding.json. Images become values in [0, 1]. Unknown categories and labels, and cells that are no
 *  numbers, are encoded as the encoding says and never refused.
 *  EINVAL: names, more records than there are, no table; EUSAGE: options that contradict each other; ENOENT, EFORMAT as
 *  sotto_dataset_open(); ECONFIG: the schema; errors of sotto_dp_select(); ECREATE, EIO. */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_data_split(const char *folder, const char *set,
                                                         const struct sotto_data_part *parts, size_t count,
                                                         const struct sotto_split_options *options,
                                                         const struct sotto_context *ctx);

/** How the columns of a table become numbers: sotto.encoding/1 (docs/FORMATS.md). Free with
 *  sotto_table_encoding_free(). */
struct sotto_table_encoding;
/** ENOENT, EIO, EFORMAT, ENOMEM. */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_table_encoding_load(struct sotto_table_encoding **out,
                                                                  const char *path);
/** From the text of such a file; `name` is for errors. */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_table_encoding_parse(struct sotto_table_encoding **out,
                                                                   const char *text, const char *name);
/** encoding.json in the folder of a features file, if that file's provenance says that the encoding depends on no
 *  private row; else *out stays NULL. Only such an encoding may go into what is released. */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_table_encoding_beside(struct sotto_table_encoding **out,
                                                                    const char *features);
SOTTO_API void sotto_table_encoding_free(struct sotto_table_encoding *e);
/** One line of JSON (sotto_text_free). */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_table_encoding_text(char **json,
                                                                  const struct sotto_table_encoding *e);
SOTTO_API enum sotto_encoding sotto_table_encoding_how(const struct sotto_table_encoding *e);
/** Values of a row. */
SOTTO_API size_t sotto_table_encoding_width(const struct sotto_table_encoding *e);
SOTTO_API size_t sotto_table_encoding_classes(const struct sotto_table_encoding *e);
/** Name of class k; NULL: there is no such class. */
SOTTO_API const char *sotto_table_encoding_class(const struct sotto_table_encoding *e, size_t k);
/** The rows of a CSV or TSV file as (n, width) f4. Columns are found by name, in any order; the label column may be
 *  there. Unknown categories are counted in a warning. EFORMAT "new.csv:7: column 'age' is 'x'; expected a number", and
 *  for a column that is missing or not in the encoding. */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_table_encode(struct sotto_array *x,
                                                           const struct sotto_table_encoding *e,
                                                           const char *path, const struct sotto_context *ctx);
/** Answers as CSV: row (from 1), class (the likeliest, by name), probability. `path` NULL: to standard output.
 *  probabilities: (n, classes) f4. EINVAL: another number of classes; ECREATE, EIO. */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_table_answers(const char *path,
                                                            const struct sotto_table_encoding *e,
                                                            const struct sotto_array *probabilities);

enum sotto_part { SOTTO_PART_PUBLIC, SOTTO_PART_PRIVATE, SOTTO_PART_HELDOUT, SOTTO_PART_SHADOW, SOTTO_PARTS };
/** Disjoint uniformly random parts of one pool, as row indices in random order. */
struct sotto_split {
    size_t n[SOTTO_PARTS];
    int64_t *rows[SOTTO_PARTS]; /**< base_alloc'd; free with sotto_split_clear() */
};
/** EINVAL: the sizes add up to more than `pool`. */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_split_make(struct sotto_split *out, size_t pool,
                                                         const size_t sizes[SOTTO_PARTS], uint64_t seed);
SOTTO_API void sotto_split_clear(struct sotto_split *s);
SOTTO_API const char *sotto_part_name(enum sotto_part part);

#ifdef __cplusplus
}
#endif
#endif
