/* "sotto.compare/1": a comparison to its document and back. */
#include "io/json/json.h"
#include "report/compare/compare.h"

#include <string.h>

static const char name_of_document[] = "comparison";

static struct json *texts_json(const char *const *texts, size_t count)
{
    struct json *list = json_make_array();
    for (size_t i = 0; i < count; i++)
        json_push(&list, json_make_text(texts[i]));
    return list;
}

static struct json *row_json(const struct sotto_compare_row *row)
{
    struct json *j = json_make_object();
    json_put_text(&j, "name", row->name);
    for (int k = 0; k < SOTTO_AXES; k++) {
        const struct sotto_estimate *e = &row->axis[k];
        struct json *axis = compare_measured(e) ? json_make_object() : json_make_null();
        if (compare_measured(e)) {
            json_put_real(&axis, "estimate", e->estimate);
            json_put_real(&axis, "lower", e->lower);
            json_put_real(&axis, "upper", e->upper);
            json_put_text(&axis, "by", row->by[k]);
            json_put_text(&axis, "change", compare_change_names[row->change[k]]);
        }
        json_put(&j, compare_axes[k].name, axis);
    }
    json_put_text(&j, "verdict", sotto_verdict_name(row->verdict));
    json_put_text(&j, "swapped", row->swapped);
    json_put_real(&j, "delta", row->delta);
    json_put(&j, "left_out", texts_json(row->left_out, row->left_out_count));
    json_put_boolean(&j, "front", row->front);
    json_put_boolean(&j, "wins", row->wins);
    return j;
}

sotto_status sotto_compare_encode(char **json, const struct sotto_compare_result *r)
{
    REQUIRE_GIVEN(json, r);
    struct json *doc = json_make_object(), *rows = json_make_array(), *over = json_make_array(),
                *choice = json_make_object();
    json_put_text(&doc, "schema", "sotto.compare/1");
    json_put_text(&doc, "version", r->version);
    json_put_text(&doc, "title", r->title);
    for (int k = 0; k < SOTTO_AXES; k++)
        if (r->shared[k])
            json_push(&over, json_make_text(compare_axes[k].name));
    json_put(&doc, "front_over", over);
    for (int k = 0; k < SOTTO_AXES; k++)
        json_put_text(&choice, compare_axes[k].name, r->rows[r->choice[k]].name);
    json_put(&doc, "choice", choice);
    json_put_text(&doc, "winner", r->winner ? r->rows[r->winner].name : NULL);
    json_put(&doc, "attacks", texts_json(r->attacks, r->attack_count));
    json_put_real(&doc, "fpr", r->fpr);
    for (size_t i = 0; i < r->row_count; i++)
        json_push(&rows, row_json(&r->rows[i]));
    json_put(&doc, "rows", rows);
    const sotto_status status = json_dump(json, doc, JSON_LINE);
    json_free(doc);
    return status;
}

/* A text that may be null or missing. */
static sotto_status take_text(const char **out, struct sotto_audit_memory **memory, const struct json *j)
{
    *out = audit_keep_text(memory, json_text(j));
    return json_text(j) && !*out ? status_fail(SOTTO_ENOMEM, "compare: out of memory") : SOTTO_OK;
}

/* Names; documents of before have none. */
static sotto_status take_names(const char ***out, size_t *count, struct sotto_audit_memory **memory,
                               const struct json *list)
{
    sotto_status status = SOTTO_OK;
    TAKE(memory, *out, json_count(list) + 1);
    for (; *count < json_count(list); ++*count) {
        if (!json_text(json_at(list, *count)))
            FAIL(SOTTO_EFORMAT, "comparison: a name of an attack is no text");
        TRY(take_text(&(*out)[*count], memory, json_at(list, *count)));
    }
done:
    return status;
}

static sotto_status take_axis(struct sotto_compare_row *row, struct sotto_audit_memory **memory, int k,
                              const struct json *j)
{
    sotto_status status = SOTTO_OK;
    const char *change;
    row->axis[k] = (struct sotto_estimate){NAN, NAN, NAN};
    if (!j || json_kind(j) == JSON_KIND_NULL)
        return SOTTO_OK;
    TRY(json_get_real(&row->axis[k].estimate, j, name_of_document, "estimate"));
    TRY(json_get_real(&row->axis[k].lower, j, name_of_document, "lower"));
    TRY(json_get_real(&row->axis[k].upper, j, name_of_document, "upper"));
    TRY(json_get_text(&change, j, name_of_document, "change"));
    TRY(take_text(&row->by[k], memory, json_member(j, "by")));
    for (int i = 0; compare_change_names[i]; i++)
        if (strcmp(change, compare_change_names[i]) == 0)
            row->change[k] = (enum sotto_compare_change)i;
    row->worse |= compare_axes[k].decides && row->change[k] == SOTTO_CHANGE_WORSE;
done:
    return status;
}

/* Documents of before have none. */
static enum sotto_verdict verdict_named(const char *name)
{
    for (int i = 0; name && sotto_verdict_name((enum sotto_verdict)i); i++)
        if (strcmp(sotto_verdict_name((enum sotto_verdict)i), name) == 0)
            return (enum sotto_verdict)i;
    return SOTTO_VERDICT_NOT_ATTACKED;
}

static sotto_status take_row(struct sotto_compare_row *row, struct sotto_audit_memory **memory,
                             const struct json *j)
{
    sotto_status status = SOTTO_OK;
    const char *name;
    bool front, wins;
    TRY(json_get_text(&name, j, name_of_document, "name"));
    TRY(take_text(&row->name, memory, json_member(j, "name")));
    for (int k = 0; k < SOTTO_AXES; k++)
        TRY(take_axis(row, memory, k, json_member(j, compare_axes[k].name)));
    TRY(json_get_boolean(&front, j, name_of_document, "front"));
    TRY(json_get_boolean(&wins, j, name_of_document, "wins"));
    row->front = front;
    row->wins = wins;
    row->delta = json_number(json_member(j, "delta"));
    row->verdict = verdict_named(json_text(json_member(j, "verdict")));
    TRY(take_text(&row->swapped, memory, json_member(j, "swapped")));
    TRY(take_names(&row->left_out, &row->left_out_count, memory, json_member(j, "left_out")));
done:
    return status;
}

/* The rows that are named as choices, and the axes of the front. */
static void take_judgement(struct sotto_compare_result *c, const struct json *doc)
{
    const struct json *over = json_member(doc, "front_over"), *choice = json_member(doc, "choice");
    for (int k = 0; k < SOTTO_AXES; k++) {
        const char *chosen = json_text(json_member(choice, compare_axes[k].name));
        for (size_t i = 0; i < json_count(over); i++) {
            const char *axis = json_text(json_at(over, i));
            c->shared[k] |= axis && strcmp(axis, compare_axes[k].name) == 0;
        }
        for (size_t i = 0; chosen && i < c->row_count; i++)
            if (strcmp(c->rows[i].name, chosen) == 0)
                c->choice[k] = i;
    }
    const char *winner = json_text(json_member(doc, "winner"));
    for (size_t i = 0; winner && i < c->row_count; i++)
        if (strcmp(c->rows[i].name, winner) == 0)
            c->winner = i;
    c->fpr = json_number(json_member(doc, "fpr"));
}

sotto_status sotto_compare_decode(struct sotto_compare_result *out, const char *json)
{
    REQUIRE_GIVEN(out, json);
    sotto_status status = SOTTO_OK;
    struct sotto_compare_result c = {0};
    struct json *doc = NULL;
    const struct json *rows;
    TRY(json_parse(&doc, json, strlen(json), name_of_document));
    const char *schema = json_text(json_member(doc, "schema"));
    if (!schema || strcmp(schema, "sotto.compare/1") != 0)
        FAIL(SOTTO_EFORMAT, "comparison: schema is '%.40s'; expected sotto.compare/1", schema ? schema : "");
    TRY(json_get_array(&rows, doc, name_of_document, "rows"));
    if (json_count(rows) == 0 || json_count(rows) > 1000)
        FAIL(SOTTO_EFORMAT, "comparison: 'rows' has %zu entries; expected 1 to 1000", json_count(rows));
    TRY(take_text(&c.version, &c.memory, json_member(doc, "version")));
    TRY(take_text(&c.title, &c.memory, json_member(doc, "title")));
    TAKE(&c.memory, c.rows, json_count(rows));
    c.row_count = json_count(rows);
    for (size_t i = 0; i < c.row_count; i++)
        TRY(take_row(&c.rows[i], &c.memory, json_at(rows, i)));
    take_judgement(&c, doc);
    TRY(take_names(&c.attacks, &c.attack_count, &c.memory, json_member(doc, "attacks")));
    *out = c;
done:
    if (status != SOTTO_OK)
        sotto_compare_result_free(&c);
    json_free(doc);
    return status;
}
