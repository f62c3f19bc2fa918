/* name.h - "did you mean": what is said of a name that is in no list. */
#ifndef BASE_NAME_H
#define BASE_NAME_H

#include "base/status.h"

enum { NAME_HINT = SOTTO_NAME_GUESS + 20 };

/** Puts name[0 .. length) into guess if `asked` is nearer to it than to what stands there ("": nothing yet). */
void name_consider(char guess[SOTTO_NAME_GUESS], const char *asked, const char *name, size_t length);
/** "; did you mean 'adam'?", or "" if guess is "". Returns out. */
const char *name_hint(char out[NAME_HINT], const char *guess);
/** Fails with "trainer 'adm' is unknown; expected adam or sgd; did you mean 'adam'?".
 *
 *  In:      what   what it would be a name of, behind the place: "trainer", "audit: attack"
 *           asked  NULL: ""
 *           names  "adam or sgd", "a, b, c", "a|b" */
sotto_status name_unknown(sotto_status code, const char *what, const char *asked, const char *names);

#endif
