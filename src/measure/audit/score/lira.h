/* lira.h - Carlini et al. 2022: the signal of a record is Gaussian under models trained with it and under
 * models trained without it; the score is the logarithm of the likelihood ratio. */
#ifndef AUDIT_SCORE_LIRA_H
#define AUDIT_SCORE_LIRA_H

#include "audit/score/score_attack.h"

struct lira_settings {
    double prior;      /* how many values the pooled variance counts for; INFINITY: pooled variance only */
    double per_record; /* from this many IN and OUT models on, a record's own variances stand alone */
    bool monotone; /* a signal above its IN mean counts as if it were at the mean: never evidence against */
};
/* ln N(signal; IN) - ln N(signal; OUT). Marks records that took the mean of their class. */
sotto_status lira_online(struct attack_output *out, const struct attack_input *in, struct lira_settings how);
/* Only OUT models: (signal - mean) / spread. per_record as above; `monotone` is not looked at. */
sotto_status lira_offline(struct attack_output *out, const struct attack_input *in, struct lira_settings how);
/* One record's part of lira_online(). */
double lira_ratio(double signal, double in_mean, double in_variance, double out_mean, double out_variance,
                  bool monotone);

extern const struct parameter lira_params[], lira_offline_params[];

#endif
