/* ledger_records.h - which source records a ledger was charged for: hashes under a key of the ledger's own, so
 * that two ledgers have no hash in common even where they hold the same records. */
#ifndef DP_LEDGER_LEDGER_RECORDS_H
#define DP_LEDGER_LEDGER_RECORDS_H

#include "base/sha256.h"
#include "sotto/ledger.h"

#include <stdbool.h>

struct ledger_hashes;
struct ledger_records {
    char dataset_id[SOTTO_DATASET_ID]; /* of the first entry; "": none yet */
    bool keyed;
    unsigned char key[DIGEST_BYTES];
    uint64_t *hashes; /* (count) */
    size_t count, capacity;
};

/** Adds what an entry of event "records" holds. EFORMAT: another key than the entries before, or no hashes. */
sotto_status ledger_records_take(struct ledger_records *r, const struct ledger_hashes *entry,
                                 const char *where);
/** Of a ledger that is not to be charged; its chain is not checked. *out is {0}. ENOENT, EFORMAT, ENOMEM. */
sotto_status ledger_records_read(struct ledger_records *out, const char *path);
/** How many of the digests are among them. Sorts the hashes. ENOMEM. */
sotto_status ledger_records_shared(size_t *shared, struct ledger_records *r,
                                   const struct sotto_source_records *s);
/** The line (sotto_text_free) that adds the digests which are not among them yet, or less often than in s; NULL where all are. Draws the key first where
 * there is none. Sorts the hashes. ENOMEM, EINTERNAL. */
sotto_status ledger_records_entry(char **line, struct ledger_records *r, const char *dataset_id,
                                  const struct sotto_source_records *s);
void ledger_records_free(struct ledger_records *r);

#endif
