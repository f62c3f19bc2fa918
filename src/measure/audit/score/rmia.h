/* rmia.h - Zarifzadeh, Liu and Shokri 2024: how much likelier a record is under the target than under the
 * reference models, compared with the population. With one view the comparison with a common population keeps
 * the order of g(x) = ln p(x | target) - ln P(x), so that is the score; the population only adds ties. */
#ifndef AUDIT_SCORE_RMIA_H
#define AUDIT_SCORE_RMIA_H

#include "audit/score/score_attack.h"

/* g of one record. offline: P(x) from OUT models only, its IN part extrapolated as a P_out + (1 - a); else
 * the mean of the IN part and the OUT part. A part without models leaves it to the other: *fallback. */
double rmia_gain(bool *fallback, const struct attack_input *in, size_t row, bool offline, double a);
/* g of every record. */
sotto_status rmia_run(struct attack_output *out, const struct attack_input *in, bool offline, double a);
/* The published score: the share of population records z with g(x) - g(z) >= ln gamma, by sorting. */
sotto_status rmia_population(double *scores, const struct attack_input *in, const double *gain, double a,
                             double gamma);

#endif
