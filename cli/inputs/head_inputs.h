/* head_inputs.h - what `head` and `sensitivity` share: the recipe's options, features and labels. */
#ifndef CLI_INPUTS_HEAD_INPUTS_H
#define CLI_INPUTS_HEAD_INPUTS_H

#include "options/options.h"

/* --features, --labels, --indices, --classes. */
extern const struct option_row head_data_rows[];

struct head_inputs {
    struct sotto_array x, y; /* f4 (n, d), i8 (n) */
    size_t n, d, classes;
    char classes_by[64];                /* of a silent trainer: who gave the classes */
    struct sotto_provenance provenance; /* of these records, after --indices */
};
/* Reads what head_data_rows name; errors carry the file. `silent`: what the records hold is
 * neither refused nor counted: a label that is none is -1, features need not be finite, classes must be
 * public; a row may be named once. Clear also after a failure. */
sotto_status head_inputs_load(struct head_inputs *in, const struct options *o, int silent);
void head_inputs_clear(struct head_inputs *in);
sotto_status head_features_load(struct sotto_array *x, const char *path);
/* i8 (n). */
sotto_status head_labels_load(struct sotto_array *y, const char *path);
sotto_status head_recipe_read(struct sotto_head_recipe *r, const struct options *o);

#endif
