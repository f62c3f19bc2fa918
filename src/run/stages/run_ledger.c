/* The ledger that a run charges. A public set is an exercise: its ledger lies in the run folder. A private
 * one has one ledger for all runs, and the folder keeps a copy. */
#include "run/stages/run_stages.h"
#include "sotto/ledger.h"

#include <stdio.h>
#include <string.h>

static const char ledger_name[] = "ledger.jsonl";

static bool releases_something(const struct run *r)
{
    for (size_t i = 0; i < r->config.case_count; i++)
        if (r->config.cases[i].protection_count > 0)
            return true;
    return false;
}

/* The number of classes, and which number stands for which, must not depend on private records. */
static sotto_status check_classes(const struct run *r)
{
    sotto_status status = SOTTO_OK;
    if (!r->data->memory ||
        r->data->classes_by[0]) /* stated by the program, or by whoever filled the set in */
        goto done;
    if (!r->config.classes)
        FAIL(SOTTO_EUSAGE,
             "%s: its classes were derived from its records, so they are not public, which 'protect' needs; "
             "state their number in the experiment (data.classes)",
             r->data->name);
    if (r->data->class_names)
        FAIL(SOTTO_EUSAGE,
             "%s: its class numbers were derived from its records at import, so they are not public, which "
             "'protect' needs; import it with labels that are numbers from 0",
             r->data->name);
done:
    return status;
}

const char *run_classes_by(const struct run *r)
{
    return r->config.classes ? "the experiment (data.classes)" : r->data->classes_by;
}

sotto_status run_check_identity(const struct run *r)
{
    sotto_status status = SOTTO_OK;
    if (!releases_something(r))
        return SOTTO_OK;
    if (!r->data->dataset_id[0])
        FAIL(SOTTO_EUSAGE,
             "%s: has no identity (it was opened by its path, or imported by version 1), so no ledger can be "
             "charged for 'protect'; import the set with 'sotto data import'",
             r->data->name);
    TRY(check_classes(r));
done:
    return status;
}

/* The slices of cases that release something are disjoint, but one ledger is charged for all of them. */
sotto_status run_source_make(struct run_source *out, struct run *r, size_t index)
{
    sotto_status status = SOTTO_OK;
    struct run_source s = {.records.public_set = sotto_dataset_is_public(r->data->dataset_id)};
    size_t n = r->config.cases[index].records;
    if (s.records.public_set) {
        TRY(run_folder_path(s.ledger, &r->folder, ledger_name));
    } else {
        NEW(s.digests, n);
        TRY(sotto_dataset_digests(s.digests, r->data, r->split.rows[SPLIT_PRIVATE] + run_case_first(r, index),
                                  n, r->ctx));
        s.records.digests = (const unsigned char(*)[SOTTO_DIGEST])s.digests;
        s.records.n = n;
    }
    *out = s;
    s.digests = NULL;
done:
    base_free(s.digests);
    return status;
}

void run_source_clear(struct run_source *s)
{
    base_free(s->digests);
    *s = (struct run_source){0};
}

sotto_status run_copy_ledgers(struct run *r)
{
    sotto_status status = SOTTO_OK;
    char *ledger = NULL, path[RUN_PATH];
    unsigned char *text = NULL;
    size_t size = 0;
    bool private = releases_something(r) && !sotto_dataset_is_public(r->data->dataset_id);
    TRY(run_folder_path(path, &r->folder, ledger_name));
    if (!private && file_exists(path))
        goto done;
    if (private) {
        TRY(sotto_ledger_find(&ledger, r->data->dataset_id));
        TRY(file_read(&text, &size, ledger, (size_t)1 << 32));
    }
    TRY(file_write(path, text ? (const void *)text : "", size));
done:
    sotto_text_free(ledger);
    base_free(text);
    return status;
}
