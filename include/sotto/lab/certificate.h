/* certificate.h - more of certificates: names, what they say of risks and for adaptive choices. No promise: it may change with any version. */
#ifndef SOTTO_LAB_CERTIFICATE_H
#define SOTTO_LAB_CERTIFICATE_H

#include "sotto/certificate.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Returns: "none", "conditional", "proved". */
SOTTO_API const char *sotto_guarantee_name(enum sotto_guarantee guarantee);
/** What holds of tests of membership, as one line: "any test of membership: true-positive rate at most 0.02 at false-positive
 * rate 0.01". The risk that is asked about, where the account of the certificate shows that it is not exceeded; else a larger
 * one, which its profile shows: after an interruption more steps were charged than the noise was found for. What epsilon
 * rests on, this rests on, and says so.
 *
 *  Out:     *line    free with sotto_text_free()
 *  Returns: EINVAL   the risk is none; noise from a seed: there is no guarantee
 *           ENOMEM, ESTOPPED */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_certificate_risk(char **line,
                                                               const struct sotto_certificate *certificate,
                                                               const struct sotto_risk *risk,
                                                               const struct sotto_context *ctx);
/** What registries of deployments ask for, as YAML, or a block of Markdown for a model hub. The certificate is verified first.
 *
 *  In:      ledger    whose budget names curator, use, region, sector and rationale; NULL: none is at hand, these are null
 *           audit     file of schema sotto.audit/1 whose accuracy by class stands beside the guarantee; NULL: none
 *           markdown  0: YAML
 *  Out:     *text     free with sotto_text_free()
 *  Returns: as sotto_verify(); no text on EGATE and EUNDECIDED */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_certificate_card(char **text, const char *file,
                                                               const char *ledger, const char *audit,
                                                               int markdown, const struct sotto_context *ctx);
/** sotto_certificate_page() with the accuracy by class of an audit among what registries ask for.
 *
 *  In:      ledger  NULL: none is at hand
 *           audit   file of schema sotto.audit/1; NULL: none */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_certificate_page_audited(char **page, const char *file,
                                                                       const char *ledger, const char *audit,
                                                                       int html, double prior,
                                                                       const struct sotto_context *ctx);

#ifdef __cplusplus
}
#endif
#endif
