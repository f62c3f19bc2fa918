/* certificate.h - what a release guarantees and where it was recorded, as a document. */
#ifndef SOTTO_CERTIFICATE_H
#define SOTTO_CERTIFICATE_H

#include "sotto/account.h"

#ifdef __cplusplus
extern "C" {
#endif

/** How much of a guarantee is proved. */
enum sotto_guarantee {
    SOTTO_GUARANTEE_NONE,        /**< there is none, as the noise was seeded */
    SOTTO_GUARANTEE_CONDITIONAL, /**< epsilon rests on a condition */
    SOTTO_GUARANTEE_PROVED
};

/** What a release, or a run of private training, guarantees and where it was recorded. Made by the calls that charge a
 * ledger, or read from a document; free with sotto_certificate_free(). What the functions below hand out lives as long
 * as the certificate. */
struct sotto_certificate;
/** Returns: the account of the release, or of all steps that the run was charged for. Of a certificate that was read,
 *           where the noise was seeded: epsilon.upper is INFINITY. */
SOTTO_API const struct sotto_account *sotto_certificate_account(const struct sotto_certificate *certificate);
/** Returns: the sensitivity as accounted, so with any enlargement by rounding. Norms that are unknown are NAN. */
SOTTO_API const struct sotto_sensitivity *
sotto_certificate_sensitivity(const struct sotto_certificate *certificate);
/** Returns: whether epsilon is proved, or rests on sotto_certificate_condition(), or there is none. */
SOTTO_API enum sotto_guarantee sotto_certificate_guarantee(const struct sotto_certificate *certificate);
/** Returns: 1: the guarantee is proved. 0: it rests on sotto_certificate_condition(), or there is none because the noise
 *           was seeded. */
SOTTO_API int sotto_certificate_is_proved(const struct sotto_certificate *certificate);
/** Returns: all that epsilon rests on without proof; "" for nothing. */
SOTTO_API const char *sotto_certificate_condition(const struct sotto_certificate *certificate);
/** Returns: the guarantee in one line. */
SOTTO_API const char *sotto_certificate_statement(const struct sotto_certificate *certificate);
/** Returns: the unit of privacy: "one record", or "one person (column patient, at most 3 rows each)". */
SOTTO_API const char *sotto_certificate_unit(const struct sotto_certificate *certificate);
/** Returns: number of its entry among the charges of the ledger, from 0; of an early document, among all its lines. */
SOTTO_API size_t sotto_certificate_entry(const struct sotto_certificate *certificate);
/** Returns: hash of its entry in the ledger. */
SOTTO_API const char *sotto_certificate_hash(const struct sotto_certificate *certificate);
/** One line: mechanism, scale, and the guarantee.
 *
 *  Out:     *line  free with sotto_text_free()
 *  Returns: ENOMEM */
SOTTO_API SOTTO_MUST_CHECK sotto_status
sotto_certificate_summary(char **line, const struct sotto_certificate *certificate);
/** The document sotto.certificate/2 (docs/FORMATS.md), with "output_sha256" if sotto_protect_file() made it.
 *
 *  Out:     *json  free with sotto_text_free()
 *  Returns: ENOMEM */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_certificate_encode(char **json,
                                                                 const struct sotto_certificate *certificate);
/** Reads that document, or one of version 1. Refuses what is out of range, and a guarantee that does not follow from
 * the document's other members. Nothing else is checked: sotto_verify() (verify.h) derives the account
 * again and compares file and ledger.
 *
 *  In:      json          the document
 *  Out:     *certificate  free with sotto_certificate_free(); untouched on failure
 *  Returns: EFORMAT       names the member
 *           ENOMEM */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_certificate_decode(struct sotto_certificate **certificate,
                                                                 const char *json);
/** The same from a file, such as FILE.certificate.json beside a released file.
 *
 *  Returns: EFORMAT, ENOENT, EIO, ENOMEM */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_certificate_load(struct sotto_certificate **certificate,
                                                               const char *path);
/** The end of a release: tells the ledger that was charged which file came out (a line "released", once for each file and
 * certificate), then writes that document with "output_sha256". Called when the file is complete.
 *
 *  In:      output_sha256  SHA-256 of the file that was released; the caller answers for its being what came out
 *  Returns: EINVAL  the certificate was read from a document, and is of another file; the ledger holds no such charge
 *           ENOENT  the ledger is gone; ECREATE, EIO, EAGAIN, EFORMAT, ENOMEM */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_certificate_save(const char *path,
                                                               const struct sotto_certificate *certificate,
                                                               const char *output_sha256);
/** The profile that a certificate stands for: of its mechanism, where the certificate is of one release or a run, of one
 * record, and nothing else was charged with it; in any case its (epsilon, delta) and its pure epsilon. What the certificate
 * rests on, the profile rests on.
 *
 *  Out:     *out  start from {0}; release with sotto_privacy_profile_clear()
 *  Returns: EINVAL  noise from a seed: there is no guarantee
 *           ENOMEM, ESTOPPED */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_certificate_profile(struct sotto_privacy_profile *out,
                                                                  const struct sotto_certificate *certificate,
                                                                  const struct sotto_context *ctx);
/** NULL is allowed. */
SOTTO_API void sotto_certificate_free(struct sotto_certificate *certificate);

#ifdef __cplusplus
}
#endif
#endif
