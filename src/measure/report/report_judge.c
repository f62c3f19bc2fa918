/* What the numbers of a document say, as a struct. */
#include "audit/audit_memory.h"
#include "report/document/document.h"
#include "sotto/lab/report.h"

#include <math.h>
#include <string.h>

static sotto_status keep_row(struct sotto_report_verdict *out, struct sotto_audit_memory **memory,
                             const struct report_row *row)
{
    sotto_status status = SOTTO_OK;
    const struct attack_result *a = row->attack_count ? &row->attacks[row->strongest] : NULL;
    *out = (struct sotto_report_verdict){.kind = row->verdict,
                                         .name = audit_keep_text(memory, row->name),
                                         .text = audit_keep_text(memory, row->verdict_text),
                                         .attack = a ? audit_keep_text(memory, a->name) : NULL,
                                         .auc = {NAN, NAN, NAN}};
    if (!out->name || !out->text || (a && !out->attack))
        FAIL(SOTTO_ENOMEM, "report: out of memory for a verdict");
    if (a)
        out->auc = (struct sotto_estimate){a->auc.value, a->auc.lower, a->auc.upper};
done:
    return status;
}

sotto_status sotto_report_judge(struct sotto_report_judgement *out, const char *report_json)
{
    REQUIRE_GIVEN(out, report_json);
    sotto_status status = SOTTO_OK;
    struct report r = {0};
    struct sotto_report_judgement j = {0};
    TRY(report_read(&r, report_json, strlen(report_json)));
    TAKE(&j.memory, j.rows, r.row_count);
    for (size_t i = 0; i < r.row_count; i++)
        TRY(keep_row(&j.rows[i], &j.memory, &r.rows[i]));
    j.row_count = r.row_count;
    j.decisive = report_decisive_row(&r);
    *out = j;
done:
    report_clear(&r);
    if (status != SOTTO_OK)
        sotto_report_judgement_free(&j);
    return status;
}

void sotto_report_judgement_free(struct sotto_report_judgement *j)
{
    if (!j)
        return;
    audit_memory_free(&j->memory);
    *j = (struct sotto_report_judgement){0};
}
