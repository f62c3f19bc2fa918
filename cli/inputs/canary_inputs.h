/* canary_inputs.h - what `head` and `train` share: canaries among the records, and what is saved of them. */
#ifndef CLI_INPUTS_CANARY_INPUTS_H
#define CLI_INPUTS_CANARY_INPUTS_H

#include "options/options.h"

/* --canaries, --canary-kind, --canary-public. */
extern const struct option_row canary_rows[];

/* Who asks: a training that is not private tosses for being in or out. */
struct canary_asker {
    const struct sotto_spend *spend; /* NULL: plain */
    enum sotto_adjacency adjacency;
    uint64_t seed; /* of the recipe: the canaries are no secret */
    size_t classes;
    int fresh;
};
/* *out stays NULL without --canaries. data, rows (n): the records that were chosen. EUSAGE, and the errors of
 * sotto_canaries_make(). */
sotto_status canary_inputs_make(struct sotto_canaries **out, const struct sotto_dataset *data,
                                const int64_t *rows, size_t n, const struct canary_asker *asker,
                                const struct options *o);
/* The purpose of the ledger entries, with the commitment to the coins: *text is to be freed. Without canaries nothing
 * happens. */
sotto_status canary_inputs_charge(struct sotto_spend *spend, char **text, const struct sotto_canaries *c);
/* Lets a trained model answer, and saves the canaries and their scores beside --output. */
typedef sotto_status canary_answers(float *logits, const void *model, const struct sotto_dataset *records,
                                    const struct sotto_context *ctx);
sotto_status canary_inputs_save(struct sotto_canaries *c, canary_answers *answers, const void *model,
                                size_t classes, const struct sotto_context *ctx);

#endif
