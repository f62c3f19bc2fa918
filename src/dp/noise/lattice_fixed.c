/* Inversion: with U uniform the magnitude is the largest k with P(|X| >= k r) > U, found bit by bit from the
 * top. b(k) = e^(-k/m) is a running product of table entries, so one step is one product and one comparison:
 *   Laplace:   b(k) > U
 *   logistic:  2 b / (1 + b) > U, which is (1 - U/2) b(k) > U/2: the product starts at 1 - U/2.
 * 192 bits, because there are 2^60 thresholds and each may be misplaced by the rounding of 60 products. */
#include "dp/noise/lattice_fixed.h"

/* --- the table: 256-bit fractions with one limb of whole numbers, by the series of e^-x --- */

enum { WIDE = 5, SERIES = 60 }; /* 60! > 2^272 */

static void wide_multiply(uint64_t out[WIDE], const uint64_t a[WIDE], const uint64_t b[WIDE])
{
    uint64_t full[2 * WIDE] = {0};
    for (int i = 0; i < WIDE; i++) {
        uint64_t carry = 0;
        for (int j = 0; j < WIDE; j++) {
            uint128 t = (uint128)a[i] * b[j] + full[i + j] + carry;
            full[i + j] = (uint64_t)t;
            carry = (uint64_t)(t >> 64);
        }
        full[i + WIDE] = carry;
    }
    for (int i = 0; i < WIDE; i++)
        out[i] = full[i + WIDE - 1];
}

static void wide_divide(uint64_t a[WIDE], uint64_t divisor)
{
    uint64_t rest = 0;
    for (int i = WIDE - 1; i >= 0; i--) {
        uint128 t = (uint128)rest << 64 | a[i];
        a[i] = (uint64_t)(t / divisor);
        rest = (uint64_t)(t % divisor);
    }
}

/* 1 - a, a <= 1. */
static void wide_from_one(uint64_t a[WIDE])
{
    uint64_t borrow = 0;
    for (int i = 0; i < WIDE; i++) {
        uint128 t = (uint128)(i == WIDE - 1) - a[i] - borrow;
        a[i] = (uint64_t)t;
        borrow = (uint64_t)(t >> 64) & 1;
    }
}

/* e^-x = 1 - x (1 - x/2 (1 - x/3 (...))), x = power / m < 1. */
static void wide_exp(uint64_t out[WIDE], uint64_t power, uint64_t m)
{
    uint64_t x[WIDE] = {0, 0, 0, 0, power}, sum[WIDE] = {0, 0, 0, 0, 1};
    wide_divide(x, m);
    for (uint64_t j = SERIES; j >= 1; j--) {
        wide_multiply(sum, sum, x);
        wide_divide(sum, j);
        wide_from_one(sum);
    }
    for (int i = 0; i < WIDE; i++)
        out[i] = sum[i];
}

void fixed_table_make(struct fixed_table *out, uint64_t m)
{
    uint64_t e[WIDE];
    for (int i = 0; i < FIXED_BITS; i++) {
        if ((uint64_t)1 << i < m)
            wide_exp(e, (uint64_t)1 << i, m);
        else
            wide_multiply(e, e, e);
        for (int j = 0; j < FIXED_LIMBS; j++)
            out->factor[i][j] = e[j + 1];
    }
}

/* --- the draw --- */

/* The top 192 bits of a b, at most 4 units too small: products that only carry into the last limb are left
 * out. */
static inline void multiply_high(uint64_t out[FIXED_LIMBS], const uint64_t a[FIXED_LIMBS],
                                 const uint64_t b[FIXED_LIMBS])
{
    uint128 low = (uint128)a[0] * b[2], middle = (uint128)a[1] * b[1], high = (uint128)a[2] * b[0];
    uint128 left = (uint128)a[1] * b[2], right = (uint128)a[2] * b[1], top = (uint128)a[2] * b[2];
    uint128 column = (low >> 64) + (middle >> 64) + (high >> 64) + (uint64_t)left + (uint64_t)right;
    out[0] = (uint64_t)column;
    column = (column >> 64) + (left >> 64) + (right >> 64) + (uint64_t)top;
    out[1] = (uint64_t)column;
    out[2] = (uint64_t)(column >> 64) + (uint64_t)(top >> 64);
}

/* 1 if a < b, else 0. */
static inline uint64_t less(const uint64_t a[FIXED_LIMBS], const uint64_t b[FIXED_LIMBS])
{
    uint128 high_a = (uint128)a[2] << 64 | a[1], high_b = (uint128)b[2] << 64 | b[1];
    return (uint64_t)(high_a < high_b) | ((uint64_t)(high_a == high_b) & (uint64_t)(a[0] < b[0]));
}

/* What one draw keeps: the running product and what it is compared with. */
struct search {
    uint64_t product[FIXED_LIMBS], threshold[FIXED_LIMBS], k;
};

static inline void step(struct search *x, const uint64_t factor[FIXED_LIMBS], int bit)
{
    uint64_t next[FIXED_LIMBS];
    multiply_high(next, x->product, factor);
    uint64_t take = less(x->threshold, next), mask = 0 - take;
    for (int j = 0; j < FIXED_LIMBS; j++)
        x->product[j] ^= mask & (x->product[j] ^ next[j]);
    x->k |= take << bit;
}

/* Two at once: each step waits for the one before it, so a second draw costs next to nothing. */
static void largest(uint64_t out[2], struct search *x, struct search *y, const struct fixed_table *table)
{
    struct search a = *x, b = *y;
    for (int i = FIXED_BITS - 1; i >= 0; i--) {
        step(&a, table->factor[i], i);
        step(&b, table->factor[i], i);
    }
    out[0] = a.k;
    out[1] = b.k;
}

void fixed_laplace(uint64_t out[2], struct noise *s, const struct fixed_table *table)
{
    struct search both[2];
    for (int d = 0; d < 2; d++) {
        both[d].k = 0;
        for (int i = 0; i < FIXED_LIMBS; i++) {
            both[d].threshold[i] = noise_u64(s);
            both[d].product[i] = ~(uint64_t)0;
        }
    }
    largest(out, &both[0], &both[1], table);
}

void fixed_logistic(uint64_t out[2], struct noise *s, const struct fixed_table *table)
{
    struct search both[2];
    for (int d = 0; d < 2; d++) {
        both[d].k = 0;
        for (int i = 0; i < FIXED_LIMBS; i++)
            both[d].threshold[i] = noise_u64(s);
        both[d].threshold[FIXED_LIMBS - 1] >>= 1; /* U / 2 is as good from any 191 bits */
        for (int i = 0; i < FIXED_LIMBS; i++)
            both[d].product[i] = ~both[d].threshold[i];
    }
    largest(out, &both[0], &both[1], table);
}
