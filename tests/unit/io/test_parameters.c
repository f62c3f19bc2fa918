/* Numbers of plug-ins, set by name: found, read, refused. */
#include "support/test.h"

#include "io/text/parameters.h"

#include <math.h>

static const struct parameter table[] = {
    {"rate", "a share", 0.5, 0, 1, false}, {"rates", "how many", 3, 1, 9, true}, {0}};

TEST(usual_values_come_first)
{
    double values[4];
    parameters_usual(values, 4, table);
    assert_true(values[0] == 0.5 && values[1] == 3 && isnan(values[2]) && isnan(values[3]));
    parameters_usual(values, 1, NULL);
    assert_true(isnan(values[0]));
}

TEST(names_are_whole_names)
{
    assert_int_equal(parameters_find(table, "rate=1"), 0);
    assert_int_equal(parameters_find(table, "rates=1"), 1);
    const char *const none[] = {"rat=1", "ratess=1", "=1", "rate", ""};
    for (size_t i = 0; i < sizeof none / sizeof *none; i++)
        assert_int_equal(parameters_find(table, none[i]), 2);
    assert_int_equal(parameters_find(NULL, "rate=1"), 0);
}

TEST(values_are_whole_and_in_range)
{
    double x;
    assert_true(parameters_read(&x, &table[0], "rate=0.25") && x == 0.25);
    assert_true(parameters_read(&x, &table[1], "rates=9") && x == 9);
    const char *const wrong[] = {"rate=", "rate=x", "rate=0.1x", "rate=-1", "rate=1.5", "rate=nan"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_false(parameters_read(&x, &table[0], wrong[i]));
    assert_false(parameters_read(&x, &table[1], "rates=1.5"));
}

TEST(names_are_listed)
{
    char text[64];
    assert_string_equal(parameters_names(text, sizeof text, table), "rate, rates");
    assert_string_equal(parameters_names(text, sizeof text, NULL), "none: it has no parameters");
    assert_string_equal(parameters_names(text, 8, table), "rate, r");
}
