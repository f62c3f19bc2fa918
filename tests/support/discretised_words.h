/* discretised_words.h - exact noise from words that a test chooses: the kernels of every level, and the slow path
 * behind them with the test's own refinement. For the inside of a ball_run(). */
#ifndef TESTS_DISCRETISED_WORDS_H
#define TESTS_DISCRETISED_WORDS_H

#include "base/cpu.h"
#include "dp/ball/ball_draw.h"
#include "dp/noise/discretised_noise.h"

extern const struct floor_kernels floor_kernels_v2, floor_kernels_v3, floor_kernels_v4;
static const struct floor_kernels *const discretised_levels[CPU_ISA_COUNT]
    __attribute__((unused)) = {&floor_kernels_v2, &floor_kernels_v3, &floor_kernels_v4, &floor_kernels_v4};

static const char *const discretised_names[DISCRETISED_LAWS]
    __attribute__((unused)) = {"logistic", "laplace", "gaussian", "discrete laplace"};

/** The slow path's view of a law: `known` bits of each word count, refined by `step` bits at a time. */
static inline struct ball_draw discretised_ball(enum discretised_law law, double m, unsigned known,
                                                unsigned step, ball_refinement *refine)
{
    static const enum ball_noise noise[] = {BALL_LOGISTIC, BALL_LAPLACE, BALL_GAUSSIAN, BALL_LAPLACE};
    return (struct ball_draw){.law = noise[law],
                              .discrete = law == DISCRETISED_DISCRETE_LAPLACE,
                              .m = m,
                              .known = known,
                              .step = step,
                              .refine = refine};
}

/** Draw i of words[0 .. groups of DISCRETISED_GROUP) by balls alone, `arg` being &i; of a Gaussian pair both. */
static inline void discretised_by_balls(double *k, size_t i, const uint64_t *words, struct ball_draw draw)
{
    int128 floor[2];
    draw.word[0] = words[i];
    draw.word[1] = draw.law == BALL_GAUSSIAN ? words[i + DISCRETISED_PAIRS] : 0;
    draw.arg = &i;
    ball_draw(floor, &draw);
    k[i] = (double)floor[0];
    if (draw.law == BALL_GAUSSIAN)
        k[i + DISCRETISED_PAIRS] = (double)floor[1];
}

static inline bool discretised_undecided(const uint64_t *undecided, enum discretised_law law, size_t i)
{
    const size_t first = law == DISCRETISED_GAUSSIAN ? i - (i & DISCRETISED_PAIRS) : i; /* of the pair */
    return undecided[first / 64] >> first % 64 & 1;
}

/** Whether draw i is one of its own, not the second of a pair. */
static inline bool discretised_leads(enum discretised_law law, size_t i)
{
    return law != DISCRETISED_GAUSSIAN || !(i & DISCRETISED_PAIRS);
}

/** All draws: by the kernels, and by balls where these cannot decide. */
static inline void discretised_draw(double *k, uint64_t *undecided, const uint64_t *words, size_t groups,
                                    const struct floor_kernels *kernels, const struct floor_bounds *bounds,
                                    struct ball_draw draw)
{
    kernels->draw[bounds->law](k, undecided, words, groups, bounds);
    for (size_t i = 0; i < groups * DISCRETISED_GROUP; i++)
        if (discretised_leads(bounds->law, i) && discretised_undecided(undecided, bounds->law, i))
            discretised_by_balls(k, i, words, draw);
}

/** A cmocka test around a body that computes in balls. */
#define DISCRETISED_TEST(name)                                                                               \
    static sotto_status name##_body(void *arg);                                                              \
    TEST(name)                                                                                               \
    {                                                                                                        \
        assert_int_equal(ball_run(name##_body, NULL, NULL), SOTTO_OK);                                       \
    }                                                                                                        \
    static sotto_status name##_body(void *arg __attribute__((unused)))

#endif
