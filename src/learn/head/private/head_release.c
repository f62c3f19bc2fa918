/* A private release of a head, in the order in which it happens. Program, experiment, Python and C all come through here. */
#include "base/checkpoint_lock.h"
#include "canary/charged_records.h"
#include "dp/release/charge_hint.h"
#include "head/model/head_trainer.h"
#include "sotto/lab/head.h"

#include <unistd.h>

struct head_release {
    const struct sotto_head_release_request *request;
    struct sotto_dataset records; /* the request's, borrowed */
    struct sotto_head_privacy privacy;
    char checkpoint[CANARY_PATH]; /* where the request leaves it to us */
    struct head_origin origin;
    struct charged_records charged;
};

static sotto_status head_release_prepare(struct head_release *r)
{
    sotto_status status = SOTTO_OK;
    const struct sotto_head_release_request *q = r->request;
    struct sotto_head_recipe recipe;
    r->privacy = q->privacy;
    r->records = (struct sotto_dataset){.name = "features", .n = q->n, .n_train = q->n, .columns = q->d};
    r->records.features = q->x, r->records.labels = q->y, r->records.classes = q->classes;
    TRY(head_recipe_resolve(&recipe, q->recipe));
    TRY(head_trainer_require_private(&recipe));
    REQUIRE(!q->privacy.canaries, "canaries: a release makes its own; give their number, not the canaries");
    REQUIRE(q->privacy.output || !q->canaries.count,
            "canaries need an output, the file of the model: their coins are kept beside it");
    if (q->privacy.output && !q->privacy.checkpoint) {
        TRY(canary_path(r->checkpoint, q->privacy.output, ".checkpoint"));
        r->privacy.checkpoint = r->checkpoint;
    }
done:
    return status;
}

/* Persons are units where they are known, the trainer can, and nothing else is asked for. */
static sotto_status head_release_find_persons(struct head_release *r, const struct sotto_context *ctx)
{
    const struct sotto_head_recipe *recipe = r->request->recipe;
    const bool can = recipe && recipe->trainer &&
                     sotto_head_trainer_reads(recipe->trainer, "rows_per_step") &&
                     !r->request->canaries.count;
    if (r->privacy.persons)
        return SOTTO_OK;
    return charged_records_find_persons(&r->privacy.persons, &r->charged, r->privacy.unit, can, ctx);
}

/* Of the recipe's seed, which is no secret: whom they displace. */
static sotto_status head_release_add_canaries(struct head_release *r)
{
    const struct sotto_head_release_request *q = r->request;
    struct sotto_canary_request asked = {.data = &r->records,
                                         .n = q->n,
                                         .classes = q->classes,
                                         .options = q->canaries,
                                         .public_rows = q->public_rows,
                                         .public_n = q->public_n,
                                         .output = q->privacy.output};
    if (!q->canaries.seed && q->recipe)
        asked.options.seed = q->recipe->seed;
    return charged_records_add_canaries(&r->charged, &asked, q->privacy.adjacency);
}

/* The entry of the ledger is written first. */
static sotto_status head_release_train(struct sotto_head_release_result *out, struct head_release *r,
                                       const struct sotto_context *ctx)
{
    struct sotto_canaries *c = r->charged.canaries;
    const struct sotto_dataset *set = c ? sotto_canaries_data(c) : &r->records;
    r->privacy.spend = r->charged.spend;
    r->privacy.canaries = c;
    return sotto_head_train_private(&out->head, &out->certificate, set->features, set->labels, set->n,
                                    r->records.columns, r->records.classes, r->request->recipe, &r->privacy,
                                    ctx);
}

static sotto_status head_release_answer(float *logits, const void *head, const struct sotto_dataset *records,
                                        const struct sotto_context *ctx)
{
    return sotto_head_predict(logits, head, records->features, records->n, records->columns, 1, ctx);
}

sotto_status sotto_head_release(struct sotto_head_release_result *out,
                                const struct sotto_head_release_request *request,
                                const struct sotto_context *ctx)
{
    REQUIRE_GIVEN(out, request);
    REQUIRE_GIVEN(!request->n || request->x, !request->n || request->y);
    sotto_status status = SOTTO_OK;
    struct head_release r = {.request = request};
    const char *output = request->privacy.output;
    *out = (struct sotto_head_release_result){0};
    TRY(head_release_prepare(&r));
    TRY(charged_records_identify(&r.charged, &request->privacy.spend, &r.records));
    TRY(head_origin_read(&r.origin, &request->files, request->d, request->classes, ctx));
    TRY(charged_records_digest(&r.charged, &r.records, NULL, request->n, ctx));
    if (request->fresh && r.privacy.checkpoint)
        TRY(checkpoint_discard(r.privacy.checkpoint));
    if (request->fresh && request->canaries.count)
        sotto_canaries_forget(output);
    TRY(head_release_add_canaries(&r));
    TRY(head_release_find_persons(&r, ctx));
    TRY(head_release_train(out, &r, ctx));
    head_origin_note(out->head, &r.origin);
    if (!output)
        goto done;
    TRY(sotto_head_save_private(output, out->head, out->certificate)); /* and settles with the ledger */
    if (r.charged.canaries)
        TRY(sotto_canaries_ask(r.charged.canaries, head_release_answer, out->head, ctx));
    if (!request->keep_checkpoint)
        unlink(r.privacy.checkpoint);
done:
    if (status != SOTTO_OK && out->certificate)
        charge_name_certificate(out->certificate, charge_continues(r.privacy.checkpoint));
    head_origin_clear(&r.origin);
    charged_records_clear(&r.charged);
    return status;
}
