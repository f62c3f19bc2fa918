/* ed25519.h - signatures of bytes (RFC 8032; libsodium behind it). */
#ifndef BASE_ED25519_H
#define BASE_ED25519_H

#include "base/status.h"

#include <stdbool.h>

enum { ED25519_SEED = 32, ED25519_PUBLIC = 32, ED25519_SIGNATURE = 64 };

/** A new secret, from the operating system. */
sotto_status ed25519_new(unsigned char seed[ED25519_SEED]);
sotto_status ed25519_public(unsigned char out[ED25519_PUBLIC], const unsigned char seed[ED25519_SEED]);
sotto_status ed25519_sign(unsigned char out[ED25519_SIGNATURE], const void *message, size_t bytes,
                          const unsigned char seed[ED25519_SEED]);
bool ed25519_verify(const unsigned char signature[ED25519_SIGNATURE], const void *message, size_t bytes,
                    const unsigned char key[ED25519_PUBLIC]);
/** Overwrites a secret, also where the compiler sees no use in it. */
void secret_forget(void *secret, size_t bytes);
/** Lower-case digits and the terminator; and back, false: not 2 * bytes hexadecimal digits. */
void hex_encode(char *out, const unsigned char *bytes, size_t count);
bool hex_decode(unsigned char *out, size_t count, const char *text);

#endif
