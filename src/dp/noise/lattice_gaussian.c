/* Karney 2016, "Sampling exactly from the normal distribution", algorithms N and B, with uniform deviates
 * known to as many 64-bit digits as the comparisons need. |N(0, 1)| = k + x; floor(m (k + x)) = m k +
 * floor(m x). Eight digits are enough except with probability below 2^-440 per draw; the draw then starts
 * over. */
#include "dp/noise/lattice.h"

enum { DIGITS = 8 };
struct deviate {
    uint64_t digit[DIGITS];
    int known;
};

static bool extend(struct noise *s, struct deviate *x, int digits)
{
    if (digits > DIGITS)
        return false;
    while (x->known < digits)
        x->digit[x->known++] = noise_u64(s);
    return true;
}

enum outcome { NO, YES, TIED };

static enum outcome less(struct noise *s, struct deviate *a, struct deviate *b)
{
    for (int i = 0; i < DIGITS; i++) {
        extend(s, a, i + 1);
        extend(s, b, i + 1);
        if (a->digit[i] != b->digit[i])
            return a->digit[i] < b->digit[i] ? YES : NO;
    }
    return TIED;
}

/* Bern(exp(-x (2k + x) / (2k + 2))): the length of a falling run below x, each step kept with probability
 * (2k + x) / (2k + 2), is even with that probability. */
static enum outcome run_is_even(struct noise *s, uint64_t k, struct deviate *x)
{
    struct deviate y = {{0}, 0}, z;
    struct deviate *top = x;
    for (bool even = true;; even = !even) {
        z = (struct deviate){{0}, 0};
        enum outcome lower = less(s, &z, top);
        if (lower != YES)
            return lower == TIED ? TIED : even ? YES : NO;
        uint64_t choice = coin_below(s, 2 * k + 2);
        if (choice == 2 * k) {
            struct deviate fresh = {{0}, 0};
            enum outcome kept = less(s, &fresh, x);
            if (kept != YES)
                return kept == TIED ? TIED : even ? YES : NO;
        } else if (choice > 2 * k) {
            return even ? YES : NO;
        }
        y = z;
        top = &y;
    }
}

/* floor(m y) for y with the digits of x from `at` on. The digits behind the first add a number in [0, m) to
 * the last 64 bits of the product; whether that carries is again a floor. False: digits ran out. */
static bool scaled_floor(uint64_t *out, struct noise *s, uint64_t m, struct deviate *x, int at)
{
    if (!extend(s, x, at + 1))
        return false;
    uint128 product = (uint128)m * x->digit[at];
    uint64_t missing = 0 - (uint64_t)product, rest; /* to the next whole number; 0 means 2^64 */
    *out = (uint64_t)(product >> 64);
    if (missing == 0 || missing >= m)
        return true;
    if (!scaled_floor(&rest, s, m, x, at + 1))
        return false;
    *out += rest >= missing;
    return true;
}

uint128 lattice_gaussian(struct noise *s, uint64_t m)
{
    for (;;) {
        uint64_t k = coin_half_normal(s), floor_part;
        struct deviate x = {{0}, 0};
        enum outcome kept = YES;
        for (uint64_t i = 0; i <= k && kept == YES; i++)
            kept = run_is_even(s, k, &x);
        if (kept == YES && scaled_floor(&floor_part, s, m, &x, 0))
            return (uint128)k * m + floor_part;
    }
}
