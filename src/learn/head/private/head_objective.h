/* head_objective.h - a linear head by objective perturbation under pure epsilon: a noisy mean centres the features, K-norm
 * noise enters a convex objective, and its minimum, found within a proved distance, is blurred by exact noise that hides
 * the rest. docs/derivations/objective.md has the proof. */
#ifndef HEAD_PRIVATE_HEAD_OBJECTIVE_H
#define HEAD_PRIVATE_HEAD_OBJECTIVE_H

#include "dp/noise/knorm.h"
#include "head/convex/head_convex.h"
#include "head/private/head_descent.h"

/* One noisy vector: K-norm noise inside, and a blur of what was computed. */
struct objective_noise {
    struct knorm_blocks inside;
    double error; /* L2 distance between what is computed and what the K-norm noise protects, at most */
    double blur;  /* scale of the Laplace noise */
    double end;   /* no number leaves [-end, end] */
};

/* Everything that is decided before a record is looked at. */
struct objective_plan {
    size_t records, inputs, classes;
    size_t outputs, dimension; /* weight vectors: 1 for two classes, else one a class; their numbers */
    double norm;               /* R': of a centred record with its constant, at most */
    double curvature;          /* tau: the share of the log-sum in the loss */
    double lambda;             /* over n: regularisation of the mean loss */
    double sensitivity;        /* of the sum of gradients, in the norm of the noise */
    double stop;               /* a gradient of this norm is small enough */
    struct objective_noise centre, weights;
    struct interval cost; /* epsilon of all of it */
};
/** cost.hi <= epsilon. EDOMAIN: not for this epsilon, or not that many records in double. */
sotto_status objective_plan_find(struct objective_plan *out, double epsilon, size_t n, size_t inputs,
                                 size_t classes);
/** The change of the log-density by the Hessian of one record, at most: ln of a ratio of determinants. */
struct interval objective_jacobian(double norm, double curvature, double lambda_sum, size_t classes);

/* The objective (1/n) sum of tau lse(W z) - (W z)_y, plus <linear, v> + lambda/2 |v|^2. v (dimension): W itself, or of
 * two classes W = (-v/2, v/2). */
struct objective {
    const struct objective_plan *plan;
    struct sotto_head_recipe recipe; /* of `convex` */
    struct head_convex convex;
    struct arena memory;
    double *linear, *v, *gradient, *room; /* room: of the solvers */
};
/** Memory for records z (n, d). */
sotto_status objective_open(struct objective *o, const struct objective_plan *plan,
                            const struct head_data *z);
void objective_close(struct objective *o);
/** Loads the records, of norm at most that of the plan; `noise` (dimension) enters the linear part. ESTOPPED. */
sotto_status objective_load(struct objective *o, const double *noise, const struct sotto_context *ctx);
/** Value and gradient at v. */
double objective_value(double *gradient, const double *v, void *objective);
/** v: within plan->weights.error of the minimum, both scaled into the ball of radius plan->weights.end. ESTOPPED. */
sotto_status objective_minimise(struct objective *o, const struct sotto_context *ctx);
/** The last resort of objective_minimise() alone: from zero, it arrives for certain. ESTOPPED. */
sotto_status objective_accelerate(struct objective *o);
/** weights (classes, d), (classes) of a head on z. */
void objective_export(double *weights, const struct objective_plan *plan, const double *v);

extern const double objective_radius, objective_constant; /* norm of z at most, and its constant */

#endif
