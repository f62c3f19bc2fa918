/* Draws of exact noise against their laws: every integer at small scales, bins of a twentieth of the scale at large ones,
 * low bits, tails, pairs; and draws from words of few bits, so that the slow path makes a large share of them. Seeds are
 * fixed: a pass today is a pass tomorrow. Controls: a scale that is off, refinement that repeats itself. Effort 1, 5 and
 * 50 take 4 10^6, 2 10^7 and 2 10^8 draws of each law and scale.
 *
 * Were the seeds drawn, right noise would fail in 4 of 10,000 runs: 63 deviates, each beyond 4.5 with 6.8e-6. Found 99
 * times of 100, at effort 1, 5 and 50: a scale off by 0.7 %, 0.3 % and 0.1 % (large scales), by 1.0 %, 0.5 % and 0.15 %
 * (every integer); a last bit that is 1 with 0.506, 0.503 and 0.501; half, a fifth and a fourteenth more draws of Laplace
 * noise beyond 10 scales; pairs with a correlation of 0.005, 0.002 and 0.0007; of short words a scale off by 4 %, 2 % and
 * 0.6 %. Planted: 5 % of the scale at effort 1, the same in standard errors at the others. */
#include "support/test.h"
#include "support/effort.h"
#include "support/discretised_words.h"
#include "support/oracle_sweep.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { N = 1 << 22, MOST_BINS = 4096 };
static double k[N];

static int rounds(void)
{
    return effort();
}

/* P(K < j) for whole j. */
static double below(enum discretised_law law, double m, double j)
{
    double x = fabs(j) / m, tail = 0;
    if (law == DISCRETISED_DISCRETE_LAPLACE) /* P(K >= j) for j > 0, P(K <= j - 1) for j <= 0 */
        tail = exp(-(j > 0 ? j : 1 - j) / m) / (1 + exp(-1 / m));
    else
        tail = law == DISCRETISED_LOGISTIC  ? 1 / (1 + exp(x))
               : law == DISCRETISED_LAPLACE ? exp(-x) / 2
                                            : erfc(x / sqrt(2)) / 2;
    return j > 0 ? 1 - tail : tail;
}

/* --- chi-square --- */

struct bins {
    double count[MOST_BINS + 2], expected[MOST_BINS + 2], low, width;
    size_t n;
};

/* n bins of `width` integers from `low` on, and one on either side. */
static void bins_of_law(struct bins *b, size_t n, double low, double width, enum discretised_law law,
                        double m)
{
    memset(b, 0, sizeof *b);
    b->n = n;
    b->low = low;
    b->width = width;
    for (size_t i = 0; i < n + 2; i++)
        b->expected[i] = (i == n + 1 ? 1 : below(law, m, low + width * (double)i)) -
                         (i == 0 ? 0 : below(law, m, low + width * (double)(i - 1)));
}

static void count(struct bins *b, double draw)
{
    double at = floor((draw - b->low) / b->width) + 1;
    b->count[at < 0 ? 0 : at > (double)b->n + 1 ? b->n + 1 : (size_t)at]++;
}

/* Chi-square as a normal deviate (Wilson and Hilferty 1931); bins of few draws are put together. */
static double deviate(const struct bins *b, double draws)
{
    double sum = 0, seen = 0, due = 0, cells = -1;
    for (size_t i = 0; i < b->n + 2; i++) {
        seen += b->count[i];
        due += draws * b->expected[i];
        if (due < 20 && i < b->n + 1)
            continue;
        sum += due > 0 ? (seen - due) * (seen - due) / due : 0;
        cells++;
        seen = due = 0;
    }
    return (cbrt(sum / cells) - (1 - 2 / (9 * cells))) / sqrt(2 / (9 * cells));
}

static void must_agree(double z, enum discretised_law law, double m, const char *what)
{
    if (!(fabs(z) < 4.5))
        fail_msg("%s, m = %g: %s is %g standard deviations off", discretised_names[law], m, what, z);
}

/* --- draws as callers get them --- */

static void draw(enum discretised_law law, double m, int round)
{
    struct noise *keys;
    struct discretised_noise f;
    assert_int_equal(noise_open_insecure(&keys, 100 + (uint64_t)round), SOTTO_OK);
    assert_int_equal(discretised_noise_open(&f, law, m, false, keys), SOTTO_OK);
    assert_int_equal(discretised_noise_fill_doubles(&f, k, 0, N, 2), SOTTO_OK);
    noise_close(keys);
}

TEST(every_integer_has_its_probability)
{
    static struct bins right, wrong;
    const double scales[] = {0.3, 5.3, 64.25};
    for (enum discretised_law law = 0; law < DISCRETISED_LAWS; law++)
        for (int s = 0; s < 3; s++) {
            const double m = scales[s], reach = ceil(16 * m);
            bins_of_law(&right, (size_t)(2 * reach), -reach, 1, law, m);
            bins_of_law(&wrong, (size_t)(2 * reach), -reach, 1, law, (1 + 0.05 / sqrt(rounds())) * m);
            for (int round = 0; round < rounds(); round++) {
                draw(law, m, round);
                for (size_t i = 0; i < N; i++)
                    count(&right, k[i]);
            }
            memcpy(wrong.count, right.count, sizeof wrong.count);
            must_agree(deviate(&right, (double)N * rounds()), law, m, "the law");
            assert_true(deviate(&wrong, (double)N * rounds()) > 10);
        }
}

TEST(large_scales)
{
    static struct bins sizes, low_bits, by_place;
    const double scales[] = {0x1.6a09e667f3bcdp23, 0x1.6a09e667f3bcdp31};
    for (enum discretised_law law = 0; law < DISCRETISED_LAWS; law++)
        for (int s = 0; s < 2; s++) {
            const double m = scales[s], width = floor(m / 20), draws = (double)N * rounds();
            double far = 0, due = 2 * draws * below(law, m, -10 * m);
            bins_of_law(&sizes, 400, -200 * width, width, law, m);
            memset(&low_bits, 0, sizeof low_bits);
            memset(&by_place, 0, sizeof by_place);
            for (int round = 0; round < rounds(); round++) {
                draw(law, m, round);
                for (size_t i = 0; i < N; i++) {
                    const uint64_t bits = (uint64_t)(int64_t)k[i];
                    count(&sizes, k[i]);
                    low_bits.count[bits % 4096]++;
                    by_place.count[bits % 64 * 64 + i % 64]++;
                    far += fabs(k[i]) > 10 * m;
                }
            }
            low_bits.n = by_place.n = 4094;
            for (int i = 0; i < 4096; i++)
                low_bits.expected[i] = by_place.expected[i] = 1.0 / 4096;
            must_agree(deviate(&sizes, draws), law, m, "the law");
            must_agree(deviate(&low_bits, draws), law, m, "the law of the last 12 bits");
            must_agree(deviate(&by_place, draws), law, m, "that of the last 6 by place");
            must_agree((far - due) / sqrt(due + 1), law, m, "the share beyond 10 scales");
        }
}

TEST(pairs_are_not_correlated)
{
    double product = 0, squares = 0, next = 0;
    for (int round = 0; round < rounds(); round++) {
        draw(DISCRETISED_GAUSSIAN, 0x1p30, round);
        for (size_t i = 0; i < N; i++)
            k[i] = (k[i] + 0.5) * 0x1p-30;
        for (size_t g = 0; g < N; g += DISCRETISED_GROUP)
            for (size_t i = g; i < g + DISCRETISED_PAIRS; i++) {
                double x = k[i], y = k[i + DISCRETISED_PAIRS];
                product += x * y;
                squares += (x * x - 1) * (y * y - 1) / 2;
                next += x * k[i + 1];
            }
    }
    const double deviation = sqrt(N / 2.0 * rounds());
    must_agree(product / deviation, DISCRETISED_GAUSSIAN, 0x1p30, "the product of pairs");
    must_agree(squares / deviation, DISCRETISED_GAUSSIAN, 0x1p30, "that of squares");
    must_agree(next / deviation, DISCRETISED_GAUSSIAN, 0x1p30, "that of neighbours");
}

/* --- words of few bits --- */

enum { GROUPS = 512, FEW = GROUPS * DISCRETISED_GROUP };

static size_t turn; /* of the words */

static void fair_bits(uint64_t bits[2], const void *arg, unsigned round)
{
    uint64_t state = (uint64_t)(*(const size_t *)arg + turn * FEW) << 20 | round;
    bits[0] = sweep_bits(&state);
    bits[1] = sweep_bits(&state);
}

/* Planted: the first refinement is the same for every position. */
static void repeated_bits(uint64_t bits[2], const void *arg, unsigned round)
{
    const size_t first = 12;
    fair_bits(bits, round == 0 ? &first : arg, round);
}

/* Kernels for words of `known` bits, balls for the rest, `step` bits at a time. */
static double deviate_of_few(enum discretised_law law, unsigned known, unsigned step, ball_refinement *refine)
{
    static uint64_t words[FEW], undecided[2 * GROUPS];
    static struct bins bins;
    const double m = 5.3;
    const struct floor_bounds bounds = floor_bounds_make(law, m, false, known);
    uint64_t state = known;
    bins_of_law(&bins, 160, -80, 1, law, m);
    for (turn = 0; turn < (size_t)rounds(); turn++) {
        for (size_t i = 0; i < FEW; i++)
            words[i] = sweep_bits(&state) >> (64 - known) << (64 - known);
        discretised_draw(k, undecided, words, GROUPS, discretised_levels[cpu_best_isa()], &bounds,
                         discretised_ball(law, m, known, step, refine));
        for (size_t i = 0; i < FEW; i++)
            count(&bins, k[i]);
    }
    return deviate(&bins, (double)FEW * rounds());
}

DISCRETISED_TEST(words_of_few_bits_follow_the_law_too)
{
    const unsigned known[] = {6, 10, 12, 20}, step[] = {3, 3, 1, 5};
    for (enum discretised_law law = 0; law < DISCRETISED_LAWS; law++) {
        for (int i = 0; i < 4; i++)
            must_agree(deviate_of_few(law, known[i], step[i], fair_bits), law, 5.3, "the law of short words");
        assert_true(deviate_of_few(law, 6, 3, repeated_bits) > 10);
    }
    return SOTTO_OK;
}
