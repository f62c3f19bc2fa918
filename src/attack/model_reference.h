/* model_reference.h - attacks that compare the target with shadows trained on half of the records to judge
 * each: the pool is trained here, the scores are those of the attacks on arrays. */
#ifndef ATTACK_MODEL_REFERENCE_H
#define ATTACK_MODEL_REFERENCE_H

#include "attack/attack_kind.h"
#include "attack/model_attack.h"

/* Trains the pool (or finds it in the cache) and runs an attack that needs IN and OUT reference signals. */
sotto_status model_reference_run(double *scores, struct model_result *result, const struct model_input *in,
                                 const struct attack *attack);

enum { MODEL_REFERENCE_NEEDS = MODEL_POSTERIORS | MODEL_LABELS | MODEL_SHADOWS, MODEL_REFERENCES = 64 };

#endif
