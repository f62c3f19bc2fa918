/* tokens.h - what a language model says of texts: checks of the arrays, and sums over a text's tokens. */
#ifndef AUDIT_SCORE_TOKENS_H
#define AUDIT_SCORE_TOKENS_H

#include "audit/score/score_attack.h"

struct sotto_token_input;
/* Tokens of a text: the values of a row before the first NaN. */
size_t tokens_of(const float *row, size_t length);
/* n texts. EUSAGE: arrays that need others; EINVAL: names the first row that is no text's. */
sotto_status tokens_check(const struct sotto_token_input *t, size_t n);
/* What the arrays hold (of enum attack_need). */
unsigned tokens_needs(const struct sotto_token_input *t);

#endif
