/* src/core/io/json/json_quick.c: what it reads is what jansson reads, bit for bit, and what it does not read jansson judges. */
#include "support/test.h"

#include "io/json/json_quick.h"
#include "io/text/number.h"
#include "rng/rng.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char release[] =
    "{\"schema\":\"sotto.ledger/"
    "3\",\"event\":\"release\",\"fingerprint\":\"bench\",\"purpose\":null,\"records\":"
    "1000,\"mechanism\":\"laplace\",\"scale\":1000.1428571428571,\"dimension\":4,\"sensitivity\":{\"l1\":1.0,"
    "\"l2\":"
    "null,\"source\":\"proved\"},\"epsilon\":{\"lower\":0.00099985715953763272,\"upper\":0."
    "00099985716698714941},"
    "\"delta\":0.0,\"zcdp_rho\":4.9985717532567109e-7,\"adjacency\":\"replace-one\",\"any_order\":{"
    "\"offers\":[["
    "0.00099985716698714941,0.0,0.0],[0.0,1.5703475795740071e-6,0.0]],\"took\":[0,1,null]},\"charge\":1,"
    "\"index\":1,"
    "\"time\":\"2026-11-29T15:49:55Z\",\"seeded\":false,\"exact\":true,\"hash\":\"09dd5973f263552aa2394e4b\"}"
    "\n";
static const char *const texts[] = {
    release,
    "{\"purpose\":\"Gr\303\266\303\237e "
    "\360\237\231\202\",\"list\":[],\"none\":{},\"\":0,\"n\":-12,\"x\":-0.5E+3}",
    "[1234567890123456789012345678901234567890.5,[1,[2,[3,[4,[5,[6,[7]]]]]]],\"a\",true,false,null,0,-0,0.0,-"
    "0.0,1e-400,123456789012345678]",
    "{\"aXb\":1,\"aYb\":2,\"ab\":3,\"ba\":4,\"a\":5,\"b\":{\"aXb\":6,\"a\":{\"a\":{\"a\":[]}}}}"};
/* Between semicolons. */
static const char hostile[] =
    ";\n;{;};[1,];[,1];{\"a\":1,};{\"a\"};{\"a\":};{a:1};{\"a\":1,\"a\":1};{\"a\":{\"b\":1,\"b\":2}};{\"\":1,"
    "\"\":2};[01];[-];"
    "[-01];[1.];[.5];[1e];[1e+];[+1];[1e999];[-1e999];[0x10];[Infinity];[NaN];[nul];[nulll];[truefalse];["
    "True];[1 2];[1]];"
    "[1]x;[1]\n\n; [1];[1] ;[ 1 "
    "];[1,\n2];[\"a\nb\"];[\"a\tb\"];[\"\\u0041\"];[\"\\u0000\"];[\"\\q\"];[\"\\\"];[\"a;"
    "[\"\200\"];[\"\300\257\"];[\"\355\240\200\"];[\"\364\220\200\200\"];[9223372036854775807];["
    "9223372036854775808];"
    "[-9223372036854775808];[[[[[[[[[[1]]]]]]]]]];3;\"a\";null;{\"\200\":1};[1};{\"a\":1];[\"a\":1];{\"a\",1}"
    ";{1:2};{null:2}";

static bool same(const struct json *a, const struct json *b)
{
    const double x = json_number(a), y = json_number(b);
    const char *s = json_text(a), *t = json_text(b), *k = NULL, *l = NULL;
    if (json_kind(a) != json_kind(b) || json_count(a) != json_count(b) || memcmp(&x, &y, sizeof x) != 0 ||
        json_whole(a) != json_whole(b) || !s != !t || (s && strcmp(s, t) != 0))
        return false;
    if (json_kind(a) == JSON_KIND_BOOLEAN) {
        bool yes = false, too = true;
        return json_get_boolean(&yes, a, "", "") == json_get_boolean(&too, b, "", "") && yes == too;
    }
    if (json_kind(a) == JSON_KIND_OBJECT)
        for (k = json_first_key(a), l = json_first_key(b); k && l;
             k = json_next_key(a, k), l = json_next_key(b, l))
            if (strcmp(k, l) != 0 || !same(json_member(a, k), json_member(b, k)))
                return false;
    if (json_kind(a) == JSON_KIND_ARRAY)
        for (size_t i = 0; i < json_count(a); i++)
            if (!same(json_at(a, i), json_at(b, i)))
                return false;
    return !k && !l;
}

enum { REFUSED, LEFT, QUICKLY, WAYS };

/* The reader of lines and jansson: one answer, one text of an error. */
static int agree(const char *text, size_t size)
{
    static struct json *line; /* in the memory of the one before */
    struct json *document = NULL;
    char error[512] = "";
    const sotto_status status = json_parse(&document, text, size, "line");
    if (status != SOTTO_OK)
        snprintf(error, sizeof error, "%s", sotto_error_text());
    if (json_parse_line(&line, text, size, "line") != status)
        fail_msg("differs: %.*s", (int)size, text);
    if (status != SOTTO_OK)
        assert_string_equal(sotto_error_text(), error);
    else if (!same(line, document) || !same(document, line))
        fail_msg("reads something else: %.*s", (int)size, text);
    const int way = status != SOTTO_OK ? REFUSED : json_quick(line) ? QUICKLY : LEFT;
    json_free(document);
    return way;
}

TEST(lines_are_read_as_jansson_reads_them)
{
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        assert_int_equal(agree(texts[i], strlen(texts[i])), QUICKLY);
    for (const char *at = hostile, *end; at; at = *end ? end + 1 : NULL) {
        end = strchrnul(at, ';');
        assert_int_not_equal(agree(at, (size_t)(end - at)), QUICKLY);
    }
    assert_int_equal(agree("[1\0]", 4), LEFT); /* jansson passes over this byte */
    assert_int_equal(agree("[\"a\0\"]", 6), REFUSED);
}

/* What a comparison of two documents sees, so that the tests here can fail. */
TEST(documents_that_differ_are_told_apart)
{
    static const char *const pairs[][2] = {{"[1]", "[1.0]"},
                                           {"[0.0]", "[-0.0]"},
                                           {"[0.1]", "[0.10000000000000002]"},
                                           {"[\"a\"]", "[\"b\"]"},
                                           {"[null]", "[]"},
                                           {"[null]", "[false]"},
                                           {"[true]", "[false]"},
                                           {"{\"a\":1,\"b\":2}", "{\"b\":2,\"a\":1}"},
                                           {"{\"a\":1}", "{\"b\":1}"},
                                           {"{}", "[]"},
                                           {"[[1],2]", "[[2],1]"},
                                           {"{\"a\":{\"b\":1}}", "{\"a\":{\"b\":2}}"}};
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        for (int order = 0; order < 2; order++) {
            struct json *a = NULL, *b = NULL;
            assert_int_equal(json_parse_line(&a, pairs[i][order], strlen(pairs[i][order]), ""), SOTTO_OK);
            assert_int_equal(json_parse(&b, pairs[i][!order], strlen(pairs[i][!order]), ""), SOTTO_OK);
            assert_non_null(json_quick(a));
            assert_false(same(a, b) || same(b, a));
            json_free(a);
            json_free(b);
        }
}

/* Bytes that JSON is made of are put in, others taken out, pieces repeated or moved. Returns the size. */
static size_t change_line(char line[4096], const char *text, struct rng *r)
{
    static const char bytes[] = "{}[]\",:\\0123456789.eE+-truefalsn    \n\n\t\200\303\266\355\001";
    const size_t length = strlen(text);
    size_t size = length;
    memcpy(line, text, size);
    for (uint64_t edits = 1 + rng_below(r, 3); edits > 0 && size > 0; edits--) {
        const size_t at = rng_below(r, size), from = rng_below(r, size);
        size_t n = 1 + rng_below(r, 12);
        n = at + n > size || from + n > (size < length ? size : length) ? 1 : n;
        switch (rng_below(r, 4)) {
        case 0:
            line[at] = bytes[rng_below(r, sizeof bytes - 1)];
            break;
        case 1: /* out */
            memmove(line + at, line + at + n, size - at - n);
            size -= n;
            break;
        case 2: /* in */
            memmove(line + at + n, line + at, size - at);
            memcpy(line + at, text + (from < length ? from : 0), n);
            size += n;
            break;
        default: /* over */
            memmove(line + at, line + from, n);
        }
    }
    return size;
}

TEST(changed_lines_are_read_as_jansson_reads_them)
{
    struct rng r = rng_stream(43, RNG_ORDER, 0, 0);
    size_t ways[WAYS] = {0};
    char line[4096];
    for (int round = 0; round < 40000; round++) {
        const char *text = texts[rng_below(&r, sizeof texts / sizeof *texts)];
        ways[agree(line, change_line(line, text, &r))]++;
    }
    for (int w = 0; w < WAYS; w++)
        assert_true(ways[w] > 50); /* each is tried */
}

/* Only the values that differ are read of a text that is like the one before. */
TEST(lines_like_the_one_before_are_read_as_jansson_reads_them)
{
    struct rng r = rng_stream(45, RNG_ORDER, 0, 0);
    size_t ways[WAYS] = {0};
    char line[4096];
    for (int round = 0; round < 12000; round++) {
        const char *text = texts[rng_below(&r, sizeof texts / sizeof *texts)];
        assert_int_equal(agree(text, strlen(text)), QUICKLY);
        for (int after = 0; after < 3; after++)
            ways[agree(line, change_line(line, text, &r))]++;
    }
    for (int w = 0; w < WAYS; w++)
        assert_true(ways[w] > 50);
}

/* Numbers and texts of other lengths; values that go back to what they were; other kinds of value; and other members. */
TEST(values_that_differ_from_the_line_before_are_read)
{
    static const char *const lines[] = {
        "{\"a\":12,\"b\":\"xy\",\"c\":[1,2.5,null],\"d\":{}}",
        "{\"a\":123,\"b\":\"xy\",\"c\":[1,2.5,null],\"d\":{}}",
        "{\"a\":12,\"b\":\"a longer text than before it\",\"c\":[1,2.55,null],\"d\":{}}",
        "{\"a\":1,\"b\":\"\",\"c\":[-1,2.5e-300,null],\"d\":{}}",
        "{\"a\":12,\"b\":\"xy\",\"c\":[1,2.5,null],\"d\":{}}",
        "{\"a\":12.5,\"b\":\"xy\",\"c\":[1,2.5,null],\"d\":{}}",
        "{\"a\":12,\"b\":\"xy\",\"c\":[1,2.5,true],\"d\":{}}",
        "{\"a\":12,\"b\":\"xy\",\"c\":[1,2.5,true],\"d\":{\"e\":1}}",
        "{\"a\":12,\"b\":\"xy\",\"c\":[1,2.5,[1]],\"d\":{\"e\":1}}",
        "{\"a\":12,\"b\":\"xy\",\"d\":{\"e\":1}}",
        "{\"a\":12,\"b\":\"xy\",\"c\":{\"e\":1}}",
        "{\"a\":12,\"b\":\"xy\",\"c\":{\"e\":1}}\n"};
    enum { LINES = sizeof lines / sizeof *lines };
    for (size_t i = 0; i < LINES; i++)
        for (size_t k = 0; k < LINES; k++)
            for (size_t l = 0; l < LINES; l++) {
                assert_int_equal(agree(lines[i], strlen(lines[i])), QUICKLY);
                assert_int_equal(agree(lines[k], strlen(lines[k])), QUICKLY);
                assert_int_equal(agree(lines[l], strlen(lines[l])), QUICKLY);
            }
    static const char *const wrong[] = {"{\"a\":012,\"b\":\"xy\",\"c\":[1,2.5,null],\"d\":{}}",
                                        "{\"a\":12,\"b\":\"xy\",\"c\":[1,2.5,null],\"d\":{}}}",
                                        "{\"a\":12,\"b\":\"xy\",\"c\":[1,2.5,null],\"d\":{}"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        assert_int_equal(agree(lines[0], strlen(lines[0])), QUICKLY);
        assert_int_equal(agree(wrong[i], strlen(wrong[i])), REFUSED);
    }
}

/* 17 digits, as they are written; digits at random; and halves between two doubles, from which a last digit tells away. */
TEST(numbers_are_rounded_as_strtod_rounds_them)
{
    struct rng r = rng_stream(44, RNG_ORDER, 0, 0);
    struct json *line = NULL;
    char text[80], array[96];
    for (int round = 0; round < 200000; round++) {
        const uint64_t bits = rng_u64(&r);
        const double x = ldexp((double)(bits >> 11), (int)rng_below(&r, 180) - 140);
        if (round % 4 == 0)
            snprintf(text, sizeof text, "%.17g", x);
        else if (round % 4 == 1)
            snprintf(text, sizeof text, "-%llu.%llue%d", (unsigned long long)(bits >> (20 + bits % 40)),
                     (unsigned long long)(bits & 0xffffff), (int)rng_below(&r, 60) - 30);
        else
            snprintf(text, sizeof text, "%llu%s", (unsigned long long)((bits | 1ull << 63) >> 10 | 1),
                     round % 4 == 2 ? ".0" : "e-7");
        double read = 0, in_line;
        const double expected = strtod(text, NULL);
        assert_true(number_real(&read, text, strlen(text)));
        snprintf(array, sizeof array, "[%s]", text);
        assert_int_equal(json_parse_line(&line, array, strlen(array), "line"), SOTTO_OK);
        in_line = json_number(json_at(line, 0));
        if (memcmp(&read, &expected, sizeof read) != 0 || memcmp(&in_line, &expected, sizeof read) != 0)
            fail_msg("%s: %.17g, in a line %.17g, strtod %.17g", text, read, in_line, expected);
    }
    json_free(line);
}

static void assert_error(sotto_status line, const char *text, sotto_status document)
{
    char first[512];
    assert_int_equal(line, SOTTO_EFORMAT);
    snprintf(first, sizeof first, "%s", text);
    assert_int_equal(document, SOTTO_EFORMAT);
    assert_string_equal(sotto_error_text(), first);
}

TEST(getters_say_the_same_of_either)
{
    static const char *const paths[] = {"scale",
                                        "schema",
                                        "records",
                                        "purpose",
                                        "seeded",
                                        "sensitivity",
                                        "sensitivity.l1",
                                        "any_order.offers",
                                        "any_order.offers[1][1]",
                                        "any_order.took[2]",
                                        "any_order.took[7]",
                                        "no",
                                        "scale.no",
                                        "epsilon.upper"};
    struct json *line = NULL, *document = NULL;
    assert_int_equal(json_parse_line(&line, release, strlen(release), "l"), SOTTO_OK);
    assert_int_equal(json_parse(&document, release, strlen(release), "l"), SOTTO_OK);
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        double x, y;
        size_t n, m;
        const char *s, *t;
        bool a, b;
        const struct json *p, *q;
        char path[64];
        snprintf(path, sizeof path, "%s", paths[i]);
#define BOTH(get, one, other)                                                                                \
    do {                                                                                                     \
        const sotto_status status = get(&(one), line, "l", path);                                            \
        char said[512];                                                                                      \
        snprintf(said, sizeof said, "%s", status == SOTTO_OK ? "" : sotto_error_text());                     \
        if (status == SOTTO_OK)                                                                              \
            assert_int_equal(get(&(other), document, "l", path), SOTTO_OK);                                  \
        else                                                                                                 \
            assert_error(status, said, get(&(other), document, "l", path));                                  \
    } while (0)
        BOTH(json_get_real, x, y);
        BOTH(json_get_real_or_null, x, y);
        BOTH(json_get_size, n, m);
        BOTH(json_get_text, s, t);
        BOTH(json_get_boolean, a, b);
        BOTH(json_get_object, p, q);
        BOTH(json_get_array, p, q);
    }
    struct json *copy = json_clone(json_find(line, "any_order"));
    assert_true(same(copy, json_find(document, "any_order")) && !json_quick(copy));
    json_free(copy);
    json_free(line);
    json_free(document);
}
