#include "inputs/attack_recipe.h"

#include <string.h>

static int given(const struct options *o)
{
    static const char *const names[] = {"model", "trainer", "hidden", "epochs", "batch", "lr"};
    int any = 0;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        any |= option_given(o, names[i]);
    return any;
}

/* --hidden; "0" is none. */
static sotto_status read_hidden(size_t *out, size_t capacity, size_t *count, const struct options *o)
{
    if (!option_given(o, "hidden"))
        return SOTTO_OK;
    *count = 0;
    if (strcmp(option_text(o, "hidden"), "0") == 0)
        return SOTTO_OK;
    return option_sizes(out, capacity, count, o, "hidden");
}

static sotto_status read_head(struct sotto_head_recipe *r, const struct options *o,
                              const struct sotto_target *t)
{
    const struct sotto_head *h = sotto_target_head(t);
    const struct sotto_head_recipe *own = h ? sotto_head_get_recipe(h) : NULL;
    sotto_head_defaults(r);
    if (own)
        *r = *own;
    if (option_given(o, "trainer"))
        r->trainer = option_text(o, "trainer");
    if (option_given(o, "epochs"))
        r->epochs = sotto_given_count(option_count(o, "epochs"));
    if (option_given(o, "batch"))
        r->batch = sotto_given_count(option_count(o, "batch"));
    if (option_given(o, "lr"))
        r->lr = sotto_given_real(option_real(o, "lr"));
    return read_hidden(r->hidden, SOTTO_MAX_HIDDEN, &r->hidden_count, o);
}

static sotto_status read_network(struct sotto_train_options *r, const struct options *o,
                                 const struct sotto_target *t)
{
    const struct sotto_network *n = sotto_target_network(t);
    const struct sotto_train_options *own = n ? sotto_network_recipe(n) : NULL;
    sotto_train_defaults(r);
    if (own)
        *r = *own;
    if (option_given(o, "model") && strcmp(option_text(o, "model"), r->model) != 0) {
        r->model = option_text(o, "model"); /* widths and norm belong to the target's kind */
        r->norm = NULL;
        r->hidden_count = 0;
    }
    if (option_given(o, "epochs"))
        r->epochs = sotto_given_count(option_count(o, "epochs"));
    if (option_given(o, "batch"))
        r->batch = sotto_given_count(option_count(o, "batch"));
    if (option_given(o, "lr"))
        r->lr = sotto_given_real(option_real(o, "lr"));
    return read_hidden(r->hidden, SOTTO_TRAIN_HIDDEN, &r->hidden_count, o);
}

sotto_status attack_recipe_read(struct sotto_attack_options *out, struct attack_recipe *r,
                                const struct options *o, const struct sotto_target *t)
{
    sotto_status status;
    if (!given(o))
        return SOTTO_OK;
    if (option_given(o, "model") && option_given(o, "trainer"))
        return cli_fail(
            SOTTO_EUSAGE,
            "attack: give either --model (shadow networks) or --trainer (shadow heads), not both");
    if (option_given(o, "model") || (sotto_target_network(t) && !option_given(o, "trainer"))) {
        status = read_network(&r->network, o, t);
        out->network = &r->network;
    } else {
        status = read_head(&r->head, o, t);
        out->recipe = &r->head;
    }
    return status;
}
