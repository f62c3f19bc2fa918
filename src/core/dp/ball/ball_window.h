/* ball_window.h - where losses lie, and where those of the composition do. Plain double arithmetic: it only
 * chooses; what is left outside is bounded afterwards in balls. */
#ifndef DP_BALL_WINDOW_H
#define DP_BALL_WINDOW_H

#include "dp/ball/ball_private.h"

/* Losses of one step worth a grid. */
struct ball_range {
    double low, high;
};
/* Losses of the composition worth a table. */
struct ball_window {
    double start, end;
    double tilt_left, tilt_right; /* Chernoff: exponents that show how little lies outside */
};

/** Ends beyond which the upper law's `count`-fold composition has a mass of at most about `rest`. */
void ball_window_of(struct ball_window *out, const struct ball_pair *pair, double count, double rest);
/** The range of a step (of the pair as it is), and roughly, from a coarse grid, the window; `swapped`: of the
 * pair with P and Q exchanged. EDOMAIN: losses beyond 1e6. */
sotto_status ball_window_find(struct ball_range *range, struct ball_window *out, struct ball_law *law,
                              double count, double rest, bool swapped);

#endif
