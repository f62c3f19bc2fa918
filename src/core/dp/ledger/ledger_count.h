/* ledger_count.h - a line of a ledger is decoded, compared with its facts and with the lines before it, and counted. */
#ifndef DP_LEDGER_LEDGER_COUNT_H
#define DP_LEDGER_LEDGER_COUNT_H

#include "dp/ledger_line/ledger_line.h"
#include "dp/ledger/ledger.h"

/** Of a line whose place in the chain is right. `where`: the line, for errors. EFORMAT, ENOMEM. */
sotto_status ledger_count_line(struct ledger *l, struct ledger_line *line, const char *where);

#endif
