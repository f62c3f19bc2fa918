/* Positions in chunks that threads share; within a chunk a piece of the stream at a time, so that words and
 * draws stay in the first-level cache. */
#include "dp/fast_noise.h"
#include "base/cpu.h"
#include "base/memory.h"
#include "par/par.h"

extern const struct fast_kernels fast_kernels_v2, fast_kernels_v3, fast_kernels_v4, fast_kernels_v4bf16;

const struct fast_kernels *fast_kernels_find(void)
{
    static const struct fast_kernels *const tables[CPU_ISA_COUNT] = {&fast_kernels_v2, &fast_kernels_v3,
                                                                     &fast_kernels_v4, &fast_kernels_v4bf16};
    return tables[cpu_best_isa()];
}

double fast_reach(enum fast_law law)
{
    static const double reach[FAST_LAWS] = {0, 9.4926, 45.0546, 44.3615};
    return reach[law];
}

enum {
    PIECE_GROUPS = 4, /* of the stream: 4 KiB of words and as much of draws */
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
};

static sotto_status add_chunk(void *arg, size_t chunk, int thread)
{
    const struct task *t = arg;
    _Alignas(64) uint64_t words[PIECE];
    _Alignas(64) double unit[PIECE];
    size_t end = (chunk + 1) * CHUNK < t->n ? (chunk + 1) * CHUNK : t->n;
    (void)thread;
    for (size_t at = chunk * CHUNK; at < end; at += PIECE) {
        size_t count = end - at < PIECE ? end - at : PIECE, groups = (count + FAST_GROUP - 1) / FAST_GROUP;
        t->stream->fill((uint32_t *)words, t->key, at / (CHACHA_WORDS / 2),
                        (2 * groups * FAST_GROUP + CHACHA_WORDS - 1) / CHACHA_WORDS);
        t->kernels->draw[t->how->law](unit, words, groups);
        if (t->how->single)
            t->kernels->add_float((float *)t->sum + at, unit, count, t->how->scale);
        else
            t->kernels->add((double *)t->sum + at, unit, count, t->how->scale);
    }
    base_wipe(words, sizeof words);
    base_wipe(unit, sizeof unit);
    return SOTTO_OK;
}

void fast_noise_add(void *sum, size_t n, const struct fast_sum *how, const unsigned char key[CHACHA_KEY])
{
    struct task t = {sum, n, how, key, chacha_kernels_find(), fast_kernels_find()};
    size_t chunks = (n + CHUNK - 1) / CHUNK;
    (void)par_shares(chunks, n < SHARED ? 1 : how->threads, add_chunk, &t);
}
