/* lbfgs.h - limited-memory BFGS (Nocedal 1980) with Armijo backtracking: one step at a time for a caller with
 * a stop of its own, or a whole minimisation. */
#ifndef NUM_LBFGS_H
#define NUM_LBFGS_H

#include "base/memory.h"

#include <stdbool.h>

enum { LBFGS_MEMORY = 10 }; /* moves that are remembered */

/* Value at w (n), and its gradient. */
typedef double lbfgs_function(double *gradient, const double *w, void *arg);

struct lbfgs {
    size_t n, stored; /* entries; moves remembered so far (0: forget them) */
    /* of the gradient where nothing is remembered; 0: 1, or 1 / its norm if that is less */
    double first_scale;
    double least_curvature; /* a move is remembered if move . change exceeds this times |change|^2 */
    int halvings;           /* lengths that a step tries */
    lbfgs_function *f;
    void *arg;
    double value, *w, *gradient;                                  /* at w */
    double *direction, *trial, *trial_gradient, *steps, *changes; /* steps, changes: (LBFGS_MEMORY, n) */
    double products[LBFGS_MEMORY];
};
enum lbfgs_move {
    LBFGS_STUCK, /* no descent along the direction; w stays */
    LBFGS_LEVEL, /* moved, with a value that is no lower but for rounding */
    LBFGS_LOWER
};

/* Numbers of `room` below. */
size_t lbfgs_room(size_t n);
/* Evaluates f at s->w; n, f, arg, w, gradient (n), first_scale, least_curvature and halvings were set. room
 * (lbfgs_room(n)) is borrowed. */
void lbfgs_start(struct lbfgs *s, double *room);
enum lbfgs_move lbfgs_step(struct lbfgs *s);

/* Lowers f from w on, until no entry of the gradient is above `tolerance`, no step helps, or `steps` are
 * made; w holds the best point. ENOMEM. */
sotto_status minimise(double *w, size_t n, lbfgs_function *f, void *arg, double tolerance, size_t steps);

#endif
