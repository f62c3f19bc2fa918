/* A comparison as lines for people and as files: compare.json, compare.csv (a line for each model and axis),
 * report.html. */
#include "report/compare/compare.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "report/page/page.h"
#include "sotto/sotto.h"

static sotto_status parse(struct json **out, const char *json)
{
    sotto_status status = SOTTO_OK;
    struct json *doc = NULL;
    TRY(json_parse(&doc, json, strlen(json), "comparison"));
    const char *schema = json_text(json_member(doc, "schema"));
    if (!schema || strcmp(schema, "sotto.compare/1") != 0)
        FAIL(SOTTO_EFORMAT, "comparison: holds schema '%.40s'; expected sotto.compare/1",
             schema ? schema : "");
    *out = doc;
    doc = NULL;
done:
    json_free(doc);
    return status;
}

static bool holds(const struct json *row, const char *key)
{
    bool x = false;
    return json_get_boolean(&x, row, "comparison", key) == SOTTO_OK && x;
}

/* page_*() grow any text; nothing here is HTML. */
static sotto_status finish(char **out, struct page *p)
{
    if (p->failed) {
        base_free(p->text);
        return status_fail(SOTTO_ENOMEM, "compare: out of memory");
    }
    *out = p->text;
    return SOTTO_OK;
}

static void put_padded(struct page *p, const char *text, int width)
{
    char cell[80];
    snprintf(cell, sizeof cell, "%-*.*s", width, width - 1, text);
    page_html(p, cell);
}

static void put_choices(struct page *p, const struct json *doc)
{
    const char *original = json_text(json_member(json_at(json_member(doc, "rows"), 0), "name"));
    page_html(p, "\nmends an axis most, beyond its interval, and breaks no other:\n");
    for (int k = 0; k < AXES; k++) {
        const char *name = json_text(json_member(json_member(doc, "choice"), compare_axes[k].name));
        put_padded(p, compare_axes[k].name, 20);
        page_html(p, name && original && strcmp(name, original) != 0 ? name : "nobody");
        page_html(p, "\n");
    }
}

sotto_status sotto_compare_summary(char **text, const char *json)
{
    sotto_status status = SOTTO_OK;
    struct json *doc = NULL;
    struct page p = {0};
    TRY(parse(&doc, json));
    const struct json *rows = json_member(doc, "rows");
    put_padded(&p, "model", 18);
    for (int k = 0; k < AXES; k++)
        put_padded(&p, compare_axes[k].name, 31);
    page_html(&p, "front  wins\n");
    for (size_t i = 0; i < json_count(rows); i++) {
        const struct json *row = json_at(rows, i);
        put_padded(&p, json_text(json_member(row, "name")), 18);
        for (int k = 0; k < AXES; k++) {
            const struct json *e = json_member(row, compare_axes[k].name);
            const char *change = json_text(json_member(e, "change"));
            char cell[64] = "not measured";
            if (json_kind(e) == JSON_KIND_OBJECT)
                snprintf(cell, sizeof cell, "%.3f [%.3f, %.3f] %s", json_number(json_member(e, "estimate")),
                         json_number(json_member(e, "lower")), json_number(json_member(e, "upper")),
                         i && change ? change : "");
            put_padded(&p, cell, 31);
        }
        put_padded(&p, holds(row, "front") ? "yes" : "no", 7);
        page_html(&p, i == 0 ? "-\n" : holds(row, "wins") ? "yes\n" : "no\n");
    }
    put_choices(&p, doc);
    TRY(finish(text, &p));
done:
    json_free(doc);
    return status;
}

/* Quoted as RFC 4180 asks. */
static void put_field(struct page *p, const char *text)
{
    page_html(p, "\"");
    for (const char *at = text ? text : ""; *at; at++)
        page_bytes(p, *at == '"' ? "\"\"" : at, *at == '"' ? 2 : 1);
    page_html(p, "\"");
}

static sotto_status csv(char **out, const char *json)
{
    sotto_status status = SOTTO_OK;
    struct json *doc = NULL;
    struct page p = {0};
    TRY(parse(&doc, json));
    const struct json *rows = json_member(doc, "rows");
    page_html(&p, "model,axis,estimate,lower,upper,by,change,front,wins\n");
    for (size_t i = 0; i < json_count(rows); i++)
        for (int k = 0; k < AXES; k++) {
            const struct json *row = json_at(rows, i), *e = json_member(row, compare_axes[k].name);
            if (json_kind(e) != JSON_KIND_OBJECT)
                continue;
            put_field(&p, json_text(json_member(row, "name")));
            page_format(&p, ",%s,%.9g,%.9g,%.9g,", compare_axes[k].name,
                        json_number(json_member(e, "estimate")), json_number(json_member(e, "lower")),
                        json_number(json_member(e, "upper")));
            put_field(&p, json_text(json_member(e, "by")));
            page_html(&p, ",");
            put_field(&p, json_text(json_member(e, "change")));
            page_format(&p, ",%d,%d\n", holds(row, "front") ? 1 : 0, holds(row, "wins") ? 1 : 0);
        }
    TRY(finish(out, &p));
done:
    json_free(doc);
    return status;
}

sotto_status sotto_compare_write(const char *folder, const char *json, const char *html)
{
    sotto_status status = SOTTO_OK;
    const char *const names[] = {"compare.json", "compare.csv", "report.html"};
    const char *texts[3] = {json, NULL, html};
    char *table = NULL, path[4096];
    TRY(csv(&table, json));
    texts[1] = table;
    TRY(folder_make(folder));
    for (int i = 0; i < 3; i++) {
        TRY(path_join(path, sizeof path, folder, names[i]));
        TRY(file_write(path, texts[i], strlen(texts[i])));
    }
done:
    sotto_text_free(table);
    return status;
}
