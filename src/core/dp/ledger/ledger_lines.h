/* ledger_lines.h - the entries of a ledger whose chain was checked, one after the other. */
#ifndef DP_LEDGER_LEDGER_LINES_H
#define DP_LEDGER_LEDGER_LINES_H

#include "dp/ledger_line/ledger_line.h"

#define LEDGER_LIMIT ((size_t)1 << 32) /* bytes: 16 for each record, and 1 KiB for each charge */

struct ledger_lines {
    const char *ledger;
    unsigned char *data;
    char *next;
    size_t size;
    struct ledger_line line; /* the last one that was read; not decoded */
};
/** ENOENT, EIO, ENOMEM. */
sotto_status ledger_lines_open(struct ledger_lines *lines, const char *ledger);
/** *line (borrowed until the next call): NULL after the last line. EFORMAT, ENOMEM. */
sotto_status ledger_lines_next(const struct ledger_line **line, struct ledger_lines *lines);
/** The first entry from here on of that hash, or NULL. */
sotto_status ledger_lines_find(const struct ledger_line **line, struct ledger_lines *lines, const char *hash);
/** Harmless on {0}. */
void ledger_lines_close(struct ledger_lines *lines);

#endif
