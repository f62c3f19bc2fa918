/* Positions in chunks that threads share; within a chunk a piece of the stream at a time, so that words and
 * draws stay in the first-level cache. */
#include "dp/noise/fast_noise.h"

#include "base/cpu.h"
#include "base/memory.h"
#include "par/par.h"

#include <math.h>

ISA_TABLE(const struct fast_kernels, fast_kernels, fast_kernels_find);

size_t fast_words(enum fast_law law)
{
    return law == FAST_GAUSSIAN ? FAST_BLOCK / 2 * 3 : FAST_BLOCK * 2;
}

double fast_unit(double scale)
{
    int exponent = ilogb(scale);
    return ldexp(1, (exponent < 900 ? exponent : 900) - 20); /* 2^53 of it is a number */
}

double fast_reach(enum fast_law law)
{
    static const double reach[FAST_LAWS] = {0, 9.4926, 45.0546, 44.3615};
    return reach[law];
}

enum {
    PIECE_GROUPS = 4, /* of the stream: 4 KiB of words and half as much of draws */
    PIECE = PIECE_GROUPS * CHACHA_WORDS / 2,
    CHUNK = 16 * PIECE,
    SHARED = 8 * CHUNK /* fewer draws are done before a pool of threads is awake */
};

struct task {
    void *sum;
    size_t n;
    const struct fast_sum *how;
    const unsigned char *key;
    const struct chacha_kernels *stream;
    const struct fast_kernels *kernels;
    double unit; /* of a sum of doubles */
};

static size_t pieces(size_t n, size_t size)
{
    return (n + size - 1) / size;
}

/* A piece begins with a group of the stream. */
static void add_piece(const struct task *t, uint32_t words[2 * PIECE], size_t at, size_t count)
{
    _Alignas(64) float unit[PIECE];
    const struct fast_sum *how = t->how;
    size_t blocks = pieces(count, FAST_BLOCK), each = fast_words(how->law);
    t->stream->fill(words, t->key, at / FAST_BLOCK * each / CHACHA_WORDS,
                    pieces(blocks * each, CHACHA_WORDS));
    t->kernels->draw[how->law](unit, words, blocks);
    if (how->floats)
        t->kernels->add_floats((float *)t->sum + at, unit, count, how->scale);
    else
        t->kernels->add((double *)t->sum + at, unit, count, how->scale, t->unit);
    base_wipe(unit, blocks * FAST_BLOCK * sizeof *unit);
}

static sotto_status add_chunk(void *arg, size_t chunk, int thread)
{
    const struct task *t = arg;
    _Alignas(64) uint32_t words[2 * PIECE];
    size_t end = (chunk + 1) * CHUNK < t->n ? (chunk + 1) * CHUNK : t->n;
    (void)thread;
    for (size_t at = chunk * CHUNK; at < end; at += PIECE)
        add_piece(t, words, at, end - at < PIECE ? end - at : PIECE);
    base_wipe(words, sizeof words);
    return SOTTO_OK;
}

void fast_noise_add(void *sum, size_t n, const struct fast_sum *how, const unsigned char key[CHACHA_KEY])
{
    struct task t = {sum, n, how, key, chacha_kernels_find(), fast_kernels_find(), fast_unit(how->scale)};
    (void)par_shares(pieces(n, CHUNK), n < SHARED ? 1 : how->threads, add_chunk, &t);
}
