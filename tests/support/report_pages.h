/* report_pages.h - what tests of the report share: the example document, edited, and the page it becomes. */
#ifndef TESTS_REPORT_PAGES_H
#define TESTS_REPORT_PAGES_H

#include "base/file.h"
#include "report/page/page.h"
#include "sotto/private/all.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Rows of the example. */
enum { PLAIN_MLP = 0, NOISY_MLP = 1, WRECKED_MLP = 3, PLAIN_LINEAR = 4, PROVED = 5 };
static char *example;

static inline int read_example(void **state)
{
    (void)state;
    size_t size;
    return file_read((unsigned char **)&example, &size, SOTTO_TEST_DIR "/golden/report_example.json",
                     1 << 24) != SOTTO_OK;
}

static inline int free_example(void **state)
{
    (void)state;
    base_free(example);
    return 0;
}

static inline sotto_status html_of(char **html, const char *json)
{
    struct report r = {0};
    sotto_status status = report_read(&r, json, strlen(json));
    if (status == SOTTO_OK)
        status = report_html(html, &r);
    report_clear(&r);
    return status;
}

static inline char *page_of(const char *json)
{
    static char *html; /* static: gcc 12 takes the text for the pointer and warns that it dangles */
    if (html_of(&html, json) != SOTTO_OK)
        fail_msg("%s", sotto_error_text());
    return html;
}

static inline size_t count(const char *text, const char *word)
{
    size_t n = 0;
    for (; (text = strstr(text, word)) != NULL; text += strlen(word))
        n++;
    return n;
}

/* The page without style and scripts: what is left when scripts do not run. */
static inline char *static_part(const char *page)
{
    char *out = base_alloc(strlen(page) + 1, 1), *to = out;
    while (*page) {
        const char *end = strncmp(page, "<script", 7) == 0  ? strstr(page, "</script>")
                          : strncmp(page, "<style", 6) == 0 ? strstr(page, "</style>")
                                                            : NULL;
        if (end)
            page = end + 8;
        else
            *to++ = *page++;
    }
    *to = '\0';
    return out;
}

/* --- a document with edits --- */

static inline struct json *copy_of_example(void)
{
    struct json *doc = NULL;
    assert_int_equal(json_parse(&doc, example, strlen(example), "example"), SOTTO_OK);
    return doc;
}

/* The example's row 4, alone, with members replaced: text is JSON for each key given, ended by NULL. */
static inline char *one_row(size_t index, ...)
{
    struct json *doc = copy_of_example(), *row = json_clone(json_at(json_member(doc, "rows"), index)),
                *rows = json_make_array();
    va_list args;
    va_start(args, index);
    for (const char *key; (key = va_arg(args, const char *)) != NULL;) {
        char wrapped[4096];
        struct json *value = NULL;
        snprintf(wrapped, sizeof wrapped, "[%s]", va_arg(args, const char *));
        assert_int_equal(json_parse(&value, wrapped, strlen(wrapped), key), SOTTO_OK);
        json_put(&row, key, json_clone(json_at(value, 0)));
        json_free(value);
    }
    va_end(args);
    json_push(&rows, row);
    json_put(&doc, "rows", rows);
    char *text = NULL;
    assert_int_equal(json_dump(&text, doc, JSON_LINE), SOTTO_OK);
    json_free(doc);
    return text;
}

static const char attack_text[] =
    "</script><script>alert(1)</script><img src=x onerror=alert(2)>\"'&{{chart}}<!--\xe2\x80\xa8\xe2\x80\xae";

/* A copy with every text replaced, except those that steer the reader; keys of "versions" too. */
static inline struct json *poisoned(const struct json *j, const char *key)
{
    if (json_kind(j) == JSON_KIND_TEXT) {
        bool steers = key && (strcmp(key, "schema") == 0 || strcmp(key, "source") == 0);
        return json_make_text(steers ? json_text(j) : attack_text);
    }
    if (json_kind(j) == JSON_KIND_ARRAY) {
        struct json *list = json_make_array();
        for (size_t i = 0; i < json_count(j); i++)
            json_push(&list, poisoned(json_at(j, i), NULL));
        return list;
    }
    if (json_kind(j) == JSON_KIND_OBJECT) {
        struct json *object = json_make_object();
        for (const char *k = json_first_key(j); k; k = json_next_key(j, k))
            json_put(&object, key && strcmp(key, "versions") == 0 ? attack_text : k,
                     poisoned(json_member(j, k), k));
        return object;
    }
    return json_clone(j);
}

#endif
