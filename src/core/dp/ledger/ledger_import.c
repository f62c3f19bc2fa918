/* What another program's accountant says it did, written into a ledger. It was not checked that it clipped,
 * sampled and drew its noise as it says, so the entries are "as stated by the caller": the conditional
 * column. */
#include "base/file.h"
#include "base/sha256.h"
#include "dp/account/accountant.h"
#include "dp/ledger_line/ledger_line.h"
#include "dp/account/events.h"
#include "dp/ledger/ledger.h"
#include "dp/ledger/ledger_account.h"
#include "sotto/lab/ledger.h"

#include <string.h>

static sotto_status append_import(struct ledger *l, const struct sotto_event *e,
                                  const struct sotto_account *a, const char *file_sha256)
{
    sotto_status status = SOTTO_OK;
    const struct sotto_sensitivity unit = {.l1 = NAN, .l2 = 1, .source = SOTTO_SENSITIVITY_GIVEN};
    struct charge_entry entry = {.event = LEDGER_IMPORT,
                                 .sensitivity = &unit,
                                 .account = a,
                                 .imported = e,
                                 .file_sha256 = file_sha256};
    struct ledger_line parsed = {0};
    struct ledger_item item;
    struct part_memory known = {.made = 0};
    struct ledger_charge charge;
    struct admission admission;
    bool fits; /* it was spent, whether it fits or not */
    char *line = NULL;
    TRY(charge_entry_encode(&line, &entry));
    TRY(ledger_line_parse(&parsed, line, strlen(line), "ledger entry"));
    charge = ledger_line_charge(&parsed);
    TRY(ledger_item_make(&item, &known, &charge, true));
    TRY(ledger_admit(&admission, &fits, l, ledger_columns_budget(l), &item, NULL));
    base_free(line);
    line = NULL;
    entry.admission = &admission;
    TRY(charge_entry_encode(&line, &entry));
    TRY(ledger_append_charge(l, line));
done:
    ledger_line_free(&parsed);
    base_free(line);
    return status;
}

sotto_status sotto_ledger_import_opacus(const char *ledger, const char *history, double delta,
                                        const struct sotto_context *ctx)
{
    REQUIRE_GIVEN(ledger, history);
    sotto_status status = SOTTO_OK;
    struct ledger l = {.lock = {.fd = -1}};
    struct event_list list = {NULL, 0};
    struct sotto_account a;
    unsigned char *data = NULL;
    size_t size;
    char hash[SHA256_HEX];
    TRY(require_delta(delta));
    TRY(file_read(&data, &size, history, EVENTS_FILE_LIMIT));
    TRY(events_parse_opacus(&list, (const char *)data, size, history));
    sha256_of(hash, data, size);
    TRY(sotto_account_events(&a, list.events, list.count, 0, SOTTO_ADD_REMOVE, ctx)); /* all or nothing */
    TRY(ledger_open(&l, ledger, ctx));
    TRY(ledger_require_unit(&l, &(struct privacy_unit){0}));
    for (size_t i = 0; i < list.count; i++) {
        TRY(sotto_account_events(&a, &list.events[i], 1, delta, SOTTO_ADD_REMOVE, ctx));
        TRY(append_import(&l, &list.events[i], &a, hash));
    }
done:
    events_free(&list);
    base_free(data);
    ledger_close(&l);
    return status;
}
