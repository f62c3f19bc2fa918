/* import.h - what `sotto data fetch` shares with `sotto data import`. */
#ifndef DATA_STORE_IMPORT_H
#define DATA_STORE_IMPORT_H

#include "sotto/lab/data.h"

#include <stdbool.h>

/** The folder in which NAME would be stored. EUSAGE: not a name for imports; ECREATE: it is taken. */
sotto_status import_check(char *folder, size_t capacity, const char *name);
/** sotto_data_import() of a file that came from `url` (NULL: the user's own), which is written beside the
 * data. `registered`: it is the file on record, so the set has its name for its identity. */
sotto_status import_set(const char *path, const char *name, const struct sotto_import_options *options,
                        const char *url, bool registered, const struct sotto_context *ctx);

#endif
