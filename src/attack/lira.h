/* lira.h - Carlini et al. 2022: the signal of a record is Gaussian under models trained with it and under
 * models trained without it; the score is the logarithm of the likelihood ratio. */
#ifndef ATTACK_LIRA_H
#define ATTACK_LIRA_H

#include "attack/attack_kind.h"

/* prior: how many values the pooled variance counts for; INFINITY: pooled variance only. */
sotto_status lira_online(double *scores, const struct attack_input *in, double prior);

#endif
