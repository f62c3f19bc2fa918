/* smoothing_private.h - inside of randomised smoothing. */
#ifndef SMOOTHING_SMOOTHING_PRIVATE_H
#define SMOOTHING_SMOOTHING_PRIVATE_H

#include "base/memory.h"
#include "sotto/lab/smoothing.h"

#include <stdbool.h>

/** "gaussian", ...; the norm of its radii, "l2" or "l1". */
const char *smoothing_noise_name(enum sotto_smoothing_noise noise);
const char *smoothing_norm_name(enum sotto_smoothing_noise noise);
/** Writes the statement. `embeddings`: inputs may be embeddings. */
void smoothing_state(struct sotto_smoothing_result *r, bool embeddings);
/** Fills in options, the curve, the counts and what many rows mean together. EINVAL, ENOMEM. */
sotto_status smoothing_summarise(struct sotto_smoothing_result *r, const struct sotto_smoothing_options *o,
                                 bool labelled);

#endif
