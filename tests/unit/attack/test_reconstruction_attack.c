/* Reconstruction by an attacker who knows all records but one: finds them in a plain head, not in noise, never above the bound. */
#include "support/test.h"
#include "support/effort.h"

#include "sotto/private/all.h"
#include "support/head_blobs.h"

#include <math.h>
#include <string.h>

enum { N = 60, POOL = 240, D = 12, K = 3 };
static float x[(N + POOL) * D];
static int64_t y[N + POOL];

static struct sotto_head *train(const char *trainer)
{
    struct sotto_head_recipe r;
    struct sotto_head *h;
    make_blobs(x, y, N + POOL, D, K, 1.5, 3);
    sotto_head_defaults(&r);
    r.trainer = trainer;
    r.lambda = .1;
    if (sotto_head_train(&h, x, y, N, D, K, &r, NULL) != SOTTO_OK)
        fail_msg("%s", sotto_error_text());
    return h;
}

static struct sotto_reconstruction_input input(void)
{
    return (struct sotto_reconstruction_input){.member = {x, y, N},
                                               .attacker = {x + N * D, y + N, POOL},
                                               .targets = 10,
                                               .candidates = 10,
                                               .seed = 4};
}

static struct sotto_reconstruction attack(const struct sotto_head *h,
                                          const struct sotto_reconstruction_input *in)
{
    struct sotto_reconstruction r;
    if (sotto_reconstruct(&r, h, in, NULL) != SOTTO_OK)
        fail_msg("%s", sotto_error_text());
    return r;
}

TEST(a_plain_head_gives_its_records_away)
{
    struct sotto_head *h = train("convex");
    const struct sotto_reconstruction_input in = input();
    const struct sotto_reconstruction r = attack(h, &in);
    assert_int_equal(r.targets, 10);
    assert_true(r.right >= 9 && r.error < .4 && r.prior == .1); /* by guessing: probability 9e-9 */
    sotto_head_free(h);
}

/* The record in another's place was never in the head: names are guesses, and their interval holds the prior. Efforts 1, 5 and
 * 50: 20, 40 and 400 names; guesses at 10 % exceed the threshold with probability 7e-6, 2e-5 and 2e-5, and an attack that is
 * right about 66 %, 47 % and 20 % does so with probability 95 %. On its own records it is right about 90 %, as above. */
TEST(records_outside_are_not_found)
{
    struct sotto_head *h = train("convex");
    struct sotto_reconstruction_input in = input();
    static float other[N * D];
    struct sotto_reconstruction r;
    size_t right = 0, targets = 0;
    for (uint64_t seed = 0; seed < (uint64_t)by_effort(2, 4, 40);
         seed++) { /* members replaced by others: the head is of other records */
        make_blobs(other, y, N, D, K, 1.5, 100 + seed);
        in.member.x = other, in.seed = seed;
        r = attack(h, &in);
        right += r.right, targets += r.targets;
    }
    assert_true(targets == (size_t)by_effort(20, 40, 400) && right <= (size_t)by_effort(9, 13, 66));
    sotto_head_free(h);
}

TEST(refused)
{
    struct sotto_head *h = train("adam");
    struct sotto_reconstruction_input in = input();
    struct sotto_reconstruction r;
    assert_int_equal(sotto_reconstruct(&r, h, &in, NULL), SOTTO_EUSAGE);
    assert_non_null(strstr(sotto_error_text(), "needs a target of a convex trainer"));
    sotto_head_free(h);
    h = train("convex");
    in.candidates = 100;
    assert_int_equal(sotto_reconstruct(&r, h, &in, NULL), SOTTO_EINVAL);
    assert_non_null(strstr(sotto_error_text(), "the attacker has 107 records of no class"));
    in = input();
    x[N * D + 5] = NAN;
    assert_int_equal(sotto_reconstruct(&r, h, &in, NULL), SOTTO_EINVAL);
    assert_string_equal(sotto_error_text(),
                        "attacker's records: row 0, column 5 is not finite; features must be finite");
    make_blobs(x, y, N + POOL, D, K, 1.5, 3);
    in.candidates = 1;
    assert_int_equal(sotto_reconstruct(&r, h, &in, NULL), SOTTO_EINVAL);
    in = input(), in.targets = 0;
    assert_int_equal(sotto_reconstruct(&r, h, &in, NULL), SOTTO_EINVAL);
    sotto_head_free(h);
}
