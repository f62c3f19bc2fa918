/* The table behind the sampler of constant time against e^(-2^i / m) by Python's decimal module with 90
 * digits (int(exp(-2^i / m) * 2^192)), the error bound that docs/derivations/mechanisms.md counts with, and
 * the search itself against exact thresholds. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "dp/noise/lattice_fixed.h"

#include <math.h>

static const struct {
    uint64_t m;
    int i;
    uint64_t limbs[3];
} known[] = {{0x10000000000000, 0, {0xfffffffd55555555, 0x00000000007fffff, 0xfffffffffffff000}},
             {0x10000000000000, 1, {0xffffffeaaaaaaaaa, 0x0000000001ffffff, 0xffffffffffffe000}},
             {0x10000000000000, 30, {0x777d27d279e79e7b, 0xf555555ffffff777, 0xfffffc000007ffff}},
             {0x10000000000000, 51, {0xe347bf8ad0e80abb, 0xd675a35530cdd767, 0x9b4597e37cb04ff3}},
             {0x10000000000000, 52, {0xda9805aab56c7733, 0xbadec7829054f90d, 0x5e2d58d8b3bcdf1a}},
             {0x10000000000000, 53, {0xf0dd961da28ac995, 0xb6edd5c25a052ae3, 0x22a555477f03973f}},
             {0x10000000000000, 57, {0x24890f109ac923ad, 0x9eec2c8d03c53340, 0x000000000003908c}},
             {0x10000000000000, 59, {0x00000000000000a1, 0x0000000000000000, 0x0000000000000000}},
             {0x1999999999999a, 0, {0xfffffffd29555555, 0x000000000059ffff, 0xfffffffffffff600}},
             {0x1999999999999a, 1, {0xfffffff34aaaaaaa, 0x000000000117ffff, 0xffffffffffffec00}},
             {0x1999999999999a, 30, {0xc2aae80438d3db01, 0xfd6f5556dcffff4e, 0xfffffd8000031fff}},
             {0x1999999999999a, 51, {0xd8cf92c5b2d4f855, 0x40ef759ce2652fd0, 0xbb4b296f917bf184}},
             {0x1999999999999a, 52, {0x7e421ad91af4a18d, 0xe9e15338ea80a9a2, 0x8906e49a4c9f3eaf}},
             {0x1999999999999a, 53, {0x17b12dfe693d34a3, 0x26c1d628f1ba3341, 0x495860dca9613e0b}},
             {0x1999999999999a, 57, {0x6f358912882f7e91, 0xb93637375796b1ec, 0x00000008da432af9}},
             {0x1999999999999a, 59, {0x974d372e6283f443, 0x00000000000017fd, 0x0000000000000000}},
             {0x1fffffffffffff, 0, {0xffffffffaaaaaaaa, 0xffffffffffdfffff, 0xfffffffffffff7ff}},
             {0x1fffffffffffff, 1, {0x0000000155555555, 0x0000000000000000, 0xfffffffffffff000}},
             {0x1fffffffffffff, 30, {0x91113ea7d269f8bf, 0xfe9aaaab755554f0, 0xfffffe000001ffff}},
             {0x1fffffffffffff, 51, {0xd18c55aedb4c99b7, 0x8262d1d542af85fd, 0xc75f7cf5641055b4}},
             {0x1fffffffffffff, 52, {0xcf66ba3fc693488c, 0xc01615626f7f7987, 0x9b4597e37cb04d86}},
             {0x1fffffffffffff, 53, {0xc945798c0ae83992, 0x501801e4a9505d8b, 0x5e2d58d8b3bcdc29}},
             {0x1fffffffffffff, 57, {0x056d935189e109aa, 0x5bbbfb819c7f0067, 0x000001e355bbaee8}},
             {0x1fffffffffffff, 59, {0xf24c6c24f61e5398, 0x0000000cb4ea3990, 0x0000000000000000}}};

/* truth - table in units of 2^-192. */
static int64_t units_below(const uint64_t truth[3], const uint64_t entry[3])
{
    uint64_t borrow = 0, low = 0;
    for (int i = 0; i < 3; i++) {
        uint128 t = (uint128)truth[i] - entry[i] - borrow;
        if (i == 0)
            low = (uint64_t)t;
        borrow = (uint64_t)(t >> 64) & 1;
        if (i > 0)
            assert_true((uint64_t)t == 0 || (uint64_t)t == UINT64_MAX);
    }
    return (int64_t)low;
}

static void entries_are_within_two_units_below(void **state)
{
    (void)state;
    static struct fixed_table table;
    uint64_t made = 0;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (known[i].m != made)
            fixed_table_make(&table, made = known[i].m);
        int64_t off = units_below(known[i].limbs, table.factor[known[i].i]);
        if (off < 0 || off > 2)
            fail_msg("m %llx entry %d is off by %lld units", (unsigned long long)made, known[i].i,
                     (long long)off);
    }
}

/* A seeded stream gives the words; the largest k with (1 - U/2) e^(-k/m) > U/2 must lie where long double
 * puts it: k = m ln((2 - U) / U), to a relative 1e-16. */
static void the_search_inverts_the_law(void **state)
{
    (void)state;
    static struct fixed_table table;
    const uint64_t m = 0x1999999999999a;
    struct noise *draws, *words;
    assert_int_equal(noise_open_insecure(&draws, 4), SOTTO_OK);
    assert_int_equal(noise_open_insecure(&words, 4), SOTTO_OK);
    fixed_table_make(&table, m);
    for (int i = 0; i < 2000; i++) {
        uint64_t pair[2];
        bool logistic = i % 2;
        logistic ? fixed_logistic(pair, draws, &table) : fixed_laplace(pair, draws, &table);
        for (int d = 0; d < 2; d++) {
            uint64_t u[3];
            for (int j = 0; j < 3; j++)
                u[j] = noise_u64(words);
            long double low = ldexpl((long double)u[1], -128) + ldexpl((long double)u[0], -192);
            long double x = logistic ? ldexpl((long double)(u[2] >> 1), -64) : ldexpl((long double)u[2], -64);
            x += low;
            long double k = logistic ? logl((1 - x) / x) : -logl(x);
            long double found = (long double)pair[d] / (long double)m;
            if (fabsl(found - k) > 1e-17L * (1 + 1 / (k + 1e-12L)) + 2.0L / (long double)m)
                fail_msg("draw %d: %.20Lg, expected %.20Lg", i, found, k);
        }
    }
    noise_close(draws);
    noise_close(words);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(entries_are_within_two_units_below),
                                       cmocka_unit_test(the_search_inverts_the_law)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
