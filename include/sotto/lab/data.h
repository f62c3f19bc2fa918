/* data.h - data sets: open, import, download, make from arrays, split; and how tables become numbers.
 *
 * Start at sotto_dataset_open() or sotto_dataset_from_arrays(). Every char ** is a text: free with sotto_text_free().
 * Outputs are untouched when a call fails. */
#ifndef SOTTO_LAB_DATA_H
#define SOTTO_LAB_DATA_H

#include "sotto/lab/array.h"
#include "sotto/lab/provenance.h"
#include "sotto/ledger.h"

#ifdef __cplusplus
extern "C" {
#endif

struct sotto_dataset_memory;
/** A set in memory. Exactly one of images and features is non-NULL. Read-only for callers; free with sotto_dataset_free().
 *  A caller may also fill in one by hand, on top of {0}; such a set is not freed by this library. */
struct sotto_dataset {
    char name[64];
    /** The identity of the records; it selects the ledger that is charged for them. Of an imported set as its import recorded
     *  it, of a registered set its name; "": anonymous (a path, or an import of version 1). */
    char dataset_id[128];
    char title[128];
    char origin[512]; /**< where it came from, one line */
    /** Of the contents: images or features, then labels, then attribute. Of an imported set as recorded at its import; only
     *  sotto_data_verify() computes it again. */
    char sha256[65];
    int synthetic;  /**< 1: made up; every result that uses it must say "synthetic" */
    size_t n;       /**< records */
    size_t n_train; /**< rows [0, n_train) are the official training part, the rest is the test part */
    size_t channels, height, width;
    const uint8_t *images; /**< (n, channels, height, width) */
    size_t columns;
    const float *features;          /**< (n, columns) */
    size_t classes;                 /**< 0: no labels */
    const int64_t *labels;          /**< (n) 0 .. classes-1; NULL without labels */
    const char *const *class_names; /**< (classes), or NULL */
    /** What fixes the classes independently of the records; "": they were read off the records. */
    char classes_by[64];
    /** A second label: what attribute inference is after (sotto/attack.h) and what Talos hides (sotto/lab/ssl.h). */
    char attribute_name[64];        /**< such as "race"; "": no attribute */
    size_t values;                  /**< 0: no attribute */
    const int64_t *attribute;       /**< (n) 0 .. values-1; NULL without an attribute */
    const char *const *value_names; /**< (values), or NULL */
    /** Internal: holds all of the above; NULL in a set filled in by hand. */
    struct sotto_dataset_memory *memory;
};

/** Opens a set.
 *  In:      name_or_path: a registered or imported name, or a path in one of the layouts of `sotto data list`
 *  Out:     *out: free with sotto_dataset_free()
 *           Images of an imported set stay in their file and are read as they are used: a file that is cut meanwhile ends the
 *           process by SIGBUS; one that is removed stays readable.
 *  Returns: ENOENT   "data set 'x' not found", with a hint
 *           EFORMAT  names the file and what is wrong in it
 *           EINVAL, EIO, ENOMEM, ESTOPPED */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_dataset_open(struct sotto_dataset **out,
                                                           const char *name_or_path,
                                                           const struct sotto_context *ctx);

/** Arrays that become a set. Borrowed during the call: their values are copied. */
struct sotto_dataset_arrays {
    /** u1 (n, C, H, W) or (n, H, W): images; (n, columns): features, kept as f4. */
    const struct sotto_array *values;
    const struct sotto_array *labels;    /**< (n) whole numbers of any type, from 0; NULL: no labels */
    const struct sotto_array *attribute; /**< (n) a second label, likewise; NULL: none */
    const char *name;                    /**< NULL: "arrays"; below 64 bytes */
    /** Identity of the records (below 128 bytes), not a registered name; NULL: anonymous. */
    const char *dataset_id;
    /** Public number of classes; 0: largest label + 1, which private trainers refuse as it depends on the records. */
    size_t classes;
    const char *const *class_names; /**< (classes), or NULL; needs `classes` */
    const char *classes_by;         /**< who gave `classes`; NULL: "the caller"; below 64 bytes */
};
/** Makes a set of arrays in memory: the same set, with the same SHA-256, as an import of these arrays as .npy files.
 *  Out:     *out: a copy that does not depend on the arrays; free with sotto_dataset_free()
 *  Returns: EFORMAT  shapes or types that are no set; labels below 0 or not below `classes`; features that are not finite
 *           EINVAL   an array with data NULL, or with a count other than the product of its shape; class_names without classes,
 *                    or classes without labels; a text that is too long
 *           EUSAGE   dataset_id is not the name of a private set
 *           ENOMEM */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_dataset_from_arrays(struct sotto_dataset **out,
                                                                  const struct sotto_dataset_arrays *arrays);
/** Frees a set of sotto_dataset_open() or sotto_dataset_from_arrays(). Accepts NULL. */
SOTTO_API void sotto_dataset_free(struct sotto_dataset *d);
/** Returns: 1: the name stands for files that sotto_dataset_open() would read as they are, so that its errors may depend on
 *           their records; 0: a registered set, an imported set (the import checked its records), or nothing. */
SOTTO_API int sotto_dataset_is_path(const char *name_or_path);

/** {0} or NULL: decided from the files. */
struct sotto_import_options {
    size_t height, width; /**< [the most common size] every image is resized to this */
    /** Of a CSV table: "first", "last" or a column's name. Of CIFAR-100: "fine" or "coarse". Of labels.csv: a column. */
    const char *label;
    /** Second label of images: a column of labels.csv. */
    const char *attribute;
    const char *part; /**< of STL-10: "labelled" (default) or "unlabelled" */
    /** 1: images that are damaged or of a kind that is not read are left out, each named in a warning; at most half of them,
     *  and not all of a class. What happens to an image depends on that image only, but how many are left is no secret
     *  then. [0: the set is refused] */
    int drop_bad_images;
    /** Identity of the records, below 128 bytes, not a registered name (those are public sets); NULL: NAME-<16 random
     *  hexadecimal digits>. */
    const char *dataset_id;
    /** Of a table: a sotto.schema/1 file (docs/FORMATS.md). Codes, classes and bounds come from it, not from the rows, and no
     *  cell is refused. */
    const char *schema;
    /** of a table: "comma", "semicolon", "tab" or "pipe" [what its first lines show] */
    const char *separator;
    /** of a table that is not UTF-8: "latin-1" or "windows-1252" [the schema's]; one that is UTF-8 all the same is read so */
    const char *encoding;
    /** 1: rows of a table that cannot be records are left out: those of another number of cells, without a label, or without
     *  a number in a column of `types`; under a schema also those with an unlisted label, unless it states `other`. What
     *  happens to a row depends on that row only, but how many are left is no secret then. [0: they are refused, all named] */
    int drop_bad_rows;
    /* Of a table without a schema, which states these itself. */
    /** cells that stand for no value, with commas between them [?,NA,N/A,n/a,NaN,nan,null,NULL]; the empty cell always
     * does */
    const char *missing;
    /** "age=number,zip=category,since=date" [number or date: all values that are not missing are such] */
    const char *types;
    const char *decimal; /**< "comma": numbers as 12,5 [point] */
    const char *drop;    /**< columns to leave out, "id,name" */
    int no_header;       /**< 1: the first row is a record [found by its cells] */
    /** Of genotypes (VCF): the public list of the loci that become columns, CSV with id, allele, frequency and maybe other.
     *  Missing genotypes are filled in with its frequencies. */
    const char *loci;
    /** What a locus without a line is: "none" (no person carries the listed allele) or "frequency" (unknown for all people);
     *  NULL: refused. */
    const char *absent;
    /** of arrays: [0] the number of the first class, 0 or 1; classes then count from 0 */
    size_t labels_from;
    /** Of a table: the column that names the person of a row. It is no feature, and of each person the first rows_per_person
     *  rows are kept, before anything else: persons are then the unit of privacy. "none": the unit is one record, and a
     *  column of type person in the schema is left out. NULL: there is no such column. */
    const char *person;
    size_t rows_per_person;
    /** Of sotto_data_schema(): what the owner of the table knows of its columns without its rows, as "age=0:110,crp=0:500:5,
     *  sex=f|m,since=2015-01-01:2024-12-31": bounds, perhaps with the number for missing cells; categories or classes; days. */
    const char *state;
};
/** sotto_dataset_open() with options for files; of a name, EUSAGE unless they are {0}. */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_dataset_open_files(struct sotto_dataset **out,
                                                                 const char *name_or_path,
                                                                 const struct sotto_import_options *options,
                                                                 const struct sotto_context *ctx);
/** Imports an archive or folder in any supported layout below the data folder ($SOTTO_DATA_DIR, else
 *  $XDG_DATA_HOME/sotto/data, else ~/.local/share/sotto/data). The set appears whole or not at all.
 *  In:      name: of the set, [a-z0-9][a-z0-9._-]*, below 64 bytes
 *           options: NULL: zeros
 *  Returns: EUSAGE   a bad name
 *           ECREATE  the name is taken
 *           EIO, and the errors of sotto_dataset_open() */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_data_import(const char *path, const char *name,
                                                          const struct sotto_import_options *options,
                                                          const struct sotto_context *ctx);
/** Drafts a sotto.schema/1 file from the rows of a table: types, bounds rounded outwards, categories and classes as they occur.
 *  All of it is taken from these rows, so the file lists every column under `from_rows`; until its owner has stated a
 *  column from other knowledge and taken it off that list, whatever is encoded by the schema is stamped "fitted", and every
 *  epsilon on it is conditional. Columns of options->state, and those that the options leave out or name as the person, are stated.
 *  In:      options: how the table is read; no schema. NULL: zeros
 *  Returns: EUSAGE  options of other layouts
 *           ECREATE, EIO, and the errors of sotto_data_import() */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_data_schema(const char *path, const char *table,
                                                          const struct sotto_import_options *options,
                                                          const struct sotto_context *ctx);
/** How many columns of a schema were taken from rows and not stated yet.
 *  Returns: ECONFIG, ENOENT, EIO */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_data_schema_unstated(size_t *columns, const char *path);
/** Writes the loci of a set of genotypes as CSV, id, allele, other and frequency: a list for sotto_import_options.loci. The
 *  frequencies are those of the set's people, exactly, so the set is to be a public one.
 *  Returns: EINVAL  the set holds no genotypes
 *           ECREATE, EIO, and the errors of sotto_dataset_open() */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_data_loci(const char *path, const char *name_or_path,
                                                        const struct sotto_context *ctx);
/** Frequencies in the order and of the alleles of a list of loci, as genotypes imported by it have them.
 *  In:      list         the list
 *           frequencies  CSV with id, allele and frequency; where the allele is the list's `other`, 1 - frequency is taken
 *  Out:     out          (count)
 *  Returns: EINVAL   the list has another number of loci that can be used
 *           EFORMAT  names the locus that is missing or has other alleles
 *           ENOENT, EIO, ENOMEM */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_loci_frequencies(double *out, size_t count, const char *list,
                                                               const char *frequencies);
/** {0} or NULL: what is registered. */
struct sotto_fetch_options {
    const char *url;    /**< instead of the official address: a mirror, or a file that sotto does not know */
    const char *sha256; /**< of that file; needed where sotto has none on record */
    int keep;           /**< 1: keep the downloaded files after the import */
    struct sotto_import_options import;
};
/** Downloads a set and imports it, with all registered sets that come in the same file (both parts of STL-10). Length and
 *  SHA-256 must be those on record before anything is imported. Bytes gather in the data folder; after an interruption the
 *  next call continues. No other function uses the network.
 *  In:      options: NULL: zeros
 *  Returns: ENOTSUP  built without libcurl
 *           ENOENT   no address is known, or the server has no such file
 *           EUSAGE   no SHA-256, or an address that is not https (http: loopback and registered files only)
 *           EFORMAT  another length or SHA-256
 *           EAGAIN   no connection, or another process downloads this set
 *           ECREATE  the name is taken
 *           EIO, ENOMEM, ESTOPPED */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_data_fetch(const char *name,
                                                         const struct sotto_fetch_options *options,
                                                         const struct sotto_context *ctx);
/** Out:     *text: what sotto_data_fetch() would do: addresses, sizes, checks, licence
 *  Returns: as sotto_data_fetch() */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_data_fetch_plan(char **text, const char *name,
                                                              const struct sotto_fetch_options *options);
/** Out:     *json: the facts on one set, "sotto.data-info/1"
 *  Returns: as sotto_dataset_open() */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_data_info(char **json, const char *name_or_path,
                                                        const struct sotto_context *ctx);
/** Computes the SHA-256 of a set and compares it with the one on record.
 *  Out:     *json: "sotto.data-verify/1"
 *  Returns: EGATE   they differ
 *           EUSAGE  none is on record for this path
 *           and the errors of sotto_dataset_open() */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_data_verify(char **json, const char *name_or_path,
                                                          const struct sotto_context *ctx);

/** What a table of text held: rows, separator, and for each column what its cells are, with counts. It is about the private
 *  rows, for their owner.
 *  Out:     *text: for the terminal, long lists cut; "" for sets of another kind
 *  Returns: ENOMEM */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_dataset_summary(char **text, const struct sotto_dataset *d);
/** Returns: 1: a registered name, which stands for a set that sotto generates or knows as a public benchmark. */
SOTTO_API int sotto_dataset_is_public(const char *dataset_id);
/** The source of rows of a set: what the arrays it was read from say of themselves, else the rows of this set.
 *  In:      rows (n); NULL: all rows of the set
 *  Out:     *out: must be {0} or cleared before. Its `set` is "" where the set cannot be opened again by its name
 *  Returns: EINVAL  a row is not below the set's n
 *           ENOMEM */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_provenance_of_rows(struct sotto_provenance *out,
                                                                 const struct sotto_dataset *d,
                                                                 const int64_t *rows, size_t n);
/** How many records of `a` are records of `b` too, for the owner of both: nothing else compares records of two sets. Equal are
 * records with the same digests (sotto_dataset_digests()); a changed cell, another encoding or another size of images makes
 * another record.
 *  Out:     *shared
 *  Returns: as sotto_dataset_digests() */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_dataset_overlap(size_t *shared, const struct sotto_dataset *a,
                                                              const struct sotto_dataset *b,
                                                              const struct sotto_context *ctx);
/** Digests of records for struct sotto_source_records: of the bytes of features or image, their shape, and the label. Of a
 *  set that was read from arrays which name their source, the records of that source.
 *  In:      rows (n); NULL: all rows of the set
 *  Out:     out (n)
 *  Returns: as sotto_provenance_digests() */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_dataset_digests(unsigned char (*out)[SOTTO_DIGEST],
                                                              const struct sotto_dataset *d,
                                                              const int64_t *rows, size_t n,
                                                              const struct sotto_context *ctx);
/** Whose row each record of an imported set is, where the import capped the rows of a person.
 *  Out:     persons (p->n): equal numbers are one person
 *  Returns: EINVAL  no rows of a set, or of one that was imported without persons
 *           EUSAGE  the set is not in the data folder, or is another one by now
 *           and the errors of sotto_dataset_open() */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_provenance_persons(int64_t *persons,
                                                                 const struct sotto_provenance *p,
                                                                 const struct sotto_context *ctx);
/** The same digests of arrays; those of an imported table are equal.
 *  In:      x (n, d), y (n) or NULL
 *  Out:     out (n) */
SOTTO_API void sotto_array_digests(unsigned char (*out)[SOTTO_DIGEST], const float *x, const int64_t *y,
                                   size_t n, size_t d);
/** The same digests of the rows that a provenance names, taken from its set in the data folder.
 *  Out:     out (p->n)
 *  Returns: EUSAGE  the set is not there, or its records have changed
 *           and the errors of sotto_dataset_open() */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_provenance_digests(unsigned char (*out)[SOTTO_DIGEST],
                                                                 const struct sotto_provenance *p,
                                                                 const struct sotto_context *ctx);

/** One named part of a set; names are of a-z 0-9 _ -. */
struct sotto_data_part {
    const char *name;
    size_t n;
    double share; /**< with n 0: of the set's records, rounded down; above 0 and at most 1 */
};
/** {0} or NULL: none of them, seed 1. */
struct sotto_split_options {
    int one_hot;   /**< 1: of a table: categories become bits, numbers are scaled, by an encoding */
    uint64_t seed; /**< [1] which records go where */
    /* Which rows decide the encoding. Without any of these: all rows of the set, and its stamp is "fitted". */
    /** A sotto.schema/1 file; numbers are scaled from their bounds to [-1, 1]. Not needed for a set that was imported by a
     *  schema. */
    const char *schema;
    /** The part that the caller names as public. Its rows decide kinds, categories and classes (unless declared); numbers are
     *  centred and scaled to unit variance over them. */
    const char *fit_part;
    const char *fit_table; /**< the same by another, public table: a name or a path */
    /** Bounds of all numbers by the exponential mechanism, within those declared: this much pure epsilon in all, charged to
     *  the ledger of dataset_id. */
    double private_epsilon;
    const char *dataset_id, *ledger; /**< of the private fit; ledger NULL: as in struct sotto_release */
};
/** Writes disjoint uniformly random parts of a set as files: NAME-features.npy (n, D) f4; NAME-labels.npy and
 *  NAME-attribute.npy (n) i8 if the set has them; NAME-rows.npy (n) i8, the rows in the set; beside each its provenance
 *  (sotto/private/io.h); with one_hot also encoding.json. Images become values in [0, 1]. Unknown categories and labels, and cells
 *  that are no numbers, are encoded as the encoding says and never refused.
 *  In:      parts (count)
 *           options: NULL: {0}
 *  Returns: EINVAL   names, more records than there are, or one_hot without a table
 *           EUSAGE   options that contradict each other
 *           ECONFIG  the schema
 *           ECREATE, EIO, and the errors of sotto_dataset_open() and sotto_dp_select() */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_data_split(const char *folder, const char *set,
                                                         const struct sotto_data_part *parts, size_t count,
                                                         const struct sotto_split_options *options,
                                                         const struct sotto_context *ctx);

/** How the columns of a table become numbers: sotto.encoding/1 (docs/FORMATS.md). */
struct sotto_table_encoding;
/** Out:     *out: free with sotto_table_encoding_free()
 *  Returns: ENOENT, EIO, EFORMAT, ENOMEM */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_table_encoding_load(struct sotto_table_encoding **out,
                                                                  const char *path);
/** In:      text: of such a file
 *           name: starts the error text
 *  Returns: EFORMAT, ENOMEM */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_table_encoding_parse(struct sotto_table_encoding **out,
                                                                   const char *text, const char *name);
SOTTO_API void sotto_table_encoding_free(struct sotto_table_encoding *e);
SOTTO_API enum sotto_encoding sotto_table_encoding_how(const struct sotto_table_encoding *e);
/** Numbers of an encoded row. */
SOTTO_API size_t sotto_table_encoding_width(const struct sotto_table_encoding *e);
SOTTO_API size_t sotto_table_encoding_classes(const struct sotto_table_encoding *e);
/** Encodes the rows of a CSV or TSV file. Columns are found by name, in any order; the label column may be there. Unknown
 *  categories are counted in a warning.
 *  Out:     *x: (n, width) f4
 *  Returns: EFORMAT  "new.csv:7: column 'age' is 'x'; expected a number"; a column is missing or not in the encoding
 *           ENOENT, EIO, ENOMEM */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_table_encode(struct sotto_array *x,
                                                           const struct sotto_table_encoding *e,
                                                           const char *path, const struct sotto_context *ctx);
/** Writes answers as CSV: row (from 1), name of the likeliest class, its probability.
 *  In:      path: NULL: standard output
 *           probabilities: (n, classes) f4
 *  Returns: EINVAL  another number of classes
 *           ECREATE, EIO, ENOMEM */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_table_answers(const char *path,
                                                            const struct sotto_table_encoding *e,
                                                            const struct sotto_array *probabilities);

#ifdef __cplusplus
}
#endif
#endif
