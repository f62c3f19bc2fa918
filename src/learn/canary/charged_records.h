/* charged_records.h - what every private training begins with: whose records are charged, the digests by which a ledger knows them
 * again, and the canaries among them. Heads and networks take these steps in the same order (head_release.c, train_release.c). */
#ifndef CANARY_CHARGED_RECORDS_H
#define CANARY_CHARGED_RECORDS_H

#include "canary/canaries.h"
#include "sotto/ledger.h"

/** Start with {0}; clear also after a failure. Its parts borrow from each other, so it stays where it is. */
struct charged_records {
    struct sotto_spend spend; /* for the training */
    struct sotto_source_records source;
    unsigned char (*digests)[SOTTO_DIGEST]; /* NULL: they were given, or none are needed */
    char *purpose;                          /* with the commitment to the coins */
    struct sotto_canaries *canaries;        /* NULL: none */
};
/** Whose: given->dataset_id, or else what the provenance or the set says. EINVAL: neither, or two that differ. */
sotto_status charged_records_identify(struct charged_records *c, const struct sotto_spend *given,
                                      const struct sotto_dataset *data);
/** rows (n; NULL: all) of the set. Of arrays that come from an imported set, as the provenance says, the rows of that set. Nothing
 * of a public set, nor where digests were given. Errors of sotto_dataset_digests() and sotto_provenance_digests(). */
sotto_status charged_records_digest(struct charged_records *c, const struct sotto_dataset *data,
                                    const int64_t *rows, size_t n, const struct sotto_context *ctx);
/** Tosses their coins, and puts the commitment to these into what is charged. `asked` lacks what the spending and the adjacency say.
 * Nothing for 0 canaries, but all ranks of a team must have none. Errors of sotto_canaries_make(). */
sotto_status charged_records_add_canaries(struct charged_records *c, const struct sotto_canary_request *asked,
                                          enum sotto_adjacency adjacency);
void charged_records_clear(struct charged_records *c);

#endif
