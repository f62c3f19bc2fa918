/* An epsilon that was charged is spent, whatever became of the output: the person who reads the error must learn
 * it there, not from the ledger later. */
#include "dp/release/charge_hint.h"
#include "base/file.h"
#include "dp/certificate/certificate.h"
#include "dp/release/dpsgd_session.h"

const char *charge_continues(const char *checkpoint)
{
    return checkpoint && file_exists(checkpoint) ? "the same command continues"
                                                 : "a new run is charged again";
}

void charge_name_certificate(const struct sotto_certificate *c, const char *next)
{
    const struct sotto_account *a = &c->account;
    if (c->slot > 0)
        status_hint(
            "slot %zu of plan %.16s is spent, and nothing of it comes back; what is drawn anew is charged by "
            "itself, without planned: %s",
            c->slot, c->plan, next);
    else if (!c->seeded)
        status_hint("epsilon %.6g at delta %g (%s) was charged: charge %zu of the ledger; %s",
                    a->epsilon.upper, a->delta, sotto_adjacency_name(a->adjacency), c->entry, next);
    else
        status_hint("privacy was charged: charge %zu of the ledger; %s", c->entry, next);
}

void charge_name_steps(const struct sotto_dpsgd_session *steps, const char *next)
{
    struct status_record failure;
    struct sotto_certificate *certificate = NULL;
    if (!steps)
        return;
    status_get(&failure); /* a certificate may fail, and would overwrite it */
    bool made = sotto_dpsgd_session_certificate(&certificate, steps) == SOTTO_OK;
    status_set(&failure);
    if (made)
        charge_name_certificate(certificate, next);
    else
        status_hint("privacy was charged: charge %.16s... of the ledger; %s", dpsgd_session_entry(steps),
                    next);
    sotto_certificate_free(certificate);
}
