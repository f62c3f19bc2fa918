/* verify.h - a certificate held against the released file, its recipe and the ledger. */
#ifndef SOTTO_VERIFY_H
#define SOTTO_VERIFY_H

#include "sotto/certificate.h"

#ifdef __cplusplus
extern "C" {
#endif

/** How a check came out. */
enum sotto_verify_outcome {
    SOTTO_VERIFY_PASSED,
    SOTTO_VERIFY_FAILED,
    SOTTO_VERIFY_NOT_MADE /**< what it needs was not at hand, or nothing can check it */
};
struct sotto_verify_check {
    const char *name; /**< what was looked at, such as "epsilon" or "ledger chain" */
    enum sotto_verify_outcome outcome;
    const char *text; /**< what was found, or why it was not checked */
};

struct sotto_verification_memory;
/** What a certificate claims, and what became of each check. {0} before the first call; texts and arrays are owned by
 * the struct. */
struct sotto_verification {
    const char *certificate; /**< the file */
    const char *failed;      /**< name and text of the first check that failed; NULL: none did */
    const char *undecided;   /**< what nothing here can decide, though no check failed; NULL: nothing */

    /* what is claimed: */
    /** As far as it was checked: a claim that is proved by a sensitivity which nothing here derives is CONDITIONAL on that;
     *  NONE: noise was seeded, epsilon and delta are NAN. */
    enum sotto_guarantee guarantee;
    struct sotto_interval epsilon; /**< upper INFINITY: no finite one; lower NAN: not said */
    double delta;
    const char *adjacency; /**< NULL: no guarantee */
    const char *mechanism;
    double scale;
    size_t records;   /**< in the private data set; 0: unknown */
    const char *unit; /**< of privacy: "one record", or "one person (column patient, at most 3 rows each)" */
    const char *condition; /**< what epsilon rests on without proof; NULL: nothing */
    const char *measured;  /**< what was measured and not proved; NULL: nothing */
    /** public key of a valid signature beside the certificate (sotto/sign.h); NULL: none */
    const char *signed_by;

    struct sotto_verify_check *checks; /**< in the order in which they were made */
    size_t check_count;
    const char **checked; /**< what passed checks amount to, in lines for people */
    size_t checked_count;
    struct sotto_verification_memory *memory; /**< internal: holds all of the above */
};

/** Re-derives everything that a certificate says from its own facts, and what the released file's own recipe says: can its sensitivity
 * be proved, how large is it for so many records, which noise trained it.
 *
 *  In:      file      a certificate, or a released file with a certificate FILE.certificate.json
 *           released  the released file; NULL: `file`, or the one beside the certificate, if there is one
 *           ledger    where the certificate's entry and commitment must be; NULL: none is at hand
 *  Out:     *out      filled also on EGATE and EUNDECIDED, untouched on other failures; sotto_verification_clear()
 *  Returns: EGATE     a check failed, the first one named
 *           EUNDECIDED  none failed, but the account cannot be derived by this version
 *           EFORMAT   no certificate
 *           ENOENT, EIO, ENOMEM
 *  Without a signature by a key that the reader trusts, file, certificate and ledger that were rewritten together pass. */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_verify(struct sotto_verification *out, const char *file,
                                                     const char *released, const char *ledger,
                                                     const struct sotto_context *ctx);
/** Out:     *json  one JSON object, schema sotto.verify/1 (docs/FORMATS.md); free with sotto_text_free()
 *  Returns: ENOMEM */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_verification_encode(char **json,
                                                                  const struct sotto_verification *v);
/** Lines for people: what is claimed, proved, conditional and measured, what was checked and what was not.
 *
 *  Out:     *text  free with sotto_text_free()
 *  Returns: ENOMEM */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_verification_text(char **text,
                                                                const struct sotto_verification *v);
/** Back to {0}; harmless on {0}. */
SOTTO_API void sotto_verification_clear(struct sotto_verification *v);

/** A page about a certificate, for the person who answers for the data: what is guaranteed and how strongly, by which
 * noise, what counts as public, what was checked, what is not covered. The certificate is verified first. As HTML it prints
 * on two sheets: the first one to sign, and a technical annex.
 *
 *  In:      file    as for sotto_verify()
 *           ledger  NULL: none is at hand; the page says what is not known without it
 *           html    0: text of at most 100 columns; 1: HTML that prints; 2: the same, also where nothing meaningful is guaranteed
 *           prior   > 0: adds how probably at most a record is reconstructed that is guessed with this probability without
 *                   the release; 0: no such line
 *  Out:     *page   also on EGATE and EUNDECIDED, where it says what failed or is not decided, and nothing else; free with sotto_text_free()
 *  Returns: as sotto_verify()
 *           EINVAL  html is 1, and epsilon is above 20 or the noise was seeded */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_certificate_page(char **page, const char *file,
                                                               const char *ledger, int html, double prior,
                                                               const struct sotto_context *ctx);

#ifdef __cplusplus
}
#endif
#endif
