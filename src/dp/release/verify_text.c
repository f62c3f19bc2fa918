/* A report for people. One word for each rank of trust; a good end is "consistent", and never more. */
#include "base/memory.h"
#include "io/json/json.h"
#include "sotto/verify.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

struct page {
    char *text;
    size_t used, capacity; /* measured first, with text NULL */
};

static void put(struct page *p, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void put(struct page *p, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int length =
        vsnprintf(p->text ? p->text + p->used : NULL, p->text ? p->capacity - p->used : 0, format, args);
    va_end(args);
    p->used += length > 0 ? (size_t)length : 0;
}

static void put_list(struct page *p, const char *title, const struct json *list)
{
    put(p, "  %-13s", title);
    for (size_t i = 0; i < json_count(list); i++) {
        const char *line = json_text(json_at(list, i));
        put(p, "%s%s", i ? "; " : "", line ? line : "");
    }
    put(p, "%s\n", json_count(list) ? "" : "nothing");
}

static const char *text_or(const struct json *report, const char *key, const char *missing)
{
    const char *found = json_text(json_find(report, key));
    return found ? found : missing;
}

static void put_claim(struct page *p, const struct json *r, const char *guarantee)
{
    const struct json *upper = json_find(r, "epsilon.upper");
    if (strcmp(guarantee, "none") == 0) {
        put(p, "  %-13snone: noise was seeded\n", "claim");
        return;
    }
    put(p, "  %-13s", "claim");
    if (upper && json_kind(upper) != JSON_KIND_NULL)
        put(p, "epsilon %.6g", json_number(upper));
    else
        put(p, "no finite epsilon");
    put(p, " at delta %g, %s adjacency (%s, scale %.6g)\n", json_number(json_find(r, "delta")),
        text_or(r, "adjacency", "unknown"), text_or(r, "mechanism", "unknown"),
        json_number(json_find(r, "scale")));
}

static void put_report(struct page *p, const struct json *r, bool valid)
{
    const char *guarantee = text_or(r, "guarantee", "none"), *condition = text_or(r, "condition", NULL);
    bool proved = strcmp(guarantee, "proved") == 0;
    put(p, "%s: %s%s\n", text_or(r, "certificate", "certificate"),
        valid ? "consistent, NOT signed" : "does NOT verify: ",
        valid ? "" : text_or(r, "failed", "a check failed"));
    put_claim(p, r, guarantee);
    put(p, "  %-13s%s\n", "proved",
        proved ? "sensitivity and account, for training by the stated recipe" : "none");
    put(p, "  %-13s%s%s\n", "conditional", condition ? "on " : "", condition ? condition : "nothing");
    put(p, "  %-13s%s\n", "measured", text_or(r, "measured", "nothing"));
    put_list(p, "checked", json_find(r, "checked"));
    put_list(p, "not checked", json_find(r, "not_checked"));
    put(p,
        "  %-13snone: all checks also pass for a file, certificate and ledger that were changed together\n",
        "signature");
}

sotto_status sotto_verify_text(char **text, const char *report)
{
    sotto_status status = SOTTO_OK;
    struct json *r = NULL;
    const char *schema;
    struct page p = {NULL, 0, 0};
    bool valid;
    TRY(json_parse(&r, report, strlen(report), "report"));
    TRY(json_get_text(&schema, r, "report", "schema"));
    if (strcmp(schema, "sotto.verify/1") != 0)
        FAIL(SOTTO_EFORMAT, "report: schema is '%.40s'; expected sotto.verify/1", schema);
    TRY(json_get_boolean(&valid, r, "report", "valid"));
    put_report(&p, r, valid);
    p.capacity = p.used + 1;
    p.used = 0;
    p.text = base_alloc(p.capacity, 1);
    if (!p.text)
        FAIL(SOTTO_ENOMEM, "report: out of memory");
    put_report(&p, r, valid);
    *text = p.text;
done:
    json_free(r);
    return status;
}
