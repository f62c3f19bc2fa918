/* certificate_claims.h - what a certificate says, as it was read: nothing here is known to hold. Verification compares
 * it with what can be derived (dp/release); certificate_decode.c makes a certificate of it. */
#ifndef DP_CERTIFICATE_CERTIFICATE_CLAIMS_H
#define DP_CERTIFICATE_CERTIFICATE_CLAIMS_H

#include "dp/certificate/certificate.h"

struct json;

/** The account that a certificate claims, proved or conditional. Numbers are NAN where there is none. */
struct account_claims {
    double delta, upper, lower, pure, rho, other_upper, other_lower;
    const char *adjacency, *accountant, *note; /* note NULL: none */
    bool conditional, other;                   /* it names a condition, another adjacency */
    const char *condition, *other_adjacency;   /* NULL: none */
};
/** What only the certificate of a run says. */
struct run_claims {
    struct dpsgd_facts facts;
    size_t charged, reservations, ranks; /* ranks 0: not said */
    double used, reserved;               /* steps; reserved: of all listed reservations; NAN: not said */
    double multiplier;                   /* noise over clipping norm; NAN: not said */
    const char *last_hash;               /* of the last reservation; NULL: none */
    int64_t last_entry;
};
/** What it says of a fine-tuning. */
struct tuning_claims {
    bool claimed;
    size_t trained, frozen;
    const char *tensors, *encoder, *encoder_sha256;
    const char *standardise, *standardise_sha256; /* "": none */
};
/** What a certificate says, and the document that its texts are borrowed from. */
struct certificate_claims {
    struct json *document;
    int version; /* of the schema */
    const char *mechanism, *source, *randomness, *exact, *hash;
    /* NULL where there is none; proved: the text in the place of an account; labels: hash of
     * released ones */
    const char *evidence, *origin, *sampler, *proved, *statement, *condition, *commitment, *output, *labels;
    const char *shaped_by;              /* NULL: not said */
    const char *maker, *time, *purpose; /* maker: the version of sotto that wrote it */
    size_t classes;                     /* that a trainer was given; 0: not said */
    const char *classes_by;
    const char *statistic;      /* of the records; NULL: not said */
    double low, high;           /* its range; 0: it has none */
    const struct json *queries; /* of the document; NULL: none */
    struct tuning_claims tuning;
    double scale, standard_deviation; /* the latter NAN: not said */
    size_t dimension, records;        /* records 0: unknown */
    struct privacy_unit unit;
    const char *unit_words; /* NULL: not said */
    bool has_later_members; /* records or condition, which version 1 has not */
    int64_t exponent;
    struct sotto_sensitivity sensitivity;
    double distance; /* of the sampler from its law */
    bool claimed;    /* an account, as noise was not seeded: */
    struct account_claims claim;
    const char *plan; /* NULL: none */
    size_t slot;      /* of the plan */
    const char *run;  /* its name; NULL: one release */
    struct run_claims run_claims;
    int64_t entry;           /* its number; 0 where it has none: */
    bool has_entry, by_line; /* by_line: of an early certificate, among all lines */
};
/** Reads a certificate; name: for errors. certificate_claims_free() also after a failure. EFORMAT, ENOMEM. */
sotto_status certificate_claims_parse(struct certificate_claims *out, const char *text, const char *name);
/** The same from a file. ENOENT, EIO. */
sotto_status certificate_claims_load(struct certificate_claims *out, const char *path);
/** Harmless on {0}. */
void certificate_claims_free(struct certificate_claims *f);
/** Whether the document has that member. */
bool certificate_has(const struct certificate_claims *f, const char *member);
/** The object that holds the account which is claimed, proved or conditional, or NULL. */
const struct json *claimed_account(const struct certificate_claims *f);
/** The bounds of that account, added to *a. EFORMAT: too many of them, or too long a name. */
sotto_status certificate_claims_bounds(struct sotto_account *a, const struct certificate_claims *f,
                                       const char *name);
/** The reservations of the run; free them also after a failure. EFORMAT, ENOMEM. */
sotto_status certificate_claims_reservations(struct dpsgd_reservations *out,
                                             const struct certificate_claims *f, const char *name);
/** Whether the part "guarantee" is the one that this certificate has. ENOMEM. */
sotto_status certificate_says(bool *same, const struct sotto_certificate *c,
                              const struct certificate_claims *f);

#endif
