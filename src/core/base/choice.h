/* choice.h - a name that is none of those that were expected. */
#ifndef BASE_CHOICE_H
#define BASE_CHOICE_H

#include "base/status.h"

/** The edit distance of two names of at most 63 bytes, else 99; two letters that changed places are one mistake. */
size_t name_distance(const char *a, const char *b);
/** out: "; did you mean 'X'?", X being the one of `choices` ("a, b or c") that is near what was given; "" where none is. */
enum { CHOICE_GUESS = 96 };
void choice_guess(char out[CHOICE_GUESS], const char *given, const char *choices);
/** Records "SUBJECT 'GIVEN' is unknown; expected CHOICES", with a guess. The last word of the subject is the key (status_key()).
 * Returns code. */
sotto_status choice_unknown(sotto_status code, const char *subject, const char *given, const char *choices);

#endif
