/* A result becomes its document, and a document a result: by the table of audit_fields.h. */
#include "audit/audit_document.h"
#include "audit/audit_fields.h"
#include "audit/audit_memory.h"
#include "io/json/json.h"
#include "sotto/lab/audit.h"

#include <string.h>

static const char *const finding_names[] = {"none", "auc", "tpr", "epsilon", "accuracy", "claim"};
static const char verdict_key[] = "verdict"; /* follows from the numbers: written, never read */

static struct json *verdict_json(const struct sotto_audit_result *r)
{
    struct json *j = json_make_object();
    struct sotto_audit_verdict v;
    sotto_audit_judge(&v, r);
    json_put_text(&j, "kind", sotto_verdict_name(v.kind));
    json_put_text(&j, "by", finding_names[v.by]);
    json_put_text(&j, "attack", r->attack_count ? r->attacks[v.attack].name : NULL);
    json_put_real(&j, "fpr", v.fpr);
    json_put_real(&j, "lower", v.lower);
    json_put_boolean(&j, "opposite", v.opposite);
    json_put_boolean(&j, "swapped", v.swapped);
    json_put_text(&j, "text", v.text);
    return j;
}

struct json *audit_encode(const struct sotto_audit_result *r)
{
    struct json *doc = json_make_object();
    const struct json *more = r->memory ? r->memory->more : NULL;
    json_put_text(&doc, "schema", r->pending ? "sotto.shadows/1" : "sotto.audit/1");
    if (!r->pending)
        fields_put(&doc, audit_result_fields, r);
    if (!r->pending)
        json_put(&doc, verdict_key, verdict_json(r));
    for (const char *key = json_first_key(more); key; key = json_next_key(more, key))
        json_put(&doc, key, json_clone(json_member(more, key)));
    return doc;
}

sotto_status audit_put_more(struct sotto_audit_result *r, const char *key, struct json *value)
{
    sotto_status status = SOTTO_OK;
    if (!r->memory)
        NEW(r->memory, 1);
    if (!r->memory->more)
        r->memory->more = json_make_object();
    r->memory->free_more = json_free;
    json_put(&r->memory->more, key, value);
    value = NULL;
    if (!r->memory->more)
        FAIL(SOTTO_ENOMEM, "audit: out of memory for '%s'", key);
done:
    json_free(value);
    return status;
}

sotto_status sotto_audit_encode(char **json, const struct sotto_audit_result *r)
{
    REQUIRE_GIVEN(json, r);
    struct json *doc = audit_encode(r);
    const sotto_status status = json_dump(json, doc, JSON_LINE);
    json_free(doc);
    return status;
}

/* Members without a struct are kept as they are. */
static sotto_status keep_more(struct sotto_audit_result *r, const struct json *doc)
{
    sotto_status status = SOTTO_OK;
    for (const char *key = json_first_key(doc); key; key = json_next_key(doc, key)) {
        const struct field *f = audit_result_fields;
        while (f->kind != FIELD_END && strcmp(f->key, key) != 0)
            f++;
        if (f->kind == FIELD_END && strcmp(key, "schema") != 0 && strcmp(key, verdict_key) != 0)
            TRY(audit_put_more(r, key, json_clone(json_member(doc, key))));
    }
done:
    return status;
}

sotto_status audit_decode(struct sotto_audit_result *out, const struct json *doc)
{
    sotto_status status = SOTTO_OK;
    struct sotto_audit_result r = {0};
    const char *schema = json_text(json_member(doc, "schema"));
    if (!schema || strcmp(schema, "sotto.audit/1") != 0)
        FAIL(SOTTO_EFORMAT, "audit: 'schema' is not sotto.audit/1");
    NEW(r.memory, 1);
    TRY(fields_get(&r, audit_result_fields, doc, "audit", &r.memory->blocks));
    TRY(keep_more(&r, doc));
    *out = r;
done:
    if (status != SOTTO_OK)
        sotto_audit_result_free(&r);
    return status;
}

sotto_status sotto_audit_decode(struct sotto_audit_result *out, const char *json)
{
    REQUIRE_GIVEN(out, json);
    sotto_status status = SOTTO_OK;
    struct json *doc = NULL;
    TRY(json_parse(&doc, json, strlen(json), "audit"));
    TRY(audit_decode(out, doc));
done:
    json_free(doc);
    return status;
}
