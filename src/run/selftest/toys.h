/* toys.h - small releases on neighbouring inputs for the falsifier, and copies of them with historical bugs
 * planted. The bugs live here only: nothing outside src/run/selftest may include this folder
 * (tools/check-includes), and every toy that is no bug releases through sotto_dp_release() like all
 * other code. */
#ifndef SELFTEST_TOYS_H
#define SELFTEST_TOYS_H

#include "dp/mechanism/mechanism.h"
#include "selftest/falsify.h"
#include "sotto/release.h"

/** Where toys draw: a scratch ledger, and seeded noise for tests of the falsifier itself. */
struct toy_source {
    const char *ledger;
    bool seeded;
    uint64_t seed;                   /* grows with every release */
    const struct sotto_context *ctx; /* may be NULL: asked between releases */
};

struct toy {
    const char *name; /* what is released, or the bug */
    const struct mechanism *noise;
    int width;
    double inputs[2][FALSIFY_WIDTH]; /* what toy_release() adds noise to, in either world */
    double scale;                    /* of the noise that is added */
    double shift;                    /* what is claimed: the curve at this sensitivity / scale */
    double rate;                     /* of Poisson sampling that is claimed; 1: none */
    bool flat_doubt;                 /* drawn so that slow draws tell little */
    size_t draws;                    /* a planted bug that fewer might miss; 0: 20,000 catch it */
    /* out: draws x width outputs in that world. */
    sotto_status (*draw)(double *out, size_t draws, int world, const struct toy *toy,
                         struct toy_source *source);
};

/** What the toy asks the release functions for. */
struct sotto_release toy_request(const struct toy *toy, struct toy_source *source);
/** Draws by sotto_dp_release() on `inputs`. */
sotto_status toy_release(double *out, size_t draws, int world, const struct toy *toy,
                         struct toy_source *source);
/** Noise of the toy's scale by sotto_dp_release() on n values. */
sotto_status toy_add_noise(double *values, size_t n, const struct toy *toy, struct toy_source *source);
/** The claim, on a grid of epsilons around the shift. */
void toy_claim(struct falsify_claim *out, const struct toy *toy);

/** One number (index, label, small vector) that moves by 1 under noise of scale 1, drawn as the mechanism's
 * kind of release is; draw NULL: the mechanism is for comparing only. */
struct toy toy_alone(const struct mechanism *m);
/** Four numbers that move by `each` under noise of scale 1; draw NULL: not that kind. */
struct toy toy_vector(const struct mechanism *m, double each);

/** RELEASE_MINIMUM: draws of a head of one feature, with `noise` times the noise that belongs into its objective. */
sotto_status toy_minimum(double *out, size_t draws, int world, const struct toy *toy,
                         struct toy_source *source, double noise);

/** The i-th correct toy; false after the last: every row of the mechanism list in its forms, and the correct
 * twins of the planted bugs. */
bool toy_at(struct toy *out, size_t i);
/** The i-th planted bug; false after the last. */
bool toy_planted(struct toy *out, size_t i);
/** Draws both worlds and attacks. */
sotto_status toy_attack(struct falsify_verdict *out, const struct toy *toy, size_t draws, double error,
                        struct toy_source *source);

#endif
