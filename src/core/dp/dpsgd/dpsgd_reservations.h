/* dpsgd_reservations.h - an iterated run as its ledger tells it: all its reservations, and what they cost
 * together. */
#ifndef DP_DPSGD_DPSGD_RESERVATIONS_H
#define DP_DPSGD_DPSGD_RESERVATIONS_H

#include "base/memory.h"
#include "dp/account/person.h"

#include <stdbool.h>

/** What all reservations of a run have in common. */
struct dpsgd_facts {
    const char *mechanism; /* the table's own text, or a document's */
    double scale, max_grad_norm, sample_rate;
    size_t dimension; /* of a step */
    enum sotto_norm clipping;
    int lattice_exponent; /* sums are rounded to multiples of 2^lattice_exponent; */
    bool on_lattice;      /* they are such multiples by themselves */
    bool fast;            /* an early run whose noise was not exact: it may be read, and not go on */
    bool inputs_only;     /* adjacent sets differ in an input; labels are public, or were released: */
    enum sotto_sampling sampling;
    double label_scale;       /* of the randomised response that released them; 0: public */
    const char *label_entry;  /* hash of its entry in the same ledger */
    const char *condition;    /* NULL, or what its epsilon rests on besides the clipping */
    struct privacy_unit unit; /* max_grad_norm is that of one record */
};
/** The lattice of a new run: the exponent of a power of two r with scale / r = m in [2^31, 2^32), or for clipping by L1
 * up to 2^40, so that dimension / m is at most 2^-20; and in any case so coarse that `records` contributions (0:
 * unknown, then no finer than for L2) are at most 2^50 steps. All of it is public. */
int run_lattice(const struct dpsgd_facts *facts, size_t records);
/** The noise multiplier of such a run (its scale is not read) with which run_multiplier() is `accounted`, and hardly
 * more. */
double run_noise_multiplier(double accounted, const struct dpsgd_facts *facts, size_t records);
/** The lattice of runs that do not name one. */
int run_early_lattice(double scale);
/** What is accounted: a clipping norm that is enlarged by rounding sums to the lattice. With n values and
 * steps r, either of two sums moves by up to sqrt(n) r / 2 by L2, n r / 2 by L1; 0 on the lattice. */
double run_multiplier(const struct dpsgd_facts *facts);
/** Names the adjacency of runs: replace-input of those on inputs, zero-out for what was accounted as add-remove, as
 * the number of records is public; adds what the release of labels costs to
 * every bound: whole records are then protected. EINVAL: no such scale. */
sotto_status run_complete_account(struct sotto_account *account, const struct dpsgd_facts *facts);
/** What the fast noise of early runs did not exclude, as the account's note; nothing for exact noise. `mechanism` is
 * known. */
void run_put_note(struct sotto_account *account, const struct dpsgd_facts *facts);
/** How the line about the sampler of a run begins. */
#define EXACT_SAMPLER "exact"
#define RUN_FAST_SAMPLER "fast, NOT exact"

enum { RUN_ID = 32 /* hexadecimal digits */ };
struct dpsgd_reservation {
    size_t entry;  /* its number among the charges of the ledger (among all lines: by_line) */
    char hash[65]; /* of that entry */
    size_t first_step, steps;
};
struct dpsgd_reservations {
    char id[RUN_ID + 1];
    struct dpsgd_reservation *items; /* (count), oldest first */
    size_t count, capacity;
    size_t charged;       /* steps of all of them */
    bool seeded;          /* one of them drew seeded noise */
    int lattice_exponent; /* the coarsest of them; count > 0 */
    bool on_lattice;      /* all of them */
    bool by_line;         /* of an early certificate, which counts lines */
};
#define RUN_LABEL_MECHANISM "randomised-response"
/** A release of labels by randomised response, as its entry tells it. */
struct run_labels {
    double scale;
    size_t count; /* labels */
    bool seeded;
};
/** Room for one more, so that dpsgd_reservations_add() cannot fail. ENOMEM. */
sotto_status dpsgd_reservations_make_room(struct dpsgd_reservations *run);
void dpsgd_reservations_add(struct dpsgd_reservations *run, const struct dpsgd_reservation *one);
/** The last one, if its entry has this hash, at the steps that were taken. */
void dpsgd_reservations_settle(struct dpsgd_reservations *run, const char *hash, size_t steps);
/** What holds for `earlier` reservations too: the coarsest lattice, and sums on it only where all of them are. */
void dpsgd_facts_add_lattice(struct dpsgd_facts *facts, const struct dpsgd_reservations *earlier);
/** ENOMEM. */
sotto_status dpsgd_reservations_copy(struct dpsgd_reservations *out, const struct dpsgd_reservations *run);
void dpsgd_reservations_free(struct dpsgd_reservations *run);

#endif
