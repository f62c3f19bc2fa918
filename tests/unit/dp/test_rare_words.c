/* The exact samplers where words of 64 bits are equal: paths with probabilities of 2^-64 and (much) less, on
 * words that are written down. Expected answers come from products of whole numbers with all their digits,
 * never from a division; the word after the last shows how many were read. */
#include "support/test.h"

#include "dp/noise/lattice.h"
#include "rng/noise_script.h"
#include "rng/rng.h"

#include <string.h>

#define MOST UINT64_MAX
static const uint64_t after = 0x5eedf00dcafe1234; /* behind the last word that may be read */

/* --- a script that is written as it goes --- */

static uint64_t words[NOISE_SCRIPT_WORDS];
static size_t length;

static void write_words(const uint64_t *some, size_t count)
{
    assert_true(length + count < NOISE_SCRIPT_WORDS);
    memcpy(words + length, some, count * sizeof *words);
    length += count;
}
#define WRITE(...) write_words((const uint64_t[]){__VA_ARGS__}, sizeof(uint64_t[]){__VA_ARGS__} / 8)

static struct noise *play(void)
{
    struct noise *s;
    WRITE(after);
    assert_int_equal(noise_open_script(&s, words, length), SOTTO_OK);
    length = 0;
    return s;
}

static void all_was_read(struct noise *s)
{
    assert_true(noise_u64(s) == after);
    noise_close(s);
}

/* --- whole numbers of many digits, the lowest first --- */

enum { LIMBS = 10 };
struct large {
    uint64_t limb[LIMBS];
};

static struct large times(struct large a, uint64_t b)
{
    uint128 carry = 0;
    for (int i = 0; i < LIMBS; i++) {
        carry += (uint128)a.limb[i] * b;
        a.limb[i] = (uint64_t)carry;
        carry >>= 64;
    }
    assert_true(carry == 0);
    return a;
}

static int compare(const struct large *a, const struct large *b)
{
    for (int i = LIMBS - 1; i >= 0; i--)
        if (a->limb[i] != b->limb[i])
            return a->limb[i] < b->limb[i] ? -1 : 1;
    return 0;
}

/* The digits of a fraction (the highest first) as a whole number over 2^(64 count). */
static struct large fraction(const uint64_t *digits, size_t count)
{
    struct large x = {{0}};
    for (size_t i = 0; i < count; i++)
        x.limb[count - 1 - i] = digits[i];
    return x;
}

/* --- Bern(p / q) --- */

/* The answer that the digits of a random fraction settle: is it below p / q, whatever follows? */
static bool below(const uint64_t *digits, size_t count, uint64_t p, uint64_t q)
{
    struct large random = times(fraction(digits, count), q), limit = {{0}}, most = random;
    limit.limb[count] = p;
    uint128 sum = (uint128)most.limb[0] + q; /* what follows may add up to q, q not included */
    for (int i = 0; i < LIMBS; i++) {
        most.limb[i] = (uint64_t)sum;
        sum = (sum >> 64) + (i + 1 < LIMBS ? most.limb[i + 1] : 0);
    }
    bool surely = compare(&most, &limit) <= 0, never = compare(&random, &limit) >= 0;
    assert_true(surely != never);
    return surely;
}

/* `ties` words that are the very digits of p / q, then one that is off by `off`. */
static void tied_coin(uint64_t p, uint64_t q, int ties, int64_t off)
{
    uint64_t digits[4], rest = p;
    for (int i = 0; i <= ties; i++) {
        uint128 scaled = (uint128)rest << 64;
        digits[i] = (uint64_t)(scaled / q);
        rest = (uint64_t)(scaled % q);
    }
    digits[ties] += (uint64_t)off;
    write_words(digits, (size_t)ties + 1);
    bool expected = below(digits, (size_t)ties + 1, p, q);
    assert_true(expected == (off < 0));
    struct noise *s = play();
    assert_true(coin_ratio(s, p, q) == expected);
    all_was_read(s);
}

TEST(equal_words_go_on_to_the_next_digit)
{
    const uint64_t ratios[][2] = {{1, 3}, {2, 3}, {5, 7}, {1234567, 89101112131415}, {MOST / 3, MOST - 58}};
    for (size_t i = 0; i < sizeof ratios / sizeof *ratios; i++)
        for (int ties = 0; ties < 4; ties++)
            for (int64_t off = -2; off <= 2; off++)
                if (off != 0)
                    tied_coin(ratios[i][0], ratios[i][1], ties, off);
}

/* p / q has one digit: a fraction that begins with it is p / q or more. */
TEST(an_equal_word_at_the_end_is_not_below)
{
    const uint64_t ratios[][2] = {{1, 2}, {3, 4}, {12345, (uint64_t)1 << 63}, {MOST >> 1, (uint64_t)1 << 63}};
    for (size_t i = 0; i < sizeof ratios / sizeof *ratios; i++) {
        uint64_t p = ratios[i][0], q = ratios[i][1], digit = p * (MOST / q + 1);
        for (int off = -1; off <= 1; off++) {
            uint64_t word = digit + (uint64_t)off;
            WRITE(word);
            struct noise *s = play();
            assert_true(coin_ratio(s, p, q) == below(&word, 1, p, q));
            assert_true(below(&word, 1, p, q) == (off < 0));
            all_was_read(s);
        }
    }
}

/* --- Bern(e^-x) where K q has more than 64 bits --- */

/* The first K at which Bern(x / K) fails is odd; beyond 64 bits that is a coin of x and one of 1 / K. */
static bool exp_by_hand(size_t *read, uint64_t p, uint64_t q, const uint64_t *at)
{
    const uint64_t *start = at;
    for (uint64_t k = 1;; k++) {
        bool go =
            (uint128)k * q >> 64 ? below(at++, 1, p, q) && below(at++, 1, 1, k) : below(at++, 1, p, k * q);
        *read = (size_t)(at - start);
        if (!go)
            return k % 2 == 1;
    }
}

TEST(coins_of_large_ratios)
{
    const uint64_t ratios[][2] = {{MOST / 2, MOST / 2 + 1},
                                  {MOST - 1, MOST},
                                  {MOST / 5, MOST / 3},
                                  {3, MOST},
                                  {1ull << 52, (1ull << 53) - 1}};
    struct rng r = rng_stream(1, RNG_TEST, 0, 0);
    int seen[2] = {0, 0}, wide = 0;
    for (int trial = 0; trial < 4000; trial++) {
        uint64_t script[64], p = ratios[trial % 5][0], q = ratios[trial % 5][1];
        size_t read;
        for (int i = 0; i < 64; i++) /* small words mostly: long runs of successes */
            script[i] = i == 63 || rng_below(&r, 4) == 0 ? MOST : rng_u64(&r) >> 8;
        bool expected = exp_by_hand(&read, p, q, script);
        write_words(script, read);
        struct noise *s = play();
        assert_true(coin_exp(s, p, q) == expected);
        all_was_read(s);
        seen[expected]++;
        wide += read > 3;
    }
    assert_true(seen[0] > 500 && seen[1] > 500 && wide > 500);
    /* each way out of K = 2, the first K with too long a product */
    const uint64_t half = 1ull << 63;
    WRITE(0, MOST); /* the coin of x fails: the other is not asked */
    struct noise *s = play();
    assert_false(coin_exp(s, half - 1, half));
    all_was_read(s);
    WRITE(0, 0, MOST);
    s = play();
    assert_false(coin_exp(s, half - 1, half));
    all_was_read(s);
    WRITE(0, 0, 0, MOST);
    s = play();
    assert_true(coin_exp(s, half - 1, half));
    all_was_read(s);
}
