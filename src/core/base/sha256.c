/* With ed25519.c the only file outside src/core/rng that sees libsodium. */
#include "base/sha256.h"
#include "base/sha256_blocks.h"

#include <errno.h>
#include <sodium.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

/* Where the CPU has instructions for it. */
struct own {
    uint32_t h[8];
    uint64_t bytes;
    unsigned char block[64];
};
_Static_assert(sizeof(crypto_hash_sha256_state) <= sizeof((struct sha256){0}.state) &&
                   sizeof(struct own) <= sizeof((struct sha256){0}.state),
               "the opaque state holds libsodium's and ours");

static struct own *own_of(struct sha256 *s)
{
    return (struct own *)(void *)s->state;
}

static crypto_hash_sha256_state *sodium_of(struct sha256 *s)
{
    return (crypto_hash_sha256_state *)(void *)s->state;
}

static void own_update(struct own *o, const unsigned char *data, size_t bytes)
{
    const size_t have = o->bytes % 64, fill = have == 0 ? 0 : bytes < 64 - have ? bytes : 64 - have;
    o->bytes += bytes;
    if (fill > 0)
        memcpy(o->block + have, data, fill);
    if (fill > 0 && have + fill == 64)
        sha256_blocks(o->h, o->block, 1);
    sha256_blocks(o->h, data + fill, (bytes - fill) / 64);
    if ((bytes - fill) % 64 > 0)
        memcpy(o->block, data + bytes - (bytes - fill) % 64, (bytes - fill) % 64);
}

/* A bit, zeros up to 8 bytes before the end of a block, and the number of bits. */
static void own_final(struct own *o, unsigned char digest[32])
{
    unsigned char end[72] = {0x80};
    const size_t zeros = (119 - o->bytes % 64) % 64;
    for (int i = 0; i < 8; i++)
        end[1 + zeros + (size_t)i] = (unsigned char)(o->bytes * 8 >> (56 - 8 * i));
    own_update(o, end, 1 + zeros + 8);
    for (int i = 0; i < 32; i++)
        digest[i] = (unsigned char)(o->h[i / 4] >> (24 - 8 * (i % 4)));
}

void sha256_init(struct sha256 *s)
{
    /* FIPS 180-4, section 5.3.3: of the square roots of the first 8 primes */
    static const struct own start = {.h = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f,
                                           0x9b05688c, 0x1f83d9ab, 0x5be0cd19}};
    s->own = sha256_has_blocks();
    if (s->own)
        *own_of(s) = start;
    else
        crypto_hash_sha256_init(sodium_of(s));
}

void sha256_update(struct sha256 *s, const void *data, size_t bytes)
{
    if (s->own)
        own_update(own_of(s), data, bytes);
    else
        crypto_hash_sha256_update(sodium_of(s), data, bytes);
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
    if (s->own)
        own_final(own_of(s), digest);
    else
        crypto_hash_sha256_final(sodium_of(s), digest);
    for (size_t i = 0; i < sizeof digest; i++) { /* of what is no secret, unlike sodium_bin2hex() */
        out[2 * i] = "0123456789abcdef"[digest[i] >> 4];
        out[2 * i + 1] = "0123456789abcdef"[digest[i] & 15];
    }
    out[SHA256_HEX - 1] = '\0';
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

static crypto_generichash_state *sha256_blake(struct digest *d)
{
    return (crypto_generichash_state *)(void *)d->state;
}

void digest_init(struct digest *d)
{
    crypto_generichash_init(sha256_blake(d), NULL, 0, DIGEST_BYTES);
}

void digest_update(struct digest *d, const void *data, size_t bytes)
{
    crypto_generichash_update(sha256_blake(d), data, bytes);
}

void digest_end(unsigned char out[DIGEST_BYTES], struct digest *d)
{
    crypto_generichash_final(sha256_blake(d), out, DIGEST_BYTES);
}

void digest_of(unsigned char out[DIGEST_BYTES], const struct digest_part *parts, size_t count)
{
    struct digest d;
    digest_init(&d);
    for (size_t i = 0; i < count; i++)
        digest_update(&d, parts[i].data, parts[i].bytes);
    digest_end(out, &d);
}

void mark_bytes(uint64_t mark[2], const void *data, size_t bytes, const unsigned char key[MARK_KEY])
{
    unsigned char out[crypto_shorthash_siphashx24_BYTES];
    crypto_shorthash_siphashx24(out, data, bytes, key);
    memcpy(mark, out, sizeof out);
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
