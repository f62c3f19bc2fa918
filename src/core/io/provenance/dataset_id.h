/* dataset_id.h - the rule for the identity of a private data set, which is the key of its ledger. */
#ifndef IO_PROVENANCE_DATASET_ID_H
#define IO_PROVENANCE_DATASET_ID_H

#include "sotto/base.h"

/** Everything that takes an identity asks here. EUSAGE: it is not 1 to 127 bytes of UTF-8 without control characters. */
sotto_status dataset_id_check(const char *dataset_id);

#endif
