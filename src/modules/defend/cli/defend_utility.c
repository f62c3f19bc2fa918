/* What embeddings are still good for: the answers of a head that is given, or else of linear classifiers
 * trained on the defender's rows as they are and as the defence makes them. */
#include "defend_inputs.h"

static sotto_status defend_utility_ask(struct sotto_array *out, const struct sotto_head *h, const float *x,
                                       size_t n, size_t d, const struct sotto_context *ctx)
{
    TRY_OR_RETURN(sotto_array_make(out, SOTTO_F4, 2, (const size_t[]){n, sotto_head_classes(h)}));
    return sotto_head_predict(out->data, h, x, n, d, 0, ctx);
}

static sotto_status ask_linear(struct sotto_array *out, const struct defend_inputs *in, const float *known,
                               const float *asked, size_t classes, uint64_t seed,
                               const struct sotto_context *ctx)
{
    const struct defend_rows *k = &in->known;
    struct sotto_head_recipe recipe;
    struct sotto_head *h = NULL;
    sotto_head_defaults(&recipe);
    recipe.epochs = 100;
    recipe.batch = 64;
    recipe.seed = sotto_given_seed(seed & INT64_MAX);
    sotto_status status = sotto_head_train(&h, known, k->label.data, k->n, k->d, classes, &recipe, ctx);
    if (status == SOTTO_OK)
        status = defend_utility_ask(out, h, asked, in->rows.n, in->rows.d, ctx);
    sotto_head_free(h);
    return status;
}

static size_t classes_of(const struct sotto_array *labels)
{
    int64_t most = 0;
    for (size_t i = 0; i < labels->count; i++)
        most = ((const int64_t *)labels->data)[i] > most ? ((const int64_t *)labels->data)[i] : most;
    return (size_t)most + 1;
}

sotto_status defend_utility(struct sotto_array *before, struct sotto_array *after,
                            const struct defend_inputs *in, const struct sotto_defence *d,
                            const struct sotto_array *defended, const struct options *o,
                            const struct sotto_context *ctx)
{
    const struct defend_rows *r = &in->rows, *k = &in->known;
    struct sotto_head *h = NULL;
    struct sotto_array known = {0};
    sotto_status status = SOTTO_OK;
    uint64_t seed = option_count(o, "seed");
    if (option_given(o, "head")) {
        TRY(sotto_head_load(&h, option_text(o, "head")));
        TRY(defend_utility_ask(before, h, r->x.data, r->n, r->d, ctx));
        TRY(defend_utility_ask(after, h, defended->data, r->n, r->d, ctx));
    } else if (k->label.count && r->label.count) {
        size_t classes = classes_of(&k->label);
        TRY(sotto_array_make(&known, SOTTO_F4, 2, k->x.shape));
        TRY(sotto_defence_apply(known.data, NULL, d, k->x.data, k->n, k->d, ctx));
        TRY(ask_linear(before, in, k->x.data, r->x.data, classes, seed, ctx));
        TRY(ask_linear(after, in, known.data, defended->data, classes, seed, ctx));
    }
done:
    sotto_head_free(h);
    sotto_array_clear(&known);
    return status;
}
