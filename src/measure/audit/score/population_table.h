/* population_table.h - what regressions on known non-members learn from: the population's signals, and its
 * features (else its classes), all standardised. */
#ifndef AUDIT_SCORE_POPULATION_TABLE_H
#define AUDIT_SCORE_POPULATION_TABLE_H

#include "audit/score/score_attack.h"

struct population_table {
    size_t n, d;           /* d: inputs of a record, the constant 1 last */
    bool features;         /* inputs are features; else the class as ones and zeros, or nothing */
    double *x, *y;         /* (n, d), (n): standardised inputs and signals */
    double *mean, *scale;  /* (d) */
    double centre, spread; /* of the signals */
    double *block;
};
/* ENOMEM. */
sotto_status population_table_make(struct population_table *out, const struct attack_input *in);
void population_table_clear(struct population_table *t);
/* x (d): the inputs of a record of `in`; returns its signal. Both standardised like the population's. */
double population_table_row(double *x, const struct population_table *t, const struct attack_input *in,
                            size_t row);

#endif
