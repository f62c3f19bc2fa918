/* The recipe of the trainers on second moments. */
#include "head/private/moments.h"
#include "base/choice.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Bounds on what the proof divides and multiplies by are generous, not needed. */
sotto_status moment_recipe_check(struct sotto_head_recipe *r)
{
    static const char *const kinds[] = {"gaussian", "logistic", "laplace"};
    const struct moment_trainer *t = head_recipe_moments(r);
    sotto_status status = SOTTO_OK;
    const char *asked = r->noise ? r->noise : t->noise;
    r->noise = NULL;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (strcmp(asked, kinds[i]) == 0)
            r->noise = kinds[i]; /* static text */
    if (!r->noise)
        TRY(choice_unknown(SOTTO_EINVAL, "noise", asked, "gaussian, logistic or laplace"));
    REQUIRE(r->hidden_count == 0, "trainer %s supports linear heads only (got %zu hidden layers)", t->name,
            r->hidden_count);
    TRY(head_recipe_check_ranges(r, "clip|lambda"));
    REQUIRE(r->bias >= 0 && r->bias <= 1, "bias constant must be between 0 and 1, in units of clip (got %g)",
            r->bias);
    bool weighted = t->weighted;
    if (weighted)
        TRY(head_recipe_check_ranges(r, "cross"));
    REQUIRE(r->noise_multiplier >= 0 && isfinite(r->noise_multiplier),
            "noise_multiplier must be finite and > 0 (got %g)", r->noise_multiplier);
    /* A member without influence gets one fixed value. */
    r->cross = weighted ? r->cross : 0;
    r->refuse_larger = r->refuse_larger != 0;
    r->lr = r->step_size = r->tolerance = r->max_grad_norm = r->momentum = 0;
    r->epochs = r->batch = r->steps = 0;
    r->seed = 0;
done:
    return status;
}

void moment_recipe_text(char out[HEAD_RECIPE_TEXT], const struct sotto_head_recipe *r, size_t inputs,
                        size_t classes)
{
    char bias[32], clip[32], cross[32], lambda[32], multiplier[32], weight[48] = "";
    head_recipe_shortest(bias, r->bias);
    head_recipe_shortest(clip, r->clip);
    head_recipe_shortest(cross, r->cross);
    head_recipe_shortest(lambda, r->lambda);
    head_recipe_shortest(multiplier, r->noise_multiplier);
    if (r->cross > 0)
        snprintf(weight, sizeof weight, "\"cross\":%s,", cross);
    snprintf(out, HEAD_RECIPE_TEXT,
             "{\"bias\":%s,\"classes\":%zu,\"clip\":%s,%s\"inputs\":%zu,\"lambda\":%s,\"noise\":\"%s\","
             "\"noise_multiplier\":%s,\"recipe\":1,\"refuse_larger\":%d,\"trainer\":\"%s\"}",
             bias, classes, clip, weight, inputs, lambda, r->noise, multiplier, r->refuse_larger, r->trainer);
}

double moment_recipe_radius(const struct sotto_head_recipe *r)
{
    return head_recipe_moments(r)->domain == MOMENT_BALL && !r->refuse_larger ? r->clip : 0;
}
