/* attack_encoder.h - `sotto attack encoder`: who pre-trained an encoder? */
#ifndef CLI_VERBS_ATTACK_ENCODER_H
#define CLI_VERBS_ATTACK_ENCODER_H

#include "options/options.h"

extern const char attack_encoder_line[]; /* for `sotto attack list` */
/** fpr rates and the like are read by the caller. Prints or writes the result. */
sotto_status attack_encoder_run(const struct options *o, const struct sotto_audit_options *audit,
                                const struct sotto_context *ctx, int json);

#endif
