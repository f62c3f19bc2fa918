/* linear_model.h - softmax regression on standardised features, for attacks and checks that need a plain
 * classifier. */
#ifndef AUDIT_FIT_LINEAR_MODEL_H
#define AUDIT_FIT_LINEAR_MODEL_H

#include "base/memory.h"

/* Which rows of x (.., d) and y take part. */
struct linear_rows {
    const float *x;
    const int64_t *y;  /* 0 .. classes-1, by row of x */
    const size_t *row; /* (n) */
    size_t n, d;
};
struct linear_model {
    size_t d, classes;
    double *mean, *scale; /* (d) of the rows it learned from; a constant column counts 0 */
    double *weight;       /* (classes - 1, d + 1): the last column is the intercept; class 0 has none */
};

/* Minimises the mean cross-entropy plus lambda/2 times the squared norm of the weights (not the intercepts).
 * ENOMEM. */
sotto_status linear_model_fit(struct linear_model *out, const struct linear_rows *in, size_t classes,
                              double lambda, const struct sotto_context *ctx);
void linear_model_clear(struct linear_model *m);
/* logits (classes) of one record; that of class 0 is 0. */
void linear_model_logits(double *logits, const struct linear_model *m, const float *x);

#endif
