/* reference.h - what the reference models say about each record, for attacks that compare with them.
 *
 * The signal of a record under a model is posterior_signal(). A record's IN models were trained on it, its
 * OUT models were not. A model that plays the target is no reference of that target: it is left out.
 *
 * All that attacks ask of a row of signals is its summary. An audit makes the summaries of all records in one
 * pass over the matrix, for several targets at once (reference_table.h), and the matrix need not lie in
 * memory. Where no table was made, a summary is computed when it is asked for: the same bits. */
#ifndef AUDIT_SCORE_REFERENCE_H
#define AUDIT_SCORE_REFERENCE_H

#include "audit/score/score_attack.h"

enum reference_side_index { REFERENCE_OUT, REFERENCE_IN };

/* One record under one target's references. Sums run over the models in their order. */
struct reference_summary {
    double mean[2], squares[2]; /* of signals; squares: sum of squared residuals about that mean */
    double probability[2];      /* sum of probabilities of the record's label */
    /* Logarithm of the mean of the IN models' mean probability and the OUT models'. Equal weights: in a pool where each
     * record trained half of the models, a plain mean over all models but one tells by its counts whether that one was
     * trained on the record. */
    double log_mean;
    double below; /* OUT models with a lower signal than the target's; ties count half */
    uint32_t count[2];
};
/* In a table: what it holds, or computed into *own. EITHER of the two parts may be asked for alone: */
enum reference_part {
    REFERENCE_MOMENTS = 0,       /* count, mean, squares */
    REFERENCE_PROBABILITIES = 1, /* and probability, log_mean */
    REFERENCE_RANK = 2           /* and below */
};
const struct reference_summary *reference_summary_of(struct reference_summary *own,
                                                     const struct attack_input *in, size_t row,
                                                     unsigned parts);

/* Signals of one record over its IN (or OUT) models. A record with fewer than 2 of them takes its class's
 * mean (without any in its class: everybody's), and says so. */
struct reference_side {
    size_t count;
    double mean, squares;
    bool fallback;
};
struct reference_record {
    struct reference_side in, out;
};
struct reference_mean {
    double sum;
    size_t count;
};
struct reference_stats {
    const struct attack_input *input;
    /* pooled: residuals about the records' own means, never about a common one */
    double in_variance, out_variance;
    const struct reference_summary *summary; /* (n) */
    struct reference_summary *own;           /* NULL: they are the input's */
    struct reference_mean *by_class[2];      /* (classes + 1), the last for everybody; NULL: not pooled */
};

/* EINVAL: no record has 2 OUT models (or, with `online`, 2 IN models); ENOMEM. The input stays in use. */
sotto_status reference_stats_make(struct reference_stats *out, const struct attack_input *in, bool online);
void reference_stats_clear(struct reference_stats *s);
struct reference_record reference_record_of(const struct reference_stats *s, size_t row);
/* A record's variance drawn towards the pooled one, which counts for as much as `prior` values: the fewer
 * models, the more it weighs. prior INFINITY: the pooled one. */
double reference_variance(const struct reference_side *side, double pooled, double prior);

#endif
