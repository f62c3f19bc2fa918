/* A last line without its newline counts like any other, unless it was cut. */
#include "dp/ledger/ledger_lines.h"
#include "base/file.h"
#include "base/memory.h"
#include "dp/ledger/ledger.h"

#include <string.h>

sotto_status ledger_lines_open(struct ledger_lines *l, const char *ledger)
{
    *l = (struct ledger_lines){.ledger = ledger};
    sotto_status status = file_read(&l->data, &l->size, ledger, LEDGER_LIMIT);
    l->next = (char *)l->data;
    return status;
}

sotto_status ledger_lines_next(const struct ledger_line **line, struct ledger_lines *l)
{
    sotto_status status = SOTTO_OK;
    size_t left = l->size - (size_t)(l->next - (char *)l->data);
    char *newline = memchr(l->next, '\n', left);
    size_t length = newline ? (size_t)(newline - l->next) : left;
    if (newline || ledger_line_is_whole(l->next, length))
        status = ledger_line_parse_again(&l->line, l->next, length, l->ledger);
    else
        ledger_line_free(&l->line);
    l->next += length + (newline != NULL);
    *line = l->line.document ? &l->line : NULL;
    return status;
}

sotto_status ledger_lines_find(const struct ledger_line **line, struct ledger_lines *l, const char *hash)
{
    sotto_status status;
    do
        status = ledger_lines_next(line, l);
    while (status == SOTTO_OK && *line && !((*line)->hash && strcmp((*line)->hash, hash) == 0));
    return status;
}

void ledger_lines_close(struct ledger_lines *l)
{
    ledger_line_free(&l->line);
    base_free(l->data);
}
