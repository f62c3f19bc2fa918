#include "ask/ask_texts.h"

#include "base/file.h"
#include "base/memory.h"

#include <string.h>

enum { FILE_LIMIT = 1 << 20 };

void ask_texts_clear(struct ask_texts *t)
{
    base_free(t->texts);
    base_free(t->lines);
    *t = (struct ask_texts){0};
}

static sotto_status add_text(struct ask_texts *t, const char *text)
{
    sotto_status status = SOTTO_OK;
    REGROW(t->texts, t->count, t->count + 1);
    t->texts[t->count++] = text;
done:
    return status;
}

/* Lines that hold a query. */
static sotto_status read_lines(struct ask_texts *t, const char *path)
{
    sotto_status status = SOTTO_OK;
    size_t size = 0;
    char *rest = NULL;
    TRY(file_read(&t->lines, &size, path, FILE_LIMIT));
    if (memchr(t->lines, 0, size))
        FAIL(SOTTO_EFORMAT, "%s: holds a NUL byte; expected queries as text, one a line", path);
    REGROW(t->lines, size, size + 1);
    t->lines[size] = 0;
    for (char *line = strtok_r((char *)t->lines, "\r\n", &rest); line; line = strtok_r(NULL, "\r\n", &rest)) {
        line += strspn(line, " \t");
        if (*line && *line != '#')
            TRY(add_text(t, line));
    }
done:
    return status;
}

sotto_status ask_texts_read(struct ask_texts *t, const struct sotto_ask *ask)
{
    sotto_status status = SOTTO_OK;
    for (size_t i = 0; i < ask->count; i++)
        TRY(add_text(t, ask->queries[i]));
    if (ask->queries_file)
        TRY(read_lines(t, ask->queries_file));
    if (t->count == 0)
        FAIL(SOTTO_EUSAGE, "ask: there is no query; expected one, such as 'mean age', or {queries=FILE}");
done:
    return status;
}
