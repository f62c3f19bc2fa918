/* What another program's accountant says it did, written into a ledger. Nobody checked that it clipped,
 * sampled and drew its noise as it says, so the entries are "as stated by the caller": the conditional
 * column. */
#include "base/file.h"
#include "base/sha256.h"
#include "dp/account/accountant.h"
#include "dp/ledger/certificate_json.h"
#include "dp/account/events.h"
#include "dp/ledger/ledger.h"

static struct json *import_entry(const struct sotto_event *e, const struct sotto_account *a,
                                 const char *file_sha256)
{
    const struct sotto_sensitivity unit = {.l1 = NAN, .l2 = 1, .source = SOTTO_SENSITIVITY_GIVEN};
    struct json *entry = json_make_object();
    json_put_text(&entry, "schema", "sotto.ledger/1");
    json_put_text(&entry, "event", "import");
    json_put_text(&entry, "origin", "Opacus accountant history, as stated by the caller");
    json_put_text(&entry, "file_sha256", file_sha256);
    json_put_text(&entry, "mechanism", e->mechanism);
    json_put_real(&entry, "noise_multiplier", e->noise_multiplier);
    json_put_real(&entry, "sample_rate", e->sample_rate);
    json_put_integer(&entry, "steps", (int64_t)e->count);
    json_put(&entry, "sensitivity", certificate_sensitivity(&unit));
    certificate_put_account(&entry, a);
    return entry;
}

sotto_status sotto_ledger_import_opacus(const char *path, const char *history, double delta,
                                        const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    struct ledger ledger = {.fd = -1};
    struct event_list list = {NULL, 0};
    struct json *entry = NULL;
    struct sotto_account a;
    unsigned char *data = NULL;
    size_t size;
    char hash[SHA256_HEX];
    TRY(require_delta(delta));
    TRY(file_read(&data, &size, history, EVENTS_FILE_LIMIT));
    TRY(events_parse_opacus(&list, (const char *)data, size, history));
    sha256_of(hash, data, size);
    TRY(sotto_account_events(&a, list.events, list.count, 0, SOTTO_ADD_REMOVE, ctx)); /* all or nothing */
    TRY(ledger_open(&ledger, path, ctx));
    for (size_t i = 0; i < list.count; i++) {
        TRY(sotto_account_events(&a, &list.events[i], 1, delta, SOTTO_ADD_REMOVE, ctx));
        entry = import_entry(&list.events[i], &a, hash);
        TRY(ledger_append(&ledger, &entry));
    }
done:
    json_free(entry);
    events_free(&list);
    base_free(data);
    ledger_close(&ledger);
    return status;
}
