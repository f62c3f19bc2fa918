/* ledger_place.h - the file that says where the ledger of a data set lies. */
#ifndef DP_LEDGER_LEDGER_PLACE_H
#define DP_LEDGER_LEDGER_PLACE_H

#include "base/memory.h"

/** Both are owned by the caller (base_free). EFORMAT, ENOENT, EIO, ENOMEM. */
sotto_status ledger_place_load(char **dataset_id, char **ledger, const char *place);
/** EIO, ENOMEM. */
sotto_status ledger_place_save(const char *place, const char *dataset_id, const char *ledger);

#endif
