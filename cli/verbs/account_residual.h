/* account_residual.h - sotto account --residual-perturbation. */
#ifndef CLI_VERBS_ACCOUNT_RESIDUAL_H
#define CLI_VERBS_ACCOUNT_RESIDUAL_H

#include "options/options.h"

sotto_status account_residual(const struct options *o, int json);

#endif
