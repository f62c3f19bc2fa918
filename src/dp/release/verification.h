/* verification.h - a certificate held against its own facts, the released file and the ledger: what was checked,
 * what came out, and what nothing here can check. */
#ifndef DP_RELEASE_VERIFICATION_H
#define DP_RELEASE_VERIFICATION_H

#include "dp/dpsgd/dpsgd_reservations.h"
#include "sotto/verify.h"

struct json;

/** The account that a certificate claims, proved or conditional. Numbers are NAN where there is none. */
struct account_claims {
    double delta, upper, lower, pure, rho, other_upper;
    const char *adjacency, *accountant;
    bool conditional, other;                 /* it names a condition, another adjacency */
    const char *condition, *other_adjacency; /* NULL: none */
};
/** What only the certificate of a run says. */
struct run_claims {
    struct dpsgd_facts facts;
    size_t charged, reservations;
    double used, reserved; /* steps; reserved: of all listed reservations; NAN: not said */
    const char *last_hash; /* of the last reservation; NULL: none */
    int64_t last_index;
};
/** What a certificate says; texts are borrowed from it. */
struct certificate_claims {
    int version;
    const char *mechanism, *source, *randomness, *exact, *hash, *output;
    /* NULL where there is none; proved: the text in the place of an account */
    const char *evidence, *origin, *sampler, *proved, *statement, *condition, *commitment;
    double scale;
    size_t dimension, records; /* records 0: unknown */
    bool has_later_members;    /* records or condition, which version 1 has not */
    int64_t exponent;
    struct sotto_sensitivity sensitivity;
    double distance; /* of the sampler from its law */
    bool claimed;    /* an account, as noise was not seeded: */
    struct account_claims claim;
    const char *run; /* its name; NULL: one release */
    struct run_claims run_claims;
    int64_t index; /* of the entry */
};

struct verification {
    const struct sotto_context *ctx;
    const char *path; /* of the certificate */
    struct json *certificate;
    struct certificate_claims claims;
    struct json *checks;      /* [{"check", "ok", "detail"}] */
    struct json *done, *open; /* for people: what was checked, what was not */
    char first[512];          /* the first failure, or "" */
    const char *rests_on; /* NULL, or a condition that the certificate should have named (an early version) */
};

/** What an entry of the ledger says; texts are borrowed from it, NULL where there is none. */
struct entry_claims {
    const char *event, *randomness, *nonce, *input;
    int64_t index;
};
/** What a report says; texts are borrowed from the document, NULL where there is none. */
struct verify_report {
    struct json *document;
    bool valid;
    const char *certificate, *failed, *guarantee, *condition, *measured, *adjacency, *mechanism;
    double upper, delta, scale;   /* NAN: none */
    const char **checked, **open; /* (checked_count), (open_count) */
    size_t checked_count, open_count;
};
/** EFORMAT: it is none; ENOMEM. */
sotto_status verify_report_decode(struct verify_report *out, const char *report);
/** Harmless on {0}. */
void verify_report_free(struct verify_report *r);

/** Reads a certificate; {0} first. EFORMAT: it is none. */
sotto_status verification_open(struct verification *v, const char *certificate);
void verification_close(struct verification *v);
/** Notes a check and how it came out. */
void verify_check(struct verification *v, const char *name, bool ok, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
void entry_claims_get(struct entry_claims *out, const struct json *entry);
/** Certificate, or its account, and entry hold the same values of `keys` (which NULL ends). ENOMEM. */
sotto_status verify_members(struct verification *v, const char *name, const struct json *entry,
                            bool of_account, const char *const *keys);
/** Whether the certificate of a run lists exactly these reservations. ENOMEM. */
sotto_status verify_reservations(bool *same, const struct verification *v,
                                 const struct dpsgd_reservations *run);
/** For people: "released file's hash matches"; and what was left open. */
void verify_done(struct verification *v, const char *format, ...) __attribute__((format(printf, 2, 3)));
void verify_leave(struct verification *v, const char *format, ...) __attribute__((format(printf, 2, 3)));
/** The report, schema sotto.verify/1 (docs/FORMATS.md), also on EGATE: a check failed. */
sotto_status verification_report(char **report, struct verification *v);

/** The certificate agrees with itself, and its account can be taken again. ENOMEM. */
sotto_status verify_certificate(struct verification *v);
/** The released file is the one that was certified. NULL: none is at hand. ENOENT, EIO, ENOMEM. */
sotto_status verify_output(struct verification *v, const char *output);
/** The ledger was charged for it, and says the same. NULL: none is at hand. EIO, ENOMEM. */
sotto_status verify_ledger(struct verification *v, const char *ledger);

#endif
