/* shadow_calibration.h - a shadow of the attacker's own, attacked exactly like the target: he knows its members, so it
 * tells him which threshold and which parameter to use. */
#ifndef ATTACK_SHADOW_SHADOW_CALIBRATION_H
#define ATTACK_SHADOW_SHADOW_CALIBRATION_H

#include "attack/shadow/shadow_set.h"
#include "sotto/attack.h"

struct shadow_calibration {
    struct shadow_set shadows;
    struct sotto_target *target; /* the first shadow; its weights can be seen */
    struct head_data records;    /* IN first, then OUT, as many of each */
    size_t n_member;
    float *x;
    int64_t *y;
};
/* An attack with its parameter: fills scores (records->n) from what it learns from t. */
typedef sotto_status (*shadow_calibration_score)(double *scores, struct sotto_target *t,
                                                 const struct head_data *records, double parameter,
                                                 void *arg);

/* Trains the shadow and keeps at most `most` records of each side. Adds to result->facts; result->pending if
 * other shards are not done, and then nothing else is there. Clear in any case. */
sotto_status shadow_calibration_make(struct shadow_calibration *out, struct query_result *result,
                                     const struct query_input *in, size_t most);
void shadow_calibration_clear(struct shadow_calibration *r);
/* What the attack reaches on the shadow: its area, and the threshold of the largest TPR - FPR. */
sotto_status shadow_calibration_run(double *auc, double *threshold, const struct shadow_calibration *r,
                                    shadow_calibration_score score, double parameter, void *arg);

#endif
