/* An epsilon that was charged is spent, whatever became of the output: the person who reads the error must learn
 * it there, not from the ledger later. */
#include "dp/release/charge_hint.h"
#include "base/memory.h"
#include "io/json/json.h"

#include <string.h>

void charge_name_certificate(const char *text, const char *next)
{
    struct status_record failure;
    struct json *certificate = NULL;
    status_get(&failure); /* reading may fail, and would overwrite it */
    bool read = json_parse(&certificate, text, strlen(text), "certificate") == SOTTO_OK;
    status_set(&failure);
    const struct json *proved = json_find(certificate, "guarantee.proved"),
                      *account = json_kind(proved) == JSON_KIND_OBJECT
                                     ? proved
                                     : json_find(certificate, "guarantee.conditional");
    const char *adjacency = json_text(json_find(account, "adjacency"));
    long long entry = (long long)json_whole(json_find(certificate, "ledger.index"));
    if (read && adjacency)
        status_hint("epsilon %.6g at delta %g (%s) was charged: entry %lld of the ledger; %s",
                    json_number(json_find(account, "epsilon.upper")),
                    json_number(json_find(account, "delta")), adjacency, entry, next);
    else
        status_hint("privacy was charged: entry %lld of the ledger; %s", entry, next);
    json_free(certificate);
}

void charge_name_steps(const struct sotto_dpsgd_session *steps, const char *next)
{
    struct status_record failure;
    char *certificate = NULL;
    if (!steps)
        return;
    status_get(&failure);
    bool made = sotto_dpsgd_session_certificate(&certificate, steps) == SOTTO_OK;
    status_set(&failure);
    if (made)
        charge_name_certificate(certificate, next);
    else
        status_hint("privacy was charged: entry %.16s... of the ledger; %s", sotto_dpsgd_session_entry(steps),
                    next);
    sotto_text_free(certificate);
}
