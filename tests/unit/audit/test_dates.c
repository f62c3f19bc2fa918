/* Dates of members and others: a known answer, a split by date that explains every attack, a leak beside such a split, and dates
 * that tell nothing. */
#include "support/test.h"

#include "rng/rng.h"
#include "sotto/private/all.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

enum { N = 400 };
static double dates[2][N], scores[2][N];

/* Scores see `leak` of membership and `by_date` of the date; dates of members lie `apart` days earlier. */
static void draw(double apart, double leak, double by_date, uint64_t seed)
{
    struct rng r = rng_stream(seed, RNG_TEST, 'd', 0);
    for (int side = 0; side < 2; side++)
        for (size_t i = 0; i < N; i++) {
            const double day = 100 * rng_normal(&r);
            dates[side][i] = day + (side == 0 ? -apart : apart) / 2;
            scores[side][i] = rng_normal(&r) + (side == 0 ? leak : 0) - by_date * dates[side][i] / 100;
        }
}

static const struct sotto_audit_check *audited(struct sotto_audit_result *r, bool *explained)
{
    const struct sotto_audit_input in = {.member_scores = scores[0],
                                         .nonmember_scores = scores[1],
                                         .n_member = N,
                                         .n_nonmember = N,
                                         .member_dates = dates[0],
                                         .nonmember_dates = dates[1]};
    *r = (struct sotto_audit_result){0};
    *explained = false;
    if (sotto_audit(r, &in, NULL, NULL) != SOTTO_OK)
        fail_msg("%s", sotto_error_text());
    for (size_t i = 0; i < r->warning_count; i++)
        *explained |= strstr(r->warnings[i], "the split explains what they found") != NULL;
    for (size_t i = 0; i < r->check_count; i++)
        if (strcmp(r->checks[i].name, "dates") == 0)
            return &r->checks[i];
    fail_msg("no check of dates");
    return NULL;
}

TEST(a_split_by_date_explains_what_attacks_find)
{
    struct sotto_audit_result r;
    bool explained;
    draw(200, 0, .5, 1);
    const struct sotto_audit_check *c = audited(&r, &explained);
    assert_int_equal(c->level, SOTTO_CHECK_WARNING);
    assert_non_null(strstr(c->text, "members are earlier"));
    /* Phi(200 / (100 sqrt 2)) = .9214; the deviation of the AUC is below .01 */
    assert_true(fabs(c->shift->auc.estimate - .9214) < .05);
    assert_true(r.attacks[0].auc.area.lower > .5); /* what looks like a leak */
    assert_true(explained);
    sotto_audit_result_free(&r);
}

TEST(a_leak_beside_a_split_is_no_matter_of_dates)
{
    struct sotto_audit_result r;
    bool explained;
    draw(50, 5, 0, 2);
    assert_int_equal(audited(&r, &explained)->level, SOTTO_CHECK_WARNING);
    assert_false(explained);
    sotto_audit_result_free(&r);
}

/* Of 200 draws the 95 % interval misses one half in more than 26 with a chance below 1e-5. */
TEST(equal_dates_are_no_warning)
{
    size_t warned = 0;
    for (uint64_t seed = 0; seed < 200; seed++) {
        struct sotto_audit_result r;
        bool explained;
        draw(0, 1, 0, 100 + seed);
        warned += audited(&r, &explained)->level == SOTTO_CHECK_WARNING;
        sotto_audit_result_free(&r);
    }
    assert_true(warned <= 26);
}

TEST(what_cannot_be_is_refused)
{
    struct sotto_audit_result r = {0};
    struct sotto_audit_input in = {.member_scores = scores[0],
                                   .nonmember_scores = scores[1],
                                   .n_member = N,
                                   .n_nonmember = N,
                                   .member_dates = dates[0]};
    assert_int_equal(sotto_audit(&r, &in, NULL, NULL), SOTTO_EUSAGE);
    in.nonmember_dates = dates[1];
    dates[1][3] = NAN;
    assert_int_equal(sotto_audit(&r, &in, NULL, NULL), SOTTO_EINVAL);
    assert_non_null(strstr(sotto_error_text(), "non-members: row 3"));
}
