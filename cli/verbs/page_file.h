/* page_file.h - where a verb's page goes: a file, or standard output. */
#ifndef CLI_VERBS_PAGE_FILE_H
#define CLI_VERBS_PAGE_FILE_H

#include "options/options.h"

/** path: NULL: standard output. ECREATE, EIO: no half of a page stays. */
sotto_status page_file_write(const char *path, const char *page);

#endif
