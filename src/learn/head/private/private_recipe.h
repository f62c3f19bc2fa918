/* private_recipe.h - recipes of private trainers read back from the JSON of a head's file. */
#ifndef HEAD_PRIVATE_PRIVATE_RECIPE_H
#define HEAD_PRIVATE_PRIVATE_RECIPE_H

#include "head/model/head_trainer.h"

/** Of DP-SGD and DP-Adam. EFORMAT: a member is missing or is of another kind. */
sotto_status head_private_parse(struct sotto_head_recipe *r, const struct json *doc, const char *name);
/** Of "dp-gd". EFORMAT likewise. */
sotto_status head_descent_parse(struct sotto_head_recipe *r, const struct json *doc, const char *name);
/** Of "objective". EFORMAT likewise. */
sotto_status head_objective_parse(struct sotto_head_recipe *r, const struct json *doc, const char *name);
/** Of the trainers on second moments. EFORMAT likewise. */
sotto_status moment_recipe_parse(struct sotto_head_recipe *r, const struct json *doc, const char *name);

#endif
