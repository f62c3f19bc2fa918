#include "attack/query/shadow_recipe.h"
#include "attack/target/target.h"
#include "options/option_tables.h"
#include "options/option_values.h"
#include "sotto/lab/head.h"

#include <string.h>

static sotto_status change_head(struct sotto_head_recipe *out, const struct sotto_attack_options *o,
                                const struct sotto_target *t)
{
    const struct sotto_head *h = target_head(t);
    const struct sotto_head_recipe *own = h ? sotto_head_get_recipe(h) : NULL;
    *out = o->recipe ? *o->recipe : own ? *own : (struct sotto_head_recipe){0};
    return options_change(out, options_head_recipe, &o->shadow, options_shadow);
}

static sotto_status change_network(struct sotto_train_options *out, const struct sotto_attack_options *o,
                                   const struct sotto_target *t)
{
    const struct sotto_network *n = target_held_network(t);
    const struct sotto_train_options *own = n ? sotto_network_recipe(n) : NULL;
    *out = o->network ? *o->network : own ? *own : (struct sotto_train_options){0};
    if (o->shadow.model && (!out->model || strcmp(o->shadow.model, out->model) != 0)) {
        out->norm = NULL; /* widths and norm belong to the target's kind */
        out->hidden_count = 0;
    }
    return options_change(out, options_train, &o->shadow, options_shadow);
}

sotto_status shadow_recipe_apply(struct sotto_attack_options *o, struct sotto_head_recipe *head,
                                 struct sotto_train_options *network, const struct sotto_target *t)
{
    sotto_status status = SOTTO_OK;
    const struct sotto_shadow_recipe *s = &o->shadow;
    if (!options_given(s, options_shadow))
        goto done;
    if (s->model && s->trainer)
        FAIL(SOTTO_EUSAGE, "attack: give either {shadow.model} (shadow networks) or {shadow.trainer} (shadow "
                           "heads), not both");
    if (s->model || (target_held_network(t) && !s->trainer)) {
        TRY(change_network(network, o, t));
        o->network = network;
    } else {
        TRY(change_head(head, o, t));
        o->recipe = head;
    }
done:
    return status;
}
