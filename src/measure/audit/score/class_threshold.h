/* class_threshold.h - Song and Mittal 2021: a threshold of its own for every class, chosen on a shadow
 * model's records and applied unchanged. */
#ifndef AUDIT_SCORE_CLASS_THRESHOLD_H
#define AUDIT_SCORE_CLASS_THRESHOLD_H

#include "audit/score/score_attack.h"

/* A class needs this many shadow records that were trained on, and as many that were not; else the global
 * threshold stands in. */
enum { CLASS_THRESHOLD_LEAST = 30 };

/* (classes + 1) thresholds, the last for everybody; fallback (classes): 1 where that one stands in. Each has
 * the largest TPR - FPR on the shadow's records for `metric`, an attack that needs outputs, labels or losses
 * only. Always finite. */
sotto_status class_thresholds(double *thresholds, uint8_t *fallback, const struct score_attack *metric,
                              const struct attack_input *in, double least);
/* score = metric - threshold of the record's class; decides at 0. */
sotto_status class_threshold_run(struct attack_output *out, const struct score_attack *metric,
                                 const struct attack_input *in, double least);
/* The shadow's records as an attack sees a target's. */
struct attack_input shadow_input(const struct attack_input *in);

extern const struct parameter class_threshold_params[];

#endif
