/* ML-Leaks, the combining attack: the attacker does not know the target's architecture, so the answers of
 * several kinds of shadows teach one network. The published kinds are a network, logistic regression and a
 * random forest; here they are the given recipe, a linear head and a wider network (there are no forests). */
#include "attack/ml_leaks.h"

enum { KINDS = 3, WIDER = 256 };

static sotto_status run(double *scores, struct model_result *result, const struct model_input *in)
{
    sotto_status status = SOTTO_OK;
    struct sotto_head_recipe recipes[KINDS] = {*in->recipe, *in->recipe, *in->recipe};
    struct answer_table answers = {0};
    struct shadow_army army = {0};
    bool pending = false;
    struct json *all = json_make_array();
    recipes[1].hidden_count = 0;
    recipes[2].hidden_count = 1;
    recipes[2].hidden[0] = WIDER;
    for (size_t i = 0; i < KINDS; i++) {
        struct model_result part = {0};
        if (head_recipe_convex(&recipes[i]))
            FAIL(SOTTO_EUSAGE, "ml-leaks-combined: shadows need --trainer adam or sgd, not %s",
                 recipes[i].trainer);
        TRY(shadow_army_make(&army, in, 1, &recipes[i]));
        shadow_army_report(&part, &army);
        json_push(&all, json_clone(json_member(part.facts, "shadows")));
        json_free(part.facts);
        pending |= part.pending;
        if (!pending)
            TRY(answer_table_add(&answers, &army, ml_leaks_width(in->records.classes, in->records.classes),
                                 in->ctx));
        shadow_army_clear(&army);
    }
    result->facts = json_make_object();
    json_put(&result->facts, "shadows", all);
    all = NULL;
    result->pending = pending;
    if (!pending)
        TRY(ml_leaks_judge(scores, result, &answers, in));
done:
    json_free(all);
    answer_table_clear(&answers);
    shadow_army_clear(&army);
    return status;
}

const struct model_attack model_ml_leaks_combined = {.name = "ml-leaks-combined",
                                                     .title = "Shadows of several architectures, one network",
                                                     .source = "Salem et al. 2019, combining attack",
                                                     .needs = MODEL_POSTERIORS | MODEL_SHADOWS,
                                                     .default_shadows = KINDS,
                                                     .run = run};
