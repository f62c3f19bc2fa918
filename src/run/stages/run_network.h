/* run_network.h - whole networks that an experiment trains by DP-SGD. */
#ifndef RUN_STAGES_RUN_NETWORK_H
#define RUN_STAGES_RUN_NETWORK_H

#include "run/stages/run_stages.h"
#include "sotto/certificate.h"
#include "sotto/ledger.h"

/** The network that a row of `protect` trains; NULL: a head, or noise on one. */
const struct run_network *run_network_of(const struct run *r, const struct run_model *m);
/** "cnn", or "fine-tuned encoder". */
const char *run_network_title(const struct run_network *n);
/** Before anything is computed: every network fits the records, and DP-SGD can train it. ECONFIG. */
sotto_status run_check_networks(const struct run *r);
/** Its part of a stage's key. */
void run_network_key(struct json **key, const struct run *r, const struct run_network *n);

struct planned_event;
/** What its training on n records charges. */
sotto_status run_network_event(struct planned_event *out, const struct run *r, const struct run_model *m,
                               size_t n, const struct sotto_spend *spend);

struct run_canary_request;
/** Releases it, trained on the records of a case; checkpoint "": none. The caller frees the certificate, which is there after a failure
 * too where it was charged. */
sotto_status run_network_train(struct sotto_certificate **out, size_t *parameters, const struct run *r,
                               const struct run_model *m, const struct sotto_spend *spend, const char *output,
                               const char *checkpoint, const struct run_canary_request *canaries);

#endif
