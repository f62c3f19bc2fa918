/* With ed25519.c the only file outside src/rng that sees libsodium. */
#include "base/sha256.h"

#include <errno.h>
#include <sodium.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

_Static_assert(sizeof(crypto_hash_sha256_state) <= sizeof(struct sha256),
               "the opaque state holds libsodium's");

void sha256_init(struct sha256 *s)
{
    crypto_hash_sha256_init((crypto_hash_sha256_state *)(void *)s->state);
}

void sha256_update(struct sha256 *s, const void *data, size_t bytes)
{
    crypto_hash_sha256_update((crypto_hash_sha256_state *)(void *)s->state, data, bytes);
}

sotto_status sha256_update_asking(struct sha256 *s, const void *data, size_t bytes,
                                  const struct sotto_context *ctx)
{
    enum { PIECE = 1 << 22 };
    sotto_status status = SOTTO_OK;
    for (size_t at = 0; at < bytes; at += PIECE) {
        TRY(context_check(ctx, "stopped while a hash was computed"));
        sha256_update(s, (const unsigned char *)data + at, bytes - at < PIECE ? bytes - at : PIECE);
    }
done:
    return status;
}

void sha256_hex(struct sha256 *s, char out[SHA256_HEX])
{
    unsigned char digest[crypto_hash_sha256_BYTES];
    crypto_hash_sha256_final((crypto_hash_sha256_state *)(void *)s->state, digest);
    sodium_bin2hex(out, SHA256_HEX, digest, sizeof digest);
}

void sha256_of(char out[SHA256_HEX], const void *data, size_t bytes)
{
    struct sha256 s;
    sha256_init(&s);
    sha256_update(&s, data, bytes);
    sha256_hex(&s, out);
}

sotto_status sha256_file(char out[SHA256_HEX], const char *path)
{
    return sha256_file_asking(out, path, NULL);
}

sotto_status sha256_file_asking(char out[SHA256_HEX], const char *path, const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    FILE *f = NULL;
    struct stat info;
    if (stat(path, &info) == 0 && !S_ISREG(info.st_mode) && !S_ISDIR(info.st_mode))
        FAIL(SOTTO_ENOENT, "%s: is a pipe or a device; expected a file, which is read more than once", path);
    f = fopen(path, "rb");
    if (!f)
        FAIL(SOTTO_ENOENT, "%s: %s", path, strerror(errno));
    struct sha256 s;
    sha256_init(&s);
    unsigned char block[1 << 16];
    size_t got;
    while ((got = fread(block, 1, sizeof block, f)) > 0) {
        TRY(context_check(ctx, "%s: stopped while it was hashed", path));
        sha256_update(&s, block, got);
    }
    if (ferror(f))
        FAIL(SOTTO_EIO, "%s: %s", path, strerror(errno));
    sha256_hex(&s, out);
done:
    if (f)
        fclose(f);
    return status;
}

_Static_assert(sizeof(crypto_generichash_state) <= sizeof(struct digest),
               "the opaque state holds libsodium's");

static crypto_generichash_state *blake(struct digest *d)
{
    return (crypto_generichash_state *)(void *)d->state;
}

void digest_init(struct digest *d)
{
    crypto_generichash_init(blake(d), NULL, 0, DIGEST_BYTES);
}

void digest_update(struct digest *d, const void *data, size_t bytes)
{
    crypto_generichash_update(blake(d), data, bytes);
}

void digest_end(unsigned char out[DIGEST_BYTES], struct digest *d)
{
    crypto_generichash_final(blake(d), out, DIGEST_BYTES);
}

void digest_of(unsigned char out[DIGEST_BYTES], const struct digest_part *parts, size_t count)
{
    struct digest d;
    digest_init(&d);
    for (size_t i = 0; i < count; i++)
        digest_update(&d, parts[i].data, parts[i].bytes);
    digest_end(out, &d);
}

uint64_t digest_keyed(const unsigned char digest[DIGEST_BYTES], const unsigned char key[DIGEST_BYTES])
{
    unsigned char bytes[crypto_shorthash_siphash24_BYTES];
    uint64_t hash = 0;
    crypto_shorthash_siphash24(bytes, digest, DIGEST_BYTES, key);
    for (size_t i = 0; i < sizeof bytes; i++)
        hash = hash << 8 | bytes[i];
    return hash;
}
