/* defence.h - what a defence is: one const record per file, one row in defence_list.h (docs/ADDING.md).
 *
 * A defence turns rows (posteriors or embeddings) into rows of the same shape. It is fitted once to what the
 * defender knows and then defends any rows, each by itself: threads, order and company change nothing. */
#ifndef DEFEND_DEFENCE_H
#define DEFEND_DEFENCE_H

#include "base/memory.h"
#include "io/text/parameters.h"
#include "sotto/lab/defend.h"

enum defence_need {
    DEFENCE_POSTERIORS = 1, /* rows are probabilities */
    DEFENCE_SECRETS = 2,    /* rows with their secrets, to learn from */
    DEFENCE_MEMBERSHIP = 4, /* and these are 0 and 1 */
    DEFENCE_LABELS = 8,     /* and the classes of the task */
    DEFENCE_SHARES = 16     /* rows are tables of numbers from 0 to 1 */
};

enum { DEFENCE_PARAMS = 10 }; /* numbers that the user may set as "NAME=VALUE" */

struct defence_fit {
    const struct sotto_defence_known *known; /* checked: finite, secrets >= 0 */
    size_t values, classes;                  /* of secrets and labels; 0: not known */
    double budget;
    const double *args; /* the parameters' values */
    uint64_t seed, key;
    const struct sotto_context *ctx;
};

struct defence {
    const char *name, *title, *source;
    const char *old_name; /* of earlier versions: works with a warning; NULL: none */
    const char *unit;     /* what the budget limits */
    double usual_budget;
    unsigned needs;
    const struct parameter *params; /* ends with a NULL name; NULL: none */
    /* *model is released also after a failure, unless it is NULL. */
    sotto_status (*fit)(void **model, const struct defence_fit *in);
    /* Defends n rows of d columns, called by several threads. cost (n). */
    sotto_status (*apply)(float *out, double *cost, const void *model, const float *x, size_t n, size_t d);
    void (*release)(void *model);
};

/* NULL-terminated, in list order. */
extern const struct defence *const defence_table[];
/* EUSAGE: the text lists the known ones. */
sotto_status defence_find(const struct defence **out, const char *name);
/* The usual values, then those of `settings`. EUSAGE: unknown parameter, or a value out of its range. */
sotto_status defence_arguments(double args[DEFENCE_PARAMS], const struct defence *d,
                               const char *const *settings);

struct sotto_defence {
    const struct defence *kind;
    void *model;
    double budget, args[DEFENCE_PARAMS];
    uint64_t seed;
    size_t columns; /* 0: any */
    size_t known;
};

/* Finite rows and, as `needs` says, probabilities (sum 1 within 1e-3) or shares. EINVAL names the row and
 * `what`. */
sotto_status defence_check_rows(const float *x, size_t n, size_t d, unsigned needs, const char *what);

/* A row's coin in [0, 1): from SHA-256 of key and row, each number rounded to a multiple of 2^-20 before, so
 * that a query that was moved a little meets the same coin. */
double defence_coin(uint64_t key, const float *row, size_t d);
/* A budget on a row's expected L1 distance, as in MemGuard's second phase: out (d) holds what the row is to
 * become, and stays so with probability min(budget / distance, 1), by the row's coin; else the row itself
 * goes there. Returns the expected distance. */
double budget_mix(float *out, const float *row, size_t d, double budget, uint64_t key);
/* The lowest of the largest. */
size_t defence_top(const float *row, size_t d);

#endif
