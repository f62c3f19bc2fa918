/* Writes the verdicts that the reader reached back into the document. */
#include "report/document/document.h"
#include "sotto/lab/audit.h"

static struct json *verdict_json(const char *kind, const char *text)
{
    struct json *j = json_make_object();
    json_put_text(&j, "kind", kind);
    json_put_text(&j, "text", text);
    return j;
}

size_t report_decisive_row(const struct report *r)
{
    const struct report_row *worst = NULL;
    for (int unprotected = 0; unprotected < 2 && !worst; unprotected++)
        for (size_t i = 0; i < r->row_count; i++)
            if ((r->rows[i].is_protected || unprotected) && (!worst || r->rows[i].verdict < worst->verdict))
                worst = &r->rows[i];
    return (size_t)(worst - r->rows);
}

struct json *report_judged(const struct report *r)
{
    struct json *rows = json_make_array(), *doc = json_clone(r->doc);
    for (size_t i = 0; i < r->row_count; i++) {
        struct json *row = json_clone(json_at(json_member(r->doc, "rows"), i));
        json_put(&row, "verdict",
                 verdict_json(sotto_verdict_name(r->rows[i].verdict), r->rows[i].verdict_text));
        json_push(&rows, row);
    }
    json_put(&doc, "rows", rows);
    const struct report_row *worst = &r->rows[report_decisive_row(r)];
    json_put(&doc, "verdict", verdict_json(sotto_verdict_name(worst->verdict), worst->verdict_text));
    return doc;
}
