
#ifndef SOTTO_LAB_CERTIFICATE_H
#define SOTTO_LAB_CERTIFICATE_H

#include "sotto/dp.h"
#include "sotto/lab/compose.h"

#ifdef __cplusplus
extern "C" {
#endif

/** The triple of what a certificate guarantees, its pure epsilon 0: mu of Gaussian differential privacy, "off by" failure in delta.
 * What the certificate rests on, it rests on. It says nothing of other releases.
 *
 *  In:      profile  of sotto_certificate_profile() for this certificate
 *  Out:     *out     mu INFINITY: no Gaussian is known to cover the profile
 *  Returns: EINVAL   noise from a seed
 *           ENOMEM */
SOTTO_API SOTTO_MUST_CHECK sotto_status
sotto_certificate_adaptive(struct sotto_adaptive *out, const struct sotto_certificate *certificate,
                           const struct sotto_privacy_profile *profile);

#ifdef __cplusplus
}
#endif
#endif
