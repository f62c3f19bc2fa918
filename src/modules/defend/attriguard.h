/* attriguard.h - AttriGuard (Jia and Gong 2018): both phases but for how a single change is found.
 *
 * Phase I: for every value of the attribute, the smallest change of a row with which the defender's
 * classifier answers that value. Phase II: one of them by chance, so that the classifier's answers are as
 * close to the prior as the budget allows (attriguard_sample.h). The value that the classifier answers already costs
 * nothing. */
#ifndef DEFEND_ATTRIGUARD_H
#define DEFEND_ATTRIGUARD_H

#include "defend/defence.h"
#include "defend/defence_net.h"

struct attriguard;

/* One thread's row. */
struct attriguard_look {
    const struct attriguard *a;
    struct defence_look net;
    size_t d;
    const float *row;
    double *x;                             /* (d): input of the classifier */
    double *change, *best, *mean, *square; /* (d) each: room for a search */
    float *moved;                          /* (values, d): what phase I found */
    double *cost, *prior, *q;              /* (values) each */
    double *memory;
};

/* Finds the change to `value` and writes the row with it to `moved`; returns its cost, INFINITY if there is
 * none. */
typedef double (*attriguard_search)(float *moved, struct attriguard_look *look, size_t value);

struct attriguard {
    struct defence_net net;
    size_t values;
    double *prior; /* (values) */
    double budget, args[DEFENCE_PARAMS];
    uint64_t key;
    attriguard_search search;
};

/* The first settings of every form. */
enum { ATTRIGUARD_PRIOR, ATTRIGUARD_EPOCHS, ATTRIGUARD_RATE, ATTRIGUARD_STEPS, ATTRIGUARD_OWN };
#define ATTRIGUARD_PARAMS(steps)                                                                             \
    {                                                                                                        \
        "prior", "target distribution of the attribute; 1: as among the known rows, 0: uniform", 1, 0, 1,    \
        true},                                                                                               \
        {"epochs", "epochs of the defender's classifier", 50, 1, 1e6, true},                                 \
        {"lr", "learning rate of the defender's classifier (Adam)", 1e-3, 1e-9, 10, false},                  \
    {                                                                                                        \
        "steps", "gradient steps of one search", steps, 1, 1e6, true                                         \
    }

/* Behind struct defence: `model` is a struct attriguard. */
sotto_status attriguard_fit(void **model, const struct defence_fit *in, attriguard_search search);
sotto_status attriguard_apply(float *out, double *cost, const void *model, const float *x, size_t n,
                              size_t d);
void attriguard_release(void *model);

/* What the classifier answers to look->x; its logits stay in look->net. */
size_t attriguard_answer(struct attriguard_look *look);
/* Gradient by look->x of (largest logit of another value) - (logit of value), of the last answer. */
const double *attriguard_pull(struct attriguard_look *look, size_t value);

#endif
