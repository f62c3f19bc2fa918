/* condition_words.h - the conditions of a certificate as whole sentences, each of which must be true. */
#ifndef DP_CERTIFICATE_CONDITION_WORDS_H
#define DP_CERTIFICATE_CONDITION_WORDS_H

#include "dp/certificate/certificate.h"

#define CONDITION_READ_FROM_DATA ", which was read from the private data" /* behind a name: a condition */

enum { CONDITION_SENTENCE = 2 * CONDITION_TEXT };
/** The next condition of a text that joins them by ", and on ", as a sentence; *conditions moves on. NULL and "" have none.
 *
 *  Returns: false  there is none left; `out` is untouched */
bool condition_next(char out[CONDITION_SENTENCE], const char **conditions);

#endif
