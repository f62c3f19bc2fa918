#include "head/model/head_trainer.h"

#include <string.h>

sotto_status sotto_head_train(struct sotto_head **out, const float *x, const int64_t *y, size_t n, size_t d,
                              size_t classes, const struct sotto_head_recipe *recipe,
                              const struct sotto_context *ctx)
{
    REQUIRE_GIVEN(out, !n || x, !n || y);
    sotto_status status = SOTTO_OK;
    struct sotto_head *h = NULL;
    struct head_data data = {x, y, n, d, classes};
    struct sotto_head_recipe r;
    size_t width[HEAD_MAX_LAYERS + 1] = {d};
    const char *isa;
    int64_t *labels = NULL;
    TRY(head_recipe_resolve(&r, recipe));
    TRY(head_recipe_check_open(&r));
    if (head_recipe_convex(&r)) /* what it leads to is certified */
        TRY(head_data_silence(&labels, &data));
    else
        TRY(head_data_check(&data, false, ctx));
    memcpy(width + 1, r.hidden, r.hidden_count * sizeof *width);
    width[r.hidden_count + 1] = classes;
    TRY(head_create(&h, r.hidden_count + 1, width));
    TRY(head_trainer_of(&r)->train(h, &isa, &data, &r, ctx));
    head_describe(h, &data, &r, isa);
    *out = h;
    h = NULL;
done:
    base_free(labels);
    sotto_head_free(h);
    return status;
}
