/* audit_sanity_values.h - values that are not what their array was called. */
#ifndef AUDIT_AUDIT_SANITY_VALUES_H
#define AUDIT_AUDIT_SANITY_VALUES_H

#include "audit/score/score_attack.h"

/* Rows of rounded probabilities with less than half a step on the label, or on all others together. */
size_t audit_count_saturated(const struct attack_input *in);
/* Logits that are >= 0 and sum to 1 in every row. */
bool audit_logits_are_probabilities(const struct attack_input *in);
size_t audit_count_negative(const struct attack_input *in); /* losses below 0; 0 without losses */
/* Outputs, or without them losses, that are the same for all records. */
bool audit_answers_are_constant(const struct attack_input *in);
/* Scores of the caller's that are the same for all records. */
bool audit_scores_are_constant(const struct attack_input *in);

#endif
