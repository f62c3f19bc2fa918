/* federated_run.h - one training of a federation, with or without an active attacker, and what is seen of it. */
#ifndef ATTACK_FEDERATED_FEDERATED_RUN_H
#define ATTACK_FEDERATED_FEDERATED_RUN_H

#include "federated/federation.h"

/* The records that attackers judge, as record numbers in a random order, so that turns say nothing of who is a member. */
struct federated_candidates {
    size_t *record, n;
    uint8_t *member; /* (n): for the results alone */
};
struct federated_attacker {
    const char *name, *title;
    /* sees the target's uploads and sends what it likes; else: a participant, which sees the common model */
    bool server;
    bool isolate; /* sends the target its own upload back */
    bool ascend;  /* raises the loss of candidates */
};
struct federated_run {
    float *common,
        *upload; /* (observed, parameters): common model and the target's upload of the last rounds */
    float *last; /* (parameters): the model that the target gets in the end */
};

/* Resolved options of the public call. */
struct federated_plan {
    const struct sotto_federated_options *options;
    const struct federated_candidates *candidates;
    const char *folder; /* NULL: no files */
};
sotto_status federated_run(struct federated_run *out, struct federation *f,
                           const struct federated_attacker *a, const struct federated_plan *plan,
                           const struct sotto_context *ctx);
void federated_run_clear(struct federated_run *r);

#endif
