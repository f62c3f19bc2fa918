/* Any test of "in" against "out" obeys, for every epsilon with its delta(epsilon),
 *     tpr <= e^epsilon fpr + delta      and      1 - fpr <= e^epsilon (1 - tpr) + delta,
 * so the lowest of these lines over epsilon is a ceiling; as delta is exact for one coordinate, so is the
 * ceiling. Delta is convex in e^epsilon, hence each search below has one minimum; stopping early only
 * loosens. */
#include "run/stages/run_ceiling.h"

#include "base/status.h"

#include <math.h>

struct noise_at {
    const char *mechanism;
    double scale;
    const struct sotto_sensitivity *sensitivity;
};

static sotto_status run_ceiling_line(double *out, const struct noise_at *n, double epsilon, double fpr,
                                     int reversed)
{
    sotto_status status = SOTTO_OK;
    struct sotto_interval delta;
    TRY(sotto_delta(&delta, n->mechanism, n->scale, n->sensitivity, epsilon));
    *out = reversed ? 1 - exp(-epsilon) * (1 - delta.upper - fpr) : exp(epsilon) * fpr + delta.upper;
done:
    return status;
}

/* The lowest line of one kind, by thirds. Beyond epsilon = 60 no line at a rate above e^-60 is below 1. */
static sotto_status run_ceiling_lowest(double *out, const struct noise_at *n, double fpr, int reversed)
{
    enum { THIRDS = 100 };
    sotto_status status = SOTTO_OK;
    double from = 0, to = 60, best = 1;
    for (int i = 0; i < THIRDS; i++) {
        double left = from + (to - from) / 3, right = to - (to - from) / 3, at_left, at_right;
        TRY(run_ceiling_line(&at_left, n, left, fpr, reversed));
        TRY(run_ceiling_line(&at_right, n, right, fpr, reversed));
        best = fmin(best, fmin(at_left, at_right));
        if (at_left <= at_right)
            to = right;
        else
            from = left;
    }
    *out = best;
done:
    return status;
}

sotto_status run_ceiling_accuracy(double *out, const char *mechanism, double scale,
                                  const struct sotto_sensitivity *s)
{
    sotto_status status = SOTTO_OK;
    struct sotto_interval distance;
    TRY(sotto_delta(&distance, mechanism, scale, s, 0));
    *out = (1 + fmin(1, distance.upper)) / 2;
done:
    return status;
}

sotto_status run_ceiling_tpr(double *out, const char *mechanism, double scale,
                             const struct sotto_sensitivity *s, double fpr)
{
    sotto_status status = SOTTO_OK;
    struct noise_at n = {mechanism, scale, s};
    double forward, backward;
    REQUIRE(fpr > 0 && fpr < 1, "a false-positive rate must be between 0 and 1 (got %g)", fpr);
    TRY(run_ceiling_lowest(&forward, &n, fpr, 0));
    TRY(run_ceiling_lowest(&backward, &n, fpr, 1));
    *out = fmin(forward, backward);
done:
    return status;
}
