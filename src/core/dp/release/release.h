/* release.h - what all kinds of releases share: everything that happens before noise is drawn. */
#ifndef DP_RELEASE_RELEASE_H
#define DP_RELEASE_RELEASE_H

#include "dp/account/accountant.h"
#include "dp/account/person.h"
#include "dp/certificate/certificate.h"
#include "rng/noise.h"
#include "sotto/release.h"

struct charge;

/** What is about to be released. Made by release_plan(), completed by the kind of release. */
struct release_plan {
    const struct sotto_release *release;
    const char *dataset_id; /* whose ledger is charged */
    const struct mechanism *mechanism;
    struct privacy_unit unit;
    struct sotto_sensitivity sensitivity; /* of the unit; as accounted, dimension included */
    struct sotto_account account;
    size_t n;
    char shaped[SHAPED_TEXT];       /* what shaped the columns */
    char condition[CONDITION_TEXT]; /* what epsilon rests on besides the sensitivity; "": nothing */
    const char *sampler;            /* one line for people */
    int lattice_bits;               /* as accounted (dp/noise/lattice.h) */
    int lattice_exponent;           /* step of the lattice on which everything was rounded: 2^exponent */
};

/** Checks the request, finds the scale, accounts. `kinds`: bits 1 << enum release_kind that the caller can
 * draw. EINVAL, EDOMAIN. Nothing is written. */
sotto_status release_plan(struct release_plan *plan, const struct sotto_release *release, size_t n,
                          unsigned kinds, const struct sotto_context *ctx);
/** Ledger entry on disk, then a stream to draw from (noise_close) and the certificate
 * (sotto_certificate_free). On failure both are NULL. Errors of sotto_dp_release(). */
sotto_status release_record(struct noise **stream, struct sotto_certificate **certificate,
                            const struct release_plan *plan, const struct sotto_context *ctx);

/** The same within a charge that is open, with a stream that is: what is charged is `followed_by` so many lines of the same charge. */
sotto_status release_enter(struct sotto_certificate **certificate, struct charge *charge,
                           const struct release_plan *plan, struct noise *stream, size_t followed_by,
                           const struct sotto_context *ctx);

/** The kinds of sotto_dp_release(). */
#define RELEASE_OF_FLOATS (1u << RELEASE_LATTICE | 1u << RELEASE_INTEGER | 1u << RELEASE_VECTOR)

enum { RELEASE_WHY = 256 };
/** What will be released, as an event of a plan, of single records as it is asked: all that its slot fixes, to the last bit. */
struct planned_event {
    struct sotto_event event, charged; /* as a plan's file says it, and as its ledger counts it */
    double epsilon, delta;             /* of the release by itself, for its unit of privacy */
    char why[RELEASE_WHY];             /* "", or why it is better charged by itself */
};
/** charged, from event; why, if no plan can hold it. ENOMEM. */
sotto_status planned_event_prepare(struct planned_event *e, const struct privacy_unit *unit);
/** Noise on `n` values, of `kinds` as in release_plan(), of which the errors are. */
sotto_status release_as_event(struct planned_event *out, const struct sotto_release *release, size_t n,
                              unsigned kinds, const struct sotto_context *ctx);

#endif
