/* A group that cannot run here. */
#include "support/test.h"

TEST(never)
{
    fail();
}

static const char *why(void)
{
    return "it is never there";
}

TEST_GROUP(.absent = why)
