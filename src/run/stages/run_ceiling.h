/* run_ceiling.h - what noise leaves to any attacker, from its curve of (epsilon, delta) alone: ceilings that
 * hold if the sensitivity is a bound, and are shown next to measured attacks. */
#ifndef RUN_STAGES_RUN_CEILING_H
#define RUN_STAGES_RUN_CEILING_H

#include "sotto/account.h"

/** Balanced accuracy that no attack on one record exceeds: (1 + total variation) / 2; logistic noise of scale
 * s: (1 + tanh(t / 4)) / 2 with t = l1 / s. EDOMAIN: the mechanism's curve needs a norm that is not given. */
sotto_status run_ceiling_accuracy(double *out, const char *mechanism, double scale,
                                  const struct sotto_sensitivity *s);
/** True-positive rate that no attack exceeds at a false-positive rate in (0, 1). Logistic noise: the
 * odds-ratio curve, where the log-odds of both rates differ by t. */
sotto_status run_ceiling_tpr(double *out, const char *mechanism, double scale,
                             const struct sotto_sensitivity *s, double fpr);

#endif
