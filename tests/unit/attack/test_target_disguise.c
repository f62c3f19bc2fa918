/* A disguise around a target: which rows are sent where, that the answers stay what they are, what counts, what is refused. */
#include "support/test.h"

#include "attack/target/target.h"
#include "base/memory.h"
#include "rng/rng.h"
#include "sotto/private/all.h"

#include <math.h>
#include <string.h>

enum { N = 600, D = 3, K = 2, COVER = 70, MOST = 40000 };
static float x[N * D], cover[COVER * D], sent[MOST];
static size_t sent_rows;

/* Posteriors that tell which row was asked; the first number of each row is kept. */
static sotto_status answer(void *user, float *p, const float *rows, size_t n)
{
    (void)user;
    for (size_t i = 0; i < n; i++) {
        p[2 * i] = 1 / (1 + expf(rows[i * D]));
        p[2 * i + 1] = 1 - p[2 * i];
        assert_true(sent_rows < MOST);
        sent[sent_rows++] = rows[i * D];
    }
    return SOTTO_OK;
}

/* Rows of the attack are negative, those of the cover are not. */
static struct sotto_target *open_target(void)
{
    struct sotto_target *t = NULL;
    struct rng r = rng_stream(1, RNG_TEST, 0, 0);
    for (size_t i = 0; i < N * D; i++)
        x[i] = -1 - rng_unit_f(&r);
    for (size_t i = 0; i < COVER * D; i++)
        cover[i] = (float)(i / D);
    sent_rows = 0;
    assert_int_equal(sotto_target_open_function(&t, "mine", answer, NULL, D, K), SOTTO_OK);
    return t;
}

static void disguise(struct sotto_target **t, double dilute, size_t decoys, uint64_t seed)
{
    const struct sotto_disguise_options o = {.dilute = dilute, .decoys = decoys};
    assert_int_equal(sotto_target_disguise(t, &o, cover, COVER, seed), SOTTO_OK);
}

TEST(answers_stay_what_they_are)
{
    static float plain[N * K], hidden[N * K];
    struct sotto_target *t = open_target();
    assert_int_equal(target_query(t, plain, x, N), SOTTO_OK);
    disguise(&t, .2, 3, 1);
    assert_int_equal(target_used(t), N); /* what was asked before counts on */
    assert_int_equal(target_query(t, hidden, x, 1), SOTTO_OK);
    assert_int_equal(target_query(t, hidden + K, x + D, N - 1), SOTTO_OK);
    assert_memory_equal(plain, hidden, sizeof plain);
    assert_int_equal(target_used(t), sent_rows);
    assert_int_equal(t->cover, sent_rows - 2 * N);
    sotto_target_close(t);
}

/* Each row of the attack, in order, has exactly so many rows of cover behind it; the cover goes round. */
TEST(decoys_stand_in_fixed_places)
{
    static float p[N * K];
    struct sotto_target *t = open_target();
    disguise(&t, 1, 49, 1);
    assert_int_equal(target_query(t, p, x, N), SOTTO_OK);
    assert_int_equal(sent_rows, 50 * N);
    for (size_t i = 0, c = 0; i < sent_rows; i++)
        if (i % 50 == 0)
            assert_true(sent[i] == x[i / 50 * D]);
        else
            assert_true(sent[i] == (float)(c++ % COVER));
    sotto_target_close(t);
}

/* Before a row of the attack stand as many rows of cover as coins say; the law of their number is geometric, so a quarter of the rows
 * follow one another at once. Bounds: four deviations. */
TEST(dilution_has_its_share_at_random_places)
{
    static float p[N * K], first[MOST];
    struct sotto_target *t = open_target();
    size_t own = 0, alone = 0, rows;
    disguise(&t, .25, 0, 1);
    assert_int_equal(target_query(t, p, x, N), SOTTO_OK);
    for (size_t i = 0; i < sent_rows; i++) {
        if (sent[i] >= 0)
            continue;
        assert_true(sent[i] == x[own++ * D]); /* in order */
        alone += i == 0 || sent[i - 1] < 0;
    }
    assert_int_equal(own, N);
    assert_true(sent_rows > 2060 && sent_rows < 2780); /* 600 successes: mean 2,400, deviation 85 */
    assert_true(alone > 105 && alone < 196);           /* 600 coins of .25: 150, 10.6 */
    sotto_target_close(t);
    rows = sent_rows;
    memcpy(first, sent, sizeof sent);
    t = open_target();
    disguise(&t, .25, 0, 1);
    assert_int_equal(target_query(t, p, x, N), SOTTO_OK);
    assert_true(sent_rows == rows && memcmp(first, sent, rows * sizeof *sent) == 0); /* the same seed */
    sotto_target_close(t);
    t = open_target();
    disguise(&t, .25, 0, 2);
    assert_int_equal(target_query(t, p, x, N), SOTTO_OK);
    assert_true(sent_rows != rows || memcmp(first, sent, rows * sizeof *sent) != 0); /* another one */
    sotto_target_close(t);
}

TEST(cover_counts_against_the_budget)
{
    float p[10 * K];
    struct sotto_target *t = open_target();
    sotto_target_set_budget(t, 40);
    disguise(&t, 1, 3, 1);
    assert_int_equal(target_query(t, p, x, 10), SOTTO_OK);
    assert_int_equal(target_used(t), 40);
    sotto_target_close(t);
    t = open_target();
    sotto_target_set_budget(t, 39);
    disguise(&t, 1, 3, 1);
    assert_int_equal(target_query(t, p, x, 10), SOTTO_EBUDGET);
    assert_non_null(
        strstr(sotto_error_text(), "30 rows of cover after 10 queries would exceed the budget of 39"));
    assert_int_equal(sent_rows, 0);
    sotto_target_close(t);
}

static void refuse(sotto_status expected, const struct sotto_disguise_options *o, size_t rows,
                   const char *text)
{
    struct sotto_target *t = open_target(), *before = t;
    assert_int_equal(sotto_target_disguise(&t, o, cover, rows, 1), expected);
    assert_non_null(strstr(sotto_error_text(), text));
    assert_ptr_equal(t, before); /* as it was */
    sotto_target_close(t);
}

TEST(what_makes_no_sense_is_refused)
{
    refuse(SOTTO_EUSAGE, &(struct sotto_disguise_options){.spread = 2}, 0,
           "2 clients of a target that is no command; expected target with spread");
    refuse(SOTTO_EUSAGE, &(struct sotto_disguise_options){.dilute = .5}, 0, "give them by cover");
    refuse(SOTTO_EUSAGE, &(struct sotto_disguise_options){.decoys = 1}, 0, "give them by cover");
    refuse(SOTTO_EUSAGE, &(struct sotto_disguise_options){.dilute = 1}, COVER, "give one of them");
    refuse(SOTTO_EINVAL, &(struct sotto_disguise_options){.dilute = SOTTO_ZERO}, COVER, "dilute");
    refuse(SOTTO_EINVAL, &(struct sotto_disguise_options){.dilute = 1.5}, COVER, "dilute");
    refuse(SOTTO_EINVAL, &(struct sotto_disguise_options){.decoys = 1001}, COVER, "decoys");
    refuse(SOTTO_EINVAL, &(struct sotto_disguise_options){.spread = SOTTO_NONE}, 0, "spread");
    struct sotto_target *t = open_target();
    cover[5] = NAN;
    assert_int_equal(
        sotto_target_disguise(&t, &(struct sotto_disguise_options){.decoys = 1}, cover, COVER, 1),
        SOTTO_EINVAL);
    assert_non_null(strstr(sotto_error_text(), "row 1 of the cover is not finite"));
    sotto_target_close(t);
}

TEST(without_memory_it_is_an_error)
{
    float p[4 * K];
    for (long left = 0;; left++) {
        struct sotto_target *t = open_target(), *plain = t;
        base_alloc_fail_after(left);
        sotto_status made =
            sotto_target_disguise(&t, &(struct sotto_disguise_options){.decoys = 1}, cover, COVER, 1);
        sotto_status asked = made == SOTTO_OK ? target_query(t, p, x, 4) : SOTTO_ENOMEM;
        base_alloc_fail_after(-1);
        assert_true(made == SOTTO_OK || (made == SOTTO_ENOMEM && t == plain));
        sotto_target_close(t);
        if (asked == SOTTO_OK)
            break;
        assert_int_equal(asked, SOTTO_ENOMEM);
        assert_true(left < 20);
    }
}
