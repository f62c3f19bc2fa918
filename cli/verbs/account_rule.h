/* account_rule.h - composition rules for stated (epsilon, delta), from the command line. */
#ifndef CLI_VERBS_ACCOUNT_RULE_H
#define CLI_VERBS_ACCOUNT_RULE_H

#include "options/options.h"

extern const struct option_row account_rule_rows[];
/* EUSAGE for options of a rule without --rule. */
sotto_status account_rule_refuse(const struct options *o);
sotto_status account_rule(const struct options *o, int json);

#endif
