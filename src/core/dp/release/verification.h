/* verification.h - a certificate held against its own facts, the released file and the ledger: what was checked,
 * what came out, and what nothing here can check. */
#ifndef DP_RELEASE_VERIFICATION_H
#define DP_RELEASE_VERIFICATION_H

#include "dp/certificate/certificate_claims.h"
#include "dp/ledger/ledger_runs.h"
#include "sotto/verify.h"

struct json;

/** Name of the check that passes where the sensitivity was derived, and what epsilon rests on where it was not. */
#define VERIFY_DERIVED "derived sensitivity"
#define VERIFY_BY_RECIPE "training by the stated recipe"
#define VERIFY_BY_STATISTIC "the stated statistic of so many records"
#define VERIFY_BY_QUERIES "the stated queries of a table"
#define VERIFY_BY_LABELS "randomised response on each label"
#define VERIFY_NOT_DERIVED "the sensitivity, which was NOT re-derived"

struct verification {
    const struct sotto_context *ctx;
    const char *path; /* of the certificate */
    struct certificate_claims claims;
    struct sotto_verification found;
    bool no_memory;           /* for all that was found */
    bool bound;               /* the ledger has this very certificate */
    bool sensitivity_derived; /* by what is public: the file's recipe, or the statistic that was released */
    const char *rests_on; /* NULL, or a condition that the certificate should have named (an early version) */
};

/** What an entry of the ledger says; texts are borrowed from it, NULL where there is none. */
struct entry_claims {
    const char *event, *randomness, *nonce, *input;
    int64_t index, charge; /* charge -1: an early entry, which has no number among the charges */
};
/** Reads a certificate; {0} first. EFORMAT: it is none. */
sotto_status verification_open(struct verification *v, const char *certificate);
void verification_close(struct verification *v);
/** A copy that lives as long as what was found; NULL stays NULL. What files and paths hold need not be UTF-8, what comes
 * out is. */
const char *verification_keep(struct verification *v, const char *text);
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
/** The sensitivity follows from that: "training by the stated recipe". */
void verify_derived(struct verification *v, const char *from);
/** For people: "released file's hash matches". */
void verify_done(struct verification *v, const char *format, ...) __attribute__((format(printf, 2, 3)));
/** Notes what was not checked, and why. */
void verify_leave(struct verification *v, const char *name, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/** What was proved by what was checked, in words. */
const char *verification_proved(const struct sotto_verification *v);
/** All that was found, also on EGATE: a check failed. ENOMEM. */
sotto_status verification_result(struct sotto_verification *out, struct verification *v);

/** The certificate agrees with itself, and its account can be taken again. ENOMEM. */
sotto_status verify_certificate(struct verification *v);
/** The released file is the one that was certified. NULL: none is at hand. ENOENT, EIO, ENOMEM. */
sotto_status verify_output(struct verification *v, const char *output);
/** The signature beside the certificate, if there is one, is of these bytes. ENOMEM. */
sotto_status verify_signature(struct verification *v);
/** The ledger was charged for it, and says the same. NULL: none is at hand. EIO, ENOMEM. */
sotto_status verify_ledger(struct verification *v, const char *ledger);

#endif
