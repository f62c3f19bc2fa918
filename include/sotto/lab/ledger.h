
#ifndef SOTTO_LAB_LEDGER_H
#define SOTTO_LAB_LEDGER_H

#include "sotto/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Writes an Opacus history into a ledger. Nothing is written when the file is refused.
 *
 *  In:      history  the file, as for sotto_account_opacus_file()
 *           delta    at which entries are accounted, under add-remove (a group of two in the ledger's replace-one total)
 *  Out:     ledger   one more entry for each triple: "as stated by the caller", so in the conditional column
 *  Returns: those of the reader and of the ledger */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_ledger_import_opacus(const char *ledger, const char *history,
                                                                   double delta,
                                                                   const struct sotto_context *ctx);

#ifdef __cplusplus
}
#endif
#endif
