/* ask_table.h - the sums of all cells over the rows of a table, which is read in blocks and not held. */
#ifndef ASK_ASK_TABLE_H
#define ASK_ASK_TABLE_H

#include "ask/ask_query.h"
#include "io/text/source.h"

/** A table that is being read. Initialise with {0}. */
struct ask_table {
    const struct ask_plan *plan; /* borrowed, as the next three */
    const char *path, *person;   /* NULL, or the column of type person: of each the first `most` rows count */
    size_t most;
    const struct sotto_context *ctx;
    size_t block; /* bytes; no bit depends on it */
    struct source source;
    bool opened;
    struct csv_style style;
    size_t columns, *where; /* (schema's columns and the label); NULL: not known yet */
    size_t who;             /* the person's */
    size_t offset, line;    /* what comes next */
};
/** Opens a file and reads its header, which says nothing about a record. A pipe waits for ask_table_sum().
 *  Returns: ENOENT, EIO; EFORMAT: no row of names, or other columns than the schema's; ENOMEM */
sotto_status ask_table_open(struct ask_table *t);
/** No row is refused. One that is not of the table's form has missing values; one that names no person is left out.
 *  Out:     sums      (plan->sums), which start as zeros
 *           *rows     that were counted
 *           *persons  whose rows they are; 0: records
 *  Returns: EIO, ENOMEM, ESTOPPED; of a pipe as ask_table_open() */
sotto_status ask_table_sum(int64_t *sums, size_t *rows, size_t *persons, struct ask_table *t);
/** Harmless on {0}. */
void ask_table_close(struct ask_table *t);

#endif
