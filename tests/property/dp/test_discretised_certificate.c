/* Every floor that the vectors of exact noise settle is the floor by balls, at every level, also at m = 2^44
 * where 3 to 40 % of the draws are undecided: there an error bound that is too small by a factor shows as
 * wrong integers, which no statistics of draws would. Controls: bounds 32 times too small, a term left out, a
 * coefficient changed in its 40th bit. */
#include "support/test.h"
#include "support/discretised_words.h"
#include "support/oracle_sweep.h"

/* The kernels once more, as this file is compiled (no more than SSE2), with coefficients that can be
 * changed. */
#include "dp/noise/discretised_polynomials.h"
static double planted_log[7], planted_sine[6], planted_cosine[6];
#define log_polynomial planted_log
#define sine_polynomial planted_sine
#define cosine_polynomial planted_cosine
#define SOTTO_ISA_SUFFIX planted
#include "dp/noise/discretised_noise.isa.c"
#undef log_polynomial
#undef sine_polynomial
#undef cosine_polynomial

static void mend(void)
{
    memcpy(planted_log, log_polynomial, sizeof log_polynomial);
    memcpy(planted_sine, sine_polynomial, sizeof sine_polynomial);
    memcpy(planted_cosine, cosine_polynomial, sizeof cosine_polynomial);
}

enum { GROUPS = 512, WORDS = GROUPS * DISCRETISED_GROUP };
static uint64_t words[WORDS], undecided[2 * GROUPS];
static double exact[WORDS], settled[WORDS];

/* Uniform; tiny; near the top; near 3/2 of a power of two, where the logarithm's two halves meet; and, as
 * angles, near multiples of half a right angle. */
static void make_words(uint64_t seed)
{
    for (size_t i = 0; i < WORDS; i++) {
        uint64_t w = sweep_bits(&seed), kind = sweep_bits(&seed), small = w >> (kind >> 8) % 64;
        switch (kind % 5) {
        case 0:
            words[i] = w;
            break;
        case 1:
            words[i] = small;
            break;
        case 2:
            words[i] = (kind >> 16 & 1 ? ~(uint64_t)0 : ~(uint64_t)0 >> 1) - small;
            break;
        case 3:
            words[i] = ((uint64_t)3 << (kind >> 16) % 63) + small - (kind >> 24 & 1 ? 2 * small : 0);
            break;
        default:
            words[i] = (kind << 61) + small - (kind >> 24 & 1 ? 2 * small : 0);
        }
    }
}

static void any_bits(uint64_t bits[2], const void *arg, unsigned round)
{
    uint64_t state = (uint64_t) * (const size_t *)arg * 1000 + round;
    bits[0] = sweep_bits(&state);
    bits[1] = sweep_bits(&state);
}

static void find_exact(enum discretised_law law, double m)
{
    for (size_t i = 0; i < WORDS; i++)
        if (discretised_leads(law, i))
            discretised_by_balls(exact, i, words, discretised_ball(law, m, 64, 64, any_bits));
}

struct tally {
    size_t settled, wrong;
};

static struct tally count(const struct floor_kernels *kernels, struct floor_bounds bounds)
{
    struct tally t = {0, 0};
    kernels->draw[bounds.law](settled, undecided, words, GROUPS, &bounds);
    for (size_t i = 0; i < WORDS; i++)
        if (!discretised_undecided(undecided, bounds.law, i)) {
            t.settled++;
            t.wrong += settled[i] != exact[i];
        }
    return t;
}

DISCRETISED_TEST(settled_floors_are_those_by_balls)
{
    const double scales[] = {0x1p-30, 0.3, 5.3, 0x1.7p23, 0x1.5p31, 0x1.1p40, 0x1p44};
    mend();
    for (enum discretised_law law = 0; law < DISCRETISED_LAWS; law++)
        for (size_t s = 0; s < sizeof scales / sizeof *scales; s++) {
            make_words(s + 1);
            find_exact(law, scales[s]);
            for (int flat = 0; flat < (scales[s] <= 0x1p32 ? 2 : 1); flat++)
                for (int isa = -1; isa <= (int)cpu_hardware_isa(); isa++) {
                    struct tally t = count(isa < 0 ? &floor_kernels_planted : discretised_levels[isa],
                                           floor_bounds_make(law, scales[s], flat, 64));
                    if (t.wrong || t.settled < WORDS / 4)
                        fail_msg("%s, m = %g, level %d: %zu of %zu wrong", discretised_names[law], scales[s],
                                 isa, t.wrong, t.settled);
                }
        }
    return SOTTO_OK;
}

DISCRETISED_TEST(bounds_that_are_too_small_are_noticed)
{
    for (enum discretised_law law = 0; law < DISCRETISED_LAWS; law++) {
        const struct floor_bounds proved = floor_bounds_make(law, 0x1p44, false, 64);
        struct floor_bounds small = proved, wordless = proved, radial = proved;
        make_words(9);
        find_exact(law, 0x1p44);
        small.constant /= 32;
        small.slope /= 32;
        small.inverse /= 32;
        wordless.word = 0;
        radial.inverse = 0;
        assert_true(count(discretised_levels[CPU_V2], small).wrong > 0);
        assert_true(count(discretised_levels[CPU_V2], wordless).wrong > 0);
        assert_true(law != DISCRETISED_GAUSSIAN || count(discretised_levels[CPU_V2], radial).wrong > 0);
    }
    return SOTTO_OK;
}

/* By 2^-40 of itself. */
static void change(double *coefficient)
{
    *coefficient += *coefficient * 0x1p-40;
}

DISCRETISED_TEST(a_changed_coefficient_is_noticed)
{
    double *const planted[] = {planted_log, planted_sine, planted_cosine};
    const struct floor_bounds bounds = floor_bounds_make(DISCRETISED_GAUSSIAN, 0x1p44, false, 64);
    make_words(10);
    find_exact(DISCRETISED_GAUSSIAN, 0x1p44);
    for (int i = 0; i < 3; i++) {
        mend();
        assert_true(count(&floor_kernels_planted, bounds).wrong == 0);
        change(planted[i]);
        assert_true(count(&floor_kernels_planted, bounds).wrong > 0);
    }
    return SOTTO_OK;
}

TEST_GROUP(.tags = "long")
