#include "audit/measure/sorted.h"

#include <stdbool.h>
#include <string.h>

enum {
    BITS = 11,
    BUCKETS = 1 << BITS,
    ALL = 6 /* digits of a key, from its lowest bit */,
    FEW = 3,
    SMALL = 64
};

/* Stands where the doubles stood. */
typedef uint64_t key_bits __attribute__((may_alias));

/* Doubles in order of value are unsigned numbers in order, once the sign bit of positive ones is set and all
 * bits of negative ones are flipped. */
static uint64_t key_of(double x)
{
    uint64_t bits;
    x += 0.0; /* -0 is 0 */
    memcpy(&bits, &x, sizeof bits);
    return bits >> 63 ? ~bits : bits | (uint64_t)1 << 63;
}

static double value_of(uint64_t key)
{
    uint64_t bits = key >> 63 ? key & ~((uint64_t)1 << 63) : ~key;
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* By `digits` digits of the key, from bit `lowest` on, least significant first. Returns where the keys are: `from` or `to`. */
static key_bits *sort_digits(key_bits *from, key_bits *to, size_t n, int digits, int lowest)
{
    size_t count[ALL][BUCKETS];
    memset(count, 0, (size_t)digits * sizeof count[0]);
    for (size_t i = 0; i < n; i++)
        for (int d = 0; d < digits; d++)
            count[d][from[i] >> (lowest + d * BITS) & (BUCKETS - 1)]++;
    for (int d = 0; d < digits; d++) {
        const int shift = lowest + d * BITS;
        size_t place = 0;
        if (n == 0 || count[d][from[0] >> shift & (BUCKETS - 1)] == n) /* all alike */
            continue;
        for (size_t b = 0; b < BUCKETS; b++) {
            size_t here = count[d][b];
            count[d][b] = place;
            place += here;
        }
        for (size_t i = 0; i < n; i++)
            to[count[d][from[i] >> shift & (BUCKETS - 1)]++] = from[i];
        key_bits *swap = from;
        from = to, to = swap;
    }
    return from;
}

/* By insertion; false, with the keys in some order, once `moves` moves were not enough. */
static bool insert_keys(key_bits *key, size_t n, size_t moves)
{
    for (size_t i = 1; i < n; i++) {
        const uint64_t k = key[i];
        size_t j = i;
        for (; j > 0 && key[j - 1] > k && moves > 0; j--, moves--)
            key[j] = key[j - 1];
        key[j] = k;
        if (moves == 0)
            return false;
    }
    return true;
}

/* The upper digits tell most scores apart, and what they leave is next to its place. */
void sort_rising(double *x, size_t n, double *scratch)
{
    key_bits *key = (void *)x, *sorted;
    for (size_t i = 0; i < n; i++)
        key[i] = key_of(x[i]);
    sorted = n <= SMALL ? key : sort_digits(key, (void *)scratch, n, FEW, 64 - FEW * BITS);
    if (!insert_keys(sorted, n, n <= SMALL ? SMALL * SMALL : 4 * n))
        sorted = sort_digits(sorted, sorted == key ? (void *)scratch : key, n, ALL, 0);
    for (size_t i = 0; i < n; i++)
        x[i] = value_of(sorted[i]);
}

size_t count_below(const double *sorted, size_t n, double x)
{
    size_t low = 0, high = n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (sorted[middle] < x)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

size_t count_upto(const double *sorted, size_t n, double x)
{
    size_t low = 0, high = n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (sorted[middle] <= x)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}
