/* Archives and compressed files through libarchive, unpacked in memory. Only filters and formats that
 * libarchive runs itself are switched on: some of its others start external programs. */
#include "data/files/bundle_plain.h"

#ifndef SOTTO_HAVE_ARCHIVE

sotto_status bundle_from_memory(struct bundle *out, const char *name, const void *data, size_t size,
                                const struct bundle_limits *limits)
{
    return plain_from_memory(out, name, data, size, limits);
}

sotto_status bundle_from_archive(struct bundle *out, const char *path, const struct bundle_limits *limits,
                                 const struct sotto_context *ctx)
{
    return plain_from_file(out, path, limits, ctx);
}

/* Nothing is ever left in an archive. */
sotto_status archive_stream_open(struct archive_stream **out, const char *path, const char *name)
{
    (void)out, (void)name;
    return plain_refuse(path);
}

sotto_status archive_stream_read(size_t *got, struct archive_stream *s, void *block, size_t bytes)
{
    (void)s, (void)block, (void)bytes;
    *got = 0;
    return SOTTO_OK;
}

void archive_stream_close(struct archive_stream *s)
{
    (void)s;
}

#else

#include "base/loaded_library.h"

#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Loaded by the first archive or plain file: with what it needs in turn, it is an eighth of what every start of the program takes. */
#define CALLS(CALL)                                                                                          \
    CALL(archive_entry_filetype)                                                                             \
    CALL(archive_entry_hardlink)                                                                             \
    CALL(archive_entry_pathname)                                                                             \
    CALL(archive_entry_pathname_utf8)                                                                        \
    CALL(archive_entry_size)                                                                                 \
    CALL(archive_entry_size_is_set)                                                                          \
    CALL(archive_error_string)                                                                               \
    CALL(archive_filter_bytes)                                                                               \
    CALL(archive_format)                                                                                     \
    CALL(archive_read_data)                                                                                  \
    CALL(archive_read_free)                                                                                  \
    CALL(archive_read_new)                                                                                   \
    CALL(archive_read_next_header)                                                                           \
    CALL(archive_read_open_filename)                                                                         \
    CALL(archive_read_open_memory)                                                                           \
    CALL(archive_read_support_filter_bzip2)                                                                  \
    CALL(archive_read_support_filter_gzip)                                                                   \
    CALL(archive_read_support_filter_lzma)                                                                   \
    CALL(archive_read_support_filter_xz)                                                                     \
    CALL(archive_read_support_format_gnutar)                                                                 \
    CALL(archive_read_support_format_raw)                                                                    \
    CALL(archive_read_support_format_tar)                                                                    \
    CALL(archive_read_support_format_zip)
static struct {
    CALLS(LATE_FIELD)
    bool there;
} lib;

static void bundle_archive_load(void)
{
    const struct late_call calls[] = {CALLS(LATE_CALL)};
    lib.there = late_load("libarchive.so.13", calls, sizeof calls / sizeof *calls);
}

static bool have_library(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, bundle_archive_load);
    return lib.there;
}

enum { BLOCK = 1 << 16, EXPANSION_FREE = 64 << 20, GUESS_LIMIT = 16 << 20 };

struct unpacking {
    struct archive *archive;
    const struct bundle_limits *limits;
    size_t bytes;  /* unpacked so far, all entries */
    size_t packed; /* bytes of the file, 0: unknown */
    bool on_disk;  /* so that an entry can be read again */
    const struct sotto_context *ctx;
};

static sotto_status prefix_archive_error(struct archive *a, const char *what)
{
    const char *text = lib.archive_error_string(a);
    return status_fail(SOTTO_EFORMAT, "%s (%s)", what, text ? text : "no details");
}

static struct archive *reader_new(void)
{
    struct archive *a = lib.archive_read_new();
    if (!a)
        return NULL;
    lib.archive_read_support_filter_gzip(a);
    lib.archive_read_support_filter_xz(a);
    lib.archive_read_support_filter_lzma(a);
    lib.archive_read_support_filter_bzip2(a);
    lib.archive_read_support_format_tar(a);
    lib.archive_read_support_format_gnutar(a);
    lib.archive_read_support_format_zip(a);
    lib.archive_read_support_format_raw(a);
    return a;
}

/* One more block of the current entry, after checking what it has unpacked to so far. 0 bytes: its end. */
static sotto_status read_more(size_t *got, struct unpacking *u, void *block, size_t bytes)
{
    sotto_status status = SOTTO_OK;
    la_ssize_t count = lib.archive_read_data(u->archive, block, bytes);
    if (count < 0)
        TRY(prefix_archive_error(u->archive, "is cut or damaged"));
    u->bytes += (size_t)count;
    size_t packed = (size_t)lib.archive_filter_bytes(u->archive, -1);
    context_progress(u->ctx, "unpack", packed < u->packed ? packed : u->packed, u->packed, "bytes");
    if (context_stopped(u->ctx))
        FAIL(SOTTO_ESTOPPED, "stopped while unpacking");
    if (u->bytes > u->limits->bytes)
        FAIL(SOTTO_EFORMAT, "unpacks to more than %zu bytes; refused", u->limits->bytes);
    if (u->bytes > EXPANSION_FREE && u->bytes / u->limits->expansion > packed)
        FAIL(SOTTO_EFORMAT,
             "unpacks to more than %zu times its size; refused as a possible decompression bomb",
             u->limits->expansion);
    *got = (size_t)count;
done:
    return status;
}

/* Bytes of the current entry. A declared size is only a first guess, and only while it is small: memory grows
 * with what really arrives. What outgrows limits->memory stays in the archive: only its size is kept. */
static sotto_status read_entry(struct bundle_entry *out, struct unpacking *u, la_int64_t declared)
{
    sotto_status status = SOTTO_OK;
    size_t capacity = declared > 0 && declared < GUESS_LIMIT ? (size_t)declared + 1 : BLOCK;
    size_t have = 0, size = 0, got = 1;
    bool left = u->on_disk && declared > 0 && (uint64_t)declared > u->limits->memory;
    unsigned char *block = NULL;
    NEW(block, capacity + 1);
    while (got > 0) {
        left |= u->on_disk && have > u->limits->memory;
        if (left) {
            have = 0; /* the block is only passed through */
        } else if (have == capacity) {
            REGROW(block, have, 2 * capacity + 1);
            capacity *= 2;
        }
        TRY(read_more(&got, u, block + have, capacity - have));
        have += got;
        size += got;
    }
    if (left) {
        *out = (struct bundle_entry){.size = size, .left = true};
        goto done;
    }
    if (capacity > have + have / 8 + 64) /* many small files must not keep a large block each */
        REGROW(block, have, have + 1);
    *out = (struct bundle_entry){.data = block, .size = have};
    block = NULL;
done:
    base_free(block);
    return status;
}

/* "adult.data.xz" holds "adult.data". */
static void strip_packing(char *out, size_t capacity, const char *path)
{
    static const char *const endings[] = {".gz", ".xz", ".bz2", ".lzma"};
    snprintf(out, capacity, "%s", path_base(path));
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++)
        if (name_ends(out, endings[i]) && strlen(out) > strlen(endings[i])) {
            out[strlen(out) - strlen(endings[i])] = '\0';
            return;
        }
}

static bool is_hidden(const char *name)
{
    const char *base = path_base(name);
    return base[0] == '.' || strncmp(name, "__MACOSX/", 9) == 0;
}

static sotto_status bundle_archive_unpack(struct bundle *b, struct unpacking *u, const char *path)
{
    sotto_status status = SOTTO_OK;
    struct archive_entry *entry;
    char inner[1024];
    int code;
    while ((code = lib.archive_read_next_header(u->archive, &entry)) != ARCHIVE_EOF) {
        if (code < ARCHIVE_WARN)
            TRY(prefix_archive_error(u->archive,
                                     b->count ? "is cut or damaged" : "is not a readable archive"));
        bool raw = lib.archive_format(u->archive) == ARCHIVE_FORMAT_RAW;
        const char *name = lib.archive_entry_pathname(entry);
        if (!name)
            name = lib.archive_entry_pathname_utf8(entry);
        if (raw) {
            strip_packing(inner, sizeof inner, path);
            name = inner;
            b->single = true;
        }
        if (!name)
            FAIL(SOTTO_EFORMAT, "entry %zu has a name that is not UTF-8 text", b->count);
        if (!raw && (lib.archive_entry_filetype(entry) != AE_IFREG || lib.archive_entry_hardlink(entry) ||
                     is_hidden(name)))
            continue; /* folders, links, devices and hidden files hold no data */
        if (b->count >= u->limits->entries)
            FAIL(SOTTO_EFORMAT, "holds more than %zu files; refused", u->limits->entries);
        struct bundle_entry read = {0};
        char kept[1100];
        snprintf(kept, sizeof kept, "%s", name); /* libarchive reuses the entry */
        if (!raw && strlen(name) >= sizeof kept)
            FAIL(SOTTO_EFORMAT, "file name '%.60s...' is longer than 1024 bytes", name);
        status =
            read_entry(&read, u, lib.archive_entry_size_is_set(entry) ? lib.archive_entry_size(entry) : -1);
        if (status != SOTTO_OK) {
            if (!raw)
                status_prefix(kept);
            goto done;
        }
        TRY(bundle_add(b, kept, read.data, read.size));
        b->entries[b->count - 1].left = read.left;
    }
    if (b->count == 0)
        FAIL(SOTTO_EFORMAT, "holds no files");
done:
    return status;
}

static sotto_status bundle_archive_run(struct bundle *out, const char *origin, const void *data, size_t size,
                                       const struct bundle_limits *limits, const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    struct bundle b = {.origin = base_strdup(origin)};
    struct unpacking u = {reader_new(), limits, 0, size, data == NULL, ctx};
    if (!b.origin || !u.archive)
        FAIL(SOTTO_ENOMEM, "out of memory");
    int code = data ? lib.archive_read_open_memory(u.archive, data, size)
                    : lib.archive_read_open_filename(u.archive, origin, BLOCK);
    if (code != ARCHIVE_OK)
        TRY(prefix_archive_error(u.archive, "cannot be read"));
    TRY(bundle_archive_unpack(&b, &u, origin));
    bundle_sort(&b);
    *out = b;
done:
    if (u.archive)
        lib.archive_read_free(u.archive);
    if (status != SOTTO_OK) {
        status_prefix(origin);
        bundle_clear(&b);
    }
    return status;
}

sotto_status bundle_from_memory(struct bundle *out, const char *name, const void *data, size_t size,
                                const struct bundle_limits *limits)
{
    if (!have_library())
        return plain_from_memory(out, name, data, size, limits);
    return bundle_archive_run(out, name, size ? data : "", size, limits, NULL);
}

sotto_status bundle_from_archive(struct bundle *out, const char *path, const struct bundle_limits *limits,
                                 const struct sotto_context *ctx)
{
    struct stat info; /* libarchive would wait for ever on a pipe, and its own words for the rest are poor */
    if (stat(path, &info) != 0 || access(path, R_OK) != 0)
        return status_fail(SOTTO_ENOENT, "%s: %s", path, strerror(errno));
    if (!S_ISREG(info.st_mode))
        return status_fail(SOTTO_ENOENT, "%s: is not a regular file", path);
    if (!have_library())
        return plain_from_file(out, path, limits, ctx);
    return bundle_archive_run(out, path, NULL, (size_t)info.st_size, limits, ctx);
}

struct archive_stream {
    struct archive *archive;
};

/* The name under which bundle_archive_unpack() listed the entry: bundle_add() drops "./". A raw stream has one
 * entry. */
static bool is_entry(struct archive *a, struct archive_entry *entry, const char *name)
{
    const char *own = lib.archive_entry_pathname(entry);
    if (lib.archive_format(a) == ARCHIVE_FORMAT_RAW)
        return true;
    if (!own)
        own = lib.archive_entry_pathname_utf8(entry);
    while (own && own[0] == '.' && own[1] == '/')
        own += 2;
    return own && strcmp(own, name) == 0 && lib.archive_entry_filetype(entry) == AE_IFREG;
}

sotto_status archive_stream_open(struct archive_stream **out, const char *path, const char *name)
{
    sotto_status status = SOTTO_OK;
    struct archive_entry *entry;
    int code;
    struct archive_stream *s = base_alloc(1, sizeof *s);
    if (!s || !(s->archive = reader_new()))
        FAIL(SOTTO_ENOMEM, "%s: out of memory", path);
    code = lib.archive_read_open_filename(s->archive, path, BLOCK);
    while (code >= ARCHIVE_WARN &&
           (code = lib.archive_read_next_header(s->archive, &entry)) >= ARCHIVE_WARN && code != ARCHIVE_EOF &&
           !is_entry(s->archive, entry, name))
        continue;
    if (code < ARCHIVE_WARN || code == ARCHIVE_EOF)
        FAIL(SOTTO_EIO, "%s: changed while it was read", path);
    *out = s;
    s = NULL;
done:
    archive_stream_close(s);
    return status;
}

sotto_status archive_stream_read(size_t *got, struct archive_stream *s, void *block, size_t bytes)
{
    la_ssize_t count = lib.archive_read_data(s->archive, block, bytes);
    if (count < 0)
        return prefix_archive_error(s->archive, "is cut or damaged");
    *got = (size_t)count;
    return SOTTO_OK;
}

void archive_stream_close(struct archive_stream *s)
{
    if (s && s->archive)
        lib.archive_read_free(s->archive);
    base_free(s);
}

#endif
