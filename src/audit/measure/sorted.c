#include "audit/measure/sorted.h"

#include <string.h>

enum { BITS = 11, BUCKETS = 1 << BITS, PASSES = 6 };

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

void sort_rising(double *x, size_t n, double *scratch)
{
    size_t count[BUCKETS];
    uint64_t key;
    for (size_t i = 0; i < n; i++) {
        key = key_of(x[i]);
        memcpy(&x[i], &key, sizeof key);
    }
    double *from = x, *to = scratch;
    for (int pass = 0; pass < PASSES; pass++) {
        memset(count, 0, sizeof count);
        for (size_t i = 0; i < n; i++) {
            memcpy(&key, &from[i], sizeof key);
            count[key >> (pass * BITS) & (BUCKETS - 1)]++;
        }
        size_t place = 0;
        for (size_t b = 0; b < BUCKETS; b++) {
            size_t here = count[b];
            count[b] = place;
            place += here;
        }
        for (size_t i = 0; i < n; i++) {
            memcpy(&key, &from[i], sizeof key);
            memcpy(&to[count[key >> (pass * BITS) & (BUCKETS - 1)]++], &key, sizeof key);
        }
        double *swap = from;
        from = to, to = swap;
    }
    for (size_t i = 0; i < n; i++) { /* an even number of passes: they are back in x */
        memcpy(&key, &x[i], sizeof key);
        x[i] = value_of(key);
    }
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
