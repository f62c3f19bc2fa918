/* canaries.h - canaries inside: what trainers tell an observer of all steps, and the coin file. */
#ifndef CANARY_CANARIES_H
#define CANARY_CANARIES_H

#include "base/file.h"
#include "base/sha256.h"
#include "sotto/lab/canary.h"

#include <stdbool.h>

enum { CANARY_PATH = 4096, CANARY_SALT = 65, CANARY_COMMITMENT = 32 /* bytes */ };

/** The secret half. Canonical text, hash and file: canary_coins.c. */
struct canary_coins {
    size_t count;
    char kind[32], relation[32], records[SHA256_HEX]; /* SHA-256 of the canaries */
    char salt[CANARY_SALT];
    char *heads; /* (count + 1) '0' and '1' */
    bool seeded;
};
void canary_coins_commitment(char out[SHA256_HEX], const struct canary_coins *c);
/** Salt and coins, for the other members. */
sotto_status canary_coins_toss(struct canary_coins *c, bool insecure, uint64_t seed);
sotto_status canary_coins_save(const char *path, const struct canary_coins *c);
/** EFORMAT: no coin file; EINVAL: coins that its own commitment does not fit. */
sotto_status canary_coins_load(struct canary_coins *c, const char *path);
void canary_coins_clear(struct canary_coins *c);
/** The commitment of OUTPUT.canaries.npz. ENOENT, EFORMAT. */
sotto_status canary_commitment_of(char out[SHA256_HEX], const char *path);

struct sotto_canaries {
    struct sotto_dataset data, record[2]; /* record: by coin; n = 0: none */
    size_t first;                         /* of the places, the last `count` rows of `data` */
    size_t width;                         /* bytes of a record */
    enum sotto_canary_kind kind;
    enum sotto_canary_relation relation;
    uint64_t seed;
    struct canary_coins coins;
    char commitment[SHA256_HEX], output[CANARY_PATH];
    struct held_file *held;   /* (1): room for OUTPUT.canaries.npz */
    unsigned char *values[3]; /* of record[0], record[1], data */
    int64_t *labels[3];
    double *black_box; /* (count) */
    bool answered;     /* black_box is filled in */
    /* What an observer of all steps sees: */
    double *white_box;    /* (count): log-likelihood ratios; NULL: canaries are no gradients */
    uint32_t *coordinate; /* (count): weights, all different */
    uint32_t *sampled;    /* (count): canaries of this step */
    size_t sampled_count;
    double *variance; /* (count): of what is seen at each weight, in squared amounts, over the last steps */
    uint64_t seen;    /* steps in it */
    int64_t saved;    /* time */
};

#define CANARY_COINS ".coins.json"
#define CANARY_RECORDS ".canaries.npz"
#define CANARY_STATE ".canaries.state"
#define CANARY_OPENED ".opened"
sotto_status canary_path(char out[CANARY_PATH], const char *output, const char *suffix);

/** out (n): true for the rows of the request, by their place in it, that canaries displace: they are no members. ENOMEM. */
sotto_status canary_displaced(bool *out, const struct sotto_canary_request *request);

/* --- on ranks; team NULL: nothing --- */

/** Has every rank of the request's team the same number, kind and relation? Called by all. EINVAL, with the same text on all. */
sotto_status canary_ranks_compare(const struct sotto_canary_request *request);
/** Salt, coins (count, of the same number on all) and how they were tossed: rank 0's, on all. In: status: how far this rank
 * has come. Errors: that of any rank, on all; ENOMEM. */
sotto_status canary_ranks_share(struct canary_coins *c, const struct sotto_team *team, sotto_status status);

/* --- for trainers; all but the first are harmless on canaries that are records, and on NULL --- */

/** Canaries that act as gradients: their places have label -1. */
bool canary_is_gradient(const struct sotto_canaries *c);
/** EINVAL: `what` cannot have such canaries: they are gradients, and its steps are none. */
sotto_status canary_require_records(const struct sotto_canaries *c, const char *what);
/** Before the first step: a weight for each canary, and what was seen of an interrupted run, all of whose steps were charged.
 * EINVAL: fewer weights than canaries; EFORMAT, EIO, ENOMEM. */
sotto_status canary_begin(struct sotto_canaries *c, size_t dimension);
/** Notes which canaries are among the rows (n) of a step's sample. */
void canary_note(struct sotto_canaries *c, const uint32_t *rows, size_t n);
/** Adds their gradients to a step's sum: `amount` at one weight each, or -amount for tails. */
void canary_add(const struct sotto_canaries *c, double *sum, double amount);
/** A sample of the observer's own from the other records at the same rate, rising; tells how large the trained gradients
 * are where the canaries are. Returns its size. rows: (n of the data). */
size_t canary_own_sample(uint32_t *rows, const struct sotto_canaries *c, double rate, uint64_t step);
struct canary_step {
    double amount, scale,
        rate;    /* of one canary and of the noise, in units of the noisy sum; share of records in a step */
    double unit; /* of the reference */
    bool logistic;
};
/** noisy: the sum that left the step; reference: that of the own sample. Every few seconds the scores so far are kept. */
void canary_observe(struct sotto_canaries *c, const double *noisy, const double *reference,
                    const struct canary_step *step);
/** Keeps them now. */
sotto_status canary_keep(const struct sotto_canaries *c);

/* --- the kinds --- */

/** Fills record `i` for both coins, of the kind; `displaced`: (2) values of the records it displaces. */
struct canary_source {
    const unsigned char *displaced[2];
    int64_t label[2];
    const float *direction; /* (values): CLIPBKD */
};
void canary_fill(struct sotto_canaries *c, size_t i, size_t classes, const struct canary_source *from);
/** Rows of the set that each canary displaces. */
size_t canary_displaces(enum sotto_canary_kind kind, enum sotto_canary_relation relation);
const char *canary_kind_name(enum sotto_canary_kind kind);
const char *canary_relation_name(enum sotto_canary_relation relation);
/** directions (count, d): those in which rows (n, d) vary least, of length `norm`. EINVAL, ENOMEM. */
sotto_status canary_directions(float **directions, size_t count, const float *rows, size_t n, size_t d);

#endif
