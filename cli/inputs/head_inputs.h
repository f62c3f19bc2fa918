/* head_inputs.h - what `head` and `sensitivity` share: the recipe's options, features and labels. */
#ifndef CLI_INPUTS_HEAD_INPUTS_H
#define CLI_INPUTS_HEAD_INPUTS_H

#include "options/options.h"

/* Rows of an option table. */
#define HEAD_DATA_ROWS                                                                                       \
    {"features", OPTION_TEXT, "X.npy", NULL, "embeddings (N, D), floats", NULL},                             \
        {"labels", OPTION_TEXT, "y.npy", NULL, "class of each record (N), whole numbers from 0", NULL},      \
    {                                                                                                        \
        "indices", OPTION_TEXT, "rows.npy", NULL, "use only these rows (of features and labels)", NULL       \
    }
#define HEAD_RECIPE_ROWS                                                                                     \
    {"trainer",                                                                                              \
     OPTION_TEXT,                                                                                            \
     "NAME",                                                                                                 \
     "adam",                                                                                                 \
     "adam or sgd; with a proved sensitivity: convex, convex-sgd or convex-lbfgs; sotto head alone: "        \
     "dp-sgd or dp-adam, or, from one noisy release, covariance, functional, functional-linear or taylor",   \
     NULL},                                                                                                  \
        {"hidden", OPTION_TEXT, "WIDTHS", NULL, "ReLU widths, e.g. 512 or 512,128 (default: a linear head)", \
         NULL},                                                                                              \
        {"epochs", OPTION_COUNT, "E", "20", "passes over the records", NULL},                                \
        {"batch", OPTION_COUNT, "B", "25", "records per step", NULL},                                        \
        {"lr", OPTION_REAL, "L", "0.001", "learning rate", NULL},                                            \
        {"seed", OPTION_COUNT, "S", "1", "initial weights, batch order and pairs", NULL},                    \
        {"clip",                                                                                             \
         OPTION_REAL,                                                                                        \
         "R",                                                                                                \
         "1",                                                                                                \
         "convex, covariance, functional: records of a larger L2 norm are scaled to it; taylor: entries "    \
         "are cut to 0 .. R",                                                                                \
         NULL},                                                                                              \
        {"bias-constant", OPTION_REAL, "C", "1", "convex: constant input behind the bias", NULL},            \
        {"lambda",                                                                                           \
         OPTION_REAL,                                                                                        \
         "L",                                                                                                \
         "0.01",                                                                                             \
         "convex: weight of half the squared norm; covariance, functional: ridge (default there: from the "  \
         "noise)",                                                                                           \
         NULL},                                                                                              \
        {"steps", OPTION_COUNT, "K", "500", "convex: full-batch gradient steps", NULL},                      \
        {"step-size", OPTION_REAL, "E", "0", "convex, convex-sgd: 0 is the largest that the proof allows",   \
         NULL},                                                                                              \
        {"tolerance",                                                                                        \
         OPTION_REAL,                                                                                        \
         "T",                                                                                                \
         "0.01",                                                                                             \
         "convex-lbfgs: gradient norm to stop at, times Lipschitz constant / records",                       \
         NULL},                                                                                              \
    {                                                                                                        \
        "classes", OPTION_TEXT, "K|FILE", NULL,                                                              \
            "classes, or a file with one name a line; private and convex trainers: public, and must be "     \
            "given "                                                                                         \
            "(or known from the data set's description); all others: default largest label + 1",             \
            NULL                                                                                             \
    }

struct head_inputs {
    struct sotto_array x, y; /* f4 (n, d), i8 (n) */
    size_t n, d, classes;
    char classes_by[64];                /* of a silent trainer: who gave the classes */
    struct sotto_provenance provenance; /* of these records, after --indices */
};
/* Reads what HEAD_DATA_ROWS and --classes name; errors carry the file. `silent`: what the records hold is
 * neither refused nor counted: a label that is none is -1, features need not be finite, classes must be
 * public; a row may be named once. Clear also after a failure. */
sotto_status head_inputs_load(struct head_inputs *in, const struct options *o, int silent);
void head_inputs_clear(struct head_inputs *in);
sotto_status head_features_load(struct sotto_array *x, const char *path);
/* i8 (n). */
sotto_status head_labels_load(struct sotto_array *y, const char *path);
sotto_status head_recipe_read(struct sotto_head_recipe *r, const struct options *o);

#endif
