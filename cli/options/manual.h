/* manual.h - man pages and completions, written from the same tables as --help. */
#ifndef CLI_OPTIONS_MANUAL_H
#define CLI_OPTIONS_MANUAL_H

#include "options/options.h"

/** DIR/sotto.1 and DIR/sotto-VERB.1 of each verb. ECREATE, EIO. */
sotto_status manual_write(const char *folder, const struct verb *const *verbs, size_t count);
/** DIR/sotto.bash, DIR/_sotto (zsh) and DIR/sotto.fish. ECREATE, EIO. */
sotto_status completion_write(const char *folder, const struct verb *const *verbs, size_t count);

#endif
