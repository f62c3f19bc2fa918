/* defence_result.h - what attackers infer before and after a defence: the member "attack" of "sotto.defend/1". */
#ifndef AUDIT_DEFENCE_RESULT_H
#define AUDIT_DEFENCE_RESULT_H

#include "sotto/audit.h"

/* Estimates that an attacker has no use for are NAN. */
struct defence_attacker {
    const char *name;
    struct sotto_estimate accuracy, auc, balanced_accuracy, macro_f1;
};
/* The attackers that saw the same rows. */
struct defence_view {
    struct defence_attacker *attackers; /* (count) */
    size_t count;
};
struct defence_result {
    const char *protected_label; /* "membership" or "attribute" */
    size_t attacker_rows;
    struct defence_view before, after, baselines;
    struct defence_view *adaptive; /* NULL: the attacker does not know the defence */
};
/* One line of JSON, to be freed with sotto_text_free(). ENOMEM. */
sotto_status defence_result_encode(char **json, const struct defence_result *r);

#endif
