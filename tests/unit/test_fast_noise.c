/* The fast sampler: its stream against RFC 8439 and libsodium, its laws against long double, the same bits at
 * every level and for every number of threads, what each word can become at most. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/cpu.h"
#include "dp/fast_noise.h"
#include "rng/rng.h"

#include <math.h>
#include <sodium.h>
#include <string.h>

extern const struct chacha_kernels chacha_kernels_v2, chacha_kernels_v3, chacha_kernels_v4,
    chacha_kernels_v4bf16;
extern const struct fast_kernels fast_kernels_v2, fast_kernels_v3, fast_kernels_v4, fast_kernels_v4bf16;
static const struct chacha_kernels *const streams[CPU_ISA_COUNT] = {
    &chacha_kernels_v2, &chacha_kernels_v3, &chacha_kernels_v4, &chacha_kernels_v4bf16};
static const struct fast_kernels *const laws[CPU_ISA_COUNT] = {&fast_kernels_v2, &fast_kernels_v3,
                                                               &fast_kernels_v4, &fast_kernels_v4bf16};

/* --- the stream --- */

static uint32_t word_at(const unsigned char *bytes, size_t i)
{
    bytes += 4 * i;
    return (uint32_t)bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 | (uint32_t)bytes[3] << 24;
}

/* RFC 8439, appendix A.1, vectors 1 to 4 (nonce 0). */
static void vectors_of_the_rfc(void **state)
{
    (void)state;
    static const struct {
        int at, byte; /* the one byte of the key that is not 0 */
        size_t block;
        const char *keystream;
    } vectors[] = {{0, 0, 0,
                    "76b8e0ada0f13d90405d6ae55386bd28bdd219b8a08ded1aa836efcc8b770dc7"
                    "da41597c5157488d7724e03fb8d84a376a43b8f41518a11cc387b669b2ee6586"},
                   {0, 0, 1,
                    "9f07e7be5551387a98ba977c732d080dcb0f29a048e3656912c6533e32ee7aed"
                    "29b721769ce64e43d57133b074d839d531ed1f28510afb45ace10a1f4b794d6f"},
                   {31, 1, 1,
                    "3aeb5224ecf849929b9d828db1ced4dd832025e8018b8160b82284f3c949aa5a"
                    "8eca00bbb4a73bdad192b5c42f73f2fd4e273644c8b36125a64addeb006c13a0"},
                   {1, 255, 2,
                    "72d54dfbf12ec44b362692df94137f328fea8da73990265ec1bbbea1ae9af0ca"
                    "13b25aa26cb4a648cb9b9d1be65b2c0924a66c54d545ec1b7374f4872e99f096"}};
    for (enum cpu_isa isa = CPU_V2; isa <= cpu_best_isa(); isa++)
        for (size_t v = 0; v < 4; v++) {
            unsigned char key[CHACHA_KEY] = {0}, bytes[64];
            uint32_t out[CHACHA_WORDS];
            key[vectors[v].at] = (unsigned char)vectors[v].byte;
            for (int i = 0; i < 64; i++) {
                unsigned byte;
                assert_int_equal(sscanf(vectors[v].keystream + 2 * i, "%2x", &byte), 1);
                bytes[i] = (unsigned char)byte;
            }
            streams[isa]->fill(out, key, 0, 1);
            for (size_t w = 0; w < 16; w++)
                assert_int_equal(out[w * CHACHA_BLOCKS + vectors[v].block], word_at(bytes, w));
        }
}

/* ChaCha8, first block of key 0: draft-strombergson-chacha-test-vectors-01, TC1, 256-bit key, 8 rounds. */
static void eight_rounds_are_chacha8(void **state)
{
    (void)state;
    static const char keystream[] = "3e00ef2f895f40d67f5bb8e81f09a5a12c840ec3ce9a7f3b181be188ef711a1e"
                                    "984ce172b9216f419f445367456d5619314a42a3da86b001387bfdb80e0cfe42";
    static const unsigned char key[CHACHA_KEY];
    static uint32_t out[CHACHA_WORDS];
    unsigned char bytes[64];
    for (size_t i = 0; i < 64; i++) {
        unsigned byte;
        assert_int_equal(sscanf(keystream + 2 * i, "%2x", &byte), 1);
        bytes[i] = (unsigned char)byte;
    }
    for (enum cpu_isa isa = CPU_V2; isa <= cpu_best_isa(); isa++) {
        streams[isa]->fill_short(out, key, 0, 1);
        for (size_t w = 0; w < 16; w++)
            assert_int_equal(out[w * CHACHA_BLOCKS], word_at(bytes, w));
    }
}

/* Many groups, counters that pass 2^32 blocks and that end just below 2^64. */
static void the_same_as_libsodium(void **state)
{
    (void)state;
    enum { GROUPS = 5 };
    static const uint64_t firsts[] = {0, 1, 77, ((uint64_t)1 << 28) - 2, ((uint64_t)1 << 60) - GROUPS};
    static const unsigned char nonce[crypto_stream_chacha20_NONCEBYTES];
    static unsigned char bytes[GROUPS * 4 * CHACHA_WORDS], zeros[sizeof bytes];
    static uint32_t out[GROUPS * CHACHA_WORDS + 1];
    struct rng r = rng_stream(1, RNG_TEST, 0, 0);
    assert_true(sodium_init() >= 0);
    for (enum cpu_isa isa = CPU_V2; isa <= cpu_best_isa(); isa++)
        for (size_t f = 0; f < sizeof firsts / sizeof *firsts; f++) {
            unsigned char key[CHACHA_KEY];
            for (int i = 0; i < CHACHA_KEY; i++)
                key[i] = (unsigned char)rng_u32(&r);
            crypto_stream_chacha20_xor_ic(bytes, zeros, sizeof bytes, nonce, firsts[f] * CHACHA_BLOCKS, key);
            out[GROUPS * CHACHA_WORDS] = 0x600dcafe;
            streams[isa]->fill(out, key, firsts[f], GROUPS);
            for (size_t g = 0; g < GROUPS; g++)
                for (size_t b = 0; b < CHACHA_BLOCKS; b++)
                    for (size_t w = 0; w < 16; w++)
                        assert_int_equal(out[(g * 16 + w) * CHACHA_BLOCKS + b],
                                         word_at(bytes, (g * CHACHA_BLOCKS + b) * 16 + w));
            assert_int_equal(out[GROUPS * CHACHA_WORDS], 0x600dcafe);
        }
}

/* --- the laws --- */

/* (w + 1/2) / 2^64, rounded once to a double. */
static long double unit(uint64_t w)
{
    return (double)((double)(w >> 32) * 0x1p32 + ((double)(w & 0xffffffff) + 0.5)) * 0x1p-64L;
}

enum { DRAWS = 1 << 14 };
static uint64_t words[DRAWS];
static double made[DRAWS], again[DRAWS];

/* Draw i; *size: what its error is measured by. A rounded uniform number moves a logistic variable by as much
 * near 0 as near 1, and a cosine is as wrong as its circle is large. */
static long double by_hand(long double *size, enum fast_law law, size_t i)
{
    const long double turn = 6.283185307179586476925286766559L;
    uint64_t w = words[i];
    long double sign = w & 1 ? -1 : 1, h = unit(w >> 1);
    if (law != FAST_GAUSSIAN) {
        long double x = law == FAST_LOGISTIC ? log1pl(-h) - logl(h) : -logl(2 * h);
        *size = fmaxl(x, 0.5L);
        return sign * x;
    }
    size_t pair = i % 8 + i / 16 * 16;
    long double radius = sqrtl(-2 * logl(unit(words[pair]))),
                angle = turn * ((long double)words[pair + 8] * 0x1p-64L);
    *size = radius;
    return radius * (i % 16 < 8 ? cosl(angle) : sinl(angle));
}

/* Random words, and those at the ends of everything. */
static void make_words(void)
{
    static const uint64_t ends[] = {0,
                                    1,
                                    2,
                                    3,
                                    UINT64_MAX,
                                    UINT64_MAX - 1,
                                    UINT64_MAX - 1024,
                                    (uint64_t)1 << 63,
                                    ((uint64_t)1 << 63) - 1,
                                    (uint64_t)1 << 61,
                                    ((uint64_t)1 << 61) - 1,
                                    (uint64_t)3 << 61,
                                    ((uint64_t)3 << 61) - 1,
                                    (uint64_t)1 << 62,
                                    (uint64_t)1 << 32,
                                    ((uint64_t)1 << 32) - 1};
    struct rng r = rng_stream(2, RNG_TEST, 0, 0);
    for (size_t i = 0; i < DRAWS; i++)
        words[i] = rng_u64(&r) >> (i % 4 ? 0 : rng_below(&r, 64));
    for (size_t i = 0; i < 16; i++) /* each with each */
        for (size_t j = 0; j < 16; j++) {
            words[16 * (16 * i + j)] = ends[i];
            words[16 * (16 * i + j) + 8] = ends[j];
        }
}

static void laws_are_what_they_say(void **state)
{
    (void)state;
    make_words();
    for (enum fast_law law = FAST_GAUSSIAN; law < FAST_LAWS; law++) {
        double worst = 0, largest = 0;
        fast_kernels_v2.draw[law](made, words, DRAWS / FAST_GROUP);
        for (size_t i = 0; i < DRAWS; i++) {
            long double size, expected = by_hand(&size, law, i);
            assert_true(isfinite(made[i]));
            largest = fmax(largest, fabs(made[i]));
            if (size > 0)
                worst = fmax(worst, (double)(fabsl(made[i] - expected) / size));
            else
                assert_true(made[i] == 0);
        }
        if (!(worst < 0x1p-51))
            fail_msg("law %d is off by %g", (int)law, worst);
        /* The largest word reaches as far as it says, and no further. */
        assert_true(largest < fast_reach(law) && largest > fast_reach(law) * (1 - 2e-5));
        for (enum cpu_isa isa = CPU_V3; isa <= cpu_best_isa(); isa++) {
            laws[isa]->draw[law](again, words, DRAWS / FAST_GROUP);
            assert_memory_equal(made, again, sizeof made);
        }
    }
    assert_null(fast_kernels_v2.draw[FAST_NONE]);
}

static void sums_are_rounded_alike(void **state)
{
    (void)state;
    static double sum[101];
    for (enum cpu_isa isa = CPU_V2; isa <= cpu_best_isa(); isa++) {
        for (size_t i = 0; i < 101; i++)
            sum[i] = (float)i / 7;
        laws[isa]->add(sum, made, 100, 0.1);
        for (size_t i = 0; i < 100; i++) {
            volatile double scaled = 0.1 * made[i];
            assert_true(sum[i] == (double)((float)i / 7) + scaled);
        }
        assert_true(sum[100] == 100 / 7.0f);
    }
}

static void what_is_within(void **state)
{
    (void)state;
    static double x[300];
    const double bad[] = {NAN, -NAN, INFINITY, -INFINITY, 5, -5, 1e30};
    for (enum cpu_isa isa = CPU_V2; isa <= cpu_best_isa(); isa++)
        for (size_t n = 0; n < 300; n += 1 + n / 5) {
            for (size_t i = 0; i < 300; i++)
                x[i] = i < n ? (i % 2 ? -4.9f : 4.9f) : NAN;
            assert_true(laws[isa]->within(x, n, 5));
            for (size_t i = 0; i < n; i++)
                for (size_t b = 0; b < 7; b++) {
                    double was = x[i];
                    x[i] = bad[b];
                    assert_false(laws[isa]->within(x, n, 5));
                    x[i] = was;
                }
        }
}

/* --- whole vectors --- */

static void a_position_has_its_draw(void **state)
{
    (void)state;
    enum { LONG = 9 * 8192 + 1000 };
    static double all[LONG], part[LONG];
    static uint32_t stream[(LONG / 128 + 1) * CHACHA_WORDS];
    static double unit_draws[LONG + 128];
    unsigned char key[CHACHA_KEY] = "a key of thirty-two bytes, here";
    streams[0]->fill(stream, key, 0, LONG / 128 + 1);
    for (enum fast_law law = FAST_GAUSSIAN; law < FAST_LAWS; law++) {
        struct fast_sum how = {law, 2.5, false, 1};
        laws[0]->draw[law](unit_draws, (const uint64_t *)stream, LONG / 16 + 1);
        memset(all, 0, sizeof all);
        fast_noise_add(all, LONG, &how, key);
        for (size_t i = 0; i < LONG; i++)
            assert_true(all[i] == 2.5 * unit_draws[i]);
        static const size_t sizes[] = {1,   2,   15,   16,   17,   127,  128,   129,
                                       511, 513, 1290, 8191, 8192, 8193, 65537, LONG - 1};
        for (how.threads = 1; how.threads <= 3; how.threads++)
            for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
                memset(part, 0, sizeof part);
                fast_noise_add(part, sizes[s], &how, key);
                assert_memory_equal(part, all, sizes[s] * sizeof *part);
                assert_true(part[sizes[s]] == 0);
            }
        key[0]++; /* another key, other noise */
        memset(part, 0, sizeof part);
        fast_noise_add(part, LONG, &(struct fast_sum){law, 2.5, false, 2}, key);
        for (size_t i = 0; i < LONG; i++)
            assert_true(part[i] != all[i]);
        key[0]--;
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(vectors_of_the_rfc),     cmocka_unit_test(eight_rounds_are_chacha8),
        cmocka_unit_test(the_same_as_libsodium),  cmocka_unit_test(laws_are_what_they_say),
        cmocka_unit_test(sums_are_rounded_alike), cmocka_unit_test(a_position_has_its_draw),
        cmocka_unit_test(what_is_within),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
