/* attack_reconstruction.h - reconstruction of training records by an attacker who knows all others. */
#ifndef CLI_VERBS_ATTACK_RECONSTRUCTION_H
#define CLI_VERBS_ATTACK_RECONSTRUCTION_H

#include "options/options.h"

extern const char attack_reconstruction_line[]; /* of `attack list` */

sotto_status attack_reconstruction_run(const struct options *o, const struct sotto_context *ctx, int json);

#endif
