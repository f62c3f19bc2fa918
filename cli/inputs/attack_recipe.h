/* attack_recipe.h - how the shadow models of an attack are trained, from the command line and the target. */
#ifndef CLI_INPUTS_ATTACK_RECIPE_H
#define CLI_INPUTS_ATTACK_RECIPE_H

#include "options/options.h"

/* Behind the recipes of struct sotto_attack_options. */
struct attack_recipe {
    struct sotto_head_recipe head;
    struct sotto_train_options network;
};
/* The target's own recipe with what the options say otherwise; *out's recipes stay NULL if they say
 * nothing. */
sotto_status attack_recipe_read(struct sotto_attack_options *out, struct attack_recipe *r,
                                const struct options *o, const struct sotto_target *t);

#endif
