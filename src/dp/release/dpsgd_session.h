/* dpsgd_session.h - a reservation of steps while they are taken: reserve.c makes it, dpsgd_step.c uses it up. */
#ifndef DP_RELEASE_DPSGD_SESSION_H
#define DP_RELEASE_DPSGD_SESSION_H

#include "dp/dpsgd/dpsgd_reservations.h"
#include "dp/mechanism/mechanism.h"
#include "dp/noise/fixed_sample.h"
#include "rng/noise.h"

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
    char entry[65];
    /* for the certificate: */
    struct dpsgd_facts facts;
    char label_entry[65];
    struct dpsgd_reservations run;
    struct sotto_account account; /* of all steps that the run has charged */
    size_t first_step;
    const char *dataset_id; /* while it is reserved for */
    char *purpose, *condition;
    size_t records;
};

#endif
