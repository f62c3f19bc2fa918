/* Members are decompressed in memory only; their names are never used as paths. Deflate expands at most 1032
 * times (zlib technical details), so a member that claims more than that from this file is refused before
 * memory is asked for; other compression methods, which have no such bound, and encryption are refused. */
#include "io/array/npz.h"

#include "base/file.h"
#include "io/array/npy.h"
#include "io/array/safetensors.h"
#include "io/text/utf8.h"

#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

static const uint64_t TOTAL_LIMIT = (uint64_t)64 << 30;
enum { EXPANSION_LIMIT = 1032, MEMBER_LIMIT = 10000, BLOCK = 1 << 16 };

struct reader {
    struct archive *archive;
    const char *name;
    uint64_t left; /* bytes that may still be decompressed */
};

static sotto_status archive_failed(const struct reader *r)
{
    char shown[160];
    if (archive_errno(r->archive) == ENOMEM)
        return status_fail(SOTTO_ENOMEM, "%s: out of memory", r->name);
    const char *text = archive_error_string(r->archive);
    text = text ? text : "unreadable";
    return status_fail(SOTTO_EFORMAT, "%s: damaged .npz file: %s", r->name,
                       utf8_printable(shown, sizeof shown, text, strlen(text)));
}

/* Reads exactly `size` bytes of the current member and then its end. */
static sotto_status read_member(unsigned char *out, size_t size, const struct reader *r, const char *member)
{
    size_t have = 0;
    unsigned char extra;
    while (have < size) {
        la_ssize_t got = archive_read_data(r->archive, out + have, size - have);
        if (got < 0)
            return archive_failed(r);
        if (got == 0)
            return status_fail(SOTTO_EFORMAT,
                               "%s: member '%s' ends after %zu of %zu bytes; the file is cut or damaged",
                               r->name, member, have, size);
        have += (size_t)got;
    }
    la_ssize_t got = archive_read_data(r->archive, &extra, 1); /* also checks the CRC */
    if (got < 0)
        return archive_failed(r);
    if (got > 0)
        return status_fail(SOTTO_EFORMAT,
                           "%s: member '%s' is longer than its entry states; the file is damaged", r->name,
                           member);
    return SOTTO_OK;
}

/* "weights.npy" -> the printable name and the length of "weights". */
static sotto_status check_name(const struct reader *r, const char *path, char shown[80], size_t *length)
{
    size_t n = path ? strlen(path) : 0;
    utf8_printable(shown, 80, path ? path : "", n);
    if (n < 5 || strcmp(path + n - 4, ".npy") != 0 || !utf8_valid(path, n))
        return status_fail(SOTTO_EFORMAT, "%s: member '%s' is not a .npy file", r->name, shown);
    *length = n - 4;
    return SOTTO_OK;
}

static sotto_status check_entry(struct reader *r, struct archive_entry *entry, const char *shown,
                                size_t *size)
{
    const char *format = archive_format_name(r->archive);
    if (archive_entry_filetype(entry) != AE_IFREG)
        return status_fail(SOTTO_EFORMAT, "%s: member '%s' is not a plain file", r->name, shown);
    if (archive_entry_is_encrypted(entry))
        return status_fail(SOTTO_EFORMAT, "%s: member '%s' is encrypted; save it without encryption", r->name,
                           shown);
    if (!format || (!strstr(format, "(deflation)") && !strstr(format, "(uncompressed)")))
        return status_fail(SOTTO_EFORMAT,
                           "%s: member '%s' has an unknown compression (%.60s); expected stored or deflated",
                           r->name, shown, format ? format : "unknown");
    int64_t bytes = archive_entry_size_is_set(entry) ? archive_entry_size(entry) : -1;
    if (bytes < 0)
        return status_fail(SOTTO_EFORMAT, "%s: the entry of member '%s' has no size; save the file again",
                           r->name, shown);
    if ((uint64_t)bytes > r->left) {
        char text[SOURCE_BYTES];
        return status_fail(SOTTO_EFORMAT, "%s: member '%s' claims %s, more than a file of this size can hold",
                           r->name, shown, source_bytes(text, (uint64_t)bytes));
    }
    r->left -= (uint64_t)bytes;
    *size = (size_t)bytes;
    return SOTTO_OK;
}

static sotto_status read_array(struct sotto_tensors *t, struct reader *r, struct archive_entry *entry)
{
    sotto_status status = SOTTO_OK;
    unsigned char *data = NULL;
    char *key = NULL, shown[80], where[600];
    struct sotto_array a = {0};
    size_t length = 0, size = 0;
    const char *path = archive_entry_pathname(entry);
    TRY(check_name(r, path, shown, &length));
    TRY(check_entry(r, entry, shown, &size));
    key = base_strdup(path);
    data = base_alloc(size, 1);
    if (!key || !data)
        FAIL(SOTTO_ENOMEM, "%s: cannot allocate %zu bytes", r->name, size);
    key[length] = '\0';
    if (sotto_tensors_find(t, key))
        FAIL(SOTTO_EFORMAT, "%s: two members are named '%s'", r->name, shown);
    TRY(read_member(data, size, r, shown));
    snprintf(where, sizeof where, "%.480s: %s", r->name, shown);
    TRY(npy_from_memory(&a, data, size, where));
    TRY(tensors_push(t, key, &a));
done:
    sotto_array_clear(&a);
    base_free(data);
    base_free(key);
    return status;
}

static sotto_status read_all(struct sotto_tensors *t, struct reader *r)
{
    sotto_status status = SOTTO_OK;
    struct archive_entry *entry;
    for (;;) {
        int got = archive_read_next_header(r->archive, &entry);
        if (got == ARCHIVE_EOF)
            return SOTTO_OK;
        if (got != ARCHIVE_OK)
            return archive_failed(r);
        if (t->count == MEMBER_LIMIT)
            return status_fail(SOTTO_EFORMAT, "%s: has too many members; expected at most %d", r->name,
                               MEMBER_LIMIT);
        TRY(read_array(t, r, entry));
    }
done:
    return status;
}

static sotto_status npz_read(struct sotto_tensors *out, const struct source *s)
{
    sotto_status status = SOTTO_OK;
    struct sotto_tensors t = {0};
    struct reader r = {.archive = archive_read_new(), .name = s->name};
    unsigned char magic[4] = {0};
    TRY(source_read(s, magic, 0, s->size < 4 ? s->size : 4));
    if (memcmp(magic, "PK\x03\x04", 4) != 0 && memcmp(magic, "PK\x05\x06", 4) != 0)
        FAIL(SOTTO_EFORMAT, "%s: does not start like a .npz (zip) file", s->name);
    r.left = s->size < TOTAL_LIMIT / EXPANSION_LIMIT ? (uint64_t)s->size * EXPANSION_LIMIT : TOTAL_LIMIT;
    if (!r.archive || archive_read_support_format_zip(r.archive) != ARCHIVE_OK)
        FAIL(SOTTO_ENOMEM, "%s: out of memory", s->name);
    int opened = s->memory ? archive_read_open_memory(r.archive, s->memory, s->size)
                           : archive_read_open_fd(r.archive, s->fd, BLOCK);
    if (opened != ARCHIVE_OK)
        TRY(archive_failed(&r));
    TRY(read_all(&t, &r));
    *out = t;
    t = (struct sotto_tensors){0};
done:
    archive_read_free(r.archive);
    sotto_tensors_clear(&t);
    return status;
}

sotto_status npz_from_memory(struct sotto_tensors *out, const void *data, size_t size, const char *name)
{
    struct source s = source_memory(data, size, name);
    return npz_read(out, &s);
}

sotto_status sotto_npz_load(struct sotto_tensors *out, const char *path)
{
    sotto_status status = SOTTO_OK;
    struct source s = {.fd = -1};
    TRY(source_open(&s, path, NULL));
    TRY(npz_read(out, &s));
done:
    source_close(&s);
    return status;
}

static la_ssize_t write_block(struct archive *archive, void *user, const void *data, size_t bytes)
{
    struct atomic_file *f = user;
    (void)archive;
    atomic_write(f, data, bytes); /* the stream remembers errors; atomic_commit reports them */
    return (la_ssize_t)bytes;
}

static bool write_data(struct archive *archive, const void *data, size_t bytes)
{
    return bytes == 0 || archive_write_data(archive, data, bytes) == (la_ssize_t)bytes;
}

static sotto_status write_array(struct archive *archive, const struct sotto_tensor *item, const char *path)
{
    sotto_status status = SOTTO_OK;
    struct archive_entry *entry = archive_entry_new();
    unsigned char header[NPY_HEADER_LIMIT];
    size_t room = strlen(item->name) + 5, head = npy_header(header, &item->array);
    size_t bytes = item->array.count * sotto_dtype_size(item->array.dtype);
    char *member = base_alloc(room, 1);
    if (!entry || !member)
        FAIL(SOTTO_ENOMEM, "%s: out of memory", path);
    snprintf(member, room, "%s.npy", item->name);
    archive_entry_set_pathname(entry, member); /* no time stamp: the same contents give the same bytes */
    archive_entry_set_filetype(entry, AE_IFREG);
    archive_entry_set_perm(entry, 0600);
    archive_entry_set_size(entry, (la_int64_t)(head + bytes));
    if (archive_write_header(archive, entry) != ARCHIVE_OK || !write_data(archive, header, head) ||
        !write_data(archive, item->array.data, bytes))
        FAIL(archive_errno(archive) == ENOMEM ? SOTTO_ENOMEM : SOTTO_EIO,
             "%s: cannot write member '%.80s': %.100s", path, member, archive_error_string(archive));
done:
    archive_entry_free(entry);
    base_free(member);
    return status;
}

sotto_status sotto_npz_save(const char *path, const struct sotto_tensors *t)
{
    sotto_status status = SOTTO_OK;
    struct atomic_file f = {0};
    struct archive *archive = archive_write_new();
    if (!archive || archive_write_set_format_zip(archive) != ARCHIVE_OK ||
        archive_write_zip_set_compression_store(archive) != ARCHIVE_OK ||
        archive_write_set_bytes_in_last_block(archive, 1) != ARCHIVE_OK)
        FAIL(SOTTO_ENOMEM, "%s: out of memory", path);
    TRY(atomic_open(&f, path));
    if (archive_write_open(archive, &f, NULL, write_block, NULL) != ARCHIVE_OK)
        FAIL(SOTTO_ENOMEM, "%s: out of memory", path);
    for (size_t i = 0; i < t->count; i++)
        TRY(write_array(archive, &t->items[i], path));
    if (archive_write_close(archive) != ARCHIVE_OK)
        FAIL(SOTTO_EIO, "%s: write failed: %.100s", path, archive_error_string(archive));
    TRY(atomic_commit(&f));
done:
    archive_write_free(archive);
    atomic_discard(&f);
    return status;
}
