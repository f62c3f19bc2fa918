/* The run folder keeps a copy of every ledger that its releases were charged to, each in a file of its own: a
 * chain of hashes joined to another is one that was broken. */
#include "run/run_stages.h"

#include <stdio.h>
#include <string.h>

#include "dp/ledger.h"
#include "sotto/io.h"

/* The ledger of a case's private slice, which its head names. */
static sotto_status copy_ledger(struct run *r, size_t index)
{
    sotto_status status = SOTTO_OK;
    struct sotto_head *head = NULL;
    char *ledger = NULL;
    unsigned char *text = NULL;
    size_t size;
    char path[RUN_PATH], name[RUN_PATH];
    struct run_model m;
    run_model_name(&m, r, index, -1);
    run_model_file(name, &m);
    TRY(run_folder_path(path, &r->folder, name));
    TRY(sotto_head_load(&head, path));
    TRY(ledger_default_path(&ledger, sotto_head_fingerprint(head)));
    TRY(file_read(&text, &size, ledger, (size_t)1 << 30));
    snprintf(name, sizeof name, "ledgers/%s", strrchr(ledger, '/') + 1);
    TRY(run_folder_path(path, &r->folder, name));
    TRY(file_write(path, text, size));
done:
    sotto_head_free(head);
    base_free(ledger);
    base_free(text);
    return status;
}

sotto_status run_copy_ledgers(struct run *r)
{
    sotto_status status = SOTTO_OK;
    bool any = false;
    char folder[RUN_PATH];
    for (size_t i = 0; i < r->config.case_count; i++)
        any = any || r->config.cases[i].protection_count > 0;
    if (!any)
        goto done;
    TRY(run_folder_path(folder, &r->folder, "ledgers"));
    TRY(folder_make(folder));
    for (size_t i = 0; i < r->config.case_count; i++)
        if (r->config.cases[i].protection_count > 0)
            TRY(copy_ledger(r, i));
done:
    return status;
}
