/* The directory at the end of the file says where members are (PKWARE APPNOTE 6.3.10); each is also checked against its own
 * header. Deflate expands at most 1032 times (zlib technical details), so a member that claims more than that from its bytes
 * is refused before memory is asked for. Names are never used as paths. */
#include "io/array/zip.h"

#include "io/text/utf8.h"

#include <stdio.h>
#include <string.h>
#include <zlib.h>

enum {
    END = 22,
    LOCATOR = 20,
    END64 = 56,
    ENTRY = 46,
    LOCAL = 30,
    MEMBER_LIMIT = 10000,
    EXPANSION_LIMIT = 1032,
    PIECE = 1 << 16,
    ZIP64 = 45, /* version that is needed to extract */
    PLAIN = 20
};

static uint64_t zip_number(const unsigned char *p, size_t bytes)
{
    uint64_t value = 0;
    for (size_t i = bytes; i-- > 0;)
        value = value << 8 | p[i];
    return value;
}

static bool signed_as(const unsigned char *p, const char *letters)
{
    return p[0] == 'P' && p[1] == 'K' && memcmp(p + 2, letters, 2) == 0;
}

static sotto_status zip_damaged(const struct source *s, const char *what)
{
    return status_fail(SOTTO_EFORMAT, "%s: damaged .npz file: %s", s->name, what);
}

struct directory {
    uint64_t count, size, at;
};

/* The record of archives that are larger than the old one can say, in front of it. */
static sotto_status find_end64(struct directory *d, const struct source *s, size_t end)
{
    sotto_status status = SOTTO_OK;
    unsigned char locator[LOCATOR], b[END64];
    if (end < LOCATOR)
        TRY(zip_damaged(s, "its end record is cut"));
    TRY(source_read(s, locator, end - LOCATOR, LOCATOR));
    uint64_t at = zip_number(locator + 8, 8);
    if (!signed_as(locator, "\x06\x07") || at > end - LOCATOR || end - LOCATOR - at < END64)
        TRY(zip_damaged(s, "its Zip64 end record is missing"));
    TRY(source_read(s, b, (size_t)at, END64));
    if (!signed_as(b, "\x06\x06"))
        TRY(zip_damaged(s, "its Zip64 end record is missing"));
    *d = (struct directory){zip_number(b + 32, 8), zip_number(b + 40, 8), zip_number(b + 48, 8)};
done:
    return status;
}

/* The end record stands in front of a comment of up to 65,535 bytes. */
static sotto_status find_directory(struct directory *d, const struct source *s)
{
    sotto_status status = SOTTO_OK;
    unsigned char *tail = NULL;
    const size_t have = s->size < END + 65535 ? s->size : END + 65535, from = s->size - have;
    size_t end = s->size;
    NEW(tail, have + 1);
    TRY(source_read(s, tail, from, have));
    for (size_t i = have < END ? 0 : have - END + 1; end == s->size && i-- > 0;)
        if (signed_as(tail + i, "\x05\x06") && zip_number(tail + i + 20, 2) == have - END - i)
            end = from + i;
    if (end == s->size)
        TRY(zip_damaged(s, "it has no directory; the file is cut"));
    const unsigned char *b = tail + (end - from);
    *d = (struct directory){zip_number(b + 10, 2), zip_number(b + 12, 4), zip_number(b + 16, 4)};
    if (zip_number(b + 4, 2) != 0 && zip_number(b + 4, 2) != 0xffff)
        TRY(zip_damaged(s, "it is one part of several"));
    if (d->count == 0xffff || d->size == UINT32_MAX || d->at == UINT32_MAX)
        TRY(find_end64(d, s, end));
    if (d->count > MEMBER_LIMIT)
        FAIL(SOTTO_EFORMAT, "%s: has too many members; expected at most %d", s->name, MEMBER_LIMIT);
    if (d->at > end || d->size > end - d->at)
        TRY(zip_damaged(s, "its directory does not lie in the file"));
done:
    base_free(tail);
    return status;
}

/* Sizes and place that do not fit in 32 bits stand in an extra field, in this order. */
static bool take_zip64(struct zip_member *m, const unsigned char *extra, size_t size)
{
    uint64_t *const wide[] = {&m->size, &m->packed, &m->at};
    while (size >= 4) {
        size_t id = zip_number(extra, 2), left = zip_number(extra + 2, 2);
        if (left > size - 4)
            return false;
        const unsigned char *p = extra + 4;
        size -= 4 + left, extra += 4 + left;
        for (size_t k = 0; id == 1 && k < 3; k++)
            if (*wide[k] == UINT32_MAX) {
                if (left < 8)
                    return false;
                *wide[k] = zip_number(p, 8);
                p += 8, left -= 8;
            }
    }
    return true;
}

static sotto_status check_member(const struct source *s, const struct zip_member *m, unsigned flags,
                                 unsigned method, const char *shown)
{
    sotto_status status = SOTTO_OK;
    char text[SOURCE_BYTES];
    if (flags & 1)
        FAIL(SOTTO_EFORMAT, "%s: member '%s' is encrypted; save it without encryption", s->name, shown);
    if (method != 0 && method != Z_DEFLATED)
        FAIL(SOTTO_EFORMAT,
             "%s: member '%s' has an unknown compression (method %u); expected stored or deflated", s->name,
             shown, method);
    if (m->packed > s->size || m->size / EXPANSION_LIMIT > m->packed || (!m->deflated && m->size > m->packed))
        FAIL(SOTTO_EFORMAT, "%s: member '%s' claims %s, more than a file of this size can hold", s->name,
             shown, source_bytes(text, m->size > m->packed ? m->size : m->packed));
    if (!m->deflated && m->size != m->packed)
        FAIL(SOTTO_EFORMAT, "%s: member '%s' is longer than its entry states; the file is damaged", s->name,
             shown);
done:
    return status;
}

/* Where the data begin: behind the member's own header, whose name and extra field have lengths of their own. */
static sotto_status find_data(struct zip_member *m, const struct source *s, uint64_t limit, const char *shown)
{
    sotto_status status = SOTTO_OK;
    unsigned char b[LOCAL];
    if (m->at > limit || limit - m->at < LOCAL)
        FAIL(SOTTO_EFORMAT, "%s: damaged .npz file: member '%s' does not lie in the file", s->name, shown);
    TRY(source_read(s, b, (size_t)m->at, LOCAL));
    uint64_t skip = LOCAL + zip_number(b + 26, 2) + zip_number(b + 28, 2);
    if (!signed_as(b, "\x03\x04") || zip_number(b + 26, 2) != strlen(m->name) || skip > limit - m->at ||
        m->packed > limit - m->at - skip)
        FAIL(SOTTO_EFORMAT, "%s: damaged .npz file: member '%s' does not lie in the file", s->name, shown);
    m->at += skip;
done:
    return status;
}

/* One entry of the directory; *used: its bytes. */
static sotto_status take_entry(struct zip *z, size_t *used, const unsigned char *b, size_t have,
                               uint64_t limit)
{
    sotto_status status = SOTTO_OK;
    char shown[80];
    if (have < ENTRY || !signed_as(b, "\x01\x02"))
        TRY(zip_damaged(z->source, "its directory is cut"));
    const size_t name = zip_number(b + 28, 2), extra = zip_number(b + 30, 2),
                 all = ENTRY + name + extra + zip_number(b + 32, 2);
    if (all > have)
        TRY(zip_damaged(z->source, "its directory is cut"));
    struct zip_member *m = &z->members[z->count];
    *m = (struct zip_member){.size = zip_number(b + 24, 4),
                             .packed = zip_number(b + 20, 4),
                             .at = zip_number(b + 42, 4),
                             .crc = (uint32_t)zip_number(b + 16, 4),
                             .deflated = zip_number(b + 10, 2) == Z_DEFLATED};
    NEW(m->name, name + 1);
    z->count++;
    memcpy(m->name, b + ENTRY, name);
    utf8_printable(shown, sizeof shown, m->name, name);
    if (strlen(m->name) != name || !utf8_valid(m->name, name))
        FAIL(SOTTO_EFORMAT, "%s: member '%s' has a name that is no UTF-8 text", z->source->name, shown);
    if (!take_zip64(m, b + ENTRY + name, extra))
        TRY(zip_damaged(z->source, "a Zip64 field is cut"));
    TRY(check_member(z->source, m, (unsigned)zip_number(b + 8, 2), (unsigned)zip_number(b + 10, 2), shown));
    TRY(find_data(m, z->source, limit, shown));
    *used = all;
done:
    return status;
}

sotto_status zip_open(struct zip *out, const struct source *s)
{
    sotto_status status = SOTTO_OK;
    struct zip z = {.source = s};
    struct directory d = {0};
    unsigned char magic[4] = {0}, *bytes = NULL;
    TRY(source_read(s, magic, 0, s->size < 4 ? s->size : 4));
    if (!signed_as(magic, "\x03\x04") && !signed_as(magic, "\x05\x06"))
        TRY(source_refuse(s, "a .npz file (a ZIP archive)"));
    TRY(find_directory(&d, s));
    NEW(bytes, d.size + 1);
    NEW(z.members, d.count + 1);
    TRY(source_read(s, bytes, (size_t)d.at, (size_t)d.size));
    for (size_t i = 0, at = 0, used = 0; i < d.count; i++, at += used)
        TRY(take_entry(&z, &used, bytes + at, (size_t)d.size - at, d.at));
    *out = z;
    z = (struct zip){0};
done:
    base_free(bytes);
    zip_close(&z);
    return status;
}

void zip_close(struct zip *z)
{
    for (size_t i = 0; i < z->count; i++)
        base_free(z->members[i].name);
    base_free(z->members);
    *z = (struct zip){0};
}

static sotto_status wrong_length(const struct zip *z, const struct zip_member *m, uint64_t have)
{
    char shown[80];
    utf8_printable(shown, sizeof shown, m->name, strlen(m->name));
    if (have > m->size)
        return status_fail(SOTTO_EFORMAT,
                           "%s: member '%s' is longer than its entry states; the file is damaged",
                           z->source->name, shown);
    return status_fail(SOTTO_EFORMAT,
                       "%s: member '%s' ends after %llu of %llu bytes; the file is cut or damaged",
                       z->source->name, shown, (unsigned long long)have, (unsigned long long)m->size);
}

static void *zlib_alloc(void *user, unsigned count, unsigned size)
{
    (void)user;
    return base_alloc(count, size);
}

static void zlib_free(void *user, void *p)
{
    (void)user;
    base_free(p);
}

/* Piece by piece on both sides: zlib counts in 32 bits. One spare byte behind the member shows what is too long. */
static sotto_status inflate_member(unsigned char *out, const struct zip *z, const struct zip_member *m)
{
    sotto_status status = SOTTO_OK;
    z_stream stream = {.zalloc = zlib_alloc, .zfree = zlib_free};
    unsigned char in[PIECE], spare;
    uint64_t read = 0, have = 0;
    int code = Z_OK;
    if (inflateInit2(&stream, -MAX_WBITS) != Z_OK)
        return status_fail(SOTTO_ENOMEM, "%s: out of memory", z->source->name);
    while (code == Z_OK && have <= m->size) {
        if (stream.avail_in == 0 && read < m->packed) {
            stream.next_in = in;
            stream.avail_in = m->packed - read < PIECE ? (unsigned)(m->packed - read) : PIECE;
            TRY(context_check(z->source->ctx, "%s: stopped while it was read", z->source->name));
            TRY(source_read(z->source, in, (size_t)(m->at + read), stream.avail_in));
            read += stream.avail_in;
        }
        const unsigned room = have == m->size               ? 1
                              : m->size - have < 16 * PIECE ? (unsigned)(m->size - have)
                                                            : 16 * PIECE;
        stream.next_out = have == m->size ? &spare : out + have;
        stream.avail_out = room;
        code = inflate(&stream, Z_NO_FLUSH);
        have += room - stream.avail_out;
    }
    if (code == Z_MEM_ERROR)
        FAIL(SOTTO_ENOMEM, "%s: out of memory", z->source->name);
    if (code == Z_DATA_ERROR || code == Z_NEED_DICT)
        TRY(zip_damaged(z->source, stream.msg ? stream.msg : "a member cannot be unpacked"));
    if (code != Z_STREAM_END || have != m->size)
        TRY(wrong_length(z, m, have));
done:
    inflateEnd(&stream);
    return status;
}

static uint32_t crc_add(uint32_t crc, const unsigned char *data, size_t size)
{
    for (size_t at = 0; at < size; at += 1 << 30)
        crc = (uint32_t)crc32(crc, data + at, (unsigned)(size - at < 1 << 30 ? size - at : 1 << 30));
    return crc;
}

sotto_status zip_read(unsigned char *out, const struct zip *z, size_t member)
{
    sotto_status status = SOTTO_OK;
    const struct zip_member *m = &z->members[member];
    if (m->deflated)
        TRY(inflate_member(out, z, m));
    else
        TRY(source_read(z->source, out, (size_t)m->at, (size_t)m->size));
    if (crc_add(0, out, (size_t)m->size) != m->crc)
        TRY(zip_damaged(z->source, "the CRC of a member does not fit its bytes"));
done:
    return status;
}

static void zip_put(unsigned char **p, uint64_t value, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++, value >>= 8)
        *(*p)++ = (unsigned char)value;
}

static uint64_t zip_narrow(uint64_t value)
{
    return value < UINT32_MAX ? value : UINT32_MAX;
}

static bool is_wide(const struct zip_member *m)
{
    return m->size >= UINT32_MAX || m->at >= UINT32_MAX;
}

/* What the member's own header and the directory share: from the version to the length of the extra field. */
static void put_facts(unsigned char **p, const struct zip_member *m, size_t extra)
{
    const unsigned january_1980 = 1 << 5 | 1;
    zip_put(p, is_wide(m) ? ZIP64 : PLAIN, 2);
    zip_put(p, 1 << 11, 2); /* the name is UTF-8 */
    zip_put(p, 0, 2);       /* stored */
    zip_put(p, (uint64_t)january_1980 << 16, 4);
    zip_put(p, m->crc, 4);
    zip_put(p, zip_narrow(is_wide(m) ? UINT32_MAX : m->packed), 4);
    zip_put(p, zip_narrow(is_wide(m) ? UINT32_MAX : m->size), 4);
    zip_put(p, strlen(m->name), 2);
    zip_put(p, extra, 2);
}

static void put_sizes64(unsigned char **p, const struct zip_member *m, bool with_place)
{
    zip_put(p, 1, 2);
    zip_put(p, with_place ? 24 : 16, 2);
    zip_put(p, m->size, 8);
    zip_put(p, m->packed, 8);
    if (with_place)
        zip_put(p, m->at, 8);
}

static void zip_emit(struct zip_writer *w, const void *data, size_t size)
{
    atomic_write(w->file, data, size);
    w->at += size;
}

sotto_status zip_write(struct zip_writer *w, const char *name, const void *head, size_t head_size,
                       const void *data, size_t size)
{
    sotto_status status = SOTTO_OK;
    unsigned char b[LOCAL + 20], *p = b;
    struct zip_member m = {
        .size = (uint64_t)head_size + size, .packed = (uint64_t)head_size + size, .at = w->at};
    REQUIRE(strlen(name) < UINT16_MAX, "the name of a .npz member has %zu bytes; expected at most 65534",
            strlen(name));
    m.crc = crc_add(crc_add(0, head, head_size), data, size);
    REGROW(w->members, w->count, w->count + 1);
    NEW_TEXT(m.name, name);
    w->members[w->count++] = m;
    zip_put(&p, 0x04034b50, 4);
    put_facts(&p, &m, is_wide(&m) ? 20 : 0);
    zip_emit(w, b, LOCAL);
    zip_emit(w, name, strlen(name));
    p = b;
    if (is_wide(&m))
        put_sizes64(&p, &m, false);
    zip_emit(w, b, (size_t)(p - b));
    zip_emit(w, head, head_size);
    zip_emit(w, data, size);
done:
    return status;
}

static void write_entry(struct zip_writer *w, const struct zip_member *m)
{
    unsigned char b[ENTRY], *p = b;
    zip_put(&p, 0x02014b50, 4);
    zip_put(&p, 3 << 8 | (is_wide(m) ? ZIP64 : PLAIN), 2); /* made by: attributes of Unix */
    put_facts(&p, m, is_wide(m) ? 28 : 0);
    zip_put(&p, 0, 6); /* comment, disk, internal attributes */
    zip_put(&p, (uint64_t)0100600 << 16, 4);
    zip_put(&p, zip_narrow(is_wide(m) ? UINT32_MAX : m->at), 4);
    zip_emit(w, b, ENTRY);
    zip_emit(w, m->name, strlen(m->name));
    p = b;
    if (is_wide(m))
        put_sizes64(&p, m, true);
    zip_emit(w, b, (size_t)(p - b));
}

void zip_write_end(struct zip_writer *w)
{
    const uint64_t begin = w->at;
    unsigned char b[END64 + LOCATOR + END], *p = b;
    for (size_t i = 0; i < w->count; i++)
        write_entry(w, &w->members[i]);
    const uint64_t size = w->at - begin;
    if (begin >= UINT32_MAX || size >= UINT32_MAX || w->count >= 0xffff) {
        zip_put(&p, 0x06064b50, 4);
        zip_put(&p, END64 - 12, 8);
        zip_put(&p, (uint64_t)ZIP64 << 16 | 3 << 8 | ZIP64, 4);
        zip_put(&p, 0, 8); /* disks */
        zip_put(&p, w->count, 8);
        zip_put(&p, w->count, 8);
        zip_put(&p, size, 8);
        zip_put(&p, begin, 8);
        zip_put(&p, 0x07064b50, 4);
        zip_put(&p, 0, 4);
        zip_put(&p, w->at, 8);
        zip_put(&p, 1, 4);
    }
    zip_put(&p, 0x06054b50, 4);
    zip_put(&p, 0, 4);
    zip_put(&p, w->count < 0xffff ? w->count : 0xffff, 2);
    zip_put(&p, w->count < 0xffff ? w->count : 0xffff, 2);
    zip_put(&p, zip_narrow(size), 4);
    zip_put(&p, zip_narrow(begin), 4);
    zip_put(&p, 0, 2);
    zip_emit(w, b, (size_t)(p - b));
    for (size_t i = 0; i < w->count; i++)
        base_free(w->members[i].name);
    base_free(w->members);
    w->members = NULL;
    w->count = 0;
}
