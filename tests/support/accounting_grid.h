/* accounting_grid.h - tests/golden/known/accounting_grid.csv (tools/golden_accounting.py), and our answer to a
 * row. */
#ifndef TESTS_ACCOUNTING_GRID_H
#define TESTS_ACCOUNTING_GRID_H

#include "sotto/account.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PLD_LOWER, PLD_UPPER, RDP_UPPER, PRV_LOWER, PRV_UPPER, EXACT, BOUNDS };
struct grid_row {
    char mechanism[24], note[128];
    double parameter, rate, delta;
    size_t compose;
    double bound[BOUNDS]; /* NAN: the package gave none */
    int distrusted;       /* bounds set to NAN by grid_distrust() */
};

/* The next row; false at the end. */
static inline bool grid_read(struct grid_row *row, FILE *file)
{
    char line[512], *at = line, *field;
    *row = (struct grid_row){.rate = NAN};
    if (!fgets(line, sizeof line, file))
        return false;
    line[strcspn(line, "\n")] = '\0';
    for (int i = 0; (field = strsep(&at, ",")) != NULL; i++) {
        double x = field[0] ? strtod(field, NULL) : NAN;
        if (i == 0)
            snprintf(row->mechanism, sizeof row->mechanism, "%.23s", field);
        else if (i == 1)
            row->parameter = x;
        else if (i == 2)
            row->rate = x;
        else if (i == 3)
            row->compose = (size_t)strtoul(field, NULL, 10);
        else if (i == 4)
            row->delta = x;
        else if (i < 5 + BOUNDS)
            row->bound[i - 5] = x;
        else if (i == 5 + BOUNDS)
            snprintf(row->note, sizeof row->note, "%.127s", field);
    }
    return true;
}

/* Drops bounds that prove nothing. A package's lower bound above another's upper bound (or one of them on the
 * wrong side of the closed form): both go. That happens where doubles run out: ten thousand steps, or a delta
 * as small as the rounding errors of a transform, which is why dp-accounting's lower estimates for delta
 * 1e-15 all go (for one Gaussian release of sigma 1 it says 10.245, the truth is 8.166). */
static inline void grid_distrust(struct grid_row *row)
{
    static const int lowers[] = {PLD_LOWER, PRV_LOWER}, uppers[] = {PLD_UPPER, RDP_UPPER, PRV_UPPER};
    bool wrong[BOUNDS] = {false};
    double exact = row->bound[EXACT], slack = 1 + 1e-9;
    wrong[PLD_LOWER] = row->delta < 2e-15 && !isnan(row->bound[PLD_LOWER]);
    /* dp-accounting's upper bounds that ball arithmetic refutes (src/core/dp/ball, lower ends
     * 7.8494600, 14.9930096, 7.4802257 and 56.5074770): its transform loses a delta of 1e-10 in rounding. */
    static const double refuted[][3] = {{1.1, 0.01, 10000}, {0.4, 0.001, 1000}, {4, 0.25, 300}, {5, 1, 1000}};
    for (int i = 0; i < 4; i++)
        if (strcmp(row->mechanism, i < 3 ? "gaussian" : "laplace") == 0 && row->parameter == refuted[i][0] &&
            row->rate == refuted[i][1] && (double)row->compose == refuted[i][2] && row->delta < 2e-10)
            wrong[PLD_UPPER] = true;
    /* One step of discrete Laplace noise is randomised response: the binomial sum in 60 digits is
     * 1.447445217605476 here, below dp-accounting's lower estimate. */
    if (strcmp(row->mechanism, "discrete-laplace") == 0 && row->parameter == 20 && row->compose == 30 &&
        row->delta < 2e-10)
        wrong[PLD_LOWER] = wrong[PLD_UPPER] = true;
    for (int u = 0; u < 3; u++) {
        if (row->bound[uppers[u]] * slack < exact)
            wrong[uppers[u]] = true;
        for (int l = 0; l < 2; l++) {
            if (row->bound[lowers[l]] > exact * slack)
                wrong[lowers[l]] = true;
            if (isnan(exact) && row->bound[lowers[l]] > row->bound[uppers[u]] * slack)
                wrong[lowers[l]] = wrong[uppers[u]] = true;
        }
    }
    for (int i = 0; i < BOUNDS; i++)
        if (wrong[i]) {
            row->bound[i] = NAN;
            row->distrusted++;
        }
}

static inline sotto_status grid_account(struct sotto_account *out, const struct grid_row *row)
{
    struct sotto_sensitivity s = {.l1 = 1, .l2 = 1, .source = SOTTO_SENSITIVITY_GIVEN};
    struct sotto_sampled sampled = {.mechanism = row->mechanism,
                                    .noise_multiplier = row->parameter,
                                    .sample_rate = row->rate,
                                    .steps = row->compose,
                                    .delta = row->delta,
                                    .clipping = SOTTO_NORM_L2,
                                    .adjacency = SOTTO_ADD_REMOVE,
                                    .sampling = SOTTO_SAMPLING_POISSON};
    double scale = row->parameter;
    if (row->rate < 1)
        return sotto_account_sampled(out, &sampled, NULL);
    if (strncmp(row->mechanism, "discrete", 8) == 0)
        s.value_step = 1;
    if (strcmp(row->mechanism, "randomised-response") == 0)
        scale = 1 / log((2 - row->parameter) / row->parameter); /* epsilon of one answer */
    return sotto_account_release(out, row->mechanism, scale, &s, row->delta, row->compose, NULL);
}

#endif
