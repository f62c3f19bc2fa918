#include "ask/ask_json.h"

#include "dp/certificate/certificate.h"
#include "io/json/json.h"

static const char *name_of(const struct ask_query *q)
{
    return q->name[0] ? q->name : q->text;
}

void ask_json_row(struct json **rows, const struct ask_plan *plan, const struct ask_query *q, size_t group,
                  const char *statistic, const struct ask_answer *a)
{
    char cell[256];
    struct json *j = json_make_object(), *keys = json_make_object();
    for (size_t k = 0; k < q->key_count; k++)
        json_put_text(&keys, ask_column_name(plan->schema, q->keys[k].column),
                      ask_cell_name(cell, plan, &q->keys[k], ask_key_cell(q, group, k)));
    json_put_text(&j, "query", name_of(q));
    json_put(&j, "keys", keys);
    json_put_text(&j, "statistic", statistic);
    json_put_real(&j, "value", a->value);
    json_put_real(&j, "low", a->low);
    json_put_real(&j, "high", a->high);
    json_put_real(&j, "deviation", a->deviation);
    json_put_boolean(&j, "public", q->parts == 0);
    json_push(rows, j);
}

/* A query with what was released of it: its cells, group by group. */
static struct json *query_json(const struct ask_query *q, const struct ask_release *r)
{
    struct json *j = json_make_object();
    json_put_text(&j, "name", name_of(q));
    json_put_text(&j, "query", q->text);
    json_put_integer(&j, "mass", q->parts ? q->mass : 0);
    json_put(&j, "cells",
             q->one_by_one ? json_make_reals(r->cells + q->chosen, q->groups * q->share_count)
                           : json_make_reals(r->cells + q->first, q->groups * q->parts));
    return j;
}

static struct json *document_json(struct json *rows, const struct ask_plan *plan, const struct ask_release *r)
{
    struct json *j = json_make_object(), *queries = json_make_array();
    json_put_text(&j, "schema", "sotto.answers/1");
    if (r->seeded)
        json_put_text(&j, "warning", CERTIFICATE_SEEDED);
    json_put_integer(&j, "rows", (int64_t)r->rows);
    if (r->persons)
        json_put_integer(&j, "persons", (int64_t)r->persons);
    json_put_text(&j, "noise", r->gaussian ? "gaussian" : "laplace");
    json_put_real(&j, "scale", r->scale);
    json_put_text(&j, "intervals", r->population ? "noise and sampling" : "noise");
    json_put_boolean(&j, "simultaneous", r->at_once > 0);
    for (size_t i = 0; i < plan->count; i++)
        json_push(&queries, query_json(&plan->queries[i], r));
    json_put(&j, "queries", queries);
    json_put(&j, "answers", rows);
    return j;
}

struct json *ask_json_rows(void)
{
    return json_make_array();
}

void ask_json_drop(struct json *rows)
{
    json_free(rows);
}

sotto_status ask_json_write(const char *path, struct json *rows, const struct ask_plan *plan,
                            const struct ask_release *r)
{
    struct json *j = document_json(rows, plan, r);
    const sotto_status status = json_write_file(path, j, JSON_LINE);
    json_free(j);
    return status;
}

static const char *unit_name(enum ask_unit unit)
{
    static const char *const units[] = {"none", "rows", "column", "column/rows", "rows/cell", "ranks"};
    return units[unit];
}

sotto_status ask_json_forecasts(char **text, const struct ask_plan *plan,
                                const struct ask_forecast *forecasts)
{
    struct json *j = json_make_object(), *queries = json_make_array();
    for (size_t i = 0; i < plan->count; i++) {
        const struct ask_query *q = &plan->queries[i];
        struct json *one = json_make_object();
        json_put_text(&one, "query", name_of(q));
        json_put_integer(&one, "cells", (int64_t)(q->groups * (q->one_by_one ? q->share_count : q->parts)));
        json_put_real(&one, "within", forecasts[i].within);
        json_put_text(&one, "unit", unit_name(forecasts[i].unit));
        json_push(&queries, one);
    }
    json_put(&j, "queries", queries);
    const sotto_status status = json_dump(text, j, JSON_LINE);
    json_free(j);
    return status;
}
