/* protect_every_record.h - protect --records: one release of every record. */
#ifndef VERBS_PROTECT_EVERY_RECORD_H
#define VERBS_PROTECT_EVERY_RECORD_H

#include "options/options.h"

#include <stdbool.h>

/** Whether --records names a file, not a number of records. */
bool protect_records_asked(const struct options *o);
/** Whether labels alone are released: randomised response, without --records X.npy. */
bool protect_labels_asked(const struct options *o);
sotto_status protect_records(const struct options *o, const struct sotto_context *ctx, int json);
/** EUSAGE: an option of --records X.npy without it. The number that --records gives otherwise. */
sotto_status protect_record_count(size_t *records, const struct options *o);

#endif
