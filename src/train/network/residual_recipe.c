/* Residual perturbation in recipes and files. Older files have no such member: no noise. */
#include "io/json/json.h"
#include "train/network/network.h"

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

static bool plain(const struct sotto_residual_noise *r)
{
    return !r->kind && r->input_noise == 0 && r->radius == 0 && !r->no_skip && r->members <= 1;
}

sotto_status train_residual_text(char out[TRAIN_RESIDUAL_TEXT], const struct sotto_residual_noise *r)
{
    sotto_status status = SOTTO_OK;
    char *text = NULL;
    struct json *j = json_make_object();
    out[0] = '\0';
    if (plain(r))
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
