/* federated_score.h - what an attacker makes of a run: one score for each candidate, higher = member. */
#ifndef ATTACK_FEDERATED_FEDERATED_SCORE_H
#define ATTACK_FEDERATED_FEDERATED_SCORE_H

#include "federated/federated_run.h"
#include "attack/query/whitebox_features.h"

/* ln of the norm of all layers' gradients together. */
double federated_log_gradient(const struct whitebox_features *v);
/* sum (parameters) += scale times the gradient of the record that v looked at (federation_noise.c). */
void federated_add_gradient(double *sum, const struct whitebox_features *v, double scale);
/* Minus the mean of the loss at what the attacker sees; or what a network says of losses and norms of gradients which
 * learnt on the first half of the candidates. */
sotto_status federated_score(double *scores, const struct federation *f, const struct federated_attacker *a,
                             const struct federated_run *run, const struct federated_plan *plan,
                             const struct sotto_context *ctx);

#endif
