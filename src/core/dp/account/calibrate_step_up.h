/* calibrate_step_up.h - a little more noise until a slower account confirms it. */
#ifndef DP_ACCOUNT_CALIBRATE_STEP_UP_H
#define DP_ACCOUNT_CALIBRATE_STEP_UP_H

#include "sotto/account.h"

struct raise {
    /* The account at a scale. */
    sotto_status (*account)(struct sotto_account *out, double scale, const void *arg);
    const void *arg;
    struct sotto_dp target;
    const char *mechanism; /* for messages */
};
/** *out: the account of the first scale, from `scale` upwards, at which its upper end was at most the target.
 * Errors of account(); EDOMAIN: none in 30 trials, or an account without a bound. */
sotto_status calibrate_step_up(struct sotto_account *out, double scale, const struct raise *r);

#endif
