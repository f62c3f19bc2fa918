/* Exact Cauchy noise, proved rather than sampled: k is a rising function of the words that are drawn, so P(K < k) is the least
 * word that gives k, and words just beside the true quantile decide it to 2^-61. The sampler runs on words of a script. */
#include "support/test.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#define noise_u64 scripted_u64
#define cauchy_draw scripted_cauchy
#include "dp/noise/cauchy.c"

static uint64_t script[4];
static int asked;

/* Behind the script, words in the middle. */
uint64_t scripted_u64(struct noise *s)
{
    (void)s;
    return asked < 4 ? script[asked++] : (uint64_t)1 << 63;
}

/* first and second: the distribution function that the words stand for. */
static int64_t draw(double m, uint64_t first, uint64_t second)
{
    int128 k = 0;
    script[0] =
        first >> 63 ? first << 1 >> 1 : ~first; /* its first bit is the sign, the others the magnitude */
    script[1] = first >> 63 ? second : ~second;
    script[2] = script[3] = (uint64_t)1 << 63;
    asked = 0;
    assert_int_equal(scripted_cauchy(&k, 1, m, NULL), SOTTO_OK);
    return (int64_t)k;
}

/* P(K < k) 2^64 = (1/2 + atan(k / m) / pi) 2^64, to a few units of the 64 bits of a long double; from the nearer end. */
static uint64_t quantile(double m, int64_t k)
{
    const long double pi = 3.141592653589793238462643383279502884L;
    if (k <= 0)
        return (uint64_t)ldexpl(atanl((long double)m / -(long double)k) / pi, 64);
    return -(uint64_t)ldexpl(atanl((long double)m / (long double)k) / pi, 64);
}

static bool decides(double m, double law, int64_t k)
{
    const uint64_t word = k == 0 ? (uint64_t)1 << 63 : quantile(law, k);
    return draw(m, word - 8, 0) == k - 1 && draw(m, word + 8, 0) == k;
}

TEST(every_step_of_the_law_is_where_it_belongs)
{
    static const double scales[] = {1, 2, 3.5, 1000, 0x1p40, 0x1.8p44};
    static const double shares[] = {.01, .3, .5, 1, 2.5, 40};
    for (size_t i = 0; i < sizeof scales / sizeof *scales; i++)
        for (int j = -6; j <= 6; j++) {
            const double far = j == 0 ? 0 : copysign(shares[abs(j) - 1], j) * scales[i];
            const int64_t k = (int64_t)rint(far);
            assert_true(decides(scales[i], scales[i], k));
            if (k != 0)
                assert_false(decides(scales[i], 1.02 * scales[i], k)); /* the control */
        }
}

/* Where a word does not decide, the next one does: 3/4 is the quantile of k = m, and 1/2 that of 0. */
TEST(a_word_that_does_not_decide_asks_for_more)
{
    const uint64_t half = (uint64_t)1 << 63, quarter = half / 2, most = UINT64_MAX;
    for (int m = 1; m <= 4; m++) {
        assert_int_equal(draw(m, half + quarter, 1), m);
        assert_true(asked >= 2); /* the word alone does not decide */
        assert_int_equal(draw(m, half + quarter - 1, most - 1), m - 1);
        assert_true(asked >= 2);
        assert_int_equal(draw(m, half + quarter + 2, 0), m);
        assert_int_equal(asked, 1);
        assert_int_equal(draw(m, quarter, 1), -m);
        assert_int_equal(draw(m, quarter - 1, most - 1), -m - 1);
        assert_int_equal(draw(m, half, 1), 0);
        assert_int_equal(draw(m, half - 1, most - 1), -1);
    }
}

/* No larger word gives a smaller k. */
TEST(it_rises)
{
    int64_t before = INT64_MIN;
    for (uint64_t i = 1; i < 4096; i++) {
        const int64_t k = draw(7.25, i << 52, 0);
        assert_true(k >= before);
        before = k;
    }
}
