/* ask_table.h - the sums of all cells over the rows of a table. */
#ifndef ASK_ASK_TABLE_H
#define ASK_ASK_TABLE_H

#include "ask/ask_query.h"

/** In:      person  NULL, or the column of type person: of each person the first `most` rows count, in the file's order
 *  Out:     sums    (plan->cells), which start as zeros
 *           *rows   that were counted
 *  Returns: ENOENT, EIO, EFORMAT, ENOMEM, ESTOPPED */
sotto_status ask_table_sum(int64_t *sums, size_t *rows, const struct ask_plan *plan, const char *path,
                           const char *person, size_t most, const struct sotto_context *ctx);

#endif
