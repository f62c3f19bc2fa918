/* verify.h - a certificate held against the released file, its recipe and the ledger. */
#ifndef SOTTO_VERIFY_H
#define SOTTO_VERIFY_H

#include "sotto/dp.h"

#ifdef __cplusplus
extern "C" {
#endif

/** sotto_certificate_verify(), and what the released file's own recipe says: can its sensitivity be proved,
 * how large is it for so many records, which noise trained it.
 *
 *  In:  file      a certificate, or a released file with a certificate FILE.certificate.json
 *       released  the released file; NULL: `file`, or the one beside the certificate, if there is one
 *       ledger    NULL: none is at hand
 *  Out: *report   one JSON object, schema sotto.verify/1 (sotto_text_free), also on EGATE
 *
 *  Returns: EGATE a check failed, the first one named; EFORMAT no certificate; ENOENT, EIO, ENOMEM.
 *  Nothing is signed: file, certificate and ledger that were rewritten together pass. */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_verify(char **report, const char *file, const char *released,
                                                     const char *ledger, const struct sotto_context *ctx);
/** A report in lines for people: what is claimed, proved, conditional and measured, what was checked and what
 * was not (sotto_text_free). EFORMAT, ENOMEM. */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_verify_text(char **text, const char *report);

#ifdef __cplusplus
}
#endif
#endif
