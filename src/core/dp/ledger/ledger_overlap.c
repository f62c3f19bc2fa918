/* Records of two sets are compared where their owner asks, and by no charge: a refusal would tell whether a record is in a set. */
#include "base/file.h"
#include "dp/ledger/ledger_records.h"
#include "dp/ledger/ledger_registry.h"

sotto_status sotto_ledger_overlap(size_t *shared, const char *dataset_id,
                                  const unsigned char (*digests)[SOTTO_DIGEST], size_t n)
{
    REQUIRE_GIVEN(shared, dataset_id, !n || digests);
    sotto_status status = SOTTO_OK;
    struct ledger_records records = {0};
    const struct sotto_source_records source = {.digests = digests, .n = n};
    char *path = NULL;
    TRY(registry_find(&path, dataset_id));
    if (!path)
        FAIL(SOTTO_EUSAGE,
             "no ledger is known for data set '%.80s'; expected a set, or a data set with a charged ledger",
             dataset_id);
    TRY(ledger_records_read(&records, path));
    TRY(ledger_records_shared(shared, &records, &source));
done:
    ledger_records_free(&records);
    base_free(path);
    return status;
}
