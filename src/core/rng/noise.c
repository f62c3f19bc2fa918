/* ChaCha20 in blocks of BLOCK bytes: the first 32 bytes of each block become the next key and are never
 * handed out. `alive` lies in the wiped page too: it reads 0 in a forked child, which then takes a key of its
 * own from the operating system (a seeded stream loses its seed that way, and its `insecure` mark with
 * it). */
#include "rng/noise.h"

#include "base/memory.h"
#include "rng/noise_script.h"

#include <sodium.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { BLOCK = 8192, KEY = crypto_stream_chacha20_KEYBYTES, REKEY_BLOCKS = 128 /* 1 MiB */ };

struct noise {
    uint32_t alive;
    bool insecure;
    unsigned blocks; /* since the last key from the operating system */
    size_t at;       /* next unused byte of `data` */
    uint64_t bits;   /* left-over bits of noise_bits() */
    unsigned bit_count;
    unsigned char key[KEY];
    unsigned char data[BLOCK];
};

static void noise_refill(struct noise *s)
{
    static const unsigned char nonce[crypto_stream_chacha20_NONCEBYTES];
    if (!s->insecure && s->blocks == 0)
        randombytes_buf(s->key, KEY);
    s->blocks = (s->blocks + 1) % REKEY_BLOCKS;
    crypto_stream_chacha20(s->data, BLOCK, nonce, s->key);
    memcpy(s->key, s->data, KEY);
    sodium_memzero(s->data, KEY);
    s->at = KEY;
}

static sotto_status open_stream(struct noise **out, bool insecure, const unsigned char *key)
{
    if (sodium_init() < 0)
        return status_fail(SOTTO_EINTERNAL, "noise: libsodium found no random generator on this system");
    void *guard = base_alloc(1, 1); /* lets the allocation-failure tests reach this function too */
    base_free(guard);
    struct noise *s = guard
                          ? mmap(NULL, sizeof *s, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
                          : MAP_FAILED;
    if (s == MAP_FAILED)
        return status_fail(SOTTO_ENOMEM, "noise: out of memory");
    if (madvise(s, sizeof *s, MADV_WIPEONFORK) != 0) {
        munmap(s, sizeof *s);
        return status_fail(SOTTO_EINTERNAL,
                           "noise: this kernel cannot wipe pages on fork (Linux 4.14 or newer)");
    }
    (void)sodium_mlock(s, sizeof *s); /* best effort: keeps noise out of swap */
    s->alive = 1;
    s->insecure = insecure;
    if (key)
        memcpy(s->key, key, KEY);
    noise_refill(s);
    *out = s;
    return SOTTO_OK;
}

sotto_status noise_open(struct noise **out)
{
    return open_stream(out, false, NULL);
}

sotto_status noise_open_insecure(struct noise **out, uint64_t seed)
{
    unsigned char key[KEY] = "sotto insecure noise";
    for (int i = 0; i < 8; i++)
        key[KEY - 8 + i] = (unsigned char)(seed >> 8 * i);
    return open_stream(out, true, key);
}

/* The script is what is left of a first block, so that drawing from it is drawing from any stream. */
sotto_status noise_open_script(struct noise **out, const uint64_t *words, size_t count)
{
    _Static_assert(NOISE_SCRIPT_WORDS * sizeof(uint64_t) == BLOCK - KEY, "all of a block but the next key");
    if (count > NOISE_SCRIPT_WORDS)
        return status_fail(SOTTO_EINVAL, "noise: a script must have at most %d words (got %zu)",
                           NOISE_SCRIPT_WORDS, count);
    sotto_status status = noise_open_insecure(out, 0);
    if (status == SOTTO_OK && count > 0) {
        (*out)->at = BLOCK - count * sizeof *words;
        memcpy((*out)->data + (*out)->at, words, count * sizeof *words);
    }
    return status;
}

bool noise_is_insecure(const struct noise *s)
{
    return s->insecure;
}

bool noise_is_own(const struct noise *s)
{
    return s->alive != 0;
}

void noise_close(struct noise *s)
{
    if (!s)
        return;
    sodium_munlock(s, sizeof *s); /* wipes as well */
    sodium_memzero(s, sizeof *s);
    munmap(s, sizeof *s);
}

/* A child sees zeros: start over with a fresh key. */
static void noise_revive(struct noise *s)
{
    memset(s, 0, sizeof *s);
    s->alive = 1;
    noise_refill(s);
}

void noise_bytes(struct noise *s, void *out, size_t bytes)
{
    unsigned char *to = out;
    if (s->alive == 0)
        noise_revive(s);
    while (bytes > 0) {
        if (s->at == BLOCK)
            noise_refill(s);
        size_t part = BLOCK - s->at < bytes ? BLOCK - s->at : bytes;
        memcpy(to, s->data + s->at, part);
        sodium_memzero(s->data + s->at, part);
        s->at += part;
        to += part;
        bytes -= part;
    }
}

uint64_t noise_u64(struct noise *s)
{
    uint64_t x;
    if (s->alive == 0)
        noise_revive(s);
    if (s->at + sizeof x > BLOCK)
        noise_refill(s);
    memcpy(&x, s->data + s->at, sizeof x);
    memset(s->data + s->at, 0, sizeof x);
    s->at += sizeof x;
    return x;
}

uint64_t noise_bits(struct noise *s, unsigned count)
{
    if (s->alive == 0)
        noise_revive(s);
    if (count > s->bit_count) {
        if (count > 32)
            return noise_u64(s) >> (64 - count);
        s->bits = noise_u64(s);
        s->bit_count = 64;
    }
    uint64_t x = s->bits & ((count < 64 ? (uint64_t)1 << count : 0) - 1);
    s->bits >>= count;
    s->bit_count -= count;
    return x;
}

double noise_unit(struct noise *s)
{
    return ((double)(noise_u64(s) >> 11) + 0.5) * 0x1p-53;
}
