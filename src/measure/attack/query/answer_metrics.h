/* answer_metrics.h - one answer of a model in a few numbers, as attacks by networks read them. */
#ifndef ATTACK_QUERY_ANSWER_METRICS_H
#define ATTACK_QUERY_ANSWER_METRICS_H

#include <stddef.h>
#include <stdint.h>

/* -ln p up to 16 nats, as a share of that. */
float answer_nats(float p);
enum { ANSWER_METRICS = 5 };
/* Loss at label y, largest posterior, standard deviation of the posteriors, entropy and modified entropy (Song and Mittal 2021)
 * of p (classes); losses as by answer_nats(), the entropy as a share of ln(classes). */
void answer_metrics(float out[ANSWER_METRICS], const float *p, int64_t y, size_t classes);

#endif
