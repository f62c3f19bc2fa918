#include "canary/charged_records.h"
#include "dp/ledger/charge.h"

sotto_status charged_records_identify(struct charged_records *c, const struct sotto_spend *given,
                                      const struct sotto_dataset *data)
{
    sotto_status status = SOTTO_OK;
    const struct sotto_provenance *p = given->provenance;
    const char *carried = p && p->dataset_id[0] ? p->dataset_id : data->dataset_id;
    c->spend = *given;
    TRY(charge_identity(&c->spend.dataset_id, given->dataset_id || !carried[0] ? given->dataset_id : carried,
                        p));
    if (given->source)
        c->source = *given->source;
    else
        c->source.public_set = sotto_dataset_is_public(carried); /* a public name alone proves nothing */
    c->spend.source = &c->source;
done:
    return status;
}

sotto_status charged_records_digest(struct charged_records *c, const struct sotto_dataset *data,
                                    const int64_t *rows, size_t n, const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    const struct sotto_provenance *p = c->spend.provenance;
    const bool imported = !data->dataset_id[0] && p && p->set[0] && p->rows;
    if (c->source.public_set || c->source.digests)
        goto done;
    c->source.n = imported ? p->n : n;
    NEW(c->digests, c->source.n ? c->source.n : 1);
    TRY(imported ? sotto_provenance_digests(c->digests, p, ctx)
                 : sotto_dataset_digests(c->digests, data, rows, n, ctx));
    c->source.digests = (const unsigned char(*)[SOTTO_DIGEST])c->digests;
done:
    return status;
}

sotto_status charged_records_add_canaries(struct charged_records *c, const struct sotto_canary_request *asked,
                                          enum sotto_adjacency adjacency)
{
    sotto_status status = SOTTO_OK;
    struct sotto_canary_request own = *asked;
    if (!own.options.count && !own.team)
        goto done;
    own.relation = adjacency == SOTTO_REPLACE_ONE ? SOTTO_CANARY_ONE_OF_TWO : SOTTO_CANARY_OR_NOTHING;
    own.insecure = c->spend.insecure;
    own.insecure_seed = c->spend.insecure_seed;
    TRY(sotto_canaries_make(&c->canaries, &own));
    if (!c->canaries)
        goto done;
    TRY(sotto_canaries_purpose(&c->purpose, c->canaries, c->spend.purpose));
    c->spend.purpose = c->purpose;
done:
    return status;
}

sotto_status charged_records_find_persons(const int64_t **persons, struct charged_records *c,
                                          enum sotto_unit unit, bool can, const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    const struct sotto_provenance *of = c->spend.provenance;
    *persons = NULL;
    if (unit == SOTTO_UNIT_RECORD || (unit == SOTTO_UNIT_AUTO && !can) || !of || !of->rows_per_person ||
        !of->set[0] || !of->rows)
        goto done;
    NEW(c->persons, of->n);
    TRY(sotto_provenance_persons(c->persons, of, ctx));
    *persons = c->persons;
done:
    if (status != SOTTO_OK && unit == SOTTO_UNIT_AUTO)
        status_hint(
            "or give {unit=record}: each row is then sampled by itself, and all rows of a person count");
    return status;
}

void charged_records_clear(struct charged_records *c)
{
    base_free(c->persons);
    sotto_canaries_free(c->canaries);
    base_free(c->digests);
    base_free(c->purpose);
    *c = (struct charged_records){0};
}
