/* The canonical text of options, which files carry and which shadow models are trained by, and of residual perturbation:
 * files that lack it have no noise. A change of form is another recipe: bump "recipe". */
#include "io/json/json.h"
#include "train/network/network.h"

#include <stdio.h>
#include <string.h>

static const char *const kinds[] = {"none", "additive", "multiplicative"};

struct sotto_residual_noise train_residual_of(const struct nn_model_config *c)
{
    return (struct sotto_residual_noise){.kind = c->noise.kind == NN_NOISE_ADDITIVE         ? kinds[1]
                                                 : c->noise.kind == NN_NOISE_MULTIPLICATIVE ? kinds[2]
                                                                                            : NULL,
                                         .gamma = c->noise.gamma,
                                         .floor = c->noise.floor,
                                         .input_noise = c->input_noise,
                                         .radius = c->radius,
                                         .no_skip = c->no_skip,
                                         .members = c->members,
                                         .separate_inputs = c->separate_inputs,
                                         .relative = c->noise.relative,
                                         .average_softmax = c->average_softmax};
}

/* Switches that came later than the format. How members were trained is part of a recipe, not of a
 * network. */
static const char *const switches[] = {"relative", "average_softmax", "independent"};

static int *flag_of(struct sotto_residual_noise *r, size_t i)
{
    return i == 0 ? &r->relative : i == 1 ? &r->average_softmax : &r->independent;
}

static bool train_recipe_plain(const struct sotto_residual_noise *r)
{
    return !r->kind && r->input_noise == 0 && r->radius == 0 && !r->no_skip && r->members <= 1;
}

sotto_status train_residual_text(char out[TRAIN_RESIDUAL_TEXT], const struct sotto_residual_noise *r)
{
    sotto_status status = SOTTO_OK;
    char *text = NULL;
    struct json *j = json_make_object();
    out[0] = '\0';
    if (train_recipe_plain(r))
        goto done;
    json_put_text(&j, "kind", r->kind ? r->kind : kinds[0]);
    json_put_real(&j, "gamma", r->gamma);
    json_put_real(&j, "floor", r->floor);
    json_put_real(&j, "input_noise", r->input_noise);
    json_put_real(&j, "radius", r->radius);
    json_put_boolean(&j, "skip", !r->no_skip);
    json_put_integer(&j, "members", (int64_t)(r->members ? r->members : 1));
    json_put_boolean(&j, "separate_inputs", r->separate_inputs != 0);
    for (size_t i = 0; i < sizeof switches / sizeof *switches;
         i++) /* those that are on: older files have none */
        if (*flag_of((struct sotto_residual_noise *)r, i))
            json_put_boolean(&j, switches[i], true);
    TRY(json_dump(&text, j, JSON_LINE | JSON_SORTED));
    REQUIRE(strlen(text) < TRAIN_RESIDUAL_TEXT, "the recipe is too long");
    strcpy(out, text);
done:
    sotto_text_free(text);
    json_free(j);
    return status;
}

sotto_status train_residual_parse(struct sotto_residual_noise *out, const char *text, const char *where)
{
    sotto_status status = SOTTO_OK;
    struct json *doc = NULL;
    struct sotto_residual_noise r = {0};
    const char *kind;
    bool skip, separate;
    size_t i = 0;
    TRY(json_parse(&doc, text, strlen(text), where));
    TRY(json_get_text(&kind, doc, where, "kind"));
    TRY(json_get_real(&r.gamma, doc, where, "gamma"));
    TRY(json_get_real(&r.floor, doc, where, "floor"));
    TRY(json_get_real(&r.input_noise, doc, where, "input_noise"));
    TRY(json_get_real(&r.radius, doc, where, "radius"));
    TRY(json_get_boolean(&skip, doc, where, "skip"));
    TRY(json_get_size(&r.members, doc, where, "members"));
    TRY(json_get_boolean(&separate, doc, where, "separate_inputs"));
    for (size_t s = 0; s < sizeof switches / sizeof *switches; s++) {
        bool on = false;
        if (json_find(doc, switches[s]))
            TRY(json_get_boolean(&on, doc, where, switches[s]));
        *flag_of(&r, s) = on;
    }
    while (i < sizeof kinds / sizeof *kinds && strcmp(kind, kinds[i]) != 0)
        i++;
    if (i == sizeof kinds / sizeof *kinds)
        FAIL(SOTTO_EFORMAT, "%s: 'kind' is '%.64s'; expected none, additive or multiplicative", where, kind);
    r.kind = i ? kinds[i] : NULL;
    r.no_skip = !skip;
    r.separate_inputs = separate;
    *out = r;
done:
    json_free(doc);
    return status;
}

sotto_status train_recipe_text(char out[TRAIN_RECIPE_TEXT], const struct sotto_train_options *o)
{
    sotto_status status = SOTTO_OK;
    char *text = NULL, residual[TRAIN_RESIDUAL_TEXT];
    struct json *j = json_make_object();
    TRY(train_residual_text(residual, &o->residual));
    if (residual[0])
        json_put_text(&j, "residual", residual);
    if (o->freeze) { /* fine-tuning; from what is a fact of the file */
        json_put_text(&j, "freeze", o->freeze);
        json_put_integer(&j, "warm_up", (int64_t)o->warm_up);
    }
    if (o->augment_noise > 0) /* older files have none */
        json_put_real(&j, "augment_noise", o->augment_noise);
    if (strcmp(o->order, "exact") == 0) /* likewise: they are fast */
        json_put_integer(&j, "leaf", (int64_t)o->leaf);
    else if (strcmp(o->order, "auto") ==
             0) /* of shadow models: which it is depends on the network and the batch alone */
        json_put_text(&j, "order", o->order);
    if (o->norm_scope && strcmp(o->norm_scope, "leaf") == 0)
        json_put_text(&j, "norm_scope", o->norm_scope);
    json_put_integer(&j, "recipe", 1);
    json_put_text(&j, "model", o->model);
    json_put(&j, "hidden", json_make_counts(o->hidden, o->hidden_count));
    json_put_text(&j, "norm", o->norm);
    json_put_text(&j, "optimizer", o->optimizer);
    json_put_real(&j, "lr", o->lr);
    json_put_real(&j, "momentum", o->momentum);
    json_put_real(&j, "weight_decay", o->weight_decay);
    json_put_text(&j, "schedule", o->schedule);
    json_put_integer(&j, "epochs", (int64_t)o->epochs);
    json_put_integer(&j, "batch", (int64_t)o->batch);
    json_put_boolean(&j, "flip", o->flip);
    json_put_integer(&j, "crop", (int64_t)o->crop);
    json_put_text(&j, "dtype", o->dtype);
    json_put_integer(&j, "seed", (int64_t)o->seed);
    TRY(json_dump(&text, j, JSON_LINE | JSON_SORTED));
    REQUIRE(strlen(text) < TRAIN_RECIPE_TEXT, "the recipe is too long");
    strcpy(out, text);
done:
    sotto_text_free(text);
    json_free(j);
    return status;
}

sotto_status train_recipe_parse(struct sotto_train_options *out, const char *text, const char *where)
{
    sotto_status status = SOTTO_OK;
    static const char *const dtypes[] = {"f32", "bf16", NULL};
    struct json *doc = NULL;
    struct sotto_train_options o;
    char name[512];
    size_t seed = 0;
    bool flip;
    sotto_train_defaults(&o);
    snprintf(name, sizeof name, "%s: recipe", where);
    TRY(json_parse(&doc, text, strlen(text), name));
    TRY(json_get_text(&o.model, doc, name, "model"));
    TRY(json_get_sizes(o.hidden, &o.hidden_count, SOTTO_TRAIN_HIDDEN, doc, name, "hidden"));
    TRY(json_get_text(&o.norm, doc, name, "norm"));
    TRY(json_get_text(&o.optimizer, doc, name, "optimizer"));
    TRY(json_get_real(&o.lr, doc, name, "lr"));
    TRY(json_get_real(&o.momentum, doc, name, "momentum"));
    TRY(json_get_real(&o.weight_decay, doc, name, "weight_decay"));
    TRY(json_get_text(&o.schedule, doc, name, "schedule"));
    TRY(json_get_size(&o.epochs, doc, name, "epochs"));
    TRY(json_get_size(&o.batch, doc, name, "batch"));
    TRY(json_get_boolean(&flip, doc, name, "flip"));
    TRY(json_get_size(&o.crop, doc, name, "crop"));
    TRY(json_get_text(&o.dtype, doc, name, "dtype"));
    TRY(json_get_size(&seed, doc, name, "seed"));
    if (json_find(doc, "residual")) {
        const char *residual;
        TRY(json_get_text(&residual, doc, name, "residual"));
        TRY(train_residual_parse(&o.residual, residual, name));
    }
    o.order = "fast";
    if (json_find(doc, "order"))
        TRY(json_get_text(&o.order, doc, name, "order"));
    if (json_find(doc, "leaf")) {
        TRY(json_get_size(&o.leaf, doc, name, "leaf"));
        o.order = "exact";
    }
    if (json_find(doc, "norm_scope"))
        TRY(json_get_text(&o.norm_scope, doc, name, "norm_scope"));
    if (json_find(doc, "augment_noise"))
        TRY(json_get_real(&o.augment_noise, doc, name, "augment_noise"));
    if (json_find(doc, "freeze")) {
        TRY(json_get_text(&o.freeze, doc, name, "freeze"));
        TRY(json_get_size(&o.warm_up, doc, name, "warm_up"));
    }
    o.flip = flip;
    o.seed = seed;
    status = train_options_check(&o); /* also replaces the borrowed texts by static ones */
    if (status == SOTTO_OK)
        status = train_one_of(&o.dtype, o.dtype, "dtype", dtypes, "bf16 or f32");
    if (status != SOTTO_OK) {
        status_prefix(name);
        status = SOTTO_EFORMAT;
        goto done;
    }
    *out = o;
done:
    json_free(doc);
    return status;
}
