/* Canaries at the audit: their scores are there before the coins are opened. */
#include "inputs/audit_inputs.h"

#include <stdio.h>
#include <string.h>

static sotto_status audit_coins_check(const struct options *o)
{
    if (option_given(o, "membership"))
        return cli_fail(SOTTO_EUSAGE, "audit: --coin-file takes the place of --membership; give one of them");
    if (!option_given(o, "scores"))
        return cli_fail(SOTTO_EUSAGE, "audit: --coin-file needs the scores of the canaries; give --scores "
                                      "OUTPUT.canaries.npz:white_box, or :black_box");
    if (!option_given(o, "one-run") || option_count(o, "one-run") == 0)
        return cli_fail(SOTTO_EUSAGE,
                        "audit: --coin-file needs --one-run K, a number of guesses fixed beforehand");
    return SOTTO_OK;
}

/* One number for each canary, as an audit takes them. */
static sotto_status audit_coins_load_scores(struct sotto_array *scores, const char *path)
{
    sotto_status status = sotto_array_load(scores, path, 0, cli_context());
    if (status != SOTTO_OK)
        return status;
    if (scores->ndim == 2 && scores->shape[1] == 1)
        scores->ndim = 1;
    if (scores->ndim != 1)
        return cli_fail(SOTTO_EINVAL, "%s: has %d dimensions; scores need 1 (canaries)", path, scores->ndim);
    status = sotto_array_require_finite(scores, path, "scores");
    return status == SOTTO_OK ? sotto_array_convert(scores, SOTTO_F8) : status;
}

static sotto_status audit_coins_check_sides(const int64_t *heads, size_t n)
{
    size_t members = 0;
    for (size_t i = 0; i < n; i++)
        members += heads[i] != 0;
    return members > 0 && members < n
               ? SOTTO_OK
               : cli_fail(SOTTO_EINVAL, "audit: all %zu coins fell on one side; give more --canaries", n);
}

static const struct sotto_option *audit_row(const char *name)
{
    const struct sotto_option *row = sotto_option_table("audit_input");
    while (strcmp(row->name, name) != 0)
        row++;
    return row;
}

sotto_status audit_inputs_give_coins(struct audit_inputs *in, const struct options *o)
{
    int seeded = 0;
    sotto_status status = audit_coins_check(o);
    if (status == SOTTO_OK)
        status = audit_coins_load_scores(&in->scores, option_text(o, "scores"));
    if (status != SOTTO_OK)
        return status;
    const struct sotto_coins_request request = {.coins = option_text(o, "coin-file"),
                                                .certificate = option_text(o, "certificate"),
                                                .scores = in->scores.data,
                                                .n = in->scores.count,
                                                .guesses = option_count(o, "one-run")};
    if (2 * request.guesses > request.n)
        return cli_fail(SOTTO_EINVAL,
                        "audit: --one-run %zu guesses on each side of %zu canaries; expected at most %zu",
                        request.guesses, request.n, request.n / 2);
    status = sotto_array_make(&in->heads, SOTTO_I8, 1, &request.n);
    if (status == SOTTO_OK)
        status = sotto_coins_open(in->heads.data, &seeded, &request);
    if (status == SOTTO_OK && seeded)
        fprintf(stderr,
                "warning: %s: the coins were drawn from a seed, not by the operating system: this audit "
                "proves nothing\n",
                request.coins);
    if (status == SOTTO_OK)
        status = audit_coins_check_sides(in->heads.data, request.n);
    if (status == SOTTO_OK)
        status = audit_inputs_give(in, audit_row("scores"), &in->scores, o);
    if (status == SOTTO_OK)
        in->files[in->file_count++] = (struct sotto_report_input){"coins", request.coins};
    return status == SOTTO_OK ? audit_inputs_give(in, audit_row("membership"), &in->heads, o) : status;
}
