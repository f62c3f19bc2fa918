/* Texts are borrowed from the document; the trainer's check() replaces them by static ones. */
#include "head/private/private_recipe.h"

#include "io/json/json.h"

sotto_status head_private_parse(struct sotto_head_recipe *r, const struct json *doc, const char *name)
{
    sotto_status status = SOTTO_OK;
    TRY(head_recipe_parse_batches(r, doc, name));
    TRY(json_get_text(&r->noise, doc, name, "noise"));
    TRY(json_get_real(&r->max_grad_norm, doc, name, "max_grad_norm"));
    TRY(json_get_real(&r->noise_multiplier, doc, name, "noise_multiplier"));
    TRY(json_get_real(&r->momentum, doc, name, "momentum"));
    if (json_member(doc, "steps"))
        TRY(json_get_size(&r->steps, doc, name, "steps"));
    if (json_member(doc, "average"))
        TRY(json_get_real(&r->average, doc, name, "average"));
    if (json_member(doc, "rows_per_step"))
        TRY(json_get_size(&r->rows_per_step, doc, name, "rows_per_step"));
done:
    return status;
}

sotto_status head_descent_parse(struct sotto_head_recipe *r, const struct json *doc, const char *name)
{
    sotto_status status = SOTTO_OK;
    TRY(head_recipe_parse_balance(r, doc, name));
    TRY(json_get_real(&r->clip, doc, name, "clip"));
    TRY(json_get_size(&r->steps, doc, name, "steps"));
    TRY(json_get_real(&r->step_size, doc, name, "step_size"));
    TRY(json_get_text(&r->noise, doc, name, "noise"));
    TRY(json_get_real(&r->max_grad_norm, doc, name, "max_grad_norm"));
    TRY(json_get_real(&r->noise_multiplier, doc, name, "noise_multiplier"));
done:
    return status;
}

sotto_status head_objective_parse(struct sotto_head_recipe *r, const struct json *doc, const char *name)
{
    sotto_status status = SOTTO_OK;
    TRY(json_get_real(&r->clip, doc, name, "clip"));
    TRY(json_get_real(&r->noise_multiplier, doc, name, "noise_multiplier"));
done:
    return status;
}

sotto_status moment_recipe_parse(struct sotto_head_recipe *r, const struct json *doc, const char *name)
{
    sotto_status status = SOTTO_OK;
    size_t refuse;
    TRY(json_get_real(&r->clip, doc, name, "clip"));
    TRY(json_get_real(&r->bias, doc, name, "bias"));
    TRY(json_get_real(&r->lambda, doc, name, "lambda"));
    if (json_member(doc, "cross"))
        TRY(json_get_real(&r->cross, doc, name, "cross"));
    TRY(json_get_text(&r->noise, doc, name, "noise"));
    TRY(json_get_real(&r->noise_multiplier, doc, name, "noise_multiplier"));
    TRY(json_get_size(&refuse, doc, name, "refuse_larger"));
    r->refuse_larger = refuse != 0;
done:
    return status;
}
