/* profile.h - the making of privacy profiles. */
#ifndef DP_ACCOUNT_PROFILE_H
#define DP_ACCOUNT_PROFILE_H

#include "base/status.h"
#include "sotto/dp.h"

/** One more point; INFINITY and NAN are no points. ENOMEM. */
sotto_status profile_add(struct sotto_privacy_profile *p, double epsilon, double delta);

#endif
