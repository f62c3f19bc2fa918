/* signature.h - the signature that lies beside a file (sotto.signature/1). */
#ifndef DP_SIGN_SIGNATURE_H
#define DP_SIGN_SIGNATURE_H

#include "sotto/sign.h"

#include <stdbool.h>

/** Signs a file, byte for byte, whatever it is: writes FILE.signature.json. Errors of sotto_sign(), but EGATE. */
sotto_status signature_make(const char *file, const char *key);
/** Looks for FILE.signature.json. *found: it is there; *valid: it is of these bytes, by the owner of `key`. A file that is no
 * signature is found and not valid, and `key` is "". EIO, ENOMEM, ENOENT: of FILE. */
sotto_status signature_check(bool *found, bool *valid, char key[SOTTO_KEY_TEXT], const char *file);
/** Removes it: it is of other bytes. */
void signature_remove(const char *file);

#endif
