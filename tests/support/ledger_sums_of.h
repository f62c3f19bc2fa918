/* ledger_sums_of.h - what a ledger adds up to, for tests. */
#ifndef SUPPORT_LEDGER_SUMS_OF_H
#define SUPPORT_LEDGER_SUMS_OF_H

#include "support/test.h"
#include "dp/ledger/ledger_sums.h"

/** Until the next call. */
static inline const struct ledger_sums *sums_of(const struct ledger *l)
{
    static struct ledger_sums sums;
    ledger_sums_free(&sums);
    sums = (struct ledger_sums){.proved = {.releases = 0}};
    assert_int_equal(ledger_sums_of(&sums, l), SOTTO_OK);
    return &sums;
}

#endif
