/* dpsgd_session.h - a reservation of steps while they are taken: reserve.c makes it, dpsgd_step.c uses it up;
 * dpsgd_ranks.c does both on the ranks of a team. */
#ifndef DP_RELEASE_DPSGD_SESSION_H
#define DP_RELEASE_DPSGD_SESSION_H

#include "dp/dpsgd/dpsgd_reservations.h"
#include "dp/mechanism/mechanism.h"
#include "dp/noise/fixed_sample.h"
#include "dp/release/release_labels.h"
#include "par/ranks.h"
#include "rng/noise.h"
#include "sotto/release.h"

/** The coordinates that a rank is about to draw for, as it tells the others. */
struct dpsgd_claim {
    uint64_t first, end, step;
};
/** What a rank knows of the others. */
struct dpsgd_ranks {
    const struct sotto_team *team;
    size_t ranks, rank;
    size_t *borders;            /* (ranks + 1): rank r has coordinates borders[r] .. borders[r + 1] - 1 */
    size_t *ones;               /* (ranks + 1): 0, 1, ..., for gathers of one thing a rank */
    struct dpsgd_claim *claims; /* (ranks) */
    double *received;           /* this rank's coordinates, of another rank */
};
void dpsgd_ranks_free(struct dpsgd_ranks *r);

/** Where a reservation was charged. */
struct dpsgd_place {
    char *ledger;
    char entry[65]; /* hash of its line there */
};

struct sotto_dpsgd_session {
    const struct mechanism *mechanism;
    struct noise *samples, *keys; /* apart: noise does not depend on how far ahead samples were drawn */
    int lattice_exponent;         /* of this reservation; facts: the coarsest of the run */
    bool on_lattice;              /* of this reservation */
    size_t dimension, reserved;   /* steps */
    size_t sampled, used;         /* of them */
    uint64_t rate;                /* sample_rate in units of 2^-64, rounded down */
    bool everyone;                /* sample_rate is 1 */
    struct fixed_sample fixed;
    int threads;
    uint64_t noised; /* coordinates that this process has drawn noise for */
    char entry[65];
    uint64_t key_seed;         /* of `keys`, where noise is seeded */
    struct dpsgd_ranks *ranks; /* NULL: one process; else it is one rank's part (dpsgd_ranks.h) */
    /* for the certificate: */
    struct dpsgd_facts facts;
    char label_entry[65];
    struct dpsgd_reservations run;
    struct sotto_account account; /* of all steps that the run has charged */
    struct dpsgd_place *places;   /* (place_count): the data set's own ledger first */
    size_t place_count;
    char plan[65]; /* whose slot was spent instead of a charge; */
    size_t slot;   /* which of them; 0: it was charged by itself */
    double delta;  /* of the reservation */
    enum sotto_adjacency adjacency;
    size_t first_step;
    const char *dataset_id;             /* while it is reserved for */
    char *ledger;                       /* that was charged */
    char *purpose, *condition, *shaped; /* shaped: by what the columns were */
    size_t records;
};

/** sotto_dp_reserve() for a run that counts on released labels, which are charged and released with its first reservation: both are checked
 * before either is written, and written at once. request->labels NULL.
 *
 *  Out: *certificate  of the labels; free with sotto_certificate_free() */
sotto_status dpsgd_reserve_with_labels(struct sotto_dpsgd_session **out,
                                       struct sotto_certificate **certificate,
                                       const struct sotto_dpsgd_request *request,
                                       struct label_release *labels, const struct sotto_context *ctx);
/** What sotto_dp_reserve() would charge, without a ledger. EINVAL, EDOMAIN. */
sotto_status dpsgd_as_event(struct planned_event *out, const struct sotto_dpsgd_request *request,
                            const struct sotto_context *ctx);
/** EINVAL in a process that was forked since the reservation: the ledger was charged for one run, and each process would make
 * one of its own. */
sotto_status dpsgd_session_check_process(const struct sotto_dpsgd_session *s);
/** After a training stopped with ESTOPPED, its state kept, nothing of it shown: where `ctx` was stopped by a limit of time that was set
 * beforehand, the ledgers are told how many steps were taken, and the reservation costs these; no further step can be drawn. Else
 * nothing happens, and what was reserved stays charged, as it does (with a warning) where a ledger cannot be written. */
void dpsgd_session_settle(struct sotto_dpsgd_session *s, const struct sotto_context *ctx);
/** The next step of a sum on the lattice, of which coordinates first .. end - 1 get noise; the others stay as they are. Positions
 * are those in the whole vector, so ranks that share a seeded key draw what one process draws. ENOMEM: these are zeros; others
 * as sotto_dp_step_lattice(). */
sotto_status dpsgd_step_range(struct sotto_dpsgd_session *s, double *sum, size_t first, size_t end);
/** The same for a sum of floats. */
sotto_status dp_step_float(struct sotto_dpsgd_session *steps, float *sum);
/** Returns: the hash of the run's entry in the ledger. */
const char *dpsgd_session_entry(const struct sotto_dpsgd_session *steps);

#endif
