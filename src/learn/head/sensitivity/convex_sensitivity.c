/* The proved sensitivity as a record beside the sampled ones. Nothing is stored that cannot be derived again:
 * a loader recomputes the bound from recipe and number of records. */
#include "head/convex/convex_bound.h"
#include "head/model/head_model.h"
#include "head/sensitivity/sensitivity_file.h"
#include "sotto/release.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

sotto_status sensitivity_prove(struct sotto_sensitivity_sample *out, const struct sotto_head_recipe *r,
                               size_t records, size_t inputs, size_t classes)
{
    struct convex_bound bound;
    sotto_status status = convex_bound_find(&bound, r, records, inputs, classes);
    if (status != SOTTO_OK)
        return status;
    *out = (struct sotto_sensitivity_sample){.l1 = bound.l1,
                                             .l2 = bound.l2,
                                             .linf = bound.l2,
                                             .proved = 1,
                                             .records = records,
                                             .rounding = bound.rounding};
    head_recipe_text(out->recipe, r, inputs, classes);
    head_recipe_hash(out->recipe_hash, r, inputs, classes);
    return SOTTO_OK;
}

/* Weights outside of the ball that the proof keeps them in are not what this recipe makes. */
static sotto_status check_ball(const struct sotto_head *h)
{
    sotto_status status = SOTTO_OK;
    struct convex_bound bound;
    const size_t weights = sotto_head_inputs(h) * sotto_head_classes(h);
    const double constant = h->recipe.bias;
    double square = 0;
    TRY(convex_bound_find(&bound, &h->recipe, h->records, sotto_head_inputs(h), sotto_head_classes(h)));
    for (size_t i = 0; i < h->count; i++) {
        double w = (double)h->parameters[i];
        w = i < weights || w == 0 ? w : w / constant; /* constant 0: no bias at all, so any is too large */
        square += w * w;
    }
    REQUIRE(sqrt(square) <= bound.ball,
            "the norm of the head's weights is %.6g, but its recipe gives at most %.6g; expected weights "
            "that were not changed after training",
            sqrt(square), bound.ball);
done:
    return status;
}

sotto_status sotto_sensitivity_prove(struct sotto_sensitivity_sample *out, const struct sotto_head *h)
{
    REQUIRE_GIVEN(out, h);
    sotto_status status = SOTTO_OK;
    REQUIRE(!h->no_statement, "the head's encoder was trained on private records, which a bound on the head "
                              "alone does not protect; expected an encoder trained on public records");
    REQUIRE(
        h->has_recipe,
        "the head's recipe is unknown, so its sensitivity cannot be proved; expected a head by 'sotto head'");
    REQUIRE(head_recipe_convex(&h->recipe),
            "trainer %s has no proved sensitivity; expected a head by convex, convex-sgd or convex-lbfgs",
            h->recipe.trainer);
    REQUIRE(h->records > 0,
            "the head does not state its number of training records, so its sensitivity cannot be proved");
    TRY(check_ball(h));
    TRY(sensitivity_prove(out, &h->recipe, h->records, sotto_head_inputs(h), sotto_head_classes(h)));
    memcpy(out->data_sha256, h->data_sha256, sizeof out->data_sha256);
done:
    return status;
}

sotto_status sotto_sensitivity_of_head(struct sotto_protect *p, struct sotto_sensitivity_sample *sample)
{
    REQUIRE_GIVEN(p, sample);
    sotto_status status = SOTTO_OK;
    struct sotto_head *h = NULL;
    struct sotto_sensitivity_sample proof;
    const char *file = p->sensitivity_file ? p->sensitivity_file : "the sensitivity";
    TRY(sotto_head_load(&h, p->input));
    if (sample->proved && strcmp(sample->recipe_hash, h->recipe_hash) != 0)
        FAIL(SOTTO_EINVAL,
             "protect: %s was measured for another head (recipe hash differs); measure the sensitivity of "
             "this head",
             file);
    TRY(sotto_sensitivity_prove(&proof, h));
    if (sample->proved && sample->records != proof.records)
        FAIL(SOTTO_EINVAL,
             "protect: %s is proved for %zu records but %s was trained on %zu; expected the same number",
             file, sample->records, p->input, proof.records);
    if (!sample->proved)
        *sample = proof;
    sotto_sensitivity_of(&p->release.sensitivity, sample);
    p->sensitivity_data = sample->data_sha256;
    if (!h->bound && !p->release.spend.condition)
        p->release.spend.condition =
            "what its file says of recipe and records (an early version binds its weights to neither)";
done:
    sotto_head_free(h);
    return status;
}

void sotto_sensitivity_of(struct sotto_sensitivity *out, const struct sotto_sensitivity_sample *s)
{
    GIVEN_OR(, out, s);
    *out = (struct sotto_sensitivity){
        .l1 = s->l1, .l2 = s->l2, .source = s->proved ? SOTTO_SENSITIVITY_PROVED : SOTTO_SENSITIVITY_SAMPLED};
    snprintf(out->evidence, sizeof out->evidence, "%s", s->recipe_hash);
}
