/* provenance.h - the source of records, and what was done to them. No promise: it may change with any version.
 *
 * Outputs are untouched when a call fails. */
#ifndef SOTTO_LAB_PROVENANCE_H
#define SOTTO_LAB_PROVENANCE_H

#include "sotto/base.h"

#ifdef __cplusplus
extern "C" {
#endif

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

#ifdef __cplusplus
}
#endif
#endif
