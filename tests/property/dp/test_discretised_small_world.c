/* Exact noise in worlds so small that all of them can be looked at: words of which 12 (a Gaussian pair's: 8) bits
 * count and the rest is refinement. Every settled floor holds on its whole cell; all words together, refined by all
 * words of 12 more bits, give every integer the probability it has, but for the cells that an edge runs through;
 * and refinement by a word's own bits gives what the word gives. */
#include "support/test.h"
#include "support/discretised_words.h"
#include "support/worse.h"
#include "support/oracle_sweep.h"

#include <math.h>
#include <string.h>

static const enum discretised_law signed_laws[] = {DISCRETISED_LOGISTIC, DISCRETISED_LAPLACE,
                                                   DISCRETISED_DISCRETE_LAPLACE};
enum { SIGNED_LAWS = 3 };

/* --- words of 12 bits --- */

enum { KNOWN = 12, ALL = 1 << KNOWN, GROUPS = ALL / DISCRETISED_GROUP, MORE = 8 };
static uint64_t words[ALL], undecided[2 * GROUPS];
static double k[ALL];

static void no_bits(uint64_t bits[2], const void *arg, unsigned round)
{
    (void)arg;
    (void)round;
    bits[0] = bits[1] = 0;
}

static double by_balls(uint64_t word, struct ball_draw draw)
{
    int128 floor[2];
    draw.word[0] = word;
    ball_draw(floor, &draw);
    return (double)floor[0];
}

static void fill_words(void)
{
    for (size_t i = 0; i < ALL; i++)
        words[i] = (uint64_t)i << (64 - KNOWN);
}

/* Draws are monotone in the word, so both ends of a cell decide for all of it. */
static size_t wrong_in_cells(const struct floor_bounds *bounds, const struct floor_kernels *kernels)
{
    const struct ball_draw whole = discretised_ball(bounds->law, bounds->m, 64, 64, no_bits);
    size_t wrong = 0;
    fill_words();
    kernels->draw[bounds->law](k, undecided, words, GROUPS, bounds);
    for (size_t i = 0; i < ALL; i++)
        if (!discretised_undecided(undecided, bounds->law, i))
            wrong += by_balls(words[i] + 1, whole) != k[i] ||
                     by_balls(words[i] | (~(uint64_t)0 >> KNOWN), whole) != k[i];
    return wrong;
}

DISCRETISED_TEST(settled_cells_have_one_floor)
{
    const double scales[] = {0.3, 1.7, 17.3};
    for (int law = 0; law < SIGNED_LAWS; law++)
        for (int s = 0; s < 3; s++) {
            struct floor_bounds bounds = floor_bounds_make(signed_laws[law], scales[s], false, KNOWN);
            for (int isa = 0; isa <= (int)cpu_hardware_isa(); isa++)
                assert_true(wrong_in_cells(&bounds, discretised_levels[isa]) == 0);
            bounds.word /= 4;
            assert_true(wrong_in_cells(&bounds, discretised_levels[0]) > 0 || scales[s] < 1);
        }
    return SOTTO_OK;
}

/* --- their law --- */

static void chosen_bits(uint64_t bits[2], const void *arg, unsigned round)
{
    uint64_t state = *(const uint64_t *)arg + round;
    bits[0] = round == 0 ? *(const uint64_t *)arg << (64 - MORE) : sweep_bits(&state) << (64 - MORE);
    bits[1] = 0;
}

/* Planted: the first refinement is the same for all. */
static void stuck_bits(uint64_t bits[2], const void *arg, unsigned round)
{
    const uint64_t middle = 1 << (MORE - 1);
    (void)arg;
    chosen_bits(bits, &middle, round);
}

/* Draws are symmetric about 0, or (floors) about -1/2. */
static double size_of(enum discretised_law law, double draw)
{
    return draw >= 0 ? draw : law == DISCRETISED_DISCRETE_LAPLACE ? -draw : -1 - draw;
}

/* P(K >= j), j > 0. */
static double upper_tail(enum discretised_law law, double m, double j)
{
    if (law == DISCRETISED_LOGISTIC)
        return 1 / (1 + exp(j / m));
    return law == DISCRETISED_LAPLACE ? exp(-j / m) / 2 : exp(-j / m) / (1 + exp(-1 / m));
}

enum { REACH = 64 };

/* In cells of 2^-(KNOWN + MORE): the largest difference between how many give a size of j or more, and how many should. */
static double law_off(enum discretised_law law, double m, ball_refinement *refine)
{
    static double above[REACH];
    const struct floor_bounds bounds = floor_bounds_make(law, m, false, KNOWN);
    struct ball_draw draw = discretised_ball(law, m, KNOWN, MORE, refine);
    double off = 0;
    memset(above, 0, sizeof above);
    fill_words();
    floor_kernels_v2.draw[law](k, undecided, words, GROUPS, &bounds);
    for (size_t i = 0; i < ALL; i++)
        for (uint64_t more = 0; more < (1 << MORE); more++) {
            draw.arg = &more;
            double each = discretised_undecided(undecided, law, i) ? by_balls(words[i], draw) : k[i];
            for (int j = 1; j < REACH && j <= size_of(law, each); j++)
                above[j]++;
        }
    for (int j = 1; j < REACH; j++)
        off = worse(off, fabs(above[j] - 2 * upper_tail(law, m, j) * ALL * (1 << MORE)));
    return off;
}

DISCRETISED_TEST(all_words_make_up_the_law)
{
    for (int law = 0; law < SIGNED_LAWS; law++) {
        assert_true(law_off(signed_laws[law], 1.7, chosen_bits) <=
                    2); /* on either side the cell that the edge runs through */
        assert_true(law_off(signed_laws[law], 1.7, stuck_bits) > 10);
    }
    return SOTTO_OK;
}

/* --- Gaussian pairs of words of 8 bits --- */

enum { PAIR_KNOWN = 8, PAIR_WORDS = 1 << PAIR_KNOWN };

static size_t wrong_in_pairs(const struct floor_bounds *bounds, const struct floor_kernels *kernels)
{
    static uint64_t pair[2 * PAIR_WORDS];
    static const uint64_t places[] = {1, (uint64_t)1 << (63 - PAIR_KNOWN), ~(uint64_t)0 >> PAIR_KNOWN};
    struct ball_draw whole = discretised_ball(DISCRETISED_GAUSSIAN, bounds->m, 64, 64, no_bits);
    size_t wrong = 0;
    for (size_t angle = 0; angle < PAIR_WORDS; angle++) {
        const size_t groups = PAIR_WORDS / DISCRETISED_PAIRS;
        for (size_t i = 0; i < 2 * PAIR_WORDS; i++) {
            size_t radius = i / DISCRETISED_GROUP * DISCRETISED_PAIRS + i % DISCRETISED_PAIRS;
            pair[i] = (uint64_t)(i & DISCRETISED_PAIRS ? angle : radius) << (64 - PAIR_KNOWN);
        }
        kernels->draw[DISCRETISED_GAUSSIAN](k, undecided, pair, groups, bounds);
        for (size_t i = 0; i < 2 * PAIR_WORDS; i++)
            for (int place = 0; place < 9 && discretised_leads(DISCRETISED_GAUSSIAN, i) &&
                                !discretised_undecided(undecided, DISCRETISED_GAUSSIAN, i);
                 place++) {
                int128 floor[2];
                whole.word[0] = pair[i] + places[place % 3];
                whole.word[1] = pair[i + DISCRETISED_PAIRS] + places[place / 3];
                ball_draw(floor, &whole);
                wrong += (double)floor[0] != k[i] || (double)floor[1] != k[i + DISCRETISED_PAIRS];
            }
    }
    return wrong;
}

DISCRETISED_TEST(settled_pairs_have_one_floor_each)
{
    struct floor_bounds bounds = floor_bounds_make(DISCRETISED_GAUSSIAN, 3.3, false, PAIR_KNOWN);
    assert_true(wrong_in_pairs(&bounds, discretised_levels[cpu_best_isa()]) == 0);
    bounds.slope /= 4;
    assert_true(wrong_in_pairs(&bounds, discretised_levels[cpu_best_isa()]) > 0);
    return SOTTO_OK;
}

/* --- refinement by the word's own bits --- */

enum { OWN = 20000, STEP = 7 };

/* Bits 12 + 7 round .. of both words, then zeros. */
static void own_bits(uint64_t bits[2], const void *arg, unsigned round)
{
    const unsigned at = KNOWN + STEP * round;
    for (int i = 0; i < 2; i++)
        bits[i] = at < 64 ? ((const uint64_t *)arg)[i] << at : 0;
}

DISCRETISED_TEST(refined_by_its_own_bits_a_word_gives_the_same)
{
    uint64_t state = 5;
    for (enum discretised_law law = 0; law < DISCRETISED_LAWS; law++) {
        struct ball_draw few = discretised_ball(law, 0x1.9p33, KNOWN, STEP, own_bits),
                         full = discretised_ball(law, 0x1.9p33, 64, 64, no_bits);
        for (int i = 0; i < OWN; i++) {
            int128 of_few[2] = {0}, of_full[2] = {0};
            for (int w = 0; w < 2; w++)
                few.word[w] = full.word[w] = sweep_bits(&state);
            few.arg = few.word;
            ball_draw(of_few, &few);
            ball_draw(of_full, &full);
            assert_memory_equal(of_few, of_full, sizeof of_few);
        }
    }
    return SOTTO_OK;
}
