/* The first ten bytes hold the length of the header, the header holds the length of the data: a frame needs
 * no other framing. The magic is compared byte by byte, so that text printed by mistake is refused, and
 * shown, at its first character, not when a time-out strikes. */
#include "io/array/npy_stream.h"
#include "sotto/private/io.h"

#include "io/text/utf8.h"

#include <string.h>

enum { PREAMBLE = 10, PREAMBLE_LONG = 12, MAGIC = 6 };

void npy_stream_begin(struct npy_stream *s, const char *name)
{
    s->name = name;
    s->head_have = 0;
    s->head_need = PREAMBLE;
    s->header_known = s->length_known = s->settled = false;
    s->array = (struct sotto_array){0};
    s->data_have = s->data_bytes = 0;
}

sotto_status npy_stream_room(struct npy_stream *s, void **to, size_t *want)
{
    sotto_status status = SOTTO_OK;
    struct sotto_array *a = &s->array;
    if (!s->header_known) {
        *to = s->head + s->head_have;
        *want = s->head_need - s->head_have;
        return SOTTO_OK;
    }
    if (!a->data)
        TRY(sotto_array_make(a, a->dtype, a->ndim, a->shape));
    *want = s->data_bytes - s->data_have;
    *to = (unsigned char *)a->data + s->data_have;
    if (*want == 0 && !s->settled) {
        TRY(npy_settle(a, &s->layout, s->name, NULL));
        s->settled = true;
    }
done:
    return status;
}

/* How much more belongs to the header: the rest of a long preamble, then the text. */
static sotto_status npy_stream_grow(struct npy_stream *s)
{
    sotto_status status = SOTTO_OK;
    const unsigned char *b = s->head;
    size_t start = s->head_need;
    if (b[MAGIC] > 1 && start == PREAMBLE) {
        s->head_need = PREAMBLE_LONG; /* versions 2 and 3 count with four bytes; others are refused later */
        return SOTTO_OK;
    }
    size_t length = b[8] | (size_t)b[9] << 8;
    if (start == PREAMBLE_LONG)
        length |= (size_t)b[10] << 16 | (size_t)b[11] << 24;
    if (length > NPY_STREAM_HEADER - start)
        FAIL(SOTTO_EFORMAT, "%s: its .npy header has %zu bytes; expected at most %zu", s->name, length,
             NPY_STREAM_HEADER - start);
    s->head_need += length;
    s->length_known = true;
done:
    return status;
}

sotto_status npy_stream_advance(struct npy_stream *s, size_t got)
{
    sotto_status status = SOTTO_OK;
    char shown[48];
    size_t at;
    if (s->header_known) {
        s->data_have += got;
        return SOTTO_OK;
    }
    s->head_have += got;
    if (memcmp(s->head, "\x93NUMPY", s->head_have < MAGIC ? s->head_have : MAGIC) != 0)
        FAIL(SOTTO_EFORMAT, "%s: '%s' does not start like a .npy frame (\\x93NUMPY)", s->name,
             utf8_printable(shown, sizeof shown, (const char *)s->head, s->head_have));
    while (!s->length_known && s->head_have == s->head_need)
        TRY(npy_stream_grow(s));
    if (s->head_have < s->head_need)
        return SOTTO_OK;
    struct source head = source_memory(s->head, s->head_need, s->name);
    TRY(npy_header_parse(&s->array, &s->layout, &at, &head));
    s->data_bytes = s->array.count * sotto_dtype_size(s->array.dtype);
    s->header_known = true;
done:
    return status;
}

size_t npy_stream_received(const struct npy_stream *s)
{
    return s->head_have + s->data_have;
}

void npy_stream_clear(struct npy_stream *s)
{
    sotto_array_clear(&s->array);
}
