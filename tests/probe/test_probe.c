/* What tests/support/test_main.c does with tests that pass, fail, die or end their process; tests/cli/test_programs.bats runs it. */
#include "support/test.h"

#include <stdio.h>
#include <stdlib.h>

TEST(passes)
{
}

TEST(fails)
{
    assert_int_equal(1, 2);
}

TEST(dies)
{
    abort();
}

TEST(leaves)
{
    exit(0);
}

/* Another test's value is seen by whoever runs in the same process. */
static int kept;

TEST(keeps)
{
    kept = 1;
}

TEST(finds)
{
    assert_int_equal(kept, 0);
}

static int prepared;

static int prepare(void **state)
{
    (void)state;
    return prepared++;
}

TEST(has_fixtures_of_its_own, .before = prepare)
{
    assert_int_equal(prepared, 1);
}

TEST(behind)
{
    printf("behind all\n");
}

static int turns;

static int next_turn(void)
{
    return turns++ < 2;
}

TEST_GROUP(.next = next_turn, .tags = "probe other")
