/* mechanism.h - mechanisms: one const record per file, one row in mechanism_list.h.
 *
 * Everything is said for noise of scale 1 and a shift t = sensitivity / scale between two adjacent outputs.
 * The additive laws are symmetric and log-concave, so a scalar shift is attacked best by a threshold, its
 * trade-off curve is F(F^-1(1 - x) - t), and shifts chain: a vector that moves by D1 in L1 norm is never
 * easier to attack than one scalar that moves by D1 (docs/derivations/logistic.md, section 6). That is what
 * lets vectors use the scalar curves. Mechanisms without such a law (K-norm, exponential, randomised
 * response) give the curves of a pair that dominates them (docs/derivations/mechanisms.md). */
#ifndef DP_MECHANISM_MECHANISM_H
#define DP_MECHANISM_MECHANISM_H

#include "dp/noise/discretised_kernel.h"
#include "dp/noise/lattice.h"
#include "num/interval.h"
#include "rng/noise.h"
#include "rng/rng.h"

#include <stdbool.h>

/* What a release of the mechanism is. */
enum release_kind {
    RELEASE_LATTICE, /* continuous noise per coordinate, discretised to a lattice of 2^-52 of its scale */
    RELEASE_INTEGER, /* noise on the lattice of the values themselves */
    RELEASE_VECTOR,  /* one draw for the whole vector, in double */
    RELEASE_CHOICE,  /* one index out of many */
    RELEASE_LABELS,  /* a label per record */
    RELEASE_MEDIAN,  /* a median, with noise that follows the records */
    RELEASE_MINIMUM, /* weights that minimise a perturbed objective (src/learn/head/private/head_objective.h) */
    RELEASE_NONE     /* for comparing only */
};

/* What t is measured in. */
enum shift_norm { SHIFT_L1, SHIFT_L2, SHIFT_SCORE /* one number, no rounding by dimension */ };

/* The best event S of a pair at epsilon >= 0: alpha = P(S), lost = e^epsilon Q(S), delta = P(S) - lost. */
struct best_event {
    struct interval alpha, lost, delta;
};

/* Noise on whole steps. `steps`: the shift, a whole number; `step`: the lattice's step / scale, so that t =
 * steps * step. Log-concave and symmetric as well, so the chain of shifts holds for whole shifts. The noise K
 * = k has the loss (steps - 2k) loss_step. */
struct integer_law {
    struct interval (*delta)(double steps, struct interval step, double epsilon); /* epsilon >= 0 */
    /* delta() with an event that reaches its lower end; all of it 0 but delta.hi where none is known. */
    struct best_event (*event)(double steps, struct interval step, double epsilon);
    struct interval (*epsilon)(double steps, struct interval step, double delta);
    struct interval (*renyi)(double steps, struct interval step, double alpha);
    double (*cdf)(double k, double step);                    /* P(K <= k) */
    double (*deviation)(double step);                        /* standard deviation over the scale */
    struct interval (*mass)(double k, struct interval step); /* P(K = k) */
    struct interval (*tail)(double k, struct interval step); /* P(K >= k), k >= 1 */
    struct interval (*loss_step)(double steps, struct interval step);
    bool bounded;                 /* the loss stays the same below k = 0 and above k = steps */
    integer_magnitude *magnitude; /* exact; NULL: discretised noise */
};

/* A pair at the loss y >= 0: alpha = P(L > y), beta = Q(L > y), delta = alpha - e^y beta. All fall with y. */
struct tails {
    struct interval alpha, beta, delta;
};

struct mechanism {
    const char *name, *title;
    const char *source; /* paper or derivation of the bounds */
    enum release_kind kind;
    enum shift_norm norm;
    double standard_deviation; /* at scale 1; NAN: see account_deviation() */
    double zcdp_divisor;       /* rho = D2^2 / (divisor scale^2), in any dimension */
    bool pure;                 /* t is a pure epsilon */
    bool by_l2; /* the scalar curve holds for a vector with t = D2 / scale (Gaussian), not only D1 / scale */
    bool dominated;  /* the curves are those of a pair that dominates the mechanism: upper ends only */
    bool two_losses; /* two inputs as far apart as allowed have the losses +-t and no others (pure_pair.h) */

    /* Smallest epsilon >= 0 of the scalar pair at delta in (0, 1). */
    struct interval (*epsilon)(struct interval t, double delta);
    /* Hockey-stick divergence of the scalar pair at epsilon >= 0. */
    struct interval (*delta)(struct interval t, double epsilon);
    /* Tails of the scalar pair's privacy loss at y >= 0, for its distribution; NULL: no scalar pair. */
    struct tails (*tails)(double t, double y);
    double atom; /* the loss +t has this probability of its own, -t has one as well; 0: neither */
    /* With tails: at the threshold where a shift t loses y, what a shift 2 t loses; y > -t, and for a
     * Gaussian any y. And about the y at which e^(log_a - y) + e^(log_b - that) = 1. For sampled steps under
     * replace-one adjacency. */
    struct interval (*twice)(double t, double y);
    double (*balance)(double t, double log_a, double log_b);
    /* With tails: the law of the noise, P(Z <= z), and the logarithm of its density but for a constant. */
    struct interval (*below)(struct interval z);
    double (*log_density)(double z);
    /* Smallest epsilon of k >= 2 independent scalar pairs; NULL: no exact composition. At most composed_max
     * pairs. */
    struct interval (*composed)(struct interval t, double k, double delta);
    double composed_max;
    /* Renyi divergence of order alpha > 1 of the scalar pair. */
    struct interval (*renyi)(struct interval t, double alpha);
    /* The same for n coordinates and any shift vector of L2 norm at most t; NULL: alpha t^2 / divisor is all
     * we have. */
    struct interval (*renyi_ball)(struct interval t, double n, double alpha);
    /* Shift at which (epsilon, delta) is exactly met, in closed form; NULL: found by search. Not rounded. */
    double (*shift)(double epsilon, double delta);
    /* EDOMAIN where the mechanism's own claim (epsilon, delta) is not true; NULL: it always is. */
    sotto_status (*check)(double epsilon, double delta);
    /* RELEASE_INTEGER: the exact curves. epsilon, delta and renyi above then hold for every step. */
    const struct integer_law *integer;

    choice_sampler *choose; /* RELEASE_CHOICE */

    /* RELEASE_LATTICE: */
    double (*cdf)(double x);
    enum discretised_law law; /* of its exact noise; of RELEASE_INTEGER where integer->magnitude is NULL */
    /* One draw at scale 1 from one uniform in (0, 1), or from two (Gaussian), in double: for measuring
     * only. */
    double (*measure)(double u, double v);
};

/** Propose-test-release has a delta of its own and so no curve: no record, but (1 / scale, delta) in accounts of single
 * releases, which ledgers take as stated (docs/derivations/local.md, section 3). */
#define TEST_MECHANISM "propose-test-release"

/** Whether its noise is drawn by discretised_noise.h. */
bool mechanism_is_discretised(const struct mechanism *m);
/** NULL: unknown name. */
const struct mechanism *mechanism_find(const char *name);
/** i-th continuous additive law (RELEASE_LATTICE), NULL after the last; for contract tests. */
const struct mechanism *mechanism_at(size_t i);
/** i-th record of any kind, NULL after the last. */
const struct mechanism *mechanism_row(size_t i);
/** EINVAL that lists the names. */
sotto_status mechanism_require(const struct mechanism **out, const char *name);

#endif
