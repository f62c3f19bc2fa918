/* profile.h - the making of privacy profiles. */
#ifndef DP_ACCOUNT_PROFILE_H
#define DP_ACCOUNT_PROFILE_H

#include "dp/account/adaptive.h"
#include "sotto/account.h"

/** One more point; INFINITY and NAN are no points. ENOMEM. */
sotto_status profile_add(struct sotto_privacy_profile *p, double epsilon, double delta);
/** A Gaussian that tells at least as much as what the profile bounds, but for a failure: the least delta among the points, or the
 * least above 0 where that allows a smaller shift. m INFINITY: there is none. ENOMEM. */
sotto_status profile_gaussian(struct adaptive *out, const struct sotto_privacy_profile *p);

#endif
