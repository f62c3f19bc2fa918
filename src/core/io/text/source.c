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

static bool is_text(const unsigned char *b, size_t size)
{
    for (size_t i = 0; i < size; i++)
        if ((b[i] < ' ' && !memchr("\t\r\n", b[i], 3)) || b[i] == 0x7f)
            return false;
    return size > 0 && (b[0] < 0x80 || memcmp(b, "\xef\xbb\xbf", size < 3 ? size : 3) == 0);
}

sotto_status source_kind(const char **out, const struct source *s)
{
    static const struct {
        const char *magic, *name;
        size_t size;
    } kinds[] = {{"PK\x03\x04", "a ZIP archive (an .npz file?)", 4},
                 {"PK\x05\x06", "an empty ZIP archive", 4},
                 {"\x93NUMPY", "a .npy file", 6},
                 {"\x89HDF\r\n", "an HDF5 file", 6},
                 {"MATLAB 5.0", "a MATLAB file", 10},
                 {"PAR1\x15", "a Parquet file", 5},
                 {"\x1f\x8b", "a gzip file", 2}};
    unsigned char b[64];
    const size_t have = s->size < sizeof b ? s->size : sizeof b;
    sotto_status status = source_read(s, b, 0, have);
    *out = NULL;
    if (status != SOTTO_OK)
        return status;
    for (size_t k = 0; !*out && k < sizeof kinds / sizeof *kinds; k++)
        if (have >= kinds[k].size && memcmp(b, kinds[k].magic, kinds[k].size) == 0)
            *out = kinds[k].name;
    if (*out)
        return SOTTO_OK;
    if (have > 8 && b[8] == '{' && b[6] == 0 && b[7] == 0) /* behind the length of a header */
        *out = "a .safetensors file";
    else if (have > 2 && b[0] == 0x80 && b[1] >= 2 && b[1] <= 5) /* the protocol */
        *out = "a pickle, which could run code";
    else if (is_text(b, have))
        *out = "text";
    return SOTTO_OK;
}

sotto_status source_refuse(const struct source *s, const char *expected)
{
    const char *kind;
    sotto_status status = source_kind(&kind, s);
    if (status != SOTTO_OK)
        return status;
    if (kind)
        return status_fail(SOTTO_EFORMAT, "%s: is %s; expected %s", s->name, kind, expected);
    return status_fail(SOTTO_EFORMAT, "%s: does not start like %s", s->name, expected);
}

sotto_status source_check_text(const struct source *s)
{
    const char *kind;
    sotto_status status = source_kind(&kind, s);
    return status == SOTTO_OK && kind && strcmp(kind, "text") != 0 ? source_refuse(s, "a table of text")
                                                                   : status;
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
