/* query_reference.h - attacks that compare the target with shadows: the pool is trained here, the scores are
 * those of the attacks on arrays, of one view of each record or of several. */
#ifndef ATTACK_QUERY_QUERY_REFERENCE_H
#define ATTACK_QUERY_QUERY_REFERENCE_H

#include "audit/score/score_attack.h"
#include "attack/query_attack.h"

/* Trains the pool (or finds it in the cache) and runs the attack on arrays of that name ("NAME-views" when
 * options ask for several). Online: shadows trained on half of the records to judge each. Offline: on half of
 * the attacker's records each, so that none saw a record to judge. */
sotto_status query_reference_run(double *scores, struct query_result *result, const struct query_input *in,
                                 const char *name, bool offline);

enum {
    QUERY_REFERENCE_NEEDS = QUERY_POSTERIORS | QUERY_LABELS | QUERY_SHADOWS,
    QUERY_OFFLINE_NEEDS = QUERY_REFERENCE_NEEDS | QUERY_ATTACKER,
    QUERY_REFERENCES = 64
};

#endif
