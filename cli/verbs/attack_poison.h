/* attack_poison.h - the training set of a target that was poisoned by an attacker. */
#ifndef CLI_VERBS_ATTACK_POISON_H
#define CLI_VERBS_ATTACK_POISON_H

#include "options/options.h"

/* EUSAGE: an option is missing. */
sotto_status attack_poison_run(const struct options *o);

#endif
