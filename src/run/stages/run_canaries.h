/* run_canaries.h - canaries in the private trainings of an experiment, and the audits by them. */
#ifndef RUN_STAGES_RUN_CANARIES_H
#define RUN_STAGES_RUN_CANARIES_H

#include "run/stages/run_network.h"

/** Does this model train with canaries? */
bool run_has_canaries(const struct run *r, const struct run_model *m);
/** What a row's release asks for. */
struct run_canary_request {
    struct sotto_canary_options options; /* count 0: none */
    float *rows;                         /* (n, values of a record) of the public part; base_free() */
    size_t n;
};
/** Coins of an earlier training that this one does not go on from are forgotten; checkpoint "": there is none. */
sotto_status run_canaries_ask(struct run_canary_request *out, const struct run *r, const struct run_model *m,
                              const char *output, const char *checkpoint);
/** Which rows of the case (`records` of it) are no members, as a canary took their place. */
sotto_status run_canaries_displaced(bool *out, const struct run *r, const struct run_model *m);
/** Records of a row's training: those that canaries leave, and the canaries. */
size_t run_canaries_records(const struct run *r, const struct run_model *m);
/** "protected/NAME.safetensors.canaries.npz" */
void run_canaries_file(char out[RUN_PATH], const struct run_model *m);
/** Part of a stage's key. */
void run_canaries_key(struct json **key, const struct run_canary_audit *a);

/** Opens the coins, for the guesses that were fixed in the experiment, and tests the certificate:
 * attacks/NAME.canaries.json. */
sotto_status run_stage_canaries(struct run *r, const struct run_model *m);
/** What the page shows of it; NULL: the model has no canaries. */
sotto_status run_canaries_facts(struct json **out, const struct run *r, const struct run_model *m);

#endif
