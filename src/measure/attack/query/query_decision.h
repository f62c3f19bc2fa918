/* query_decision.h - what an attack's own threshold is worth: precision, recall and accuracy with
 * intervals. */
#ifndef ATTACK_QUERY_QUERY_DECISION_H
#define ATTACK_QUERY_QUERY_DECISION_H

#include "attack/query_attack.h"

/* Adds to `out`: a record is called a member when its score exceeds `threshold`. Members are the
 * first n_member of scores (n) and labels (n). Precision counts the records as given; per class it is the
 * median over the classes with a flagged record, as in Shokri et al. ENOMEM. */
sotto_status query_decision(struct facts *out, const double *scores, const int64_t *labels, size_t n_member,
                            size_t n, size_t classes, double threshold, double confidence);

#endif
