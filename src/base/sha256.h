/* sha256.h - fingerprints of data, recipes and files (libsodium behind it). */
#ifndef BASE_SHA256_H
#define BASE_SHA256_H

#include "base/status.h"

enum { SHA256_HEX = 65 }; /* 64 lower-case digits and the terminator */

struct sha256 {
    _Alignas(16) unsigned char state[128];
};
void sha256_init(struct sha256 *s);
void sha256_update(struct sha256 *s, const void *data, size_t bytes);
void sha256_hex(struct sha256 *s, char out[SHA256_HEX]);
void sha256_of(char out[SHA256_HEX], const void *data, size_t bytes);
/** Streams the file; ENOENT, EIO. */
sotto_status sha256_file(char out[SHA256_HEX], const char *path);

#endif
