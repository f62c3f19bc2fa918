/* The audit of one model becomes a report with one row. File names stay out of it: they can be private. */
#include "audit/audit_document.h"
#include "dp/certificate/certificate.h"
#include "dp/certificate/condition_words.h"
#include "io/array/array.h"
#include "report/page/page.h"
#include "report/report_write.h"
#include "sotto/verify.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static void time_text(char out[32])
{
    const char *fixed = getenv("SOURCE_DATE_EPOCH");
    time_t now = fixed ? (time_t)strtoll(fixed, NULL, 10) : time(NULL);
    struct tm utc;
    if (!gmtime_r(&now, &utc) || strftime(out, 32, "%Y-%m-%dT%H:%M:%SZ", &utc) == 0)
        out[0] = '\0';
}

static struct json *utility_json(const struct json *audit)
{
    const struct json *accuracy = part(audit, "accuracy");
    if (!accuracy)
        return json_make_null();
    struct json *j = json_make_object();
    json_put(&j, "accuracy", json_clone(json_member(accuracy, "nonmember")));
    json_put_real(&j, "train_accuracy", part_number(accuracy, "member.estimate"));
    json_put(&j, "classes", json_clone(json_member(accuracy, "by_class")));
    return j;
}

static struct json *row_json(const struct json *audit)
{
    struct json *row = json_make_object();
    json_put_text(&row, "name", "model");
    json_put_text(&row, "title", "The audited model");
    json_put_boolean(&row, "protected", false);
    json_put(&row, "records", json_clone(json_member(audit, "n_member")));
    json_put(&row, "measured", json_clone(audit));
    json_put(&row, "utility", utility_json(audit));
    return row;
}

void report_assume(struct json **list, const char *text, bool met)
{
    struct json *one = json_make_object();
    json_put_text(&one, "text", text);
    json_put_boolean(&one, "met", met);
    json_push(list, one);
}

void report_assume_conditions(struct json **list, const char *conditions)
{
    char sentence[CONDITION_SENTENCE];
    while (condition_next(sentence, &conditions))
        report_assume(list, sentence, false);
}

/* Proved or conditional, as verified; what was not checked stands in notes. */
static void put_guarantee(struct json **row, const struct sotto_verification *v,
                          const struct sotto_sensitivity *s)
{
    const bool proved = v->guarantee == SOTTO_GUARANTEE_PROVED;
    char text[256];
    struct json *j = json_make_object(), *epsilon = json_make_object(), *assumptions = json_make_array(),
                *sensitivity = json_make_object(), *notes = json_make_array();
    json_put_real(&epsilon, "lower", v->epsilon.lower);
    json_put_real(&epsilon, "upper", v->epsilon.upper);
    json_put(&j, "epsilon", epsilon);
    json_put_real(&j, "delta", v->delta);
    json_put_text(&j, "adjacency", v->adjacency);
    json_put_text(&j, "unit_of_privacy", v->unit);
    report_assume(
        &assumptions,
        "the audited answers are those of the certified file (a statement of the person who ran the audit)",
        true);
    report_assume_conditions(&assumptions, v->condition);
    json_put(&j, "assumptions", assumptions);
    json_put(row, proved ? "proved" : "conditional", j);
    json_put_text(&sensitivity, "source", sensitivity_source_name(s->source));
    json_put_real(&sensitivity, "l1", s->l1);
    json_put_real(&sensitivity, "l2", s->l2);
    json_put(row, "sensitivity", sensitivity);
    snprintf(text, sizeof text, "certificate: %s", v->signed_by ? "signed by key " : "not signed");
    if (v->signed_by)
        snprintf(text + strlen(text), sizeof text - strlen(text), "%s", v->signed_by);
    json_push(&notes, json_make_text(text));
    for (size_t i = 0; i < v->check_count; i++)
        if (v->checks[i].outcome == SOTTO_VERIFY_NOT_MADE) {
            snprintf(text, sizeof text, "not checked: %s", v->checks[i].text);
            json_push(&notes, json_make_text(text));
        }
    json_put(row, "notes", notes);
}

static sotto_status put_certificate(struct json **row, const struct sotto_audit_facts *facts)
{
    sotto_status status = SOTTO_OK;
    struct sotto_verification v = {0};
    struct sotto_certificate *c = NULL;
    if (!facts || !facts->certificate)
        goto done;
    TRY(sotto_verify(&v, facts->certificate, NULL, facts->ledger, NULL));
    if (v.guarantee == SOTTO_GUARANTEE_NONE)
        FAIL(SOTTO_EGATE, "%s: guarantees nothing, as its noise was seeded", v.certificate);
    TRY(sotto_certificate_load(&c, v.certificate));
    json_put_boolean(row, "protected", true);
    json_put_boolean(row, "certified", true);
    json_put_text(row, "mechanism", v.mechanism);
    json_put_real(row, "scale", v.scale);
    put_guarantee(row, &v, sotto_certificate_sensitivity(c));
done:
    sotto_certificate_free(c);
    sotto_verification_clear(&v);
    return status;
}

static sotto_status inputs_json(struct json **out, const struct sotto_audit_facts *facts)
{
    sotto_status status = SOTTO_OK;
    struct json *list = json_make_array();
    for (size_t i = 0; facts && i < facts->inputs_count; i++) {
        char hash[SHA256_HEX];
        TRY(array_file_sha256(hash, facts->inputs[i].path, NULL));
        struct json *one = json_make_object();
        json_put_text(&one, "name", facts->inputs[i].role);
        json_put_text(&one, "sha256", hash[0] ? hash : "read from a pipe");
        json_push(&list, one);
    }
    *out = list;
    list = NULL;
done:
    json_free(list);
    return status;
}

static sotto_status report_json(struct json **out, const struct json *audit,
                                const struct sotto_audit_facts *facts)
{
    sotto_status status = SOTTO_OK;
    char when[32];
    struct json *inputs = NULL, *row = NULL, *doc = json_make_object(), *rows = json_make_array(),
                *run = json_make_object(), *reproduce = json_make_object();
    TRY(inputs_json(&inputs, facts));
    time_text(when);
    json_put_text(&run, "name", "audit");
    json_put_text(&run, "version", sotto_version());
    json_put_text(&run, "created", when);
    json_put(&run, "seed", json_clone(json_member(audit, "seed")));
    if (facts && facts->command)
        json_put_text(&reproduce, "command", facts->command);
    json_put(&reproduce, "inputs", inputs);
    inputs = NULL;
    row = row_json(audit);
    TRY(put_certificate(&row, facts));
    json_push(&rows, row);
    row = NULL;
    json_put_text(&doc, "schema", "sotto.report/1");
    json_put_text(&doc, "title", facts && facts->title ? facts->title : "Membership audit");
    json_put(&doc, "run", run);
    json_put(&doc, "rows", rows);
    json_put(&doc, "reproduce", reproduce);
    run = rows = reproduce = NULL;
    if (!doc)
        FAIL(SOTTO_ENOMEM, "report: out of memory for the document");
    *out = doc;
    doc = NULL;
done:
    json_free(inputs);
    json_free(row);
    json_free(run);
    json_free(rows);
    json_free(reproduce);
    json_free(doc);
    return status;
}

sotto_status sotto_report_audit_html(char **html, const struct sotto_audit_result *audit,
                                     const struct sotto_audit_facts *facts)
{
    REQUIRE_GIVEN(html, audit);
    sotto_status status = SOTTO_OK;
    struct json *document = audit_encode(audit), *doc = NULL;
    struct report r = {0};
    if (!document)
        FAIL(SOTTO_ENOMEM, "report: out of memory for the audit");
    TRY(report_json(&doc, document, facts));
    TRY(report_judge(&r, doc));
    TRY(report_html(html, &r));
done:
    report_clear(&r);
    json_free(document);
    return status;
}

sotto_status sotto_report_audit(const char *folder, const struct sotto_audit_result *audit,
                                const struct sotto_audit_facts *facts)
{
    REQUIRE_GIVEN(folder, audit);
    sotto_status status = SOTTO_OK;
    struct json *document = audit_encode(audit), *doc = NULL;
    static const struct sotto_audit_facts none;
    facts = facts ? facts : &none;
    if (!document)
        FAIL(SOTTO_ENOMEM, "report: out of memory for the audit");
    TRY(report_json(&doc, document, facts));
    TRY(report_write(folder, doc, document));
done:
    json_free(document);
    return status;
}
