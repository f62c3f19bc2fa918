#include "inputs/canary_inputs.h"

#include <stdlib.h>
#include <string.h>

const struct option_row canary_rows[] = {
    OPTION_TABLE("canary", NULL),
    OPTION_GROUP("Canaries"),
    {"canary-public", OPTION_TEXT, "X.npy", NULL,
     "public rows (N, values), pixels in [0, 1], for --canary-kind clipbkd"},
    OPTION_END};

/* (n, values) f4 in *a, which stays empty if the option was not given. */
static sotto_status load_public(struct sotto_array *a, size_t width, const struct options *o)
{
    const char *path = option_text(o, "canary-public");
    if (!path)
        return SOTTO_OK;
    sotto_status status = sotto_array_load(a, path, 0, NULL);
    if (status == SOTTO_OK && (a->ndim < 2 || a->shape[0] == 0 || a->count / a->shape[0] != width))
        return cli_fail(SOTTO_EINVAL, "%s: has rows of %zu values; expected %zu, those of a record", path,
                        a->ndim < 2 || a->shape[0] == 0 ? 0 : a->count / a->shape[0], width);
    if (status == SOTTO_OK)
        status = sotto_array_convert(a, SOTTO_F4);
    return status == SOTTO_OK ? sotto_array_require_finite(a, path, "public rows") : status;
}

/* All ranks must have none. */
static sotto_status have_none(struct sotto_canaries **out, const struct options *o)
{
    const struct sotto_canary_request none = {.team = cli_team()};
    if (option_given(o, "canary-kind") || option_given(o, "canary-public"))
        return cli_fail(SOTTO_EUSAGE, "--canary-kind and --canary-public need --canaries K");
    return cli_team() ? sotto_canaries_make(out, &none) : SOTTO_OK;
}

sotto_status canary_inputs_make(struct sotto_canaries **out, const struct sotto_dataset *data,
                                const int64_t *rows, size_t n, const struct canary_asker *asker,
                                const struct options *o)
{
    struct sotto_array public_rows = {0};
    struct sotto_canary_request request = {.data = data,
                                           .rows = rows,
                                           .n = n,
                                           .classes = asker->classes,
                                           .output = option_text(o, "output"),
                                           .team = cli_team(),
                                           .relation = !asker->spend ? SOTTO_CANARY_IN_OR_OUT
                                                       : asker->adjacency == SOTTO_REPLACE_ONE
                                                           ? SOTTO_CANARY_ONE_OF_TWO
                                                           : SOTTO_CANARY_OR_NOTHING};
    if (!option_given(o, "canaries") || option_count(o, "canaries") == 0)
        return have_none(out, o);
    sotto_status status = option_members(&request.options, sotto_option_table("canary"), o);
    if (status == SOTTO_OK)
        status = load_public(&public_rows,
                             data->images ? data->channels * data->height * data->width : data->columns, o);
    request.options.seed = asker->seed;
    request.public_rows = public_rows.data;
    request.public_n = public_rows.data ? public_rows.shape[0] : 0;
    if (asker->spend && asker->spend->insecure) {
        request.insecure = 1;
        request.insecure_seed = asker->spend->insecure_seed;
    }
    if (asker->fresh && cli_writes())
        sotto_canaries_forget(request.output);
    if (status == SOTTO_OK)
        status = sotto_canaries_make(out, &request);
    sotto_array_clear(&public_rows);
    return status;
}

sotto_status canary_inputs_charge(struct sotto_spend *spend, char **text, const struct sotto_canaries *c)
{
    if (!c)
        return SOTTO_OK;
    sotto_status status = sotto_canaries_purpose(text, c, spend->purpose);
    if (status == SOTTO_OK)
        spend->purpose = *text;
    return status;
}

static sotto_status canary_inputs_answer(float **logits, const struct sotto_dataset *records,
                                         canary_answers *answers, const void *model, size_t classes,
                                         const struct sotto_context *ctx)
{
    if (!records)
        return SOTTO_OK;
    *logits = calloc(records->n, classes * sizeof **logits);
    if (!*logits)
        return cli_fail(SOTTO_ENOMEM, "out of memory for the answers on %zu canaries", records->n);
    return answers(*logits, model, records, ctx);
}

sotto_status canary_inputs_save(struct sotto_canaries *c, canary_answers *answers, const void *model,
                                size_t classes, const struct sotto_context *ctx)
{
    float *heads = NULL, *tails = NULL;
    if (!c)
        return SOTTO_OK;
    sotto_status status =
        canary_inputs_answer(&heads, sotto_canaries_records(c, 1), answers, model, classes, ctx);
    if (status == SOTTO_OK)
        status = canary_inputs_answer(&tails, sotto_canaries_records(c, 0), answers, model, classes, ctx);
    if (status == SOTTO_OK && heads)
        sotto_canaries_answers(c, heads, tails);
    if (status == SOTTO_OK)
        status = sotto_canaries_save(c);
    free(heads);
    free(tails);
    return status;
}
