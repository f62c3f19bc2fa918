/* falsify.h - a black-box attack on a claim of privacy: outputs on two neighbouring inputs in, a proof that
 * the claim is false (or none) out.
 *
 * As in StatDP (Ding et al. 2018) the event is chosen on one half of the outputs and tested on the other; as
 * in DP-Sniper (Bichsel et al. 2021) a learned score is among the candidates. The test proves a lower bound
 * of delta(epsilon) by Clopper-Pearson, with Bonferroni's correction over all tests of a run. For logistic
 * noise the log-odds ratio of any test is bounded by the shift; that is tested as well. */
#ifndef SELFTEST_FALSIFY_H
#define SELFTEST_FALSIFY_H

#include "base/status.h"

#include <stdbool.h>

enum {
    FALSIFY_WIDTH = 64,
    FALSIFY_EPSILONS = 5,
    FALSIFY_TESTS = 2 * FALSIFY_EPSILONS + 2 /* most per claim */
};

/** Outputs on the two inputs: draws x width doubles each, row-major. */
struct falsify_outputs {
    const double *world[2];
    size_t draws;
    int width; /* 1 .. FALSIFY_WIDTH */
};
/** What is claimed of the pair, in both directions. */
struct falsify_claim {
    double epsilon[FALSIFY_EPSILONS];
    double delta[FALSIFY_EPSILONS]; /* upper bound of delta at that epsilon */
    double log_odds;                /* bound of the log-odds ratio of any test; NAN: none claimed */
};
struct falsify_verdict {
    bool caught;    /* the claim is false, with the confidence asked for */
    double epsilon; /* caught: where the proof is strongest, else 0; NAN: the log-odds ratio */
    double claimed; /* what is claimed there */
    double proved;  /* proved lower bound of it */
    char event[64]; /* the event that proves it; "" when none was found */
};
/** `error` is the probability with which one test may accuse a true claim. ENOMEM. */
sotto_status falsify(struct falsify_verdict *out, const struct falsify_outputs *outputs,
                     const struct falsify_claim *claim, double error);

#endif
