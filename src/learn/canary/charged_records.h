/* charged_records.h - what every private training begins with: whose records are charged, the digests by which a ledger knows them
 * again, and the canaries among them. Heads and networks take these steps in the same order (head_release.c, train_release.c). */
#ifndef CANARY_CHARGED_RECORDS_H
#define CANARY_CHARGED_RECORDS_H

#include "canary/canaries.h"
#include "sotto/ledger.h"
#include "sotto/release.h"

/** Start with {0}; clear also after a failure. Its parts borrow from each other, so it stays where it is. */
struct charged_records {
    struct sotto_spend spend; /* for the training */
    struct sotto_source_records source;
    unsigned char (*digests)[SOTTO_DIGEST]; /* NULL: they were given, or none are needed */
    char *purpose;                          /* with the commitment to the coins */
    struct sotto_canaries *canaries;        /* NULL: none */
    int64_t *persons;                       /* of the records; NULL: not looked up */
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
/** The person of each record, where the provenance names rows of a set that was imported with persons: `can`: the trainer takes persons as
 *  units, and nothing else is asked for. *persons lives as long as *c; NULL: records are the unit, or persons are not known. Errors of
 *  sotto_provenance_persons(). */
sotto_status charged_records_find_persons(const int64_t **persons, struct charged_records *c,
                                          enum sotto_unit unit, bool can, const struct sotto_context *ctx);
void charged_records_clear(struct charged_records *c);

#endif
