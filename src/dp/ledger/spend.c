#include "dp/ledger/spend.h"
#include "dp/ledger/charge.h"
#include "sotto/io.h"

struct sotto_spend spend_complete(const struct sotto_spend *given, const char *dataset_id,
                                  const char *purpose, uint64_t stream)
{
    struct sotto_spend s = *given;
    if (!s.dataset_id)
        s.dataset_id = dataset_id;
    if (!s.purpose)
        s.purpose = purpose;
    s.insecure_seed += stream;
    return s;
}

sotto_status spend_check(const char **dataset_id, char condition[CONDITION_TEXT], const struct sotto_spend *s)
{
    sotto_status status = SOTTO_OK;
    TRY(charge_identity(dataset_id, s->dataset_id, s->provenance));
    TRY(ledger_require_budget(s->budget));
    TRY(sotto_provenance_once(s->provenance));
    TRY(certificate_condition(condition, s->condition, s->provenance));
done:
    return status;
}

sotto_status spend_require_adjacency(enum sotto_adjacency adjacency)
{
    if (adjacency != SOTTO_REPLACE_ONE && adjacency != SOTTO_ZERO_OUT)
        return status_fail(
            SOTTO_EINVAL,
            "adjacency %s: expected replace-one or zero-out, as the number of records is public "
            "in private training",
            sotto_adjacency_name(adjacency));
    return SOTTO_OK;
}

sotto_status spend_noise(struct noise **stream, const struct sotto_spend *s)
{
    return s->insecure ? noise_open_insecure(stream, s->insecure_seed) : noise_open(stream);
}

const char *spend_randomness(const struct sotto_spend *s)
{
    return s->insecure ? "noise was seeded: no privacy guarantee" : "os";
}
