/* Reading one entry of a bundle: whole, or front to back for entries that should not lie in memory. */
#include "data/files/bundle.h"

#include "base/file.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

enum {
    FILE_LIMIT_SHIFT = 33 /* no single file above 8 GiB */,
    PIECE = 1 << 22 /* bytes between questions */
};

struct entry_stream {
    const struct bundle *bundle;
    size_t entry, size, at;
    FILE *file;                     /* on disk, */
    struct archive_stream *archive; /* left in an archive, or (both NULL) in memory */
};

static sotto_status open_file(struct entry_stream *s)
{
    sotto_status status = SOTTO_OK;
    char path[4096];
    struct stat info;
    if (!bundle_path(path, sizeof path, s->bundle, s->entry))
        FAIL(SOTTO_ENOENT, "%.60s...: the path is too long", s->bundle->origin);
    s->file = fopen(path, "rbe");
    if (!s->file || fstat(fileno(s->file), &info) != 0)
        FAIL(SOTTO_ENOENT, "%s: %s", path, strerror(errno));
    s->size = (size_t)info.st_size;
done:
    return status;
}

sotto_status entry_open(struct entry_stream **out, const struct bundle *b, size_t entry)
{
    sotto_status status = SOTTO_OK;
    const struct bundle_entry *e = &b->entries[entry];
    struct entry_stream *s = NULL;
    NEW(s, 1);
    *s = (struct entry_stream){.bundle = b, .entry = entry, .size = e->size};
    if (e->left)
        TRY(archive_stream_open(&s->archive, b->origin, e->name));
    else if (!e->data)
        TRY(open_file(s));
    *out = s;
    s = NULL;
done:
    entry_close(s);
    return status;
}

size_t entry_size(const struct entry_stream *s)
{
    return s->size;
}

sotto_status entry_read(struct entry_stream *s, void *block, size_t bytes)
{
    sotto_status status = SOTTO_OK;
    const struct bundle_entry *e = &s->bundle->entries[s->entry];
    size_t have = 0, got;
    if (bytes > s->size - s->at)
        FAIL(SOTTO_EFORMAT, "ends after %zu bytes; the file is cut or damaged", s->size);
    if (e->data)
        memcpy(block, e->data + s->at, have = bytes);
    while (have < bytes) {
        size_t piece = bytes - have < PIECE ? bytes - have : PIECE;
        TRY(context_check(s->bundle->ctx, "stopped while it was read"));
        if (s->archive)
            TRY(archive_stream_read(&got, s->archive, (unsigned char *)block + have, piece));
        else
            got = fread((unsigned char *)block + have, 1, piece, s->file);
        if (got == 0)
            FAIL(SOTTO_EIO, "became shorter while it was read");
        have += got;
    }
    s->at += bytes;
done:
    if (status != SOTTO_OK)
        bundle_prefix_error(s->bundle, s->entry);
    return status;
}

void entry_close(struct entry_stream *s)
{
    if (!s)
        return;
    if (s->file)
        fclose(s->file);
    archive_stream_close(s->archive);
    base_free(s);
}

/* For the rare reader that needs a large entry in one piece. */
static sotto_status load_left(struct bytes *out, const struct bundle *b, size_t entry)
{
    sotto_status status = SOTTO_OK;
    struct entry_stream *s = NULL;
    size_t size = b->entries[entry].size;
    unsigned char *block = base_alloc(size + 1, 1);
    if (!block)
        FAIL(SOTTO_ENOMEM, "%s: cannot allocate %zu bytes", b->origin, size);
    TRY(entry_open(&s, b, entry));
    TRY(entry_read(s, block, size));
    *out = (struct bytes){block, size, block};
    block = NULL;
done:
    entry_close(s);
    base_free(block);
    return status;
}

sotto_status bundle_load(struct bytes *out, const struct bundle *b, size_t entry)
{
    sotto_status status = SOTTO_OK;
    const struct bundle_entry *e = &b->entries[entry];
    *out = (struct bytes){e->data, e->size, NULL};
    if (e->data)
        goto done;
    if (e->left)
        return load_left(out, b, entry);
    char path[4096];
    if (!bundle_path(path, sizeof path, b, entry))
        FAIL(SOTTO_ENOENT, "%.60s...: the path is too long", b->origin);
    TRY(file_read_asking(&out->owned, &out->size, path, (size_t)1 << FILE_LIMIT_SHIFT, b->ctx));
    out->data = out->owned;
done:
    return status;
}
