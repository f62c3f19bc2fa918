/* Fast noise: its laws against long double, the same bits at every level and for every
 * number of threads, how far it reaches. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/cpu.h"
#include "dp/noise/fast_noise.h"
#include "rng/rng.h"

#include <math.h>
#include <string.h>

extern const struct fast_kernels fast_kernels_v2, fast_kernels_v3, fast_kernels_v4, fast_kernels_v4bf16;
static const struct fast_kernels *const laws[CPU_ISA_COUNT] = {&fast_kernels_v2, &fast_kernels_v3,
                                                               &fast_kernels_v4, &fast_kernels_v4bf16};

enum { BLOCKS = 512, DRAWS = BLOCKS * FAST_BLOCK, HALF = FAST_BLOCK / 2 };
static uint32_t words[2 * DRAWS];
static float made[DRAWS], again[DRAWS];

/* (2^32 h + l + 1/2) / 2^64, and what is missing to 1. */
static long double unit(uint32_t h, uint32_t l)
{
    return ((long double)h * 0x1p32L + l + 0.5L) * 0x1p-64L;
}

static long double size_of(enum fast_law law, uint32_t h, uint32_t l)
{
    long double u = unit(h, l);
    if (law == FAST_LAPLACE)
        return h >> 30 ? -log1pl(-2 * unit(~h & 0x7fffffff, ~l)) : -logl(2 * u);
    if (law == FAST_LOGISTIC)
        return h >> 30 ? 2 * atanhl(2 * unit(~h & 0x7fffffff, ~l)) : log1pl(-u) - logl(u);
    return sqrtl(-2 * (h >> 31 ? log1pl(-unit(~h, ~l)) : logl(u)));
}

/* Draw i, and what its error is measured by: itself, but a cosine is as wrong as its circle is large. */
static long double by_hand(long double *size, enum fast_law law, size_t i)
{
    const long double turn = 6.283185307179586476925286766559L;
    const uint32_t *block = words + i / FAST_BLOCK * fast_words(law);
    size_t at = i % FAST_BLOCK;
    if (law != FAST_GAUSSIAN) {
        uint32_t h = block[at];
        *size = size_of(law, h & 0x7fffffff, block[FAST_BLOCK + at]);
        return h >> 31 ? -*size : *size;
    }
    long double angle = turn * ((block[2 * HALF + at % HALF] + 0.5L) * 0x1p-32L);
    *size = size_of(law, block[at % HALF], block[HALF + at % HALF]);
    return *size * (at < HALF ? cosl(angle) : sinl(angle));
}

/* Random words, and in the first blocks those at the ends of everything, each with each. */
static void make_words(enum fast_law law)
{
    static const uint32_t ends[] = {0,          1,          2,          0xffffffff, 0xfffffffe, 0xffffff00,
                                    0x80000000, 0x7fffffff, 0x20000000, 0x1fffffff, 0x60000000, 0x5fffffff,
                                    0xb504f333, 0xb504f334, 0x5a827999, 0x5a82799a};
    struct rng r = rng_stream(2, RNG_TEST, 0, 0);
    size_t each = fast_words(law), half = law == FAST_GAUSSIAN ? HALF : FAST_BLOCK;
    for (size_t i = 0; i < 2 * DRAWS; i++)
        words[i] = rng_u32(&r) >> (i % 4 ? 0 : rng_below(&r, 32));
    for (size_t i = 0; i < 16; i++)
        for (size_t j = 0; j < 16; j++)
            for (size_t k = 0; k < 3 && (law == FAST_GAUSSIAN || k < 2); k++)
                words[(16 * i + j) * each + k * half] = ends[k == 0 ? i : k == 1 ? j : (i + j) % 16];
}

static void laws_are_what_they_say(void **state)
{
    (void)state;
    for (enum fast_law law = FAST_GAUSSIAN; law < FAST_LAWS; law++) {
        double worst = 0, largest = 0, smallest = 1;
        make_words(law);
        laws[CPU_V2]->draw[law](made, words, BLOCKS);
        for (size_t i = 0; i < DRAWS; i++) {
            long double size, expected = by_hand(&size, law, i);
            assert_true(isfinite(made[i]));
            largest = fmax(largest, fabs(made[i]));
            smallest = fmin(smallest, fabs(made[i]));
            worst = fmax(worst, (double)(fabsl(made[i] - expected) / size));
        }
        if (!(worst < 0x1p-21))
            fail_msg("law %d is off by %g", (int)law, worst);
        assert_true(largest < fast_reach(law) && largest > fast_reach(law) * (1 - 3e-5));
        assert_true(smallest > 0 && smallest < 1e-7); /* nothing is lost near 0 */
        for (enum cpu_isa isa = CPU_V3; isa <= cpu_best_isa(); isa++) {
            laws[isa]->draw[law](again, words, BLOCKS);
            assert_memory_equal(made, again, sizeof made);
        }
    }
    assert_null(laws[CPU_V2]->draw[FAST_NONE]);
}

static void sums_are_rounded_alike(void **state)
{
    (void)state;
    static double sum[101];
    static float floats[101];
    for (enum cpu_isa isa = CPU_V2; isa <= cpu_best_isa(); isa++) {
        for (size_t i = 0; i < 101; i++)
            sum[i] = floats[i] = (float)i / 7;
        laws[isa]->add(sum, made, 100, 0.1, 0x1p-24);
        laws[isa]->add_floats(floats, made, 100, 0.1);
        for (size_t i = 0; i < 100; i++) {
            volatile double scaled = 0.1 * (double)made[i], all = (double)((float)i / 7) + scaled;
            assert_true(sum[i] == rint(all * 0x1p24) * 0x1p-24);
            assert_true(floats[i] == (float)all);
        }
        assert_true(sum[100] == 100 / 7.0f && floats[100] == 100 / 7.0f);
    }
}

/* Sums of doubles have no bit below a millionth of the scale, whatever they had before, up to the largest
 * sum. */
static void sums_of_doubles_are_whole_units(void **state)
{
    (void)state;
    static const double scales[] = {1, 1.99, 0.3, 20, 1e-300, 0x1p-1000, 1e290};
    enum { N = 500 };
    static double sum[N];
    unsigned char key[CHACHA_KEY] = "another key of thirty-two bytes";
    for (size_t s = 0; s < sizeof scales / sizeof *scales; s++) {
        double scale = scales[s], unit = fast_unit(scale);
        struct fast_sum how = {FAST_LOGISTIC, scale, false, 1};
        assert_true(unit <= scale * 0x1p-20 && (unit > scale * 0x1p-21 || scale == 1e290));
        for (size_t i = 0; i < N; i++)
            sum[i] = i % 2 ? scale / 3 * (double)i : scale * ldexp(-0.7, (int)(i % 31));
        fast_noise_add(sum, N, &how, key);
        for (size_t i = 0; i < N; i++)
            assert_true(isfinite(sum[i]) && sum[i] / unit == rint(sum[i] / unit));
    }
}

static void what_is_within(void **state)
{
    (void)state;
    static double x[300];
    static float floats[300];
    const float bad[] = {NAN, -NAN, INFINITY, -INFINITY, 5, -5, 1e30f};
    for (enum cpu_isa isa = CPU_V2; isa <= cpu_best_isa(); isa++)
        for (size_t n = 0; n < 300; n += 1 + n / 5) {
            for (size_t i = 0; i < 300; i++)
                x[i] = floats[i] = i < n ? (i % 2 ? -4.9f : 4.9f) : NAN;
            assert_true(laws[isa]->within(x, n, 5) && laws[isa]->within_floats(floats, n, 5));
            for (size_t i = 0; i < n; i++)
                for (size_t b = 0; b < 7; b++) {
                    float was = floats[i];
                    x[i] = floats[i] = bad[b];
                    assert_false(laws[isa]->within(x, n, 5));
                    assert_false(laws[isa]->within_floats(floats, n, 5));
                    x[i] = floats[i] = was;
                }
        }
}

static void a_position_has_its_draw(void **state)
{
    (void)state;
    enum { LONG = 9 * 8192 + 1000 };
    static float all[LONG], part[LONG], draws[LONG + FAST_BLOCK];
    static uint32_t stream[(2 * LONG / CHACHA_WORDS + 2) * CHACHA_WORDS];
    static const size_t sizes[] = {1,   31,  32,   33,   85,   86,   128,   129,     511,
                                   512, 513, 1290, 8191, 8192, 8193, 65537, LONG - 1};
    unsigned char key[CHACHA_KEY] = "a key of thirty-two bytes, here";
    chacha_kernels_find()->fill(stream, key, 0, sizeof stream / sizeof *stream / CHACHA_WORDS);
    for (enum fast_law law = FAST_GAUSSIAN; law < FAST_LAWS; law++) {
        struct fast_sum how = {law, 2.5, true, 1};
        laws[CPU_V2]->draw[law](draws, stream, LONG / FAST_BLOCK + 1);
        memset(all, 0, sizeof all);
        fast_noise_add(all, LONG, &how, key);
        for (size_t i = 0; i < LONG; i++)
            assert_true(all[i] == (float)(2.5 * (double)draws[i]));
        for (how.threads = 1; how.threads <= 3; how.threads++)
            for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
                memset(part, 0, sizeof part);
                fast_noise_add(part, sizes[s], &how, key);
                assert_memory_equal(part, all, sizes[s] * sizeof *part);
                assert_true(part[sizes[s]] == 0);
            }
        size_t same = 0;
        key[0]++; /* another key, other noise */
        memset(part, 0, sizeof part);
        fast_noise_add(part, LONG, &how, key);
        for (size_t i = 0; i < LONG; i++)
            same += part[i] == all[i];
        assert_true(same < 3); /* of 74,728 floats, two may meet */
        key[0]--;
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(laws_are_what_they_say),          cmocka_unit_test(sums_are_rounded_alike),
        cmocka_unit_test(sums_of_doubles_are_whole_units), cmocka_unit_test(what_is_within),
        cmocka_unit_test(a_position_has_its_draw),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
