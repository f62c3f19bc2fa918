#include "io/text/text_encoding.h"

#include "base/memory.h"
#include "io/text/utf8.h"

#include <string.h>

const char *const text_encodings[TEXT_ENCODINGS] = {"utf-8", "latin-1", "windows-1252"};

/* Windows-1252 where it differs from Latin-1: bytes 0x80 to 0x9f. */
static const unsigned short windows[32] = {0x20ac, 0xfffd, 0x201a, 0x0192, 0x201e, 0x2026, 0x2020, 0x2021,
                                           0x02c6, 0x2030, 0x0160, 0x2039, 0x0152, 0xfffd, 0x017d, 0xfffd,
                                           0xfffd, 0x2018, 0x2019, 0x201c, 0x201d, 0x2022, 0x2013, 0x2014,
                                           0x02dc, 0x2122, 0x0161, 0x203a, 0x0153, 0xfffd, 0x017e, 0x0178};

bool text_encoding_named(enum text_encoding *out, const char *name)
{
    for (int k = 0; k < TEXT_ENCODINGS; k++)
        if (strcmp(name, text_encodings[k]) == 0) {
            *out = (enum text_encoding)k;
            return true;
        }
    return false;
}

enum text_encoding text_encoding_of(const char *text, size_t size)
{
    size_t characters = 0, bad = 0, high = 0; /* high: 0x80 to 0x9f, which Latin-1 has no letters for */
    for (size_t i = 0; i < size;) {
        const size_t step = utf8_next(text + i, size - i);
        characters += step > 1;
        bad += step == 0;
        high += step == 0 && (unsigned char)text[i] < 0xa0;
        i += step ? step : 1;
    }
    if (bad <= characters)
        return TEXT_UTF8;
    return high ? TEXT_WINDOWS_1252 : TEXT_LATIN_1;
}

static size_t put_character(char *out, unsigned code)
{
    if (code < 0x80) {
        out[0] = (char)code;
        return 1;
    }
    if (code < 0x800) {
        out[0] = (char)(0xc0 | code >> 6);
        out[1] = (char)(0x80 | (code & 0x3f));
        return 2;
    }
    out[0] = (char)(0xe0 | code >> 12);
    out[1] = (char)(0x80 | (code >> 6 & 0x3f));
    out[2] = (char)(0x80 | (code & 0x3f));
    return 3;
}

static bool is_utf8(const char *text, size_t size)
{
    for (size_t i = 0, step; i < size; i += step)
        if (!(step = utf8_next(text + i, size - i)))
            return false;
    return true;
}

sotto_status text_to_utf8(char **out, size_t *out_size, const char *text, size_t size,
                          enum text_encoding from)
{
    sotto_status status = SOTTO_OK;
    char *copy = NULL;
    size_t at = 0, capacity;
    if (!size_multiply(&capacity, size, from == TEXT_UTF8 ? 1 : 3) || !size_add(&capacity, capacity, 1))
        FAIL(SOTTO_ENOMEM, "text: out of memory");
    NEW(copy, capacity);
    for (size_t i = 0, next; i < size; i = next) {
        for (next = i + 1; next < size && !strchr("\n,;\t|", text[next - 1]);)
            next++;
        if (from == TEXT_UTF8 || is_utf8(text + i, next - i)) {
            memcpy(copy + at, text + i, next - i);
            at += next - i;
            continue;
        }
        for (size_t j = i; j < next; j++) {
            const unsigned char byte = (unsigned char)text[j];
            at += put_character(copy + at, from == TEXT_WINDOWS_1252 && byte >= 0x80 && byte < 0xa0
                                               ? windows[byte - 0x80]
                                               : byte);
        }
    }
    *out = copy;
    *out_size = at;
done:
    return status;
}
