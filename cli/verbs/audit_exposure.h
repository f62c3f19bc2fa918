/* audit_exposure.h - exposure of canaries, printed. */
#ifndef CLI_VERBS_AUDIT_EXPOSURE_H
#define CLI_VERBS_AUDIT_EXPOSURE_H

#include "options/options.h"

/* --canary-scores and --candidate-scores, and nothing else. */
sotto_status audit_exposure_print(const struct options *o, int json);

#endif
