/* src/core/rng/noise.c and the float side of src/core/dp/noise/lattice.c: streams, forks, rounding, edges. */
#include "support/test.h"

#include "base/memory.h"
#include "dp/noise/lattice.h"
#include "rng/noise_script.h"

#include <float.h>
#include <math.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

TEST(seeded_streams_repeat_and_differ)
{
    struct noise *a, *b, *c;
    unsigned char x[20000], y[20000];
    assert_int_equal(noise_open_insecure(&a, 1), SOTTO_OK);
    assert_int_equal(noise_open_insecure(&b, 1), SOTTO_OK);
    assert_int_equal(noise_open_insecure(&c, 2), SOTTO_OK);
    noise_bytes(a, x, sizeof x); /* across several blocks, in one piece and in many */
    for (size_t i = 0; i < sizeof y; i += 10)
        noise_bytes(b, y + i, 10);
    assert_memory_equal(x, y, sizeof x);
    assert_true(noise_u64(a) != noise_u64(c));
    assert_true(noise_is_insecure(a));
    noise_close(a);
    noise_close(b);
    noise_close(c);
    noise_close(NULL);
}

TEST(a_script_comes_first)
{
    static uint64_t words[NOISE_SCRIPT_WORDS + 1];
    struct noise *script = NULL, *seeded;
    for (size_t i = 0; i < NOISE_SCRIPT_WORDS; i++)
        words[i] = i * i;
    const size_t counts[] = {0, 1, 5, NOISE_SCRIPT_WORDS};
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(noise_open_script(&script, words, counts[i]), SOTTO_OK);
        assert_int_equal(noise_open_insecure(&seeded, 0), SOTTO_OK);
        assert_true(noise_is_insecure(script));
        for (size_t j = 0; j < counts[i]; j++)
            assert_true(noise_u64(script) == words[j]);
        for (size_t j = 0; i > 0 && j < NOISE_SCRIPT_WORDS; j++)
            (void)noise_u64(seeded); /* the script took the place of the first block */
        for (int j = 0; j < 2000; j++)
            assert_true(noise_u64(script) == noise_u64(seeded));
        noise_close(script);
        noise_close(seeded);
    }
    script = NULL;
    assert_int_equal(noise_open_script(&script, words, NOISE_SCRIPT_WORDS + 1), SOTTO_EINVAL);
    base_alloc_fail_after(0);
    assert_int_equal(noise_open_script(&script, words, 1), SOTTO_ENOMEM);
    base_alloc_fail_after(-1);
    assert_null(script);
}

TEST(os_streams_never_repeat)
{
    struct noise *a, *b;
    assert_int_equal(noise_open(&a), SOTTO_OK);
    assert_int_equal(noise_open(&b), SOTTO_OK);
    assert_false(noise_is_insecure(a));
    assert_true(noise_u64(a) != noise_u64(b));
    unsigned char first[64], later[64];
    noise_bytes(a, first, sizeof first);
    static unsigned char skip[3 << 20]; /* past a re-keying */
    noise_bytes(a, skip, sizeof skip);
    noise_bytes(a, later, sizeof later);
    assert_true(memcmp(first, later, sizeof first) != 0);
    noise_close(a);
    noise_close(b);
}

/* Parent and child read the same stream after a fork: the child must not see the parent's bytes, seeded or
 * not. */
TEST(a_fork_does_not_share_noise)
{
    for (int seeded = 0; seeded < 2; seeded++) {
        struct noise *s;
        int pipes[2];
        uint64_t mine[2], theirs[2];
        assert_int_equal(seeded ? noise_open_insecure(&s, 1) : noise_open(&s), SOTTO_OK);
        (void)noise_u64(s);
        assert_int_equal(pipe(pipes), 0);
        if (fork() == 0) {
            theirs[0] = noise_u64(s);
            noise_bytes(s, &theirs[1], 8);
            _exit(write(pipes[1], theirs, sizeof theirs) != sizeof theirs);
        }
        noise_bytes(s, mine, sizeof mine);
        int result;
        wait(&result);
        assert_int_equal(result, 0);
        assert_int_equal(read(pipes[0], theirs, sizeof theirs), sizeof theirs);
        assert_true(mine[0] != theirs[0] && mine[1] != theirs[1] && theirs[0] != 0);
        noise_close(s);
        close(pipes[0]);
        close(pipes[1]);
    }
}

TEST(numbers_from_bits)
{
    struct noise *s;
    assert_int_equal(noise_open_insecure(&s, 3), SOTTO_OK);
    int ones = 0;
    for (int i = 0; i < 10000; i++) {
        ones += (int)noise_bits(s, 1);
        assert_true(noise_bits(s, 7) < 128);
        assert_true(noise_bits(s, 40) < (uint64_t)1 << 40);
        double u = noise_unit(s);
        assert_true(u > 0 && u < 1);
    }
    assert_true(ones > 4700 && ones < 5300); /* 6 standard errors */
    (void)noise_bits(s, 64);
    noise_close(s);
}

TEST(out_of_memory_is_reported)
{
    struct noise *s = NULL;
    base_alloc_fail_after(0);
    assert_int_equal(noise_open(&s), SOTTO_ENOMEM);
    base_alloc_fail_after(-1);
    assert_null(s);
}

TEST(a_scale_is_an_integer_number_of_steps)
{
    const double scales[] = {1, 0.1, 1e-100, 1e100, 3.7306316348160404, 0x1p-40, 1 - 0x1p-53};
    for (size_t i = 0; i < sizeof scales / sizeof *scales; i++) {
        struct lattice l = lattice_make(scales[i]);
        assert_true(l.m >= (uint64_t)1 << 52 && l.m < (uint64_t)1 << 53);
        assert_true(ldexp((double)l.m, l.exponent) == scales[i]);
        for (int bits = LATTICE_BITS_FLAT; bits <= LATTICE_BITS_FINE; bits++) {
            double steps = ldexp(scales[i], -lattice_exponent(scales[i], bits));
            assert_true(steps >= ldexp(1, bits - 1) && steps < ldexp(1, bits));
        }
        assert_int_equal(lattice_exponent(scales[i], LATTICE_BITS_FINE), l.exponent);
    }
}

TEST(values_go_to_the_nearest_lattice_point)
{
    const struct lattice unit = {1, 0}, coarse = {1, 4}, fine = {1, -60}, huge = {1, 100}, tiny = {1, -200};
    const int128 end = (int128)1 << LATTICE_END;
    const double x[] = {0, -0.0, 0.5, 1.5, 2.5, -0.5, -1.5, 2.49, -2.51, 7, 1e7};
    const int64_t want[] = {0, 0, 0, 2, 2, 0, -2, 2, -3, 7, 10000000}; /* halves to even */
    for (size_t i = 0; i < sizeof x / sizeof *x; i++)
        assert_true(lattice_index(x[i], unit) == want[i]);
    assert_true(lattice_index(24, coarse) == 2); /* 1.5 steps of 16 */
    assert_true(lattice_index(8, coarse) == 0);
    assert_true(lattice_index(8 + 0x1p-49, coarse) == 1);
    assert_true(lattice_index(1, fine) == (int128)1 << 60);
    assert_true(lattice_index(DBL_TRUE_MIN, fine) == 0);
    assert_true(lattice_index(DBL_TRUE_MIN, (struct lattice){1, -1074}) == 1);
    assert_true(lattice_index(1e25, huge) == 0);
    assert_true(lattice_index(0x1.fffffffffffffp119, unit) == end - ((int128)1 << 67));
    assert_true(lattice_index(0x1p120, unit) == end && lattice_index(-0x1p120, unit) == -end);
    assert_true(lattice_index(1, tiny) == end && lattice_index(-1e300, tiny) == -end); /* 2^200 steps */
    assert_true(lattice_index(INFINITY, unit) == end && lattice_index(-INFINITY, unit) == -end);
    assert_true(lattice_index(NAN, unit) == 0);
}

TEST(floats_come_from_the_integer_alone)
{
    const struct lattice unit = {1, 0}, high = {1, 127}, low = {1, -160};
    assert_true(lattice_value(3, unit) == 1.5f);
    assert_true(lattice_value(-1, unit) == -0.5f);
    assert_true(lattice_value(((int128)1 << 100) + 1, unit) == 0x1p99f);
    assert_true(lattice_value(9, high) == FLT_MAX && lattice_value(-9, high) == -FLT_MAX);
    assert_true(lattice_value(1, low) == 0);
    assert_true(lattice_double(3, unit) == 1.5 && lattice_double(1, low) == 0x1p-161);
    assert_true(lattice_double(((int128)1 << 60) + 257, unit) == 0x1p59 + 128); /* rounded once, to even */
    assert_true(lattice_double(3, (struct lattice){1, 1024}) == DBL_MAX);
}

TEST(coins_at_their_limits)
{
    struct noise *s;
    assert_int_equal(noise_open_insecure(&s, 1), SOTTO_OK);
    for (int i = 0; i < 100; i++) {
        assert_true(coin_ratio(s, 5, 5));
        assert_false(coin_ratio(s, 0, 5));
        assert_true(coin_exp(s, 0, 5));
        assert_true(coin_below(s, 1) == 0);
        assert_true(coin_below(s, UINT64_MAX) < UINT64_MAX);
        assert_false(coin_exp(s, 1000000, 1)); /* e^-1000000 */
    }
    noise_close(s);
}
