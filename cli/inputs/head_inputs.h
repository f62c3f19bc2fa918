/* head_inputs.h - what `head` and `sensitivity` share: the recipe's options, features and labels. */
#ifndef CLI_INPUTS_HEAD_INPUTS_H
#define CLI_INPUTS_HEAD_INPUTS_H

#include "options/options.h"

/* --features, --labels, --indices, --classes. */
extern const struct option_row head_data_rows[];

struct head_inputs {
    struct sotto_array x, y;    /* f4 (n, d), i8 (n) */
    struct sotto_array persons; /* i8 (n): whose row each is; no data: not given */
    size_t n, d, classes;
    char classes_by[64];                /* of a silent trainer: who gave the classes */
    struct sotto_provenance provenance; /* of these records, after --indices */
};
/* Reads what head_data_rows name, and --persons of a verb that has it; errors carry the file. `silent`: what the records hold is
 * neither refused nor counted: a label that is none is -1, features need not be finite, classes must be
 * public; a row may be named once. Clear also after a failure. */
sotto_status head_inputs_load(struct head_inputs *in, const struct options *o, int silent);
void head_inputs_clear(struct head_inputs *in);
sotto_status head_features_load(struct sotto_array *x, const char *path);
/* i8 (n). */
/* An array that was loaded: features (f4), as head_features_load() gives. */
sotto_status head_features_take(struct sotto_array *x, const char *path);
sotto_status head_labels_load(struct sotto_array *y, const char *path, int64_t first);
/* Labels (i8) that count from `first` count from 0. EINVAL: one is below. */
sotto_status head_labels_count(struct sotto_array *y, const char *path, int64_t first);
/* A row of verbs that read labels. */
#define OPTION_LABELS_FROM_ROW                                                                               \
    {                                                                                                        \
        "labels-from", OPTION_COUNT, "N", "0", "number of the first class in arrays of labels, 0 or 1"       \
    }
/* The number of the first class. EUSAGE. */
sotto_status option_labels_from(int64_t *first, const struct options *o);
/* EINVAL where labels (n) run from 1 to `classes` (0: unknown, to any number above 1) and --labels-from was not given. */
sotto_status labels_check_first(const int64_t *y, size_t n, size_t classes, const char *path,
                                const struct options *o);
/* The most frequent of the labels (of equals the first) of `rows` (n; NULL: all), and its share: what whoever always answers with it has
 * right. ENOMEM. */
struct majority {
    size_t label;
    double share;
};
sotto_status labels_majority(struct majority *out, const int64_t *labels, const int64_t *rows, size_t n,
                             size_t classes);
sotto_status head_recipe_read(struct sotto_head_recipe *r, const struct options *o);
/* EUSAGE: an option was given that the trainer does not use. */
sotto_status head_recipe_refuse_unused(const struct sotto_head_recipe *r, const struct options *o);

#endif
