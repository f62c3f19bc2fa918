/* shadow_recipe.h - how shadow models are trained, from what the options change and from the target. */
#ifndef ATTACK_QUERY_SHADOW_RECIPE_H
#define ATTACK_QUERY_SHADOW_RECIPE_H

#include "sotto/attack.h"
#include "sotto/lab/train.h"

/** Makes o->shadow a whole recipe.
 *
 *  In:      t               its own recipe is the one that is changed, unless o->recipe or o->network is given
 *  Out:     o->recipe       points to *head, or o->network to *network; both stay as they are where o->shadow is {0}
 *  Returns: EUSAGE          heads and networks at once
 *           EINVAL          too many widths */
sotto_status shadow_recipe_apply(struct sotto_attack_options *o, struct sotto_head_recipe *head,
                                 struct sotto_train_options *network, const struct sotto_target *t);

#endif
