/* attack_generator.h - `sotto attack NAME --generator FILE`: attacks on a generative model of `sotto generate train`. */
#ifndef CLI_VERBS_ATTACK_GENERATOR_H
#define CLI_VERBS_ATTACK_GENERATOR_H

#include "options/options.h"

extern const char attack_generator_lines[]; /* of `sotto attack list` */
sotto_status attack_generator_run(const struct options *o, const char *attack,
                                  const struct sotto_audit_options *audit, const struct sotto_context *ctx,
                                  int json);

#endif
