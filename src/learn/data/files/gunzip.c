/* Packed bytes in memory: one gzip member, and streams of zlib within other files.
 * A gzip member's last four bytes say how long the contents are, so the memory is asked for
 * once; a trailer that lies, or a length that deflate could not have packed into so few bytes, is damage.
 * zlib checks the CRC. */
#include "data/files/bundle.h"

#include <limits.h>
#include <string.h>
#include <zlib.h>

enum { DEFLATE_BEST = 1032 }; /* deflate packs at most 1032 : 1 */

/* Into pieces of the output, for questions in between. */
static sotto_status inflate_pieces(int *code, z_stream *z, size_t room, const struct sotto_context *ctx)
{
    enum { PIECE = 1 << 22 };
    sotto_status status = SOTTO_OK;
    do {
        TRY(context_check(ctx, "stopped while a gzip file was unpacked"));
        size_t left = room - z->total_out;
        z->avail_out = (uInt)(left < PIECE ? left : PIECE);
        *code = inflate(z, Z_FINISH);
    } while (*code == Z_BUF_ERROR && z->avail_out == 0 && z->total_out < room);
done:
    return status;
}

static sotto_status inflate_all(unsigned char *out, size_t expected, const struct bytes *b,
                                const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    z_stream z = {0};
    if (b->size > UINT_MAX || expected >= UINT_MAX)
        return status_fail(SOTTO_EFORMAT, "gzip file too large");
    if (inflateInit2(&z, 16 + MAX_WBITS) != Z_OK)
        return status_fail(SOTTO_ENOMEM, "gzip: out of memory");
    z.next_in = (unsigned char *)(uintptr_t)b->data; /* zlib's interface predates const */
    z.avail_in = (uInt)b->size;
    z.next_out = out;
    int code;
    TRY(inflate_pieces(&code, &z, expected + 1, ctx)); /* one spare byte, so that "too long" shows */
    if (code == Z_MEM_ERROR)
        FAIL(SOTTO_ENOMEM, "gzip: out of memory");
    if (code == Z_BUF_ERROR && z.avail_in == 0)
        FAIL(SOTTO_EFORMAT, "gzip data ends early, after %lu of %zu bytes; the file is cut", z.total_out,
             expected);
    if (code != Z_STREAM_END)
        FAIL(SOTTO_EFORMAT, "gzip data is damaged (%s)", z.msg ? z.msg : "gzip data has the wrong length");
    if (z.total_out != expected || z.avail_in != 0)
        FAIL(SOTTO_EFORMAT, "gzip data is damaged (trailer says %zu bytes, found %lu)", expected,
             z.total_out);
done:
    inflateEnd(&z);
    return status;
}

sotto_status bytes_gunzip(struct bytes *b, size_t limit, const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    unsigned char *out = NULL;
    const unsigned char *p = b->data;
    if (b->size < 2 || p[0] != 0x1f || p[1] != 0x8b)
        return SOTTO_OK;
    if (b->size < 18)
        return status_fail(SOTTO_EFORMAT, "gzip header is cut (%zu bytes)", b->size);
    p += b->size - 4;
    size_t expected = p[0] | (size_t)p[1] << 8 | (size_t)p[2] << 16 | (size_t)p[3] << 24;
    if (expected / DEFLATE_BEST > b->size)
        FAIL(SOTTO_EFORMAT, "gzip data is cut or damaged (trailer says %zu bytes from %zu)", expected,
             b->size);
    if (expected > limit)
        FAIL(SOTTO_EFORMAT, "gzip data unpacks to %zu bytes; expected at most %zu", expected, limit);
    out = base_alloc(expected + 1, 1);
    if (!out)
        FAIL(SOTTO_ENOMEM, "gzip: cannot allocate %zu bytes", expected);
    TRY(inflate_all(out, expected, b, ctx));
    bytes_clear(b);
    *b = (struct bytes){out, expected, out};
    out = NULL;
done:
    base_free(out);
    return status;
}

sotto_status bytes_inflate(struct bytes *out, const unsigned char *data, size_t size, size_t limit,
                           const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    unsigned char *grown = NULL;
    size_t room = 0, most = size < limit / DEFLATE_BEST ? size * DEFLATE_BEST + 1 : limit + 1;
    z_stream z = {0};
    int code = Z_BUF_ERROR;
    if (size > UINT_MAX || most > UINT_MAX)
        return status_fail(SOTTO_EFORMAT, "packed data of %zu bytes is too large", size);
    if (inflateInit(&z) != Z_OK)
        return status_fail(SOTTO_ENOMEM, "zlib: out of memory");
    z.next_in = (unsigned char *)(uintptr_t)data; /* zlib's interface predates const */
    z.avail_in = (uInt)size;
    while (code == Z_BUF_ERROR && z.total_out == room && room < most) {
        size_t larger = room == 0 ? 4 * size + 64 : 2 * room;
        larger = larger < most ? larger : most;
        REGROW(grown, room, larger);
        z.next_out = grown + room;
        room = larger;
        TRY(inflate_pieces(&code, &z, room, ctx));
    }
    if (z.total_out > limit)
        FAIL(SOTTO_EFORMAT, "packed data unpacks to more than %zu bytes", limit);
    if (code != Z_STREAM_END || z.avail_in != 0)
        FAIL(SOTTO_EFORMAT, "packed data is cut or damaged (%s)", z.msg ? z.msg : "it has the wrong length");
    *out = (struct bytes){grown, z.total_out, grown};
    grown = NULL;
done:
    inflateEnd(&z);
    base_free(grown);
    return status;
}
