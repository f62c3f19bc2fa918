/* Exact noise as its callers see it: the same integers at every level, for every number of threads and
 * however positions are cut; known answers; what is refused; and draws too rare to occur by chance: a word of
 * 0, a radius of 0, an undecided draw in either of a pair, two refinements, more noise than fits. */
#include "support/test.h"

#include "base/memory.h"
#include "base/sha256.h"
#include "dp/ball/ball_private.h"
#include "support/discretised_words.h"

#include <fenv.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { N = 1000000 };
static int64_t all[N], parts[N];
static double doubles[N];

static struct discretised_noise opened(enum discretised_law law, double m, bool flat)
{
    struct noise *keys;
    struct discretised_noise f;
    assert_int_equal(noise_open_insecure(&keys, 21), SOTTO_OK);
    assert_int_equal(discretised_noise_open(&f, law, m, flat, keys), SOTTO_OK);
    noise_close(keys);
    return f;
}

static void fill(int64_t *k, const struct discretised_noise *f, uint64_t first, size_t n, int threads)
{
    assert_int_equal(discretised_noise_fill(f, k, first, n, threads), SOTTO_OK);
}

/* --- one integer for a position --- */

TEST(known_answers_at_every_level)
{
    static const char *const answers[DISCRETISED_LAWS] = {
        "3819d0eb59b631d4ba113fd225a89d8dd76d26373514c469809ffce81c7e249f",
        "df80008394c5aec970d32763450624d5ac0d40f893393b34fdc3b32e1266b045",
        "aa6460e28b65a26511941cac2932f06158598a01be3db36f260018ec4fc762a9",
        "2ad1d885c7f48ace18debfc7110a22652fa3b3067ae279b6308779917c9ff808"};
    for (enum discretised_law law = 0; law < DISCRETISED_LAWS; law++) {
        struct discretised_noise f = opened(law, 0x1.6p38, false);
        for (int isa = 0; isa <= (int)cpu_hardware_isa(); isa++) {
            char hash[SHA256_HEX];
            setenv("SOTTO_ISA", cpu_isa_name((enum cpu_isa)isa), 1);
            fill(all, &f, 0, N, 2);
            sha256_of(hash, all, sizeof all);
            assert_string_equal(hash, answers[law]);
        }
        unsetenv("SOTTO_ISA");
        discretised_noise_close(&f);
    }
}

TEST(threads_and_cuts_change_nothing)
{
    enum { COUNT = 300000 };
    const uint64_t start = ((uint64_t)1 << 40) + 77;
    for (enum discretised_law law = 0; law < DISCRETISED_LAWS; law++) {
        struct discretised_noise f = opened(law, 0x1p44, false);
        fill(all, &f, start, COUNT, 1);
        for (int threads = 2; threads <= 3; threads++) {
            fill(parts, &f, start, COUNT, threads);
            assert_memory_equal(parts, all, COUNT * sizeof *all);
        }
        memset(parts, 0, COUNT * sizeof *parts);
        for (size_t at = 0, n = 1; at < COUNT; at += n, n = (3 * n + 1) % 70000)
            fill(parts + at, &f, start + at, n < COUNT - at ? n : COUNT - at, 1);
        assert_memory_equal(parts, all, COUNT * sizeof *all);
        assert_int_equal(discretised_noise_fill_doubles(&f, doubles, start, COUNT, 1), SOTTO_OK);
        for (size_t i = 0; i < COUNT; i++)
            assert_true(doubles[i] == (double)all[i] && (doubles[i] != 0 || !signbit(doubles[i])));
    }
}

TEST(flat_doubt_changes_no_draw)
{
    for (enum discretised_law law = 0; law < DISCRETISED_LAWS; law++) {
        struct discretised_noise plain = opened(law, 0x1p32, false), flat = opened(law, 0x1p32, true);
        assert_true(flat.bounds.flat > 0 && plain.bounds.flat == 0);
        fill(all, &plain, 0, N, 1);
        fill(parts, &flat, 0, N, 1);
        assert_memory_equal(parts, all, sizeof all);
    }
}

TEST(nothing_is_drawn_for_no_positions)
{
    struct discretised_noise f = opened(DISCRETISED_LAPLACE, 5, false);
    fill(NULL, &f, 3, 0, 2);
}

/* --- what is refused --- */

TEST(scales_out_of_range_are_refused)
{
    const double scales[] = {0, -1, 0x1p-31, 0x1.0000000000001p44, INFINITY, NAN};
    struct noise *keys;
    struct discretised_noise f;
    assert_int_equal(noise_open_insecure(&keys, 1), SOTTO_OK);
    for (size_t i = 0; i < sizeof scales / sizeof *scales; i++)
        assert_int_equal(discretised_noise_open(&f, DISCRETISED_GAUSSIAN, scales[i], false, keys),
                         SOTTO_EINVAL);
    assert_int_equal(discretised_noise_open(&f, DISCRETISED_GAUSSIAN, 0x1p33, true, keys), SOTTO_EINVAL);
    noise_close(keys);
}

TEST(other_rounding_is_refused)
{
    const int modes[] = {FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO};
    struct discretised_noise f = opened(DISCRETISED_LAPLACE, 5, false), g;
    struct noise *keys;
    assert_int_equal(noise_open_insecure(&keys, 1), SOTTO_OK);
    for (int i = 0; i < 3; i++) {
        fesetround(modes[i]);
        sotto_status open = discretised_noise_open(&g, DISCRETISED_LAPLACE, 5, false, keys),
                     draw = discretised_noise_fill(&f, all, 0, 10, 1);
        fesetround(FE_TONEAREST);
        assert_int_equal(open, SOTTO_EINVAL);
        assert_int_equal(draw, SOTTO_EINVAL);
    }
    noise_close(keys);
}

TEST(want_of_memory_is_an_error)
{
    struct discretised_noise f = opened(DISCRETISED_GAUSSIAN, 0x1p44, false);
    base_alloc_fail_after(0);
    sotto_status status = discretised_noise_fill(&f, all, 0, 1000, 1);
    base_alloc_fail_after(-1);
    assert_int_equal(status, SOTTO_ENOMEM);
}

/* --- words that are written down --- */

static uint64_t script[8][2];
static unsigned rounds;

static void scripted(uint64_t bits[2], const void *arg, unsigned round)
{
    (void)arg;
    assert_true(round < 8);
    memcpy(bits, script[round], sizeof script[round]);
    rounds = round + 1;
}

/* Whether the kernels of all levels leave undecided draw 0 of a group with this word, and this angle. */
static bool doubted(enum discretised_law law, double m, uint64_t word, uint64_t angle)
{
    const struct floor_bounds bounds = floor_bounds_make(law, m, false, 64);
    uint64_t words[DISCRETISED_GROUP], undecided[2];
    double k[DISCRETISED_GROUP];
    int levels = 0;
    for (size_t i = 0; i < DISCRETISED_GROUP; i++)
        words[i] = i < DISCRETISED_PAIRS ? word : angle;
    for (int isa = 0; isa <= (int)cpu_hardware_isa(); isa++) {
        discretised_levels[isa]->draw[law](k, undecided, words, 1, &bounds);
        levels += (int)(undecided[0] & 1);
    }
    assert_true(levels == 0 || levels == (int)cpu_hardware_isa() + 1);
    return levels > 0;
}

TEST(small_words_and_radii_are_in_doubt)
{
    const double scales[] = {0x1p-30, 1, 0x1p31, 0x1p44};
    const uint64_t diagonal = (uint64_t)1 << 61, first = (uint64_t)1 << 63;
    for (int s = 0; s < 4; s++) {
        for (enum discretised_law law = 0; law < DISCRETISED_LAWS; law++)
            for (uint64_t w = 0; w < 4; w++) {
                assert_true(doubted(law, scales[s], w, diagonal));
                assert_true(law == DISCRETISED_GAUSSIAN || doubted(law, scales[s], w | first, diagonal));
            }
        assert_true(doubted(DISCRETISED_GAUSSIAN, scales[s], ~(uint64_t)0, diagonal)); /* radius 0 */
        assert_true(doubted(DISCRETISED_LAPLACE, scales[s], ~first, diagonal));        /* t = 0 */
        assert_true(doubted(DISCRETISED_LOGISTIC, scales[s], ~first, diagonal));
    }
}

/* On an axis one value is 0, an edge; the other is anywhere. */
TEST(a_doubt_in_either_of_a_pair_counts)
{
    const uint64_t radius = (uint64_t)1 << 62;
    const double reach = sqrt(2 * log(4)), m = 1000.5 / reach;
    assert_false(doubted(DISCRETISED_GAUSSIAN, m, radius, (uint64_t)1 << 60)); /* values about 924.3, 382.9 */
    for (uint64_t axis = 0; axis < 4; axis++)
        assert_true(doubted(DISCRETISED_GAUSSIAN, m, radius, axis << 62));
}

/* The words of U with m ln((1 - U) / U) = 3: the first two agree with it, the third is above or below. */
DISCRETISED_TEST(two_refinements)
{
    const double m = 0x1.8p30;
    struct ball_draw draw = discretised_ball(DISCRETISED_LOGISTIC, m, 64, 64, scripted);
    arb_ptr u = ball_numbers(2), e = u + 1;
    int128 floor[2];
    arb_set_ui(e, 3);
    arb_set_d(u, m);
    arb_div(e, e, u, 400);
    arb_exp(e, e, 400);
    arb_add_ui(e, e, 1, 400);
    arb_inv(u, e, 400);
    for (int i = -1; i < 2; i++) {
        fmpz_t word;
        fmpz_init(word);
        arb_mul_2exp_si(u, u, 64);
        arb_floor(e, u, 400);
        assert_true(arb_get_unique_fmpz(word, e));
        arb_sub(u, u, e, 400);
        *(i < 0 ? &draw.word[0] : &script[i][0]) = fmpz_get_ui(word);
        fmpz_clear(word);
    }
    assert_true(doubted(DISCRETISED_LOGISTIC, m, draw.word[0], 0));
    for (int above = 0; above < 2; above++) {
        script[1][0] += above ? 2 : (uint64_t)-1; /* one below, one above: y falls as U grows */
        ball_draw(floor, &draw);
        assert_true(floor[0] == (above ? 2 : 3));
        assert_int_equal(rounds, 2);
    }
    return SOTTO_OK;
}

DISCRETISED_TEST(a_word_of_0_goes_on)
{
    struct ball_draw draw = discretised_ball(DISCRETISED_LAPLACE, 1, 64, 64, scripted);
    int128 floor[2];
    memset(script, 0, sizeof script);
    script[2][0] = (uint64_t)1 << 63;
    ball_draw(floor, &draw);
    assert_int_equal(rounds, 3);
    assert_true(floor[0] == (int64_t)(192 * log(2))); /* U = 2^-63 2^-128 / 2 = 2^-192 */
    draw.word[0] = (uint64_t)1 << 63;
    ball_draw(floor, &draw);
    assert_true(floor[0] == -1 - (int64_t)(192 * log(2)));
    return SOTTO_OK;
}

DISCRETISED_TEST(more_noise_than_fits_is_cut_off)
{
    struct ball_draw draw = discretised_ball(DISCRETISED_LAPLACE, 0x1p121, 64, 64, scripted);
    int128 floor[2];
    draw.word[0] = 12345;
    ball_draw(floor, &draw);
    assert_true(floor[0] == (int128)1 << BALL_DRAW_BITS);
    draw.word[0] |= (uint64_t)1 << 63;
    ball_draw(floor, &draw);
    assert_true(floor[0] == -1 - ((int128)1 << BALL_DRAW_BITS));
    return SOTTO_OK;
}

/* --- draws beyond 64 bits --- */

static void open_at(struct discretised_noise *f, enum discretised_law law, double m)
{
    struct noise *keys;
    assert_int_equal(noise_open_insecure(&keys, 77), SOTTO_OK);
    assert_int_equal(discretised_noise_open(f, law, 2, false, keys), SOTTO_OK);
    f->bounds = floor_bounds_make(law, m, false, 64); /* also beyond what may be opened */
    noise_close(keys);
}

/* floor(2^a z) >> a is floor(z): the same positions with scales 2^56 and 2^70 times as large, where all draws are in
 * undecided and none, or nearly none, fits 64 bits. */
TEST(wide_draws_agree_with_narrow_ones)
{
    enum { DRAWS = 600 };
    static int128 narrow[DRAWS], wide[DRAWS];
    static int64_t integers[DRAWS];
    for (enum discretised_law law = DISCRETISED_LOGISTIC; law <= DISCRETISED_GAUSSIAN; law++)
        for (int more = 56; more <= 70; more += 14) {
            struct discretised_noise f;
            int large = 0, other = 0;
            open_at(&f, law, 0x1.5p44);
            assert_int_equal(discretised_noise_fill_wide(&f, narrow, 100, DRAWS, 1), SOTTO_OK);
            assert_int_equal(discretised_noise_fill(&f, integers, 100, DRAWS, 1), SOTTO_OK);
            open_at(&f, law, ldexp(0x1.5p44, more));
            assert_int_equal(discretised_noise_fill_wide(&f, wide, 100, DRAWS, 2), SOTTO_OK);
            for (int i = 0; i < DRAWS; i++) {
                assert_true(narrow[i] == integers[i]);
                assert_true(wide[i] >> more == narrow[i]);
                large += wide[i] >> 64 != 0 && wide[i] >> 64 != -1;
                other += i > 0 && wide[i] >> more == narrow[i - 1]; /* the test can tell draws apart */
            }
            assert_true(large > DRAWS * 9 / 10 && other == 0);
        }
}

/* 64 bits stop at 2^61, the wide ones at 2^121. */
TEST(draws_stop_at_their_ends)
{
    enum { DRAWS = 256 };
    static int128 wide[DRAWS];
    static int64_t integers[DRAWS];
    static double of_doubles[DRAWS];
    struct discretised_noise f;
    const int128 end = (int128)1 << 121;
    open_at(&f, DISCRETISED_LAPLACE, 0x1p140);
    assert_int_equal(discretised_noise_fill_wide(&f, wide, 0, DRAWS, 1), SOTTO_OK);
    assert_int_equal(discretised_noise_fill(&f, integers, 0, DRAWS, 1), SOTTO_OK);
    assert_int_equal(discretised_noise_fill_doubles(&f, of_doubles, 0, DRAWS, 1), SOTTO_OK);
    for (int i = 0; i < DRAWS; i++) {
        const bool negative = wide[i] < 0;
        assert_true(wide[i] == (negative ? -1 - end : end));
        assert_true(integers[i] == (negative ? -1 : 1) * ((int64_t)1 << 61));
        assert_true(of_doubles[i] == (negative ? -0x1p52 : 0x1p52));
    }
}

/* --- refinement words --- */

TEST(refinements_are_a_function_of_position_and_round)
{
    unsigned char key[CHACHA_KEY] = {7};
    uint64_t words[4][2];
    for (int i = 0; i < 4; i++) {
        chacha_words(words[i], key, 1 + (uint64_t)(i & 1), (uint64_t)i / 2);
        assert_true(words[i][0] != words[i][1]);
        for (int j = 0; j < i; j++)
            assert_true(words[i][0] != words[j][0] && words[i][1] != words[j][1]);
    }
    /* Vectors of draft-agl-tls-chacha20poly1305-04, section 7: key 0, nonces 1 and 2^56 (lowest byte
     * first). */
    memset(key, 0, sizeof key);
    chacha_words(words[0], key, 1, 0);
    assert_true(words[0][0] == 0xfb7815c6d6df3fef && words[0][1] == 0x803bd33dbd35cff5);
    chacha_words(words[0], key, (uint64_t)1 << 56, 0);
    assert_true(words[0][0] == 0xf59ed6f37bba9cde && words[0][1] == 0x3a653f9763dc86e7);
}

TEST_GROUP(.tags = "matrix")
