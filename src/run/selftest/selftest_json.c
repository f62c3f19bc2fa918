/* The report of a self test as JSON, and what is read of the files of a program that is attacked. */
#include "io/fields/fields.h"
#include "selftest/checks.h"
#include "selftest/program.h"
#include "sotto/private/print.h"

#define T struct sotto_check
static const struct field check[] = {FIELD_OF("group", FIELD_CHARS, 0, T, group),
                                     FIELD_OF("name", FIELD_CHARS, 0, T, name), FIELD_FLAG_OF("ok", T, ok),
                                     FIELD_OF("detail", FIELD_CHARS, 0, T, detail), FIELDS_END};
#undef T
#define T struct sotto_selftest
static const struct field falsifier[] = {
    FIELD_COUNT_OF("draws", T, falsifier_draws), FIELD_COUNT_OF("tests", T, falsifier_tests),
    FIELD_REAL_OF("false_alarm_probability", T, falsifier_alarm), FIELDS_END};
static const struct field counts[] = {FIELD_COUNT_OF("count", T, count), FIELD_COUNT_OF("failed", T, failed),
                                      FIELDS_END};
static const struct field checks[] = {FIELD_MANY_OF("checks", FIELD_LIST, 0, T, checks, count, check),
                                      FIELDS_END};
#undef T

sotto_status sotto_selftest_json(char **json, const struct sotto_selftest *t)
{
    REQUIRE_GIVEN(json, t);
    struct json *doc = json_make_object();
    json_put_text(&doc, "schema", "sotto.selftest/1");
    json_put_boolean(&doc, "passed", t->failed == 0);
    fields_put(&doc, counts, t);
    json_put(&doc, "falsifier", t->falsifier_tests ? fields_object(falsifier, t) : json_make_null());
    fields_put(&doc, checks, t);
    const sotto_status status = json_dump(json, doc, JSON_PRETTY);
    json_free(doc);
    return status;
}

static void put_numbers(void (*put)(struct outcome *o, double x), struct outcome *o, const struct json *j)
{
    enum json_kind kind = json_kind(j);
    if (kind == JSON_KIND_INTEGER || kind == JSON_KIND_REAL)
        put(o, json_number(j));
    else if (kind == JSON_KIND_ARRAY)
        for (size_t i = 0; i < json_count(j); i++)
            put_numbers(put, o, json_at(j, i));
    else if (kind == JSON_KIND_OBJECT)
        for (const char *key = json_first_key(j); key; key = json_next_key(j, key))
            put_numbers(put, o, json_member(j, key));
}

sotto_status json_file_numbers(void (*put)(struct outcome *o, double x), struct outcome *o, const char *path)
{
    struct json *j = NULL;
    sotto_status status = json_read_file(&j, path);
    if (status == SOTTO_OK)
        put_numbers(put, o, j);
    json_free(j);
    return status;
}

sotto_status certificate_claim(double *epsilon, double *delta, const char *path)
{
    struct json *j = NULL;
    sotto_status status = json_read_file(&j, path);
    if (status != SOTTO_OK)
        return status;
    const struct json *claim = json_find(j, "guarantee.proved");
    if (json_kind(claim) != JSON_KIND_OBJECT)
        claim = json_find(j, "guarantee.conditional");
    *epsilon = json_number(json_find(claim, "epsilon.upper"));
    *delta = json_number(json_find(claim, "delta"));
    json_free(j);
    return SOTTO_OK;
}

bool certificate_is_conditional(const char *path)
{
    struct json *j = NULL;
    bool conditional = json_read_file(&j, path) == SOTTO_OK &&
                       json_kind(json_find(j, "guarantee.proved")) == JSON_KIND_TEXT &&
                       json_kind(json_find(j, "guarantee.conditional")) == JSON_KIND_OBJECT;
    json_free(j);
    return conditional;
}
