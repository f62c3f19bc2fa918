/* run_canaries.h - canaries in the private trainings of an experiment, and the audits by them. */
#ifndef RUN_STAGES_RUN_CANARIES_H
#define RUN_STAGES_RUN_CANARIES_H

#include "run/stages/run_network.h"
#include "sotto/canary.h"

/** Does this model train with canaries? */
bool run_has_canaries(const struct run *r, const struct run_model *m);
/** The set that a row's model is trained on, with fair coins of the operating system; for a training that goes on from its
 * checkpoint those of its beginning. *out is NULL without canaries. */
sotto_status run_canaries_make(struct sotto_canaries **out, const struct run *r, const struct run_model *m,
                               const char *output, const char *checkpoint);
/** Lets the trained model, a file, answer; saves canaries and scores beside it. Nothing to do for NULL. */
sotto_status run_canaries_save(struct sotto_canaries *c, const struct run *r, const struct run_model *m,
                               const char *file);
/** Which rows of the case (`records` of it) are no members, as a canary took their place. */
sotto_status run_canaries_displaced(bool *out, const struct run *r, const struct run_model *m);
/** "protected/NAME.safetensors.canaries.npz" */
/** Records of a row's training: those that canaries leave, and the canaries. */
size_t run_canaries_records(const struct run *r, const struct run_model *m);
void run_canaries_file(char out[RUN_PATH], const struct run_model *m);
/** Part of a stage's key. */
void run_canaries_key(struct json **key, const struct run_canary_audit *a);

/** Opens the coins, for the guesses that were fixed in the experiment, and tests the certificate:
 * attacks/NAME.canaries.json. */
sotto_status run_stage_canaries(struct run *r, const struct run_model *m);
/** What the page shows of it; NULL: the model has no canaries. */
sotto_status run_canaries_facts(struct json **out, const struct run *r, const struct run_model *m);

#endif
