/* The double finite sum loses digits with k and the double contour is slow for small k: a way is used where
 * its own interval is narrow enough to be compared at 1e-10. */
#include "dp/account/accountant_crosscheck.h"

#include "dp/account/certified_composed.h"
#include "dp/ball/ball.h"
#include "dp/mechanism/logistic_compose.h"
#include "dp/pld/pld_plan.h"

#include <stdio.h>

static const double AGREE = 1e-10;

static void accountant_crosscheck_add(struct crosscheck_way *ways, size_t *n, const char *name,
                                      struct interval value)
{
    if (value.hi - value.lo <= AGREE / 2 * value.hi)
        ways[(*n)++] = (struct crosscheck_way){name, value};
}

enum { SUM_MOST = 300, CONTOUR_LEAST = 6 };

static sotto_status accountant_crosscheck_measure(void *arg)
{
    sotto_status status = SOTTO_OK;
    struct crosscheck *a = arg;
    struct ball_step step = {BALL_LOGISTIC, a->t, 1, 1, false};
    struct interval epsilon = certified_composed_epsilon(a->t, a->count, a->delta), grid;
    double k = (double)a->count, at = epsilon.hi;
    accountant_crosscheck_add(a->epsilon, &a->epsilon_count, "balls", epsilon);
    accountant_crosscheck_add(a->epsilon, &a->epsilon_count, "double",
                              logistic_composed_epsilon(iv(a->t), k, a->delta));
    if (a->count <= SUM_MOST) {
        accountant_crosscheck_add(a->exact, &a->exact_count, "finite sum",
                                  logistic_finite_sum(a->t, (int)a->count, at));
        accountant_crosscheck_add(a->exact, &a->exact_count, "finite sum in balls",
                                  ball_finite_sum(a->t, a->count, at));
    }
    if (a->count >= CONTOUR_LEAST) {
        accountant_crosscheck_add(a->exact, &a->exact_count, "contour", logistic_contour(a->t, k, at));
        accountant_crosscheck_add(a->exact, &a->exact_count, "contour in balls",
                                  ball_contour(a->t, a->count, at));
    }
    TRY(ball_compose_epsilon(&grid, &step, a->count, a->delta, NAN));
    a->grid[a->grid_count++] = (struct crosscheck_way){"grid in balls", grid};
done:
    return status;
}

sotto_status accountant_crosscheck(struct crosscheck *out, double t, size_t count, double delta,
                                   const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    struct crosscheck a = {.t = t, .delta = delta, .count = count};
    struct pair_sampled scalar = {mechanism_find("logistic"), t, 1, PLD_REMOVE};
    struct pld_part part = {
        .upper = pair_of_sampled(&scalar), .lower = pair_of_sampled(&scalar), .count = (double)count};
    struct interval grid;
    TRY(pld_epsilon(&grid, &part, 1, delta, 1, ctx));
    TRY(ball_run(accountant_crosscheck_measure, &a, ctx));
    a.grid[a.grid_count++] = (struct crosscheck_way){"grid in doubles", grid};
    *out = a;
done:
    return status;
}

/* Within 1e-10, and not excluding each other. */
static bool accountant_crosscheck_same(struct interval x, struct interval y)
{
    return x.lo <= y.hi && y.lo <= x.hi && fmax(x.hi, y.hi) - fmin(x.lo, y.lo) <= AGREE * fmax(x.hi, y.hi);
}

static bool all_same(const struct crosscheck_way *w, size_t n, const char *what, char *why, size_t capacity)
{
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < i; j++)
            if (!accountant_crosscheck_same(w[i].value, w[j].value)) {
                snprintf(why, capacity, "%s: %s [%.15g, %.15g], %s [%.15g, %.15g]", what, w[j].name,
                         w[j].value.lo, w[j].value.hi, w[i].name, w[i].value.lo, w[i].value.hi);
                return false;
            }
    return true;
}

bool agreement_holds(const struct crosscheck *a, char *why, size_t capacity)
{
    if (!all_same(a->exact, a->exact_count, "delta", why, capacity) ||
        !all_same(a->epsilon, a->epsilon_count, "epsilon", why, capacity))
        return false;
    if (a->exact_count < 2 || a->epsilon_count < 2) {
        snprintf(why, capacity, "only %zu methods for delta and %zu for epsilon are narrow enough to compare",
                 a->exact_count, a->epsilon_count);
        return false;
    }
    struct interval exact = a->epsilon[0].value;
    for (size_t i = 0; i < a->grid_count; i++)
        if (!(a->grid[i].value.lo <= exact.lo && exact.hi <= a->grid[i].value.hi)) {
            snprintf(why, capacity, "%s [%.15g, %.15g] does not contain [%.15g, %.15g]", a->grid[i].name,
                     a->grid[i].value.lo, a->grid[i].value.hi, exact.lo, exact.hi);
            return false;
        }
    snprintf(why, capacity,
             "%zu methods for delta, %zu for epsilon %.12g agree within 1e-10; %zu grids contain it",
             a->exact_count, a->epsilon_count, exact.hi, a->grid_count);
    return true;
}
