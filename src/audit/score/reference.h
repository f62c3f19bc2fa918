/* reference.h - what the reference models say about each record, for attacks that compare with them.
 *
 * The signal of a record under a model is posterior_signal(). A record's IN models were trained on it, its
 * OUT models were not. */
#ifndef AUDIT_SCORE_REFERENCE_H
#define AUDIT_SCORE_REFERENCE_H

#include "audit/score/score_attack.h"

/* Signals of one record over its IN (or OUT) models. A record with fewer than 2 of them takes its class's
 * mean (without any in its class: everybody's), and says so. */
struct reference_side {
    size_t count;
    double mean, squares; /* squares: sum of squared residuals about the record's own mean */
    bool fallback;
};
struct reference_record {
    struct reference_side in, out;
};
struct reference_stats {
    struct reference_record *record; /* (n) */
    /* pooled: residuals about the records' own means, never about a common one */
    double in_variance, out_variance;
};

/* EINVAL: no record has 2 OUT models (or, with `online`, 2 IN models); ENOMEM. */
sotto_status reference_stats_make(struct reference_stats *out, const struct attack_input *in, bool online);
void reference_stats_clear(struct reference_stats *s);
/* A record's variance drawn towards the pooled one, which counts for as much as `prior` values: the fewer
 * models, the more it weighs. prior INFINITY: the pooled one. */
double reference_variance(const struct reference_side *side, double pooled, double prior);

#endif
