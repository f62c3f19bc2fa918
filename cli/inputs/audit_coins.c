/* Canaries at the audit: their scores are there before the coins are opened. */
#include "inputs/audit_inputs.h"

#include <stdio.h>
#include <stdlib.h>

/* Members (heads) first, as an audit takes its scores. */
static sotto_status audit_coins_split(struct audit_inputs *in, const double *score, const int64_t *heads,
                                      size_t n)
{
    size_t members = 0, placed[2];
    for (size_t i = 0; i < n; i++)
        members += heads[i] != 0;
    if (members == 0 || members == n)
        return cli_fail(SOTTO_EINVAL, "audit: all %zu coins fell on one side; give more --canaries", n);
    in->scores = calloc(n, sizeof *in->scores);
    if (!in->scores)
        return cli_fail(SOTTO_ENOMEM, "audit: out of memory for %zu scores", n);
    placed[1] = 0, placed[0] = members;
    for (size_t i = 0; i < n; i++)
        in->scores[placed[heads[i] != 0]++] = score[i];
    in->input.member_scores = in->scores, in->input.nonmember_scores = in->scores + members;
    in->input.n_member = members, in->input.n_nonmember = n - members;
    return SOTTO_OK;
}

static sotto_status audit_coins_check(const struct audit_inputs *in, const struct options *o)
{
    if (option_given(o, "membership"))
        return cli_fail(SOTTO_EUSAGE, "audit: --coin-file takes the place of --membership; give one of them");
    if (!option_given(o, "scores"))
        return cli_fail(SOTTO_EUSAGE, "audit: --coin-file needs the scores of the canaries; give --scores "
                                      "OUTPUT.canaries.npz:white_box, or :black_box");
    if (!option_given(o, "one-run") || option_count(o, "one-run") == 0)
        return cli_fail(SOTTO_EUSAGE,
                        "audit: --coin-file needs --one-run K, a number of guesses fixed beforehand");
    if (in->input.member_f8 || in->input.member_losses)
        return cli_fail(SOTTO_EUSAGE,
                        "audit: --coin-file cannot be combined with arrays of members; omit these");
    return SOTTO_OK;
}

sotto_status audit_inputs_load_coins(struct audit_inputs *in, const struct options *o)
{
    struct sotto_array *scores = NULL;
    int64_t *heads = NULL;
    int seeded = 0;
    sotto_status status = audit_coins_check(in, o);
    if (status == SOTTO_OK)
        status = audit_inputs_read(&scores, in, o, "scores", "scores", "scores", 1, "1 (canaries)");
    if (status == SOTTO_OK)
        status = sotto_array_convert(scores, SOTTO_F8);
    if (status != SOTTO_OK)
        return status;
    const struct sotto_coins_request request = {.coins = option_text(o, "coin-file"),
                                                .certificate = option_text(o, "certificate"),
                                                .scores = scores->data,
                                                .n = scores->count,
                                                .guesses = option_count(o, "one-run")};
    if (2 * request.guesses > request.n)
        return cli_fail(SOTTO_EINVAL,
                        "audit: --one-run %zu guesses on each side of %zu canaries; expected at most %zu",
                        request.guesses, request.n, request.n / 2);
    heads = calloc(scores->count ? scores->count : 1, sizeof *heads);
    if (!heads)
        return cli_fail(SOTTO_ENOMEM, "audit: out of memory for %zu coins", scores->count);
    status = sotto_coins_open(heads, &seeded, &request);
    if (status == SOTTO_OK && seeded)
        fprintf(stderr,
                "warning: %s: the coins were drawn from a seed, not by the operating system: this audit "
                "proves nothing\n",
                request.coins);
    if (status == SOTTO_OK)
        in->files[in->file_count++] = (struct sotto_report_input){"coins", request.coins};
    if (status == SOTTO_OK)
        status = audit_coins_split(in, scores->data, heads, scores->count);
    free(heads);
    return status;
}
