/* "sotto.compare/1": a comparison to its document. */
#include "io/json/json.h"
#include "report/compare/compare.h"

#include <string.h>

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
