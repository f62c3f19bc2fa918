/* The length is taken once, when the source is opened; every count in a header is checked against it before
 * memory is asked for, so a damaged header cannot make the program allocate more than a small multiple of the
 * file. */
#include "io/text/source.h"

#include "base/file.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

sotto_status source_open(struct source *out, const char *path, const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    struct source s = {.name = path, .fd = -1, .ctx = ctx};
    bool regular;
    TRY(file_open(&s.fd, &s.size, &regular, path));
    if (!regular) {
        TRY(pipe_read(&s.owned, &s.size, s.fd, path, SIZE_MAX, ctx));
        s.memory = s.owned;
        close(s.fd);
        s.fd = -1;
    }
    *out = s;
    s = (struct source){.fd = -1};
done:
    source_close(&s);
    return status;
}

struct source source_memory(const void *data, size_t size, const char *name)
{
    return (struct source){.name = name, .size = size, .memory = data, .fd = -1};
}

sotto_status source_read(const struct source *s, void *out, size_t offset, size_t bytes)
{
    enum { PIECE = 1 << 22 };
    if (offset > s->size || bytes > s->size - offset)
        return status_fail(SOTTO_EFORMAT, "%s: ends after %zu bytes; the file is cut or damaged", s->name,
                           s->size);
    if (s->fd < 0) {
        if (bytes > 0)
            memcpy(out, s->memory + offset, bytes);
        return SOTTO_OK;
    }
    for (size_t have = 0; have < bytes;) {
        sotto_status status = context_check(s->ctx, "%s: stopped while it was read", s->name);
        if (status != SOTTO_OK)
            return status;
        size_t piece = bytes - have < PIECE ? bytes - have : PIECE;
        ssize_t got = pread(s->fd, (unsigned char *)out + have, piece, (off_t)(offset + have));
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return status_fail(SOTTO_EIO, "%s: %s", s->name, strerror(errno));
        if (got == 0)
            return status_fail(SOTTO_EIO, "%s: became shorter while it was read", s->name);
        have += (size_t)got;
    }
    return SOTTO_OK;
}

void source_close(struct source *s)
{
    if (s->fd >= 0)
        close(s->fd);
    s->fd = -1;
    base_free(s->owned);
    s->owned = NULL;
}

const char *source_bytes(char out[SOURCE_BYTES], uint64_t bytes)
{
    static const char *const units[] = {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    if (bytes < (1u << 20)) {
        snprintf(out, SOURCE_BYTES, "%llu bytes", (unsigned long long)bytes);
        return out;
    }
    double value = (double)bytes / 1024;
    size_t unit = 0;
    while (value >= 1023.5 && unit + 1 < sizeof units / sizeof *units) {
        value /= 1024;
        unit++;
    }
    snprintf(out, SOURCE_BYTES, "%.3g %s", value, units[unit]);
    return out;
}
