#include "inputs/canary_inputs.h"

#include <stdbool.h>

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
    TRY_OR_RETURN(sotto_array_load(a, path, 0, NULL));
    if (a->ndim < 2 || a->shape[0] == 0 || a->count / a->shape[0] != width)
        return cli_fail(SOTTO_EINVAL, "%s: has rows of %zu values; expected %zu, those of a record", path,
                        a->ndim < 2 || a->shape[0] == 0 ? 0 : a->count / a->shape[0], width);
    TRY_OR_RETURN(sotto_array_convert(a, SOTTO_F4));
    return sotto_array_require_finite(a, path, "public rows");
}

sotto_status canary_inputs_read(struct sotto_canary_options *out, struct sotto_array *public_rows,
                                const struct sotto_dataset *data, const struct options *o)
{
    const size_t width = data->images ? data->channels * data->height * data->width : data->columns;
    const bool asked = option_given(o, "canaries") && option_count(o, "canaries") > 0;
    if (!asked && (option_given(o, "canary-kind") || option_given(o, "canary-public")))
        return cli_fail(SOTTO_EUSAGE, "--canary-kind and --canary-public need --canaries K");
    if (!asked)
        return SOTTO_OK;
    TRY_OR_RETURN(option_members(out, sotto_option_table("canary"), o));
    return load_public(public_rows, width, o);
}

sotto_status canary_inputs_make(struct sotto_canaries **out, const struct sotto_dataset *data,
                                const int64_t *rows, size_t n, uint64_t seed, const struct options *o)
{
    struct sotto_array public_rows = {0};
    struct sotto_canary_request request = {.data = data,
                                           .rows = rows,
                                           .n = n,
                                           .classes = data->classes,
                                           .output = option_text(o, "output"),
                                           .team = cli_team(),
                                           .relation = SOTTO_CANARY_IN_OR_OUT};
    sotto_status status = canary_inputs_read(&request.options, &public_rows, data, o);
    const bool asked = request.options.count > 0;
    request.options.seed = seed;
    request.public_rows = public_rows.data;
    request.public_n = public_rows.data ? public_rows.shape[0] : 0;
    if (status == SOTTO_OK && asked && option_flag(o, "fresh") && cli_writes())
        sotto_canaries_forget(request.output);
    if (status == SOTTO_OK && (asked || cli_team())) /* all ranks must have none */
        status = sotto_canaries_make(out, &request);
    sotto_array_clear(&public_rows);
    return status;
}
