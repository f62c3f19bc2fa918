/* Radix sort against a comparison sort, bit for bit: usual scores, ties, signed zeros, infinities, and values that differ in
 * their last bits only, which the upper digits cannot tell apart. */
#include "support/test.h"

#include "audit/measure/sorted.h"
#include "rng/rng.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { N = 20000 };

static int rising(const void *a, const void *b)
{
    double x, y;
    memcpy(&x, a, sizeof x);
    memcpy(&y, b, sizeof y);
    return (x > y) - (x < y);
}

static double plain(struct rng *r)
{
    return rng_normal(r);
}

static double tied(struct rng *r)
{
    return (double)rng_below(r, 7) - 3;
}

static double zeros_and_infinities(struct rng *r)
{
    static const double values[] = {0.0, -0.0, INFINITY, -INFINITY, 5e-324, -5e-324, 1.7e308, -1.7e308};
    return values[rng_below(r, 8)];
}

static double last_bits(struct rng *r)
{
    return 1 + (double)rng_below(r, 1 << 20) * 0x1p-52;
}

static double all_sizes(struct rng *r)
{
    return ldexp(rng_normal(r), (int)rng_below(r, 2000) - 1000);
}

TEST(every_list_is_sorted)
{
    static double (*const laws[])(struct rng *) = {plain, tied, zeros_and_infinities, last_bits, all_sizes};
    static const size_t sizes[] = {0, 1, 2, 3, 63, 64, 65, 66, 1000, N};
    static double x[N], right[N], scratch[N];
    for (size_t law = 0; law < sizeof laws / sizeof *laws; law++)
        for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
            struct rng r = rng_stream(1, RNG_TEST, law, k);
            for (size_t i = 0; i < sizes[k]; i++)
                right[i] = x[i] = laws[law](&r) + 0.0; /* -0 comes back as 0 */
            qsort(right, sizes[k], sizeof *right, rising);
            sort_rising(x, sizes[k], scratch);
            assert_memory_equal(x, right, sizes[k] * sizeof *x);
        }
}
