/* sign.h - signatures of certificates: who vouches for one (docs/FORMATS.md, sotto.key/1 and sotto.signature/1).
 *
 * A certificate names the released file and the ledger's last line by their hashes, so a signature of it is one of all three.
 * sotto_verify() checks the signature that lies beside a certificate; the reader must know which key to trust. */
#ifndef SOTTO_SIGN_H
#define SOTTO_SIGN_H

#include "sotto/base.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { SOTTO_KEY_TEXT = 65 /**< a public key as 64 hexadecimal digits, with the terminator */ };

/** Makes a key pair for signatures by Ed25519, from the operating system's randomness.
 *  In:      path  a new file
 *  Out:     PATH (mode 0600) holds both keys, PATH.pub the public one, which is to be handed out
 *  Returns: ECREATE  one of them exists, or cannot be created
 *           EIO */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_key_new(const char *path);
/** Reads the public key of either file.
 *  Out:     key
 *           *secret  1: the file holds the secret key too, and can sign; may be NULL
 *  Returns: EFORMAT  no key, or a pair that does not belong together
 *           ENOENT, EIO, ENOMEM */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_key_public(char key[SOTTO_KEY_TEXT], int *secret,
                                                         const char *path);
/** Verifies a certificate (sotto_verify() without a ledger) and signs its file, byte for byte: writes FILE.signature.json. An
 * earlier signature is removed first.
 *  In:      file  a certificate
 *           key   file of a key pair
 *  Returns: EGATE    it does not verify; it has no signature then
 *           EFORMAT  no certificate; no key, or a public one alone
 *           ECREATE, ENOENT, EIO, ENOMEM */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_sign(const char *file, const char *key);

#ifdef __cplusplus
}
#endif
#endif
