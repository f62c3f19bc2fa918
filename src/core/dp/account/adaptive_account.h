/* adaptive_account.h - boxes as the public headers have them. */
#ifndef DP_ACCOUNT_ADAPTIVE_ACCOUNT_H
#define DP_ACCOUNT_ADAPTIVE_ACCOUNT_H

#include "dp/account/adaptive.h"
#include "sotto/lab/compose.h"

/** Rounded up, to and fro. */
struct adaptive adaptive_from(const struct sotto_adaptive *triple);
struct sotto_adaptive adaptive_shown(const struct adaptive *box);

#endif
