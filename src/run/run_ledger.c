/* The run folder keeps a copy of every ledger that its releases were charged to. */
#include "run/run_stages.h"

#include <stdio.h>
#include <string.h>

#include "dp/ledger.h"
#include "sotto/io.h"

/* Each case has its own private slice, hence its own fingerprint and ledger. */
sotto_status run_copy_ledgers(struct run *r)
{
    sotto_status status = SOTTO_OK;
    struct sotto_head *head = NULL;
    char *ledger = NULL;
    unsigned char *text = NULL;
    struct atomic_file out = {0};
    char path[RUN_PATH], name[RUN_PATH];
    TRY(run_folder_path(path, &r->folder, "ledger.jsonl"));
    TRY(atomic_open(&out, path));
    for (size_t i = 0; i < r->config.case_count; i++) {
        struct run_model m;
        size_t size;
        if (r->config.cases[i].protection_count == 0)
            continue;
        run_model_name(&m, r, i, -1);
        run_model_file(name, &m);
        TRY(run_folder_path(path, &r->folder, name));
        sotto_head_free(head);
        head = NULL;
        TRY(sotto_head_load(&head, path));
        base_free(ledger);
        ledger = NULL;
        TRY(ledger_default_path(&ledger, sotto_head_fingerprint(head)));
        base_free(text);
        text = NULL;
        TRY(file_read(&text, &size, ledger, (size_t)1 << 30));
        atomic_write(&out, text, size);
    }
    TRY(atomic_commit(&out));
done:
    atomic_discard(&out);
    sotto_head_free(head);
    base_free(ledger);
    base_free(text);
    return status;
}
