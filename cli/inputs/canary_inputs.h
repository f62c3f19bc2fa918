/* canary_inputs.h - what `head` and `train` share: canaries among the records, and what is saved of them. */
#ifndef CLI_INPUTS_CANARY_INPUTS_H
#define CLI_INPUTS_CANARY_INPUTS_H

#include "options/options.h"

/* --canaries, --canary-kind, --canary-public. */
extern const struct option_row canary_rows[];

/* What the options ask for: how many of which kind, and the rows (N, values) of --canary-public, which stay empty without it; `data`:
 * the records. EUSAGE. */
sotto_status canary_inputs_read(struct sotto_canary_options *out, struct sotto_array *public_rows,
                                const struct sotto_dataset *data, const struct options *o);
/* For a training that is not private, by its seed: the canaries are no secret. *out stays NULL without --canaries. data, rows (n): the
 * records that were chosen. EUSAGE, and the errors of sotto_canaries_make(). */
sotto_status canary_inputs_make(struct sotto_canaries **out, const struct sotto_dataset *data,
                                const int64_t *rows, size_t n, uint64_t seed, const struct options *o);

#endif
