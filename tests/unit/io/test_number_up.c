/* number_text_up(): what stands behind "at most". */
#include "support/test.h"
#include "io/text/number.h"
#include "sotto/base.h"

#include <math.h>
#include <stdlib.h>

TEST(numbers_that_would_be_rounded_down)
{
    char text[NUMBER_TEXT];
    assert_string_equal(number_text_up(text, 1.7275512767782157, 6), "1.72756"); /* to nearest 1.72755 */
    assert_string_equal(number_text_up(text, 0.30876624, 6), "0.308767");
    assert_string_equal(number_text_up(text, 999999.4, 6), "1e+06");
    assert_string_equal(number_text_up(text, 1.2340001e-7, 3), "1.24e-07");
    assert_string_equal(number_text_up(text, 18.01, 3), "18.1");
    assert_string_equal(number_text_up(text, -1.26, 2), "-1.2");
}

TEST(numbers_that_stay)
{
    char text[NUMBER_TEXT];
    assert_string_equal(number_text_up(text, 1, 6), "1");
    assert_string_equal(number_text_up(text, 0, 6), "0");
    assert_string_equal(number_text_up(text, 0.1 + 0.2, 6), "0.3"); /* a unit in the last place is forgiven */
    assert_string_equal(number_text_up(text, 2.9999999999, 6), "3");
    assert_string_equal(number_text_up(text, INFINITY, 6), "inf");
    assert_string_equal(number_text_up(text, NAN, 6), "nan");
}

/* Random numbers of all sizes: never below, and less than a unit of the last digit above. */
TEST(random_numbers)
{
    char text[NUMBER_TEXT];
    uint64_t state = 1;
    for (int i = 0; i < 20000; i++) {
        state = state * UINT64_C(6364136223846793005) + 1442695040888963407;
        const int digits = 1 + (int)(state >> 60) % 9;
        const double x = ldexp(1 + (double)(state >> 12) * 0x1p-52, (int)(state >> 40) % 200 - 100),
                     shown = strtod(number_text_up(text, x, digits), NULL);
        assert_true(shown >= x * (1 - 0x1p-52));
        assert_true(shown <= x * (1 + 1.001 * pow(10, 1 - digits)));
    }
}
/* The public one, in both directions. */
TEST(at_most_and_at_least)
{
    char text[SOTTO_NUMBER_TEXT];
    assert_string_equal(sotto_number_text(text, 1.7275512767782157, 6, 1), "1.72756");
    assert_string_equal(sotto_number_text(text, 1.7275578, 6, 0), "1.72755");
    assert_string_equal(sotto_number_text(text, -1.26, 2, 0), "-1.3");
    assert_string_equal(sotto_number_text(text, -1.26, 2, 1), "-1.2");
    assert_string_equal(sotto_number_text(text, 0, 10, 0), "0");
    assert_string_equal(sotto_number_text(text, 0.1 + 0.2, 6, 0), "0.3");
    assert_string_equal(sotto_number_text(text, INFINITY, 6, 0), "inf");
    assert_string_equal(sotto_number_text(text, NAN, 6, 0), "nan");
    assert_string_equal(sotto_number_text(text, 1.25, 99, 1), "1.25");
    assert_null(sotto_number_text(NULL, 1, 6, 1));
}
