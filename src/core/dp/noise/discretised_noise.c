/* Positions in chunks that threads share; within a chunk a piece of the stream at a time, so that words and
 * draws stay in the first-level cache. Draws that a piece cannot decide are kept in a list and decided by
 * balls, many in one run. */
#include "dp/noise/discretised_noise.h"

#include "base/cpu.h"
#include "base/memory.h"
#include "dp/ball/ball_draw.h"
#include "par/par.h"

#include <math.h>
#include <string.h>

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "words of 64 bits are read from the stream's words of 32, the lower first"
#endif

ISA_TABLE(const struct floor_kernels, floor_kernels, floor_kernels_find);

struct floor_bounds floor_bounds_make(enum discretised_law law, double m, bool flat, unsigned known)
{
    const double u = 0x1p-53, cell = ldexp(1, 64 - (int)known); /* the theta of a word counts 0 .. cell */
    const bool gaussian = law == DISCRETISED_GAUSSIAN, discrete = law == DISCRETISED_DISCRETE_LAPLACE;
    return (struct floor_bounds){
        .law = law,
        .m = m,
        .shift = discrete ? -m * log1p(expm1(-1 / m) / 2) : 0, /* m ln(2 / (1 + e^(-1/m))) */
        .constant = 8 * m * u + (discrete ? 0x1p-48 : 0),
        .slope = gaussian ? m * (12 * u + 6.4 * 0x1p-64 * cell) : (discrete ? 4 : 3) * m * u,
        .inverse = m * (16 * u + 1.15 * 0x1p-63 * cell),
        .word = cell * fmax(2, gaussian ? m : 1.15 * m),
        .flat = flat ? m * 0x1p-40 : 0,
        .half = cell / 2,
    };
}

/* The vectors' own rounding, which fegetround() does not always tell. */
static sotto_status check_rounding(void)
{
    volatile double one = 1, little = 0x1p-60;
    if (one + little == 1 && one - little == 1)
        return SOTTO_OK;
    return status_fail(SOTTO_EINVAL, "noise: floating-point numbers are not rounded to nearest; "
                                     "call fesetround(FE_TONEAREST) first");
}

bool discretised_noise_fits(double m, bool flat)
{
    return m >= 0x1p-30 && m <= (flat ? 0x1p32 : 0x1p44);
}

sotto_status discretised_noise_open(struct discretised_noise *out, enum discretised_law law, double m,
                                    bool flat, struct noise *keys)
{
    sotto_status status = SOTTO_OK;
    if (!discretised_noise_fits(m, flat))
        FAIL(SOTTO_EINVAL,
             "noise: the scale is %g lattice steps; expected 2^-30 to 2^44 (2^32 with flat doubt)", m);
    TRY(check_rounding());
    out->bounds = floor_bounds_make(law, m, flat, 64);
    noise_bytes(keys, out->key, sizeof out->key);
done:
    return status;
}

void discretised_noise_close(struct discretised_noise *f)
{
    base_wipe(f, sizeof *f);
}

enum {
    PIECE_GROUPS = 4, /* 4 KiB of words and as much of draws */
    PIECE = PIECE_GROUPS * DISCRETISED_GROUP,
    CHUNK_GROUPS = 32 * PIECE_GROUPS,
    SHARED = 4 * CHUNK_GROUPS, /* fewer are done before a pool of threads is awake */
    LIST = 64
};

struct fill {
    const struct discretised_noise *noise;
    int64_t *integers; /* one of them is where draws go */
    double *doubles;
    int128 *wide;
    uint64_t first;
    size_t n;
    const struct chacha_kernels *stream;
    const struct floor_kernels *kernels;
};

/* A draw, or a pair by the position of its cosine. */
struct undecided_draw {
    uint64_t position, word[2];
};

/* What one thread works with. */
struct work {
    const struct fill *fill;
    _Alignas(64) uint64_t words[PIECE];
    _Alignas(64) double k[PIECE];
    uint64_t undecided_bits[2 * PIECE_GROUPS];
    size_t undecided_count;
    struct undecided_draw undecided[LIST];
};

/* --- the slow path --- */

struct refinement {
    const unsigned char *key;
    uint64_t position;
};

static void discretised_noise_refine(uint64_t bits[2], const void *arg, unsigned round)
{
    const struct refinement *r = arg;
    chacha_words(bits, r->key, r->position + 1, round);
}

static int128 discretised_noise_stop(int128 k, unsigned bits)
{
    const int128 end = (int128)1 << bits;
    return k < -end ? -end : k > end ? end : k;
}

static void discretised_noise_put(const struct fill *t, uint64_t position, int128 k)
{
    const uint64_t i = position - t->first;
    if (i >= t->n)
        return;
    if (t->wide)
        t->wide[i] = k;
    else if (t->integers)
        t->integers[i] = (int64_t)discretised_noise_stop(k, 61);
    else
        t->doubles[i] = (double)discretised_noise_stop(k, 52);
}

static sotto_status settle_undecided(void *arg)
{
    static const enum ball_noise ball_law[] = {BALL_LOGISTIC, BALL_LAPLACE, BALL_GAUSSIAN, BALL_LAPLACE};
    const struct work *w = arg;
    const struct discretised_noise *noise = w->fill->noise;
    const enum discretised_law law = noise->bounds.law;
    for (const struct undecided_draw *d = w->undecided; d < w->undecided + w->undecided_count; d++) {
        const struct refinement more = {noise->key, d->position};
        const struct ball_draw draw = {.law = ball_law[law],
                                       .discrete = law == DISCRETISED_DISCRETE_LAPLACE,
                                       .m = noise->bounds.m,
                                       .word = {d->word[0], d->word[1]},
                                       .known = 64,
                                       .step = 64,
                                       .refine = discretised_noise_refine,
                                       .arg = &more};
        int128 k[2];
        ball_draw(k, &draw);
        discretised_noise_put(w->fill, d->position, k[0]);
        if (law == DISCRETISED_GAUSSIAN)
            discretised_noise_put(w->fill, d->position + DISCRETISED_PAIRS, k[1]);
    }
    return SOTTO_OK;
}

static sotto_status discretised_noise_settle(struct work *w)
{
    sotto_status status = w->undecided_count ? ball_run(settle_undecided, w, NULL) : SOTTO_OK;
    w->undecided_count = 0;
    return status;
}

/* --- the fast path --- */

/* The undecided among draws 64 h .. 64 h + 63 of a piece that begins at position `at`. */
static sotto_status list_undecided(struct work *w, size_t h, uint64_t at)
{
    sotto_status status = SOTTO_OK;
    const bool pair = w->fill->noise->bounds.law == DISCRETISED_GAUSSIAN;
    for (uint64_t bits = w->undecided_bits[h]; bits; bits &= bits - 1) {
        const size_t i = 64 * h + (size_t)__builtin_ctzll(bits);
        if (w->undecided_count == LIST)
            TRY(discretised_noise_settle(w));
        w->undecided[w->undecided_count++] =
            (struct undecided_draw){at + i, {w->words[i], pair ? w->words[i + DISCRETISED_PAIRS] : 0}};
    }
done:
    return status;
}

/* Those of the draws w->k[0 .. count), from position `at` on, that were requested. */
static void copy_range(const struct work *w, uint64_t at, size_t count)
{
    const struct fill *t = w->fill;
    const uint64_t begin = at > t->first ? at : t->first, end = t->first + t->n;
    const size_t n = (size_t)((at + count < end ? at + count : end) - begin), to = (size_t)(begin - t->first);
    const double *from = w->k + (begin - at);
    if (t->wide)
        for (size_t i = 0; i < n;
             i++) /* larger ones are undecided, and discretised_noise_put() there later */
            t->wide[to + i] = fabs(from[i]) < 0x1p51 ? (int64_t)from[i] : 0;
    else if (t->integers)
        t->kernels->to_integers(t->integers + to, from, n);
    else
        memcpy(t->doubles + to, from, n * sizeof *t->doubles);
}

static sotto_status fill_piece(struct work *w, uint64_t group, size_t groups)
{
    const struct fill *t = w->fill;
    const struct floor_bounds *bounds = &t->noise->bounds;
    const uint64_t at = group * DISCRETISED_GROUP;
    sotto_status status = SOTTO_OK;
    t->stream->fill((uint32_t *)w->words, t->noise->key, group, groups);
    t->kernels->draw[bounds->law](w->k, w->undecided_bits, w->words, groups, bounds);
    copy_range(w, at, groups * DISCRETISED_GROUP);
    for (size_t h = 0; h < 2 * groups && status == SOTTO_OK; h++)
        status = list_undecided(w, h, at);
    return status;
}

static uint64_t end_group(const struct fill *t)
{
    return (t->first + t->n + DISCRETISED_GROUP - 1) / DISCRETISED_GROUP;
}

static sotto_status fill_chunk(void *arg, size_t chunk, int thread)
{
    const struct fill *t = arg;
    uint64_t group = t->first / DISCRETISED_GROUP + chunk * CHUNK_GROUPS, end = end_group(t);
    struct work w;
    sotto_status status = check_rounding();
    (void)thread;
    w.fill = t;
    w.undecided_count = 0;
    end = group + CHUNK_GROUPS < end ? group + CHUNK_GROUPS : end;
    for (; group < end && status == SOTTO_OK; group += PIECE_GROUPS)
        status = fill_piece(&w, group, end - group < PIECE_GROUPS ? end - group : PIECE_GROUPS);
    if (status == SOTTO_OK)
        status = discretised_noise_settle(&w);
    base_wipe(&w, sizeof w);
    return status;
}

static sotto_status discretised_noise_fill_all(struct fill t, int threads)
{
    const size_t groups = (size_t)(end_group(&t) - t.first / DISCRETISED_GROUP);
    if (t.n == 0)
        return SOTTO_OK;
    t.stream = chacha_kernels_find();
    t.kernels = floor_kernels_find();
    return par_chunks((groups + CHUNK_GROUPS - 1) / CHUNK_GROUPS, groups < SHARED ? 1 : threads, fill_chunk,
                      &t);
}

sotto_status discretised_noise_fill(const struct discretised_noise *f, int64_t *k, uint64_t first, size_t n,
                                    int threads)
{
    const struct fill t = {.noise = f, .integers = k, .first = first, .n = n};
    return discretised_noise_fill_all(t, threads);
}

sotto_status discretised_noise_fill_wide(const struct discretised_noise *f, int128 *k, uint64_t first,
                                         size_t n, int threads)
{
    const struct fill t = {.noise = f, .wide = k, .first = first, .n = n};
    return discretised_noise_fill_all(t, threads);
}

sotto_status discretised_noise_fill_doubles(const struct discretised_noise *f, double *k, uint64_t first,
                                            size_t n, int threads)
{
    const struct fill t = {.noise = f, .doubles = k, .first = first, .n = n};
    return discretised_noise_fill_all(t, threads);
}
