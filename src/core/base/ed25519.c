#include "base/ed25519.h"

#include <sodium.h>
#include <string.h>

_Static_assert(ED25519_SEED == crypto_sign_SEEDBYTES && ED25519_PUBLIC == crypto_sign_PUBLICKEYBYTES &&
                   ED25519_SIGNATURE == crypto_sign_BYTES,
               "libsodium signs by Ed25519");

static sotto_status ed25519_start(void)
{
    return sodium_init() < 0 ? status_fail(SOTTO_EIO, "the operating system gives no random numbers")
                             : SOTTO_OK;
}

sotto_status ed25519_new(unsigned char seed[ED25519_SEED])
{
    sotto_status status = ed25519_start();
    if (status == SOTTO_OK)
        randombytes_buf(seed, ED25519_SEED);
    return status;
}

sotto_status ed25519_public(unsigned char out[ED25519_PUBLIC], const unsigned char seed[ED25519_SEED])
{
    unsigned char secret[crypto_sign_SECRETKEYBYTES];
    sotto_status status = ed25519_start();
    if (status == SOTTO_OK)
        (void)crypto_sign_seed_keypair(out, secret, seed);
    sodium_memzero(secret, sizeof secret);
    return status;
}

sotto_status ed25519_sign(unsigned char out[ED25519_SIGNATURE], const void *message, size_t bytes,
                          const unsigned char seed[ED25519_SEED])
{
    unsigned char key[ED25519_PUBLIC], secret[crypto_sign_SECRETKEYBYTES];
    sotto_status status = ed25519_start();
    if (status == SOTTO_OK) {
        (void)crypto_sign_seed_keypair(key, secret, seed);
        (void)crypto_sign_detached(out, NULL, message, bytes, secret);
    }
    sodium_memzero(secret, sizeof secret);
    return status;
}

bool ed25519_verify(const unsigned char signature[ED25519_SIGNATURE], const void *message, size_t bytes,
                    const unsigned char key[ED25519_PUBLIC])
{
    return crypto_sign_verify_detached(signature, message, bytes, key) == 0;
}

void secret_forget(void *secret, size_t bytes)
{
    sodium_memzero(secret, bytes);
}

void hex_encode(char *out, const unsigned char *bytes, size_t count)
{
    sodium_bin2hex(out, 2 * count + 1, bytes, count);
}

bool hex_decode(unsigned char *out, size_t count, const char *text)
{
    size_t found = 0;
    return strlen(text) == 2 * count && strspn(text, "0123456789abcdef") == 2 * count &&
           sodium_hex2bin(out, count, text, 2 * count, NULL, &found, NULL) == 0 && found == count;
}
