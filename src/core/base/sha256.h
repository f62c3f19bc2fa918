/* sha256.h - hashes of data, recipes and files (instructions of the CPU or libsodium behind it). */
#ifndef BASE_SHA256_H
#define BASE_SHA256_H

#include "base/status.h"

#include <stdbool.h>

enum { SHA256_HEX = 65 }; /* 64 lower-case digits and the terminator */

struct sha256 {
    _Alignas(16) unsigned char state[128];
    bool own; /* ours, by the instructions of this CPU; else libsodium's */
};
void sha256_init(struct sha256 *s);
void sha256_update(struct sha256 *s, const void *data, size_t bytes);
void sha256_hex(struct sha256 *s, char out[SHA256_HEX]);
void sha256_of(char out[SHA256_HEX], const void *data, size_t bytes);
/** For many bytes: asks ctx every few megabytes. ESTOPPED. */
sotto_status sha256_update_asking(struct sha256 *s, const void *data, size_t bytes,
                                  const struct sotto_context *ctx);
/** Streams the file; ENOENT, EIO. */
sotto_status sha256_file(char out[SHA256_HEX], const char *path);
sotto_status sha256_file_asking(char out[SHA256_HEX], const char *path, const struct sotto_context *ctx);

enum { DIGEST_BYTES = 16 };
struct digest_part {
    const void *data;
    size_t bytes;
};
/** BLAKE2b of 128 bits, as of `b2sum -l 128`: */
struct digest {
    _Alignas(64) unsigned char state[384];
};
void digest_init(struct digest *d);
void digest_update(struct digest *d, const void *data, size_t bytes);
void digest_end(unsigned char out[DIGEST_BYTES], struct digest *d);
/** the same over the parts, one after the other. */
void digest_of(unsigned char out[DIGEST_BYTES], const struct digest_part *parts, size_t count);
/** 64 bits of a digest under a key (SipHash-2-4): says nothing about equal digests under another key. */
uint64_t digest_keyed(const unsigned char digest[DIGEST_BYTES], const unsigned char key[DIGEST_BYTES]);
enum { MARK_KEY = 16 };
/** 128 bits of any bytes under a key (SipHash-128, 2-4). */
void mark_bytes(uint64_t mark[2], const void *data, size_t bytes, const unsigned char key[MARK_KEY]);

#endif
