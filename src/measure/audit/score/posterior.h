/* posterior.h - one record's class probabilities in log space, from logits or from probabilities. */
#ifndef AUDIT_SCORE_POSTERIOR_H
#define AUDIT_SCORE_POSTERIOR_H

#include "audit/score/score_attack.h"

/* Everything the metric attacks read. From logits nothing is ever clamped: a logit gap of 200 nats stays a
 * gap of 200. From probabilities, arguments of logarithms are kept at or above half of the input's step, or 1e-30 (Song and Mittal's
 * reference does the same). */
double posterior_log(const struct attack_input *in, size_t row, size_t k); /* log p_k */
double posterior_loss(const struct attack_input *in, size_t row);          /* -log p_y */
double posterior_entropy(const struct attack_input *in, size_t row);       /* -sum p log p, 0 log 0 = 0 */
double posterior_modified_entropy(const struct attack_input *in,
                                  size_t row); /* Song and Mittal 2021, eq. 8 */
/* ln(p_y / (1 - p_y)), the statistic that LiRA models as a Gaussian: from logits z_y - LSE of the others,
 * without cancellation; from losses -ln(e^loss - 1). */
double posterior_signal(const struct attack_input *in, size_t row);
/* ln p_y */
double posterior_log_likelihood(const struct attack_input *in, size_t row);
double signal_of_loss(double loss);
/* A signal as probabilities rounded to `step` could have given it; step 0: itself. */
double signal_of_rounded(double signal, double step);
double probability_of_signal(double signal);                        /* p_y */
double log_probability_of_signal(double signal);                    /* ln p_y */
size_t posterior_argmax(const struct attack_input *in, size_t row); /* ties: the lowest class */

#endif
