/* A process with another locale: what the library writes and reads has decimal points all the same. Two locales are made here, so
 * that the test runs on every machine with the GNU C library: one with a decimal comma, one whose point is a character of two bytes. */
#include "support/temporary_folder.h"
#include "support/test.h"

#include "base/status.h"
#include "io/json/json.h"
#include "io/text/number.h"
#include "io/text/parameters.h"
#include "sotto/lab/array.h"

#include <locale.h>
#include <stdint.h>
#include <sys/stat.h>

/* LC_NUMERIC as localedef writes it: decimal point and separator of thousands, each with its zero, in 4 bytes or 6. */
static void make_locale(const char *name, const char *points, uint8_t second, uint8_t third,
                        const uint32_t wide[2])
{
    const uint32_t head[] = {0x20031114, 6, 0x20, second, third, 0x28, 0x2c, 0x30};
    uint8_t file[54] = {0};
    memcpy(file, head, sizeof head);
    memcpy(file + 0x20, points, third - 0x20);
    file[third] = file[third + 1] = 3;
    memcpy(file + 0x28, wide, 8);
    memcpy(file + 0x30, "UTF-8", 6);
    assert_int_equal(mkdir(path_of(name), 0700), 0);
    char path[64];
    snprintf(path, sizeof path, "%s/LC_NUMERIC", name);
    assert_int_equal(overwrite(path_of(path), file, sizeof file), 0);
}

static int make_locales(void **state)
{
    if (make_folder(state))
        return -1;
    make_locale("comma", ",\0.\0\3\3", 0x22, 0x24, (const uint32_t[]){',', '.'});
    make_locale("momayyez", "\xd9\xab\0\xd9\xac\0\3", 0x23, 0x26, (const uint32_t[]){0x66b, 0x66c});
    return setenv("LOCPATH", folder, 1);
}

static int leave(void **state)
{
    setlocale(LC_NUMERIC, "C");
    return remove_folder(state);
}

TEST_GROUP(.set_up = make_locales, .tear_down = leave)

static const char *const locales[] = {"comma", "momayyez"};

/* The control: the process itself writes what the locale says. */
static void enter(const char *name)
{
    char text[16];
    assert_non_null(setlocale(LC_NUMERIC, name));
    snprintf(text, sizeof text, "%.1f", 1.5);
    assert_string_not_equal(text, "1.5");
    assert_true(strtod("1.5", NULL) == 1);
}

TEST(numbers_have_points)
{
    for (size_t i = 0; i < 2; i++) {
        char text[NUMBER_TEXT];
        double x = 0;
        enter(locales[i]);
        assert_string_equal(number_text(text, 0.001), "0.001");
        assert_string_equal(number_text(text, 1e300 / 7), "1.4285714285714286e+299");
        assert_true(number_real(&x, "1.4285714285714286e+299", 23) && x == 1e300 / 7);
        assert_true(number_real(&x, "2.5", 3) && x == 2.5);
        assert_false(number_real(&x, "2,5", 3));
    }
    setlocale(LC_NUMERIC, "C");
}

TEST(json_has_points_and_takes_no_commas)
{
    for (size_t i = 0; i < 2; i++) {
        struct json *j = json_make_object(), *back = NULL, *none = NULL;
        char *text = NULL;
        enter(locales[i]);
        json_put_real(&j, "lr", 0.001);
        assert_int_equal(json_dump(&text, j, JSON_LINE), SOTTO_OK);
        assert_non_null(strstr(text, "0.001"));
        assert_int_equal(json_parse(&back, text, strlen(text), "s.json"), SOTTO_OK);
        double x = 0;
        assert_int_equal(json_get_real(&x, back, "s.json", "lr"), SOTTO_OK);
        assert_true(x == 0.001);
        assert_int_equal(json_parse(&none, "[1,5]", 5, "s.json"), SOTTO_OK);
        assert_int_equal(json_count(none), 2);
        json_free(none);
        json_free(back);
        json_free(j);
        sotto_bytes_free(text);
    }
    setlocale(LC_NUMERIC, "C");
}

TEST(values_and_error_texts_have_points)
{
    static const struct parameter table[] = {{"rate", "a share", 0.5, 0, 1, false}, {0}};
    for (size_t i = 0; i < 2; i++) {
        double x = 0;
        enter(locales[i]);
        assert_true(parameters_read(&x, &table[0], "rate=0.25") && x == 0.25);
        assert_false(parameters_read(&x, &table[0], "rate=0,25"));
        status_fail(SOTTO_EDOMAIN, "rate is %g", 2.5);
        assert_string_equal(sotto_error_text(), "rate is 2.5");
    }
    setlocale(LC_NUMERIC, "C");
}

/* What the library prints leaves the locale of the process as it was. */
TEST(the_process_keeps_its_locale)
{
    char text[NUMBER_TEXT];
    enter("comma");
    number_text(text, 0.5);
    status_fail(SOTTO_EDOMAIN, "rate is %g", 2.5);
    snprintf(text, sizeof text, "%.1f", 1.5);
    assert_string_equal(text, "1,5");
    setlocale(LC_NUMERIC, "C");
}
