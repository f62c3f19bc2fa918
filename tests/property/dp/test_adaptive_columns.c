/* src/core/dp/account/adaptive_columns.c: what a budget holds, whatever is chosen when. */
#include "support/test.h"
#include "dp/account/adaptive_columns.h"
#include "sotto/private/all.h"

#include <math.h>
#include <string.h>

static struct adaptive_columns opened(double epsilon, double delta, const struct sotto_ledger_column *r,
                                      size_t n)
{
    struct adaptive_columns c;
    assert_int_equal(adaptive_columns_open(&c, epsilon, delta, r, n), SOTTO_OK);
    return c;
}

static bool charged(struct adaptive_columns *c, struct adaptive offer)
{
    unsigned char took[ADAPTIVE_COLUMNS];
    return adaptive_columns_charge(c, &offer, 1, took);
}

static struct adaptive gaussian(double scale)
{
    return (struct adaptive){0, iv_square(iv_div(iv(.001), iv(scale))).hi, 0};
}

TEST(the_second_release_that_was_chosen_by_the_first)
{
    const struct sotto_ledger_column whole = {0, 0, 1};
    struct adaptive_columns c = opened(1, 1e-6, &whole, 1);
    assert_true(charged(&c, gaussian(.0105627)));
    struct adaptive_columns a = c, b = c;
    assert_true(charged(&a, gaussian(.00460996)));
    const double e = .001 / .0015607;
    const struct adaptive laplace[] = {{e, 0, 0}, {0, adaptive_square_of_pure(e), 0}};
    unsigned char took[ADAPTIVE_COLUMNS];
    assert_false(adaptive_columns_charge(&b, laplace, 2, took)); /* in every column, paid either way */
    assert_memory_equal(&b, &c, sizeof b);                       /* and a refusal changes nothing */
    assert_true(charged(&b, gaussian(.00460996)));
}

TEST(more_offers_than_there_may_be)
{
    struct adaptive_columns c;
    const struct adaptive offers[SOTTO_MAX_OFFERS + 1] = {{0, 0, 0}};
    const unsigned char took[ADAPTIVE_COLUMNS] = {0};
    assert_int_equal(adaptive_columns_open(&c, 1, 1e-6, NULL, 0), SOTTO_OK);
    assert_true(adaptive_columns_take(&c, offers, SOTTO_MAX_OFFERS, took)); /* the control */
    assert_false(adaptive_columns_take(&c, offers, SOTTO_MAX_OFFERS + 1, took));
}

/* As a forged line may say. */
TEST(what_was_taken_must_be_there)
{
    const struct adaptive offer = {0, 0, 0};
    const unsigned char first[ADAPTIVE_COLUMNS] = {0}, none[ADAPTIVE_COLUMNS] = {1, 0},
                        second[ADAPTIVE_COLUMNS] = {2, 0};
    struct adaptive_columns c = opened(1, 1e-6, NULL, 0);
    assert_false(adaptive_columns_take(&c, &offer, 1, second)); /* of one */
    assert_true(adaptive_columns_take(&c, &offer, 1, first));   /* the control */
    assert_true(adaptive_columns_take(&c, &offer, 1, none));    /* the first column dies */
    assert_false(adaptive_columns_take(&c, &offer, 1, first));
}

TEST(a_column_dies_for_good)
{
    struct adaptive_columns c = opened(1, 1e-6, NULL, 0);
    assert_true(c.count == 2 && c.column[0].box.pure == 1 && c.column[1].box.failure == 1e-7);
    assert_true(charged(&c, (struct adaptive){.4, 0, 0}));
    assert_true(!c.column[0].dead && c.column[1].dead); /* a pure release that is offered as pure alone */
    assert_false(charged(&c, gaussian(1))); /* ends the column of Gaussians, although nothing is in it */
    assert_true(charged(&c, (struct adaptive){.6, 0, 0}));
    assert_false(charged(&c, (struct adaptive){1e-9, 0, 0}));
}

TEST(a_budget_is_used_up_by_its_parts)
{
    struct adaptive_columns pure = opened(1, 0, NULL, 0), more;
    assert_true(pure.count == 1);
    for (int i = 0; i < 10; i++)
        assert_true(charged(&pure, (struct adaptive){.1, 0, 0}));
    assert_false(charged(&pure, (struct adaptive){1e-12, 0, 0}));
    const struct sotto_ledger_column whole = {0, 0, 1};
    struct adaptive_columns g = opened(1, 1e-6, &whole, 1);
    const double m = g.column[1].box.square;
    assert_true(fabs(sqrt(m) - .2367044) < 5e-8); /* nothing is lost beside Gaussian releases alone */
    more = g;
    for (int i = 0; i < 16; i++)
        assert_true(charged(&g, (struct adaptive){0, m / 16, 0}));
    assert_false(charged(&g, (struct adaptive){0, m * 1e-12, 0}));
    assert_false(charged(&more, (struct adaptive){0, next_up(m), 0}));
}

TEST(each_column_takes_what_leaves_it_most)
{
    const struct sotto_ledger_column two[] = {{.6, 1e-8, .5}, {0, 1e-8, .5}};
    struct adaptive_columns c = opened(1, 1e-6, two, 2);
    const struct adaptive offers[] = {{.1, 0, 0}, {0, adaptive_square_of_pure(.1), 0}};
    unsigned char took[ADAPTIVE_COLUMNS];
    assert_true(adaptive_columns_charge(&c, offers, 2, took));
    assert_true(took[0] == 0 && took[1] == 0 && took[2] == 1);
    struct adaptive left = adaptive_column_left(&c.column[2]);
    assert_true(left.square < c.column[2].box.square && left.failure == 1e-8);
}

TEST(deltas_of_columns_add_up_to_the_budget_s)
{
    const struct sotto_ledger_column three[] = {{.3, 1e-8, .5}, {.6, 1e-8, .25}, {0, 1e-8, .25}};
    struct adaptive_columns c = opened(1, 1e-6, three, 3);
    double sum = 0;
    for (size_t i = 0; i < c.count; i++)
        sum += adaptive_delta(&c.column[i].box, 1).hi;
    assert_true(sum <= 1e-6 && sum > .99e-6);
}

static void refused(const struct sotto_ledger_column *r, size_t n, sotto_status want, const char *words)
{
    struct adaptive_columns c;
    assert_int_equal(adaptive_columns_open(&c, 1, 1e-6, r, n), want);
    if (!strstr(sotto_error_text(), words))
        fail_msg("%s", sotto_error_text());
}

TEST(columns_that_cannot_be)
{
    const struct sotto_ledger_column much[] = {{0, 0, .6}, {0, 0, .5}}, wide = {1.5, 0, 1}, odd = {0, 0, 0},
                                     coin = {0, 2e-6, 1};
    const struct sotto_ledger_column many[ADAPTIVE_COLUMNS] = {{0}};
    const struct sotto_ledger_column outside[] = {{-1, 0, 1}, {INFINITY, 0, 1}, {NAN, 0, 1}, {0, -1, 1},
                                                  {0, 1, 1},  {0, 0, NAN},      {0, 0, 1.1}};
    for (size_t i = 0; i < sizeof outside / sizeof *outside; i++)
        refused(&outside[i], 1, SOTTO_EINVAL,
                "expected E:D:SHARE with E >= 0, D in [0, 1) and SHARE in (0, 1]");
    refused(much, 2, SOTTO_EINVAL, "add up to 1.1");
    refused(&wide, 1, SOTTO_EDOMAIN, "give a smaller E or D");
    refused(&coin, 1, SOTTO_EDOMAIN, "give a smaller E or D");
    refused(&odd, 1, SOTTO_EINVAL, "expected E:D:SHARE");
    refused(many, ADAPTIVE_COLUMNS, SOTTO_EINVAL, "at most 15");
}
