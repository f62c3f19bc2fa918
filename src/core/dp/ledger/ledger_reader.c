#include "dp/ledger/ledger_reader.h"
#include "base/file.h"
#include "base/memory.h"
#include "dp/ledger/ledger_lines.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

enum { WINDOW = 1 << 16 };

static sotto_status reader_take_all(struct ledger_reader *r)
{
    unsigned char *all;
    const sotto_status status = file_read(&all, &r->size, r->path, LEDGER_LIMIT);
    if (status == SOTTO_OK)
        r->window = (char *)all;
    r->held = r->size;
    return status;
}

sotto_status ledger_reader_open(struct ledger_reader *r, const char *path)
{
    sotto_status status = SOTTO_OK;
    bool regular;
    *r = (struct ledger_reader){.path = path, .fd = -1};
    if (file_is_pipe(path))
        return reader_take_all(r);
    TRY(file_open(&r->fd, &r->size, &regular, path));
    if (r->size > LEDGER_LIMIT)
        FAIL(SOTTO_EFORMAT, "%s: has %zu bytes; expected at most %zu", path, r->size, LEDGER_LIMIT);
    r->capacity = WINDOW;
    NEW(r->window, r->capacity);
done:
    return status;
}

/* Fills the window from there on. */
static sotto_status reader_fill(struct ledger_reader *r, size_t at)
{
    sotto_status status = SOTTO_OK;
    const bool inside = at >= r->from && at < r->from + r->held;
    const size_t keep = inside ? r->from + r->held - at : 0;
    if (keep > 0)
        memmove(r->window, r->window + (at - r->from), keep);
    r->from = at;
    r->held = keep;
    if (keep == r->capacity) {
        REGROW(r->window, r->capacity, 2 * r->capacity);
        r->capacity *= 2;
    }
    const size_t rest = r->size - (at + keep), room = r->capacity - keep;
    ssize_t got;
    do
        got = pread(r->fd, r->window + keep, rest < room ? rest : room, (off_t)(at + keep));
    while (got < 0 && errno == EINTR);
    if (got < 0)
        FAIL(SOTTO_EIO, "%s: %s", r->path, strerror(errno));
    r->held += (size_t)got;
    if (got == 0) /* cut meanwhile: what is there counts */
        r->size = at + keep;
done:
    return status;
}

sotto_status ledger_reader_line(const char **line, size_t *length, bool *ended, struct ledger_reader *r,
                                size_t at)
{
    sotto_status status = SOTTO_OK;
    const char *newline = NULL;
    size_t searched = 0;
    for (;;) {
        const bool inside = at >= r->from && at <= r->from + r->held;
        const size_t held = inside ? r->from + r->held - at : 0;
        const char *start = r->window + (inside ? at - r->from : 0);
        newline = held > searched ? memchr(start + searched, '\n', held - searched) : NULL;
        if (newline || at + held >= r->size) {
            *line = start;
            *length = newline ? (size_t)(newline - start) : held;
            *ended = newline != NULL;
            goto done;
        }
        searched = held;
        TRY(reader_fill(r, at));
    }
done:
    return status;
}

void ledger_reader_close(struct ledger_reader *r)
{
    base_free(r->window);
    if (r->fd >= 0)
        close(r->fd);
    *r = (struct ledger_reader){.fd = -1};
}
