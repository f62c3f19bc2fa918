/* verify.h - a certificate verified without its released file's recipe, and names of outcomes. No promise: it may change with any version. */
#ifndef SOTTO_LAB_VERIFY_H
#define SOTTO_LAB_VERIFY_H

#include "sotto/verify.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Returns: "passed", "failed", "not checked". */
SOTTO_API const char *sotto_verify_outcome_name(enum sotto_verify_outcome outcome);

/** sotto_verify() without the recipe of the released file: everything that a certificate says, from its own facts.
 *
 *  In:      certificate  the file
 *           output       the released file: its hash is checked; NULL: none is at hand
 *           ledger       where its entry and commitment must be; NULL: none is at hand
 *  Out:     *out         filled also on EGATE, untouched on other failures; sotto_verification_clear()
 *  Returns: EGATE    a check failed, the first one named
 *           EFORMAT  no certificate
 *           ENOENT, EIO, ENOMEM
 *  Without a signature by a key that the reader trusts, file, certificate and ledger that were rewritten together pass. */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_certificate_verify(struct sotto_verification *out,
                                                                 const char *certificate, const char *output,
                                                                 const char *ledger,
                                                                 const struct sotto_context *ctx);

#ifdef __cplusplus
}
#endif
#endif
