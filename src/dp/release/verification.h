/* verification.h - a certificate held against its own facts, the released file and the ledger: what was checked,
 * what came out, and what nothing here can check. */
#ifndef DP_RELEASE_VERIFICATION_H
#define DP_RELEASE_VERIFICATION_H

#include "dp/ledger/dpsgd_reservations.h"
#include "io/json/json.h"

/** What a certificate says; texts are borrowed from it. */
struct certificate_claims {
    int version;
    /* evidence and condition: NULL where there is none */
    const char *mechanism, *source, *evidence, *randomness, *exact, *proved, *statement, *hash, *output,
        *condition;
    double scale;
    size_t dimension, records; /* records 0: unknown */
    int64_t exponent;
    struct sotto_sensitivity sensitivity;
    double distance;          /* of the sampler from its law */
    const struct json *claim; /* "proved" or "conditional", NULL: neither */
    const struct json *run;   /* NULL: one release */
    struct dpsgd_facts dpsgd_facts;
    int64_t index; /* of the entry */
    size_t charged;
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

/** Reads a certificate; {0} first. EFORMAT: it is none. */
sotto_status verification_open(struct verification *v, const char *certificate);
void verification_close(struct verification *v);
/** Notes a check and how it came out. */
void verify_check(struct verification *v, const char *name, bool ok, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
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
