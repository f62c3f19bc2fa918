/* account_residual.h - sotto account --residual-perturbation. */
#ifndef CLI_VERBS_ACCOUNT_RESIDUAL_H
#define CLI_VERBS_ACCOUNT_RESIDUAL_H

#include "options/options.h"

/* EUSAGE for options of a kind that was not asked for. */
sotto_status account_residual_refuse(const struct options *o);
sotto_status account_residual(const struct options *o, const struct sotto_context *ctx, int json);

#endif
