/* attack_recipe.h - how the shadow models of an attack are trained, from the command line and the target. */
#ifndef CLI_INPUTS_ATTACK_RECIPE_H
#define CLI_INPUTS_ATTACK_RECIPE_H

#include "options/options.h"

#define ATTACK_RECIPE_ROWS                                                                                     \
    {"model",                                                                                                  \
     OPTION_TEXT,                                                                                              \
     "NAME",                                                                                                   \
     NULL,                                                                                                     \
     "shadows are whole networks: cnn, mlp, resnet8, ... (default for this and the next five: the "            \
     "target's)",                                                                                              \
     NULL},                                                                                                    \
        {"trainer", OPTION_TEXT, "NAME", NULL, "shadows are heads, trained by adam, sgd, convex, ...", NULL},  \
        {"hidden", OPTION_TEXT, "WIDTHS", NULL, "ReLU widths, e.g. 128; 0: linear (networks: the usual ones)", \
         NULL},                                                                                                \
        {"epochs", OPTION_COUNT, "E", NULL, "passes over the records", NULL},                                  \
        {"batch", OPTION_COUNT, "B", NULL, "records per step", NULL},                                          \
        {"lr", OPTION_REAL, "L", NULL, "learning rate", NULL},                                                 \
    {                                                                                                          \
        "mismatch", OPTION_FLAG, NULL, NULL, "allow shadows trained in another way than the target", NULL      \
    }

/* Behind the recipes of struct sotto_attack_options. */
struct attack_recipe {
    struct sotto_head_recipe head;
    struct sotto_train_options network;
};
/* The target's own recipe with what the options say otherwise; *out's recipes stay NULL if they say nothing.
 */
sotto_status attack_recipe_read(struct sotto_attack_options *out, struct attack_recipe *r,
                                const struct options *o, const struct sotto_target *t);

#endif
