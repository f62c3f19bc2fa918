/* src/core/io: numbers in text, CSV tables, metrics files. */
#include "sotto/private/io.h"
#include "support/test.h"

#include "io/table/csv.h"
#include "io/table/metric_log.h"
#include "io/text/number.h"
#include "rng/rng.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

TEST(numbers_round_as_strtod)
{
    struct rng r = rng_stream(1, RNG_TEST, 0, 0);
    for (int i = 0; i < 20000; i++) {
        char text[64];
        uint64_t bits = rng_u64(&r);
        double x, back = 0;
        memcpy(&x, &bits, sizeof x);
        if (!isfinite(x))
            continue;
        if (i % 2)
            x = (double)(int64_t)(bits >> 30) / pow(10, (double)(bits % 20));
        snprintf(text, sizeof text, i % 3 ? "%.17g" : "%.9g", x);
        assert_true(number_real(&back, text, strlen(text)));
        assert_true(back == strtod(text, NULL));
        number_text(text, x);
        assert_true(strtod(text, NULL) == x);
    }
    static const char *const bad[] = {"",   "-",  ".",    "e5",  "1e",  "1e+",  "1x",
                                      " 1", "1 ", "0x10", "1,5", "--1", "nanx", "infi"};
    double x = 42;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_false(number_real(&x, bad[i], strlen(bad[i])));
    assert_true(x == 42);
    assert_true(number_real(&x, "-Inf", 4) && x < 0 && isinf(x));
    assert_true(number_real(&x, "NaN", 3) && isnan(x));
    assert_true(number_real(&x, "1.", 2) && x == 1);
    assert_true(number_real(&x, ".5", 2) && x == 0.5);
    assert_true(number_real(&x, "-0", 2) && x == 0 && signbit(x));
    assert_true(number_real(&x, "1e999999999999999999999", 23) && isinf(x));
    assert_true(number_real(&x, "0.000000000000000000000000000000000000001", 41) && x == 1e-39);
    int64_t whole = 5;
    assert_true(number_whole(&whole, "9223372036854775807", 19) && whole == INT64_MAX);
    assert_false(number_whole(&whole, "9223372036854775808", 19));
    assert_false(number_whole(&whole, "", 0) || number_whole(&whole, "+1", 2));
}

static sotto_status parse(struct csv *c, const char *text, const struct csv_style *style)
{
    return csv_parse(c, text, strlen(text), "x.csv", style);
}

TEST(csv_reads_what_the_rfc_says)
{
    struct csv c;
    assert_int_equal(parse(&c,
                           "\xef\xbb\xbf"
                           "a,\"b,\"\"c\"\"\",\r\n\r\n\"line\nbreak\", x ,3\n",
                           NULL),
                     SOTTO_OK);
    assert_int_equal(c.rows, 2);
    assert_int_equal(c.columns, 3);
    assert_string_equal(csv_cell(&c, 0, 0), "a");
    assert_string_equal(csv_cell(&c, 0, 1), "b,\"c\"");
    assert_string_equal(csv_cell(&c, 0, 2), "");
    assert_string_equal(csv_cell(&c, 1, 0), "line\nbreak");
    assert_string_equal(csv_cell(&c, 1, 1), " x ");
    assert_int_equal(c.lines[1], 3);
    csv_clear(&c);
    const struct csv_style adult = {.trim = true, .comment = '|'};
    assert_int_equal(
        parse(&c, "|1x3 Cross validator\n39, State-gov, ?, \"a b\" , <=50K.\n \n50 ,Private,1,2,>50K",
              &adult),
        SOTTO_OK);
    assert_int_equal(c.rows, 2);
    assert_int_equal(c.columns, 5);
    assert_string_equal(csv_cell(&c, 0, 1), "State-gov");
    assert_string_equal(csv_cell(&c, 0, 2), "?");
    assert_string_equal(csv_cell(&c, 0, 3), "a b");
    assert_string_equal(csv_cell(&c, 0, 4), "<=50K.");
    assert_string_equal(csv_cell(&c, 1, 0), "50");
    csv_clear(&c);
    assert_int_equal(parse(&c, "x,y\n1,-2.5\n3,nan\n", NULL), SOTTO_OK);
    struct sotto_array a = {0};
    int64_t whole;
    assert_true(csv_has_header(&c));
    assert_int_equal(csv_to_array(&a, &c, 1), SOTTO_OK);
    assert_int_equal(a.shape[0], 2);
    assert_true(((double *)a.data)[1] == -2.5 && isnan(((double *)a.data)[3]));
    sotto_array_clear(&a);
    assert_int_equal(csv_to_array(&a, &c, 0), SOTTO_EFORMAT);
    assert_string_equal(sotto_error_text(), "x.csv:1: cell 1 is 'x'; expected a number");
    assert_int_equal(csv_whole(&whole, &c, 1, 1), SOTTO_EFORMAT);
    assert_string_equal(sotto_error_text(), "x.csv:2: cell 2 is '-2.5'; expected a whole number");
    assert_int_equal(csv_whole(&whole, &c, 2, 0), SOTTO_OK);
    assert_int_equal(whole, 3);
    csv_clear(&c);
}

TEST(csv_refuses_with_a_line)
{
    static const char *const cases[][2] = {
        {"", "x.csv: contains no rows; expected at least one"},
        {"\n\n", "x.csv: contains no rows; expected at least one"},
        {"1,2\n3\n", "x.csv:2: has 1 cells; expected 2 as in the first row"},
        {"1,2\n3,4,5\n", "x.csv:2: has 3 cells; expected 2 as in the first row"},
        {"1,\"2\n3,4\n", "x.csv:1: a quoted cell is never closed"},
        {"1,\"2\"x\n", "x.csv:1: text after a closing quote; expected a separator"},
        {"1,2\n3,a\"b\n", "x.csv:2: a quote inside a cell; quote the whole cell and double the quote"},
        {"1,2\r3,4\n", "x.csv:1: a carriage return inside a line; expected LF or CRLF line ends"},
        {"1,2\n\xff,4\n", "x.csv:2: is not UTF-8 text"},
    };
    struct csv c = {0};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(parse(&c, cases[i][0], NULL), SOTTO_EFORMAT);
        assert_string_equal(sotto_error_text(), cases[i][1]);
        assert_null(c.cells);
    }
    assert_int_equal(csv_parse(&c, "a\0b", 3, "x.csv", NULL), SOTTO_EFORMAT);
}

/* All bad rows are named, the first 20 by their lines; left out, the others stay whole. */
TEST(csv_names_every_bad_row)
{
    struct csv c = {0};
    const struct csv_style drop = {.drop = true};
    static const char text[] = "a,b\n1\n2,\"x\n3,4\n5,6,7\n\"8\n9\",y\n\xff,1\n";
    assert_int_equal(parse(&c, text, NULL), SOTTO_EFORMAT);
    assert_string_equal(sotto_error_text(),
                        "x.csv:2: has 1 cells; expected 2 as in the first row; 4 rows of another form in "
                        "all: lines 2, 3, 5 and 8");
    assert_int_equal(parse(&c, "a,b\n1\n2\n", &drop), SOTTO_EFORMAT); /* more bad rows than good ones */
    assert_int_equal(parse(&c, "a,b\n1,2\n3,4\n5,6\n1\n2,\"x\n\"8\n9\",y\n\xff,1\n", &drop), SOTTO_OK);
    assert_int_equal(c.rows, 5);
    assert_int_equal(c.dropped.count, 3);
    assert_int_equal(c.dropped.lines[1], 6);
    assert_string_equal(csv_cell(&c, 3, 1), "6");
    assert_string_equal(csv_cell(&c, 4, 0), "8\n9");
    assert_int_equal(c.lines[4], 7);
    csv_remove_rows(&c, (const bool[]){true, false, true, false, false});
    assert_int_equal(c.rows, 3);
    assert_string_equal(csv_cell(&c, 1, 0), "5");
    assert_int_equal(c.lines[2], 7);
    csv_clear(&c);
    char many[200] = "1,2\n";
    for (int i = 0; i < 25; i++)
        strcat(many, "1\n");
    assert_int_equal(parse(&c, many, NULL), SOTTO_EFORMAT);
    assert_non_null(strstr(sotto_error_text(), "; 25 rows of another form in all: lines 2, 3, 4,"));
    assert_non_null(strstr(sotto_error_text(), ", 21 and 5 more"));
}

TEST(csv_finds_the_separator)
{
    static const struct {
        const char *text;
        char separator;
        size_t columns;
    } cases[] = {
        {"a,b\n1,2\n", ',', 2},           {"a;b\n1;2\n", ';', 2},     {"a\tb c\n1\t2\n", '\t', 2},
        {"a|b|c\n1|2|3\n", '|', 3},       {"1,5;2,5\n2;3\n", ';', 2}, {"\"a;b\",c\n\"1;2\",3\n", ',', 2},
        {"a,b\n1;2,3\n4,5\n", ',', 2},    {"a\nb\n", ',', 1},         {"\xef\xbb\xbf|x,y\na;b\n", ';', 2},
        {"a;b,c;d\n1;2\n1;2;3\n", ';', 3}};
    const struct csv_style style = {.detect = true, .trim = true, .comment = '|', .drop = true};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct csv c = {0};
        assert_int_equal(parse(&c, cases[i].text, &style), SOTTO_OK);
        assert_int_equal(c.separator, cases[i].separator);
        assert_int_equal(c.columns, cases[i].columns);
        csv_clear(&c);
    }
}

static char *slurp(const char *path)
{
    unsigned char *text = NULL;
    size_t size;
    assert_int_equal(file_read(&text, &size, path, 100000), SOTTO_OK);
    return (char *)text;
}

TEST(metrics_survive_a_crash_and_a_resume)
{
    char folder[] = "/tmp/sotto-test-XXXXXX", lines[64], table[64];
    assert_non_null(mkdtemp(folder));
    assert_int_equal(path_join(lines, sizeof lines, folder, "m.jsonl"), SOTTO_OK);
    assert_int_equal(path_join(table, sizeof table, folder, "m.csv"), SOTTO_OK);
    struct metric_log *m;
    assert_int_equal(metric_log_open(&m, lines), SOTTO_OK);
    assert_int_equal(metric_log_write(m, 1, "train", "loss", 2.5, 0.1), SOTTO_OK);
    assert_int_equal(metric_log_write(m, 2, "train", "loss", 2.25, 0.2), SOTTO_OK);
    assert_int_equal(metric_log_write(m, 2, "test, all", "acc", NAN, 0.2), SOTTO_OK);
    assert_int_equal(metric_log_close(m), SOTTO_OK);
    FILE *f = fopen(lines, "a");
    fputs("{\"step\":3,\"spl", f); /* killed here */
    fclose(f);
    assert_int_equal(metric_log_open(&m, lines), SOTTO_OK);
    assert_int_equal(metric_log_write(m, 2, "train", "loss", 2.125, 0.5), SOTTO_OK);
    assert_int_equal(metric_log_close(m), SOTTO_OK);
    char *text = slurp(lines);
    assert_non_null(
        strstr(text, "{\"step\":2,\"split\":\"test, all\",\"name\":\"acc\",\"value\":null,\"wall_s\":0.2"));
    assert_null(strstr(text, "\"spl{"));
    base_free(text);
    assert_int_equal(metric_log_export(table, lines), SOTTO_OK);
    text = slurp(table);
    assert_string_equal(text, "step,split,name,value,wall_s\n1,train,loss,2.5,0.1\n2,train,loss,2.125,0.5\n"
                              "2,\"test, all\",acc,,0.2\n");
    base_free(text);
    f = fopen(lines, "a");
    fputs("{\"step\":3}\n", f);
    fclose(f);
    assert_int_equal(metric_log_export(table, lines), SOTTO_EFORMAT);
    assert_non_null(strstr(sotto_error_text(), "m.jsonl:5: 'split' is missing; expected a text"));
    assert_int_equal(metric_log_write(NULL, 1, "a", "b", 1, 1), SOTTO_OK);
    assert_int_equal(metric_log_close(NULL), SOTTO_OK);
    assert_int_equal(metric_log_open(&m, folder), SOTTO_ECREATE);
    unlink(lines);
    unlink(table);
    rmdir(folder);
}
