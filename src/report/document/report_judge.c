/* Writes the verdicts that the reader reached back into the document. */
#include "report/document/document.h"
#include "sotto/sotto.h"

#include <string.h>

static struct json *verdict_json(const char *kind, const char *text)
{
    struct json *j = json_make_object();
    json_put_text(&j, "kind", kind);
    json_put_text(&j, "text", text);
    return j;
}

/* The document's verdict is the worst of its rows that might be released, or of all if none is
 * protected. */
static const struct row *decisive(const struct report *r)
{
    const struct row *worst = NULL;
    for (int unprotected = 0; unprotected < 2 && !worst; unprotected++)
        for (size_t i = 0; i < r->row_count; i++)
            if ((r->rows[i].is_protected || unprotected) && (!worst || r->rows[i].verdict < worst->verdict))
                worst = &r->rows[i];
    return worst;
}

struct json *report_judged(const struct report *r)
{
    struct json *rows = json_make_array(), *doc = json_clone(r->doc);
    for (size_t i = 0; i < r->row_count; i++) {
        struct json *row = json_clone(json_at(json_member(r->doc, "rows"), i));
        json_put(&row, "verdict", verdict_json(verdict_name(r->rows[i].verdict), r->rows[i].verdict_text));
        json_push(&rows, row);
    }
    json_put(&doc, "rows", rows);
    const struct row *worst = decisive(r);
    json_put(&doc, "verdict", verdict_json(verdict_name(worst->verdict), worst->verdict_text));
    return doc;
}

sotto_status sotto_report_judge(char **judged, const char *report_json)
{
    sotto_status status = SOTTO_OK;
    struct report r = {0};
    struct json *doc = NULL;
    TRY(report_read(&r, report_json, strlen(report_json)));
    doc = report_judged(&r);
    TRY(json_dump(judged, doc, JSON_LINE));
done:
    json_free(doc);
    report_clear(&r);
    return status;
}
