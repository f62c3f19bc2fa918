/* A private release of a network, in the order in which it happens: as head_release.c, on all ranks of a team. */
#include "canary/charged_records.h"
#include "dp/release/charge_hint.h"
#include "sotto/lab/train.h"
#include "sotto/private/team.h"

struct train_release {
    const struct sotto_train_release_request *request;
    size_t n; /* rows that are chosen */
    struct sotto_train_options options;
    struct sotto_train_privacy privacy;
    char checkpoint[CANARY_PATH]; /* where the request leaves it to us */
    struct charged_records charged;
};

static sotto_status train_release_prepare(struct train_release *r)
{
    sotto_status status = SOTTO_OK;
    const struct sotto_train_release_request *q = r->request;
    const char *output = q->privacy.output;
    r->privacy = q->privacy;
    r->n = q->rows ? q->n : q->data->n;
    if (q->options)
        r->options = *q->options;
    REQUIRE(!q->privacy.canaries, "canaries: a release makes its own; give their number, not the canaries");
    REQUIRE(output || !q->canaries.count,
            "canaries need an output, the file of the model: their coins are kept beside it");
    if (output && !r->options.checkpoint) {
        TRY(canary_path(r->checkpoint, output, ".checkpoint"));
        r->options.checkpoint = r->checkpoint;
    }
done:
    return status;
}

static sotto_status train_release_add_canaries(struct train_release *r, const struct sotto_team *team)
{
    const struct sotto_train_release_request *q = r->request;
    struct sotto_canary_request asked = {.data = q->data,
                                         .rows = q->rows,
                                         .n = r->n,
                                         .classes =
                                             q->privacy.classes ? q->privacy.classes : q->data->classes,
                                         .options = q->canaries,
                                         .public_rows = q->public_rows,
                                         .public_n = q->public_n,
                                         .output = q->privacy.output,
                                         .team = team};
    if (!q->canaries.seed)
        asked.options.seed = r->options.seed;
    return charged_records_add_canaries(&r->charged, &asked, q->privacy.adjacency);
}

/* The entry of the ledger is written first. */
static sotto_status train_release_train(struct sotto_train_release_result *out, struct train_release *r,
                                        const struct sotto_context *ctx)
{
    const struct sotto_train_release_request *q = r->request;
    struct sotto_canaries *c = r->charged.canaries;
    const struct sotto_dataset *set = c ? sotto_canaries_data(c) : q->data;
    r->privacy.spend = r->charged.spend;
    r->privacy.canaries = c;
    return (q->noisy_inputs ? sotto_train_noisy_inputs : sotto_train_private)(
        &out->network, &out->certificate, &out->training, set, c ? NULL : q->rows, c ? set->n : r->n,
        &r->options, &r->privacy, ctx);
}

static sotto_status train_release_answer(float *logits, const void *network,
                                         const struct sotto_dataset *records, const struct sotto_context *ctx)
{
    return sotto_network_predict_data(logits, network, records, NULL, records->n, 1, ctx);
}

sotto_status sotto_train_release(struct sotto_train_release_result *out,
                                 const struct sotto_train_release_request *request,
                                 const struct sotto_context *ctx)
{
    REQUIRE_GIVEN(out, request);
    REQUIRE_GIVEN(request->data);
    sotto_status status = SOTTO_OK;
    struct train_release r = {.request = request};
    const char *output = request->privacy.output;
    const struct sotto_team *team = ctx ? ctx->team : NULL;
    const bool writes = sotto_team_rank(team) == 0;
    struct sotto_context alone = ctx ? *ctx : (struct sotto_context){0};
    alone.team = NULL;
    *out = (struct sotto_train_release_result){0};
    TRY(train_release_prepare(&r));
    TRY(charged_records_identify(&r.charged, &request->privacy.spend, request->data));
    if (writes)
        TRY(charged_records_digest(&r.charged, request->data, request->rows, r.n, &alone));
    if (request->fresh && writes && r.options.checkpoint)
        TRY(sotto_train_discard(r.options.checkpoint));
    if (request->fresh && writes && request->canaries.count)
        sotto_canaries_forget(output);
    TRY(train_release_add_canaries(&r, team));
    if (!r.privacy.persons && !request->noisy_inputs)
        TRY(charged_records_find_persons(&r.privacy.persons, &r.charged, r.privacy.unit,
                                         !request->canaries.count, &alone));
    TRY(train_release_train(out, &r, ctx));
    if (!output || !writes)
        goto done;
    TRY(sotto_network_save_private(output, out->network, out->certificate)); /* and settles with the ledger */
    if (r.charged.canaries)
        TRY(sotto_canaries_ask(r.charged.canaries, train_release_answer, out->network, &alone));
    if (!request->keep_checkpoint)
        sotto_train_forget(r.options.checkpoint);
done:
    if (status != SOTTO_OK && out->certificate)
        charge_name_certificate(out->certificate, charge_continues(r.options.checkpoint));
    charged_records_clear(&r.charged);
    return status;
}
