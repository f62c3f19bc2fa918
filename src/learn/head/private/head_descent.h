/* head_descent.h - what the trainer "dp-gd" adds to DP-SGD on a linear head: full batches, a first share of the
 * steps spent on the mean and the mean square of the records, features centred and scaled by what comes out,
 * weights averaged over the last steps. docs/derivations/descent.md. */
#ifndef HEAD_PRIVATE_HEAD_DESCENT_H
#define HEAD_PRIVATE_HEAD_DESCENT_H

#include "base/memory.h"
#include "head/model/head_trainer.h"

/* A step releases (classes, d + 1) numbers of the gradient, then d + 1 of the moments. Steps up to `centring` have
 * moments alone, later ones gradients alone. */
struct head_descent {
    const struct head_data *data; /* NULL: another trainer */
    size_t centring, steps;       /* the first steps, and all */
    double clip;                  /* R */
    double *moments;              /* (d + 1): the sum without noise, of contributions of norm 1 at most */
    double *centre, scale;        /* (d), in units of R; z = scale (x / R - centre) */
    float *z;                     /* (n, d) */
};

bool head_descent_is(const struct sotto_head_recipe *r);
/** Called twice, to measure and to place. */
void head_descent_layout(struct head_descent *t, struct arena *memory, const struct head_data *data,
                         const struct sotto_head_recipe *r);
/** Fills in moments. */
void head_descent_sum(struct head_descent *t);
/** Centre, scale and z from `released` (d + 1), the sum of all centring steps with noise; contributions were of norm
 * `norm` and the noise of a step of standard deviation `deviation`. */
void head_descent_centre(struct head_descent *t, const double *released, double norm, double deviation);
/** Is the weight behind this step part of the average? */
bool head_descent_averages(const struct head_descent *t, size_t step);
size_t head_descent_averaged(const struct head_descent *t);
/** r->step_size if it is given; else from public numbers alone: noise, steps, n, d and classes. */
double head_descent_rate(const struct sotto_head_recipe *r, size_t n, size_t inputs, size_t classes);
/** parameters (classes, d), (classes): of a head on x, from weights w on z in the same order. */
void head_descent_export(float *parameters, const struct head_descent *t, const double *w);

extern const double head_descent_momentum;

#endif
