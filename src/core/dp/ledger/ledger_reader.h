/* ledger_reader.h - the lines of a ledger through a window of memory, so that a long ledger takes no more of it than a short one. */
#ifndef DP_LEDGER_LEDGER_READER_H
#define DP_LEDGER_LEDGER_READER_H

#include "base/status.h"

#include <stdbool.h>

struct ledger_reader {
    const char *path;
    int fd; /* -1: a pipe, of which the window holds all */
    char *window;
    size_t capacity, held; /* bytes in the window, */
    size_t from;           /* behind so many of the file */
    size_t size;           /* of the file, when it was opened */
};
/** ENOENT, EIO, ENOMEM; EFORMAT: too large. Close it in any case; {.fd = -1} is closed. */
sotto_status ledger_reader_open(struct ledger_reader *r, const char *path);
/** The line that starts behind `at` bytes, until the next call. *ended: with a newline, which is not of the line. EIO, ENOMEM. */
sotto_status ledger_reader_line(const char **line, size_t *length, bool *ended, struct ledger_reader *r,
                                size_t at);
void ledger_reader_close(struct ledger_reader *r);

#endif
