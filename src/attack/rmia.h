/* rmia.h - Zarifzadeh, Liu and Shokri 2024: how much likelier a record is under the target than under the
 * reference models, compared with the population. With one view the comparison with a common population keeps
 * the order of ln p(x | target) - ln P(x), so that is the score: the population could only add ties. */
#ifndef ATTACK_RMIA_H
#define ATTACK_RMIA_H

#include "attack/attack_kind.h"

/* offline: P(x) from OUT models only, its IN part extrapolated as a P_out + (1 - a). */
sotto_status rmia_run(double *scores, const struct attack_input *in, bool offline, double a);

#endif
