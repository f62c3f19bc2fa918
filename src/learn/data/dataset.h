/* dataset.h - a data set under construction, and the table of registered sets.
 *
 * A reader calls dataset_create(), one of the two reserve functions, fills the arrays, and ends with
 * dataset_finish(), which checks what every set must satisfy and hashes the contents. */
#ifndef DATA_DATASET_H
#define DATA_DATASET_H

#include "base/file.h"
#include "base/memory.h"
#include "io/text/text_encoding.h"
#include "sotto/lab/array.h"
#include "sotto/lab/data.h"
#include "sotto/lab/provenance.h"
#include "sotto/ledger.h"

/** A column of a table of features. */
/** How the cells of a column write its numbers. */
enum number_form {
    NUMBER_POINT, /* 12.5 */
    NUMBER_COMMA, /* 12,5 */
    NUMBER_DATE,  /* 2020-08-14 or 14.08.2020: days since 1970-01-01 */
    NUMBER_FORMS
};

struct table_column {
    char *name;
    bool category; /* its numbers are positions in codes */
    enum number_form form;
    size_t code_count;
    char **codes;
    size_t missing;    /* cells without a value; as numbers they are NAN unless a schema filled them in */
    size_t unforeseen; /* cells that its schema does not foresee: texts as numbers, unknown categories */
};

/** How a table of text was read. */
struct table_facts {
    char separator; /* 0: the set is no table of text, or of an early version */
    bool header;
    size_t left_out; /* rows */
    char *missing;   /* cells without a value, with commas in between; NULL: the usual ones */
    enum text_encoding text;
};

/** What stands behind a struct sotto_dataset: the same arrays, writable while the set is built. */
struct dataset {
    struct sotto_dataset set; /* set.memory points back here */
    uint8_t *images;          /* (N, C, H, W); read-only if they lie in `map` */
    struct file_map map;
    float *features;     /* (N, D) */
    int64_t *labels;     /* (N) */
    char **class_names;  /* set.classes strings, or NULL */
    int64_t *attribute;  /* (N), or NULL */
    char **value_names;  /* set.values strings, or NULL */
    bool recorded;       /* set.sha256 comes from a dataset.json */
    char licence[256];   /* one line, "" if unknown */
    size_t column_count; /* set.columns, or 0: not described */
    struct table_column *columns;
    struct table_facts table;
    char label_column[128]; /* of a table: its name; "": unknown */
    char *encoding;         /* of a table: the schema it was imported by, as sotto.encoding/1, or NULL */
    bool drafted;           /* that schema was taken from rows (from_rows), so that it declares nothing */
    struct sotto_provenance provenance; /* what the arrays it was read from say of themselves, or {0} */
    /* Of a table whose rows were capped: the column, at most how many rows a person has, and who each row's person is,
     * 0, 1, ... by first row, (N); "none": the import stated that records are the unit; "": nothing was stated. */
    char person[SOTTO_PERSON];
    size_t rows_per_person;
    int64_t *persons;
    /* an import, or a path: a table with a column that looks like persons is asked about */
    bool asks_persons;
    bool may_stream; /* the caller takes images by `stream` instead of `images` */
    struct image_stream *stream;
    /* of the call that fills the set, asked in between; NULL once it is filled */
    const struct sotto_context *ctx;
};

/** Images that are made while they are stored, for sets that should not lie in memory. Rows come in order. */
struct image_stream {
    sotto_status (*read)(struct image_stream *s, uint8_t *images, size_t count,
                         const struct sotto_context *ctx);
    void (*close)(struct image_stream *s);
};

/** NULL: a set that a caller filled in by hand. */
static inline struct dataset *dataset_behind(const struct sotto_dataset *s)
{
    return (struct dataset *)s->memory;
}

sotto_status dataset_create(struct dataset **out);
/** Accepts NULL. */
void dataset_discard(struct dataset *d);
/** Zeroed arrays; `labelled`: labels too. EFORMAT: a size is zero or too large; ENOMEM. */
sotto_status dataset_reserve_images(struct dataset *d, size_t n, size_t channels, size_t height, size_t width,
                                    bool labelled);
/** Instead of dataset_reserve_images(): `images` lie in d->map. */
sotto_status dataset_lend_images(struct dataset *d, const uint8_t *images, size_t n, size_t channels,
                                 size_t height, size_t width, bool labelled);
sotto_status dataset_reserve_features(struct dataset *d, size_t n, size_t columns, bool labelled);
/** Instead of dataset_reserve_images(), if d->may_stream: labels and shape only. Takes `stream`, also on
 * failure. */
sotto_status dataset_stream_images(struct dataset *d, struct image_stream *stream, size_t n, size_t channels,
                                   size_t height, size_t width, bool labelled);
/** Copies the names; `names` NULL: only the count. */
sotto_status dataset_set_classes(struct dataset *d, size_t classes, const char *const *names);
/** A second label, zeroed, for a set with known n; `values` may be 0 until it is known. Copies the texts;
 * `names` NULL: only the count. EFORMAT: the name is empty or has 64 bytes or more; ENOMEM. */
sotto_status dataset_reserve_attribute(struct dataset *d, const char *name, size_t values,
                                       const char *const *names);
/** Room for so many described columns, all unnamed; frees those that were there. ENOMEM. */
sotto_status dataset_reserve_columns(struct dataset *d, size_t count);
/** Describes column j; the texts are copied. codes NULL: a column of numbers. ENOMEM. */
sotto_status dataset_set_column(struct dataset *d, size_t j, const char *name, const char *const *codes,
                                size_t code_count);
/* Arrays as the contents of an empty set (dataset_arrays.c): values first. EFORMAT, ENOMEM. */
sotto_status dataset_take_values(struct dataset *d, const struct sotto_array *a, bool labelled);
sotto_status dataset_take_labels(struct dataset *d, const struct sotto_array *a, size_t first);
sotto_status dataset_take_attribute(struct dataset *d, const struct sotto_array *a);
/** ESTOPPED; EFORMAT: a label outside 0 .. classes-1, an attribute outside 0 .. values-1, or a feature that is not
 * finite. Fills set.sha256 unless it is set already. */
sotto_status dataset_finish(struct dataset *d);
/** sotto_dataset_open() of a table that is read as another one was: by an encoding (sotto.encoding/1), or
 * (NULL) with the same label column. */
sotto_status dataset_open_like(struct sotto_dataset **out, const char *name_or_path,
                               const struct sotto_dataset *other, const char *encoding,
                               const struct sotto_context *ctx);
/** SHA-256 of images or features, then labels, then attribute, as they lie in memory. ESTOPPED. */
sotto_status dataset_hash(char hex[65], const struct sotto_dataset *d, const struct sotto_context *ctx);

/** A file with known contents (size and hash) before it is there. */
struct remote_file {
    const char *name;            /* under which it is stored; the end of its address */
    uint64_t bytes;              /* 0: not recorded */
    const char *sha256;          /* of the file, or NULL: */
    const char *unpacked_sha256; /* of what the .gz file holds */
};
/** Where the files of a set are published. Plain http is used only because every file's hash is recorded. */
struct dataset_remote {
    const char *folder; /* address, ending in '/'; file names follow */
    size_t count;
    const struct remote_file *files;
};

/** A set that is known by name. One const struct per set, one ROW in source_list.h. */
struct dataset_source {
    const char *name, *title;
    const char *origin;  /* authors, place of publication */
    const char *licence; /* one line */
    const char *obtain;  /* what to do when it is missing; NULL for generated sets */
    size_t classes;
    const char *const *class_names;      /* or NULL */
    const struct dataset_remote *remote; /* shared by the parts of one layout; NULL: no address is known */
    const char *part;                    /* of a layout with parts (sotto_import_options.part), or NULL */
    const char *options;                 /* generated sets: what may follow the name, with defaults */
    const char *sha256; /* of a generated set without options: the same everywhere; NULL: libm decides */
    int synthetic;      /* also answers to NAME-x123 options, see synthetic.h */
    /** Where it was found on this machine, or "" (path of `capacity` bytes). NULL: nowhere but the import
     * folder. */
    void (*locate)(char *path, size_t capacity);
    /** NULL: opened only after an import. Fills an empty set; `name` is what the user wrote, options
     * included. */
    sotto_status (*open)(struct dataset *d, const char *name, const struct sotto_context *ctx);
    /** Compares the files with published sums; EGATE names the file. NULL: no published sums. */
    sotto_status (*verify)(void);
};
/** NULL-terminated. */
extern const struct dataset_source *const dataset_sources[];
/** Fills set.classes_by where a registered set of that name says how many classes there are, and it holds as
 * many. */
void dataset_describe_classes(struct dataset *d, const char *name);
/** By exact name, or by the stem of a synthetic name with options; NULL. */
const struct dataset_source *dataset_source_find(const char *name);
/** The name that was probably meant by one that is none, among registered and imported ones; false, "": no
 * idea. */
bool dataset_guess(char best[64], const char *wanted);
/** EUSAGE: not the name of a private set's records: empty, too long, not printable, or a registered name. */
sotto_status identity_check(const char *dataset_id);
/** NAME-<16 hexadecimal digits from the operating system>. */
sotto_status identity_draw(char out[SOTTO_DATASET_ID], const char *name);
/** Takes over what the side files of the set's arrays say; labels NULL: there are none. EFORMAT, EINVAL: they tell of
 * other records, or of fewer or more than the set has. */
sotto_status identity_of_arrays(struct dataset *d, const char *values, const char *labels);
/** What the rows of a set are encoded by, as it was imported: a table's category codes depend on which values occur,
 * unless a schema declared them. */
enum sotto_encoding dataset_stored_encoding(const struct sotto_dataset *s);
/** [a-z0-9][a-z0-9._-]*, at most 63 bytes. */
bool dataset_name_is_valid(const char *name);
/** Whether rows of features can be trained on as they are: no column holds category codes, the order of which has no
 *  meaning, or lacks values. Of a table with a schema this depends on the schema only.
 *  Returns: EINVAL: names the columns, and 'sotto data split --one-hot' */
sotto_status dataset_check_encoded(const struct sotto_dataset *d);

#endif
