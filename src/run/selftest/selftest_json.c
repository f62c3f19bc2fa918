/* The report of a self test as JSON, and what is read of the files of a program that is attacked. */
#include "io/json/json.h"
#include "selftest/checks.h"
#include "selftest/program.h"
#include "sotto/private/print.h"

sotto_status sotto_selftest_json(char **json, const struct sotto_selftest *t)
{
    REQUIRE_GIVEN(json, t);
    sotto_status status = SOTTO_OK;
    struct json *doc = json_make_object(), *list = json_make_array();
    json_put_text(&doc, "schema", "sotto.selftest/1");
    json_put_boolean(&doc, "passed", t->failed == 0);
    json_put_integer(&doc, "count", (int64_t)t->count);
    json_put_integer(&doc, "failed", (int64_t)t->failed);
    if (t->falsifier_tests) {
        struct json *falsifier = json_make_object();
        json_put_integer(&falsifier, "draws", (int64_t)t->falsifier_draws);
        json_put_integer(&falsifier, "tests", (int64_t)t->falsifier_tests);
        json_put_real(&falsifier, "false_alarm_probability", t->falsifier_alarm);
        json_put(&doc, "falsifier", falsifier);
    } else {
        json_put(&doc, "falsifier", json_make_null());
    }
    for (size_t i = 0; i < t->count; i++) {
        const struct sotto_check *check = &t->checks[i];
        struct json *object = json_make_object();
        json_put_text(&object, "group", check->group);
        json_put_text(&object, "name", check->name);
        json_put_boolean(&object, "ok", check->ok);
        json_put_text(&object, "detail", check->detail);
        json_push(&list, object);
    }
    json_put(&doc, "checks", list);
    TRY(json_dump(json, doc, JSON_PRETTY));
done:
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
