/* ball_window.h - where the composed losses lie, and how fine a grid over them may be. Plain double
 * arithmetic: it only chooses; what is left outside is bounded afterwards in balls. */
#ifndef DP_BALL_WINDOW_H
#define DP_BALL_WINDOW_H

#include "dp/ball/ball_private.h"

struct ball_window {
    double low, high;             /* losses of one step worth a grid */
    double start, end;            /* losses of the composition worth a table */
    double tilt_left, tilt_right; /* Chernoff: exponents that show how little lies outside */
};
/** `swapped`: of the pair with P and Q exchanged; `low` and `high` are those of the pair as it is. Leaves out
 * a mass of about `rest`. ENOMEM; EDOMAIN: losses beyond 1e6. */
sotto_status ball_window_find(struct ball_window *out, struct ball_law *law, double count, double rest,
                              bool swapped);

#endif
