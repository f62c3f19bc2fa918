/* ml_leaks.h - the learning adversaries of ML-Leaks (Salem et al. 2019): one network for all classes on the
 * largest posteriors, falling. */
#ifndef ATTACK_QUERY_ML_LEAKS_H
#define ATTACK_QUERY_ML_LEAKS_H

#include "attack/query/attack_net.h"

/* How many posteriors are looked at: 3, or fewer where a model has fewer classes. */
size_t ml_leaks_width(size_t classes, size_t other_classes);
/* Scores of the records by a network that learnt from `answers`; fixes the threshold. */
sotto_status ml_leaks_judge(double *scores, struct query_result *result, const struct output_table *answers,
                            const struct query_input *in);

#endif
