/* src/core/io: JSON building, reading, writing. */
#include "support/test.h"

#include "io/json/json.h"

#include <math.h>
#include <string.h>

static struct json *parse(const char *text)
{
    struct json *j = NULL;
    assert_int_equal(json_parse(&j, text, strlen(text), "s.json"), SOTTO_OK);
    return j;
}

TEST(building_is_linear_and_null_propagates)
{
    struct json *doc = json_make_object(), *interval = json_make_object(), *list = json_make_array();
    json_put_real(&interval, "lower", 0.1);
    json_put_real(&interval, "upper", INFINITY);
    json_put(&doc, "epsilon", interval);
    json_push(&list, json_make_integer(-7));
    json_push(&list, json_make_boolean(true));
    json_push(&list, json_make_text(NULL));
    json_put(&doc, "a", list);
    json_put_text(&doc, "bad", "x\xff<");
    char *text;
    assert_int_equal(json_dump(&text, doc, JSON_LINE), SOTTO_OK);
    assert_string_equal(text,
                        "{\"epsilon\":{\"lower\":0.10000000000000001,\"upper\":null},\"a\":[-7,true,null],"
                        "\"bad\":\"x\xef\xbf\xbd<\"}");
    sotto_text_free(text);
    assert_int_equal(json_dump(&text, doc, JSON_SORTED), SOTTO_OK);
    assert_int_equal(strncmp(text, "{\"a\":[", 6), 0);
    sotto_text_free(text);
    json_put(&doc, "lost", NULL);
    assert_null(doc);
    json_put_real(&doc, "x", 1);
    json_push(&doc, json_make_real(1));
    assert_null(doc);
    assert_int_equal(json_dump(&text, doc, JSON_LINE), SOTTO_ENOMEM);
}

TEST(getters_name_what_is_wrong)
{
    struct json *j = parse(
        "{\"l1\": 2, \"gamma\": {\"dkw\": null}, \"list\": [{\"tpr\": {\"0.001\": 0.25}}], \"t\": \"x\"}");
    double x = 0;
    const char *text;
    char small[2];
    size_t size;
    assert_int_equal(json_get_real(&x, j, "s.json", "l1"), SOTTO_OK);
    assert_true(x == 2);
    assert_int_equal(json_get_real(&x, j, "s.json", "list[0].tpr.0.001"), SOTTO_OK);
    assert_true(x == 0.25);
    assert_int_equal(json_get_real_or_null(&x, j, "s.json", "gamma.dkw"), SOTTO_OK);
    assert_true(isnan(x));
    assert_int_equal(json_get_text(&text, j, "s.json", "t"), SOTTO_OK);
    assert_string_equal(text, "x");
    assert_int_equal(json_get_text_into(small, 2, j, "s.json", "t"), SOTTO_OK);
    assert_int_equal(json_get_text_into(small, 1, j, "s.json", "t"), SOTTO_EFORMAT);
    assert_int_equal(json_get_real(&x, j, "sensitivity.json", "l2"), SOTTO_EFORMAT);
    assert_string_equal(sotto_error_text(), "sensitivity.json: 'l2' is missing; expected a number");
    assert_int_equal(json_get_real(&x, j, "s.json", "gamma.dkw"), SOTTO_EFORMAT);
    assert_string_equal(sotto_error_text(), "s.json: 'gamma.dkw' is null; expected a number");
    assert_int_equal(json_get_size(&size, j, "s.json", "gamma"), SOTTO_EFORMAT);
    assert_string_equal(sotto_error_text(), "s.json: 'gamma' is an object; expected a whole number >= 0");
    assert_int_equal(json_get_size(&size, j, "s.json", "t"), SOTTO_EFORMAT);
    assert_string_equal(sotto_error_text(), "s.json: 't' is \"x\"; expected a whole number >= 0");
    assert_null(json_find(j, "list[1]"));
    assert_null(json_find(j, "list[0"));
    assert_null(json_find(j, "l1.x"));
    json_free(j);
}

TEST(parser_is_strict)
{
    static const char *const cases[][2] = {
        {"{\"a\": 1, \"a\": 2}", "s.json:1:12: not valid JSON: duplicate object key near '\"a\"'"},
        {"{\"a\": NaN}", "s.json:1:9: not valid JSON: invalid token near 'NaN'"},
        {"{\"a\":\n 1,}", "s.json:2:4: not valid JSON: string or '}' expected near '}'"},
        {"{} x", "s.json:1:4: not valid JSON: end of file expected near 'x'"},
        {"", "s.json:1:1: not valid JSON: '[' or '{' expected near end of file"},
        {"3", "s.json:1:1: not valid JSON: '[' or '{' expected near '3'"},
        {"[1e999]", "s.json:1:6: not valid JSON: real number overflow near '1e999'"},
    };
    struct json *j = NULL;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(json_parse(&j, cases[i][0], strlen(cases[i][0]), "s.json"), SOTTO_EFORMAT);
        assert_string_equal(sotto_error_text(), cases[i][1]);
        assert_null(j);
    }
    char deep[200];
    memset(deep, '[', 100);
    memset(deep + 100, ']', 100);
    assert_int_equal(json_parse(&j, deep, 200, "s.json"), SOTTO_EFORMAT);
    assert_string_equal(sotto_error_text(), "s.json:1:65: too many nested levels; expected at most 64");
    assert_int_equal(json_parse(&j, deep + 36, 128, "s.json"), SOTTO_OK);
    json_free(j);
}

TEST(doubles_survive_text)
{
    const double values[] = {
        0.1, 1e-300, 4.9406564584124654e-324, 1.7976931348623157e308, 2.0 / 3, 123456789012345678.0};
    struct json *list = json_make_reals(values, 6), *back = NULL;
    char *text;
    assert_int_equal(json_dump(&text, list, JSON_PRETTY), SOTTO_OK);
    assert_int_equal(json_parse(&back, text, strlen(text), "s.json"), SOTTO_OK);
    for (size_t i = 0; i < 6; i++)
        assert_true(json_number(json_at(back, i)) == values[i]);
    sotto_text_free(text);
    json_free(list);
    json_free(back);
}

TEST(lists_of_sizes)
{
    struct json *j =
        parse("{\"hidden\": [512, 128], \"none\": [], \"zero\": [4, 0], \"half\": [4.5], \"t\": 3}");
    size_t sizes[2] = {0}, n = 9;
    assert_int_equal(json_get_sizes(sizes, &n, 2, j, "r", "hidden"), SOTTO_OK);
    assert_true(n == 2 && sizes[0] == 512 && sizes[1] == 128);
    assert_int_equal(json_get_sizes(sizes, &n, 2, j, "r", "none"), SOTTO_OK);
    assert_int_equal(n, 0);
    static const char *const broken[][2] = {
        {"zero", "r: 'zero[1]' is 0; expected a whole number of at least 1"},
        {"half", "r: 'half[0]' is 4.5; expected a whole number of at least 1"},
        {"t", "r: 't' is 3; expected a list"},
        {"no", "r: 'no' is missing; expected a list"}};
    for (size_t i = 0; i < sizeof broken / sizeof *broken; i++) {
        assert_int_equal(json_get_sizes(sizes, &n, 2, j, "r", broken[i][0]), SOTTO_EFORMAT);
        assert_string_equal(sotto_error_text(), broken[i][1]);
    }
    assert_int_equal(json_get_sizes(sizes, &n, 1, j, "r", "hidden"), SOTTO_EFORMAT);
    assert_string_equal(sotto_error_text(), "r: 'hidden' lists 2 numbers; expected at most 1");
    json_free(j);
}
