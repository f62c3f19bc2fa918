/* manual_file.h - what man pages and completions share. */
#ifndef CLI_OPTIONS_MANUAL_FILE_H
#define CLI_OPTIONS_MANUAL_FILE_H

#include "options/options_private.h"

sotto_status manual_file_open(FILE **out, const char *folder, const char *name);
/** Closes it in any case. */
sotto_status manual_file_close(FILE *file, const char *name);

#endif
