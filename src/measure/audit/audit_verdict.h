/* audit_verdict.h - what the numbers of an audit say, in both directions; sotto_audit_judge() is the verdict. */
#ifndef AUDIT_AUDIT_VERDICT_H
#define AUDIT_AUDIT_VERDICT_H

#include "sotto/audit.h"

/* The largest lower bound on epsilon of one attack at `delta`, again from its counts: of rates and of guesses in one run, in
 * both directions, which share `error`. 0: none. *opposite (NULL: not asked for): 1 if that of the opposite guess. */
double audit_epsilon_at(int *opposite, const struct sotto_audit_attack *a, double delta, double error);
/* The interval of an attack's AUC with `error` at both ends together; `confidence`: of the audit. */
struct sotto_estimate audit_area_at(const struct sotto_audit_attack *a, double confidence, double error);
/* Accuracy on members less that on non-members, with an interval that both sides' intervals share. */
struct sotto_estimate audit_accuracy_gap(const struct sotto_audit_accuracies *a, double confidence);
/* The attack whose AUC lies wholly below .5 and lowest, at its share of the verdict's error; attack_count: there is none. */
size_t audit_inverted_attack(const struct sotto_audit_result *r);
/* What an AUC wholly below .5 asks: where other attacks find members, it is what that attack compares with that is in question. */
const char *audit_swap_question(const struct sotto_audit_result *r);
/* "strongest: 'loss', AUC 0.510 [0.480, 0.540]". No AUC up to one half is the strongest of anything. */
enum { AUDIT_AREA_TEXT = 128 };
void audit_area_text(char out[AUDIT_AREA_TEXT], const struct sotto_audit_attack *a);

#endif
