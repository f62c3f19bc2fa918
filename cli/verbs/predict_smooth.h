/* predict_smooth.h - `predict --smooth`: answers by votes of noisy copies, and their radii. */
#ifndef CLI_VERBS_PREDICT_SMOOTH_H
#define CLI_VERBS_PREDICT_SMOOTH_H

#include "options/options.h"

#include <stdbool.h>

/* Was --smooth given, or an option that makes sense with it alone? */
bool predict_smooth_asked(const struct options *o);
sotto_status predict_smooth(const struct options *o, const struct sotto_context *ctx, int json);

#endif
