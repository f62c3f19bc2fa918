/* The exact samplers, proved rather than sampled: each function is run on every path of its decision tree,
 * with the primitive it is built on replaced by a node that knows the exact probability of its branches. The
 * levels are words -> coin_ratio, coin_below -> coin_exp -> coin_half_normal -> the samplers,
 * and each is walked on top of the one before. A loop that starts over has a first primitive that it asks
 * only there; asking it a second time means that the tree below repeats, so such a path only adds to `again`,
 * and the law is what was found divided by 1 - again. Endless chains are cut where less than 1e-18 is left.
 * The results agree with the laws to 1e-12, and with the law of a scale that is 2 % larger they do not. */
#include "support/test.h"
#include "support/decision_walker.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* --- the sources, on nodes instead of bits --- */

struct noise; /* never touched */

#define noise_u64 tree_u64
#define noise_bits tree_bits
#define noise_bytes tree_bytes
#define noise_unit tree_unit
#include "dp/noise/lattice.h"

/* Level 1: words. The script holds what the generator says; anything more is an error. */
static uint64_t script[8];
static int script_at, script_length;
static int word_bits; /* > 0: coin_below is walked, a word is that many bits */

uint64_t tree_u64(struct noise *s)
{
    (void)s;
    if (word_bits > 0) {
        start_of_loop();
        return (uint64_t)even(1 << word_bits);
    }
    assert_true(script_at < script_length);
    return script[script_at++];
}

uint64_t tree_bits(struct noise *s, unsigned count)
{
    (void)s;
    assert_int_equal(count, 1);
    return (uint64_t)even(2);
}

#define coin_ratio word_coin_ratio
#define coin_below word_coin_below
bool word_coin_ratio(struct noise *s, uint64_t p, uint64_t q);
uint64_t word_coin_below(struct noise *s, uint64_t n);
#include "dp/noise/lattice_word.c"
#undef coin_ratio
#undef coin_below

/* Level 2: e^-x on coins of p / q. */
#define coin_ratio node_ratio
#define coin_below node_below
#define coin_exp ratio_coin_exp
#define coin_exp_one ratio_coin_exp_one
#define coin_exp_parts ratio_coin_exp_parts
#define coin_exp_wide ratio_coin_exp_wide
static bool node_ratio(struct noise *s, uint64_t p, uint64_t q)
{
    (void)s;
    return p >= q || (p > 0 && coin((long double)p / (long double)q));
}
static bool below_starts_loop = true;
static uint64_t node_below(struct noise *s, uint64_t n)
{
    (void)s;
    if (below_starts_loop)
        start_of_loop();
    return (uint64_t)even((int)n);
}
bool ratio_coin_exp(struct noise *s, uint64_t p, uint64_t q);
bool ratio_coin_exp_one(struct noise *s);
bool ratio_coin_exp_parts(struct noise *s, uint128 whole, uint64_t p, uint64_t q);
bool ratio_coin_exp_wide(struct noise *s, uint128 k, uint64_t m);
#include "dp/noise/lattice_exp.c"
#undef coin_exp
#undef coin_exp_one
#undef coin_exp_parts
#undef coin_exp_wide

/* Level 3: the half-normal number on coins of e^-x. */
#define coin_exp node_exp
#define coin_exp_wide node_exp_wide
#define coin_half_normal exp_coin_half_normal
/* The half-normal integer asks one question only, so its loop is followed here: successes up to the first
 * failure are k, then k (k - 1) must succeed, and a failure there starts over. */
static struct {
    bool follow, counted;
    int k, left;
} half;
static bool node_half(bool success)
{
    if (!half.counted) {
        half.k += success;
        half.counted = !success;
        half.left = half.k * (half.k - 1);
    } else if (!success) {
        longjmp(tree.out, AGAIN);
    } else {
        half.left--;
    }
    return success;
}
static bool node_exp(struct noise *s, uint64_t p, uint64_t q)
{
    (void)s;
    if (half.follow)
        return node_half(coin(expl(-(long double)p / (long double)q)));
    return p == 0 || coin(expl(-(long double)p / (long double)q));
}
static bool node_exp_wide(struct noise *s, uint128 k, uint64_t m)
{
    (void)s;
    return k == 0 || coin(expl(-(long double)k / (long double)m));
}
uint64_t exp_coin_half_normal(struct noise *s);
#include "dp/noise/lattice_coin.c"
#undef coin_half_normal

/* Level 4: the samplers on those. */
#define coin_half_normal node_half_normal
#define integer_signed walked_signed
#define integer_gaussian walked_integer_gaussian
#define integer_laplace walked_integer_laplace
#define choice_draw walked_choice
#define flip_draw walked_flip
#define label_draw walked_label
static long double half_normal_weight(int k, const void *arg)
{
    return expl(-(long double)k * k / 2) / *(const long double *)arg;
}
static uint64_t node_half_normal(struct noise *s)
{
    (void)s;
    long double all = 0;
    for (int k = 0; k < 12; k++)
        all += expl(-(long double)k * k / 2);
    start_of_loop();
    return (uint64_t)branch(12, half_normal_weight, &all); /* e^-72 is left out */
}
int128 walked_signed(struct noise *s, integer_magnitude *magnitude, uint64_t m, unsigned shift);
integer_magnitude walked_integer_gaussian, walked_integer_laplace;
choice_sampler walked_choice, walked_flip;
uint64_t walked_label(struct noise *s, uint64_t truth, uint64_t classes, uint64_t m, unsigned shift);
#include "dp/noise/exponential_choice.c"
#include "dp/noise/integer_gaussian.c"
#include "dp/noise/integer_laplace.c"

/* --- level 1 --- */

/* The first word decides unless it is the very digit; then the rest of the division decides in the same way.
 * So P(1) = (digit + P(rest)) / 2^64, and by induction p / q. */
TEST(a_ratio_is_decided_digit_by_digit)
{
    const uint64_t cases[][2] = {{1, 3}, {2, 3},          {1, 2},
                                 {5, 7}, {1, UINT64_MAX}, {UINT64_MAX - 1, UINT64_MAX}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint64_t p = cases[i][0], q = cases[i][1];
        uint128 scaled = (uint128)p << 64;
        uint64_t first = (uint64_t)(scaled / q), rest = (uint64_t)(scaled % q);
        script_length = 1;
        if (first > 0) {
            script[0] = first - 1;
            script_at = 0;
            assert_true(word_coin_ratio(NULL, p, q) && script_at == 1);
        }
        script[0] = first + 1;
        script_at = 0;
        if (first < UINT64_MAX)
            assert_true(!word_coin_ratio(NULL, p, q) && script_at == 1);
        if (rest == 0) { /* p / q ends here */
            script[0] = first;
            script_at = 0;
            assert_true(!word_coin_ratio(NULL, p, q) && script_at == 1);
            continue;
        }
        uint64_t second = (uint64_t)(((uint128)rest << 64) / q);
        script_length = 2;
        script[0] = first;
        script[1] = second - (second > 0);
        script_at = 0;
        assert_true(word_coin_ratio(NULL, p, q) == (second > 0) && script_at == 2);
        script[1] = second + 1;
        script_at = 0;
        if (second < UINT64_MAX)
            assert_true(!word_coin_ratio(NULL, p, q) && script_at == 2);
    }
    script_length = 0; /* no word is read where nothing is to be decided */
    assert_true(word_coin_ratio(NULL, 3, 3));
}

static long run_below(const void *arg)
{
    return (long)word_coin_below(NULL, *(const uint64_t *)arg);
}
static long double even_law(long k, double n)
{
    return k < n ? 1 / (long double)n : 0;
}

TEST(below_is_even)
{
    for (uint64_t n = 1; n <= 9; n++) {
        struct law law;
        word_bits = 5; /* the function masks what it needs */
        walk(&law, run_below, &n);
        word_bits = 0;
        assert_true(distance(&law, 0, 40, even_law, (double)n) < 1e-17);
    }
}

/* --- level 2 --- */

static long run_exp(const void *arg)
{
    const uint64_t *x = arg;
    return ratio_coin_exp(NULL, x[0], x[1]);
}
static long run_exp_wide(const void *arg)
{
    const uint64_t *x = arg;
    return ratio_coin_exp_wide(NULL, x[0], x[1]);
}
static long double exp_law(long k, double x)
{
    return k ? expl(-(long double)x) : -expm1l(-(long double)x);
}

TEST(exponential_coins)
{
    const uint64_t cases[][2] = {{0, 5}, {1, 2}, {1, 3}, {2, 3}, {1, 1}, {5, 2}, {7, 3}, {1, 1000}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct law law;
        double x = (double)cases[i][0] / (double)cases[i][1];
        walk(&law, run_exp, cases[i]);
        assert_true(distance(&law, 0, 1, exp_law, x) < 1e-15);
        walk(&law, run_exp_wide, cases[i]);
        assert_true(distance(&law, 0, 1, exp_law, x) < 1e-15);
        if (cases[i][0] > 0)
            assert_true(distance(&law, 0, 1, exp_law, x * 1.02) > 1e-6);
    }
    /* q so large that K q overflows: the two-coin form */
    const uint64_t huge[2] = {UINT64_MAX / 3, UINT64_MAX / 2};
    struct law law;
    walk(&law, run_exp, huge);
    assert_true(distance(&law, 0, 1, exp_law, 2.0 / 3) < 1e-15);
}

/* --- level 3 --- */

static long run_half_normal(const void *arg)
{
    (void)arg;
    half.counted = false;
    half.k = half.left = 0;
    long k = (long)exp_coin_half_normal(NULL);
    assert_int_equal(half.left, 0);
    return k;
}
static long double half_normal_law(long k, double scale)
{
    long double all = 0;
    for (int i = 0; i < 20; i++)
        all += expl(-(long double)i * i / (2 * scale * scale));
    return expl(-(long double)k * k / (2 * scale * scale)) / all;
}

TEST(half_normal_numbers)
{
    struct law law;
    half.follow = true;
    walk(&law, run_half_normal, NULL);
    half.follow = false;
    assert_true(distance(&law, 0, 20, half_normal_law, 1) < 1e-15);
    assert_true(distance(&law, 0, 20, half_normal_law, 1.02) > 1e-3);
}

/* --- level 4 --- */

/* scale = m 2^-shift */
struct ratio {
    uint64_t m;
    unsigned shift;
    integer_magnitude *magnitude;
};
static long run_integer(const void *arg)
{
    const struct ratio *r = arg;
    return (long)walked_signed(NULL, r->magnitude, r->m, r->shift);
}
static long double discrete_gaussian(long k, double scale)
{
    long double all = 0;
    for (long i = -400; i <= 400; i++)
        all += expl(-(long double)(i * i) / (2 * scale * scale));
    return expl(-(long double)(k * k) / (2 * scale * scale)) / all;
}

/* The sign: one fair bit, and negative zero starts over. The bit is the only bit there, so the loop that
 * starts over is seen at the magnitude. */
TEST(discrete_noise)
{
    const struct ratio cases[] = {{1, 0, NULL}, {3, 0, NULL}, {3, 1, NULL}, {1, 2, NULL}, {13, 2, NULL}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct ratio r = cases[i];
        double scale = (double)r.m / (double)(1u << r.shift);
        struct law law;
        r.magnitude = walked_integer_gaussian;
        below_starts_loop = false;
        walk(&law, run_integer, &r);
        below_starts_loop = true;
        double d = distance(&law, -60, 60, discrete_gaussian, scale);
        if (!(d < 1e-12))
            fail_msg("discrete Gaussian, scale %g: off by %g (%ld paths)", scale, d, law.paths);
        assert_true(distance(&law, -60, 60, discrete_gaussian, scale * 1.02) > 1e-5);
    }
}

static long double discrete_laplace(long k, double scale)
{
    const long double share = expl(-1 / (long double)scale);
    return (1 - share) / (1 + share) * powl(share, (long double)labs(k));
}

/* Each coin is one more step, up to 60 of them; the sign as above. */
TEST(integer_laplace_noise)
{
    const struct ratio cases[] = {{1, 0, NULL}, {1, 1, NULL}, {3, 2, NULL}, {1, 3, NULL}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct ratio r = cases[i];
        double scale = (double)r.m / (double)(1u << r.shift);
        struct law law;
        r.magnitude = walked_integer_laplace;
        below_starts_loop = false;
        walk(&law, run_integer, &r);
        below_starts_loop = true;
        double d = distance(&law, -60, 60, discrete_laplace, scale);
        if (!(d < 1e-12))
            fail_msg("discrete Laplace, scale %g: off by %g (%ld paths)", scale, d, law.paths);
        assert_true(distance(&law, -60, 60, discrete_laplace, scale * 1.02) > 1e-5);
    }
}

static const uint128 gaps[] = {0, 1, 5, 2};
static long run_choice(const void *arg)
{
    return (long)walked_choice(NULL, gaps, (size_t[]){0, 1, 2, 3}, 4, *(const uint64_t *)arg);
}

/* Scores 9.5, 9, 5, 3 in halves, at scale 1: with m = 4 the coins are exp((score - 9.5) / 2). */
static const uint128 flip_gaps[] = {0, 1, 9, 13};
static long run_flip(const void *arg)
{
    return (long)walked_flip(NULL, flip_gaps, (size_t[]){0, 1, 2, 3}, 4, *(const uint64_t *)arg);
}

/* Candidate k after exactly the candidates of a set, which were refused, whatever their order. */
static long double flip_law(long k, double m)
{
    static const long double orders[] = {1. / 4, 1. / 12, 1. / 12, 1. / 4}; /* s! (3 - s)! / 4! */
    long double sum = 0;
    for (int set = 0; set < 16; set++) {
        long double refused = 1;
        int size = 0;
        for (int i = 0; i < 4; i++)
            if (set >> i & 1)
                refused *= 1 - expl(-(long double)flip_gaps[i] / (long double)m), size++;
        sum += set >> k & 1 ? 0 : orders[size] * refused;
    }
    return sum * expl(-(long double)flip_gaps[k] / (long double)m);
}

static long double choice_law_of_flips(long k, double m)
{
    long double all = 0;
    for (int i = 0; i < 4; i++)
        all += expl(-(long double)flip_gaps[i] / (long double)m);
    return expl(-(long double)flip_gaps[k] / (long double)m) / all;
}

TEST(permute_and_flip)
{
    static const double known[] = {.57650691, .37095189, .03860288, .01393831};
    struct law law;
    below_starts_loop = false; /* each round asks for an index of its own */
    for (uint64_t m = 1; m < 7; m++) {
        walk(&law, run_flip, &m);
        assert_true(distance(&law, 0, 3, flip_law, (double)m) < 1e-15);
        assert_true(distance(&law, 0, 3, flip_law, (double)m * 1.02) > 1e-5);
        assert_true(distance(&law, 0, 3, choice_law_of_flips, (double)m) >
                    1e-4); /* it is no exponential mechanism */
    }
    below_starts_loop = true;
    for (long k = 0; k < 4; k++)
        assert_true(fabs((double)flip_law(k, 4) - known[k]) <= 5e-9);
}
static long double choice_law(long k, double m)
{
    long double all = 0;
    for (int i = 0; i < 4; i++)
        all += expl(-(long double)gaps[i] / (long double)m);
    return expl(-(long double)gaps[k] / (long double)m) / all;
}

static int label_classes;
static long run_label(const void *arg)
{
    const struct ratio *r = arg;
    return (long)walked_label(NULL, 1, (uint64_t)label_classes, r->m, r->shift);
}
static long double label_law(long k, double t)
{
    long double truth = expl((long double)t) / (expl((long double)t) + label_classes - 1);
    return k == 1 ? truth : (1 - truth) / (label_classes - 1);
}

TEST(choices_and_labels)
{
    struct law law;
    for (uint64_t m = 1; m < 5; m++) {
        walk(&law, run_choice, &m);
        assert_true(distance(&law, 0, 3, choice_law, (double)m) < 1e-15);
        assert_true(distance(&law, 0, 3, choice_law, (double)m * 1.02) > 1e-4);
    }
    const struct ratio cases[] = {{1, 0, NULL}, {3, 0, NULL}, {3, 2, NULL}};
    for (size_t i = 0; i < 3; i++)
        for (label_classes = 2; label_classes <= 5; label_classes++) {
            double t = (double)(1u << cases[i].shift) / (double)cases[i].m;
            walk(&law, run_label, &cases[i]);
            assert_true(distance(&law, 0, label_classes - 1, label_law, t) < 1e-15);
            assert_true(distance(&law, 0, label_classes - 1, label_law, t * 1.02) > 1e-4);
        }
}
