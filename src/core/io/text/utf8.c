#include "io/text/utf8.h"

#include <string.h>

size_t utf8_next(const char *p, size_t left)
{
    const unsigned char *s = (const unsigned char *)p;
    if (left == 0)
        return 0;
    if (s[0] < 0x80)
        return 1;
    size_t length = s[0] >= 0xf0 ? 4 : s[0] >= 0xe0 ? 3 : 2;
    if (s[0] < 0xc2 || s[0] > 0xf4 || left < length)
        return 0;
    for (size_t i = 1; i < length; i++)
        if ((s[i] & 0xc0) != 0x80)
            return 0;
    if ((s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xed && s[1] > 0x9f) || (s[0] == 0xf0 && s[1] < 0x90) ||
        (s[0] == 0xf4 && s[1] > 0x8f))
        return 0;
    return length;
}

bool utf8_valid(const char *text, size_t length)
{
    while (length > 0) {
        size_t step = utf8_next(text, length);
        if (step == 0)
            return false;
        text += step;
        length -= step;
    }
    return true;
}

size_t utf8_repair(char *out, const char *text, size_t length)
{
    size_t used = 0;
    while (length > 0) {
        size_t step = utf8_next(text, length);
        memcpy(out + used, step ? text : "\xef\xbf\xbd", step ? step : 3);
        used += step ? step : 3;
        text += step ? step : 1;
        length -= step ? step : 1;
    }
    out[used] = '\0';
    return used;
}

/* U+0000..1F, U+7F and the C1 block U+80..9F steer terminals. step: bytes of the character, 0: it is none. */
static bool is_shown(const char *text, size_t step)
{
    unsigned char first = (unsigned char)text[0];
    return step > 0 && first >= 0x20 && first != 0x7f && !(first == 0xc2 && (unsigned char)text[1] < 0xa0);
}

const char *utf8_column(char *out, const char *text, size_t columns)
{
    size_t used = 0, length = strlen(text);
    for (size_t k = 0; k < columns; k++) {
        const size_t step = utf8_next(text, length), take = step ? step : length > 0;
        if (is_shown(text, step) || length == 0)
            memcpy(out + used, length ? text : " ", length ? take : 1);
        else
            out[used] = '?';
        used += is_shown(text, step) ? take : 1;
        text += take;
        length -= take;
    }
    out[used] = '\0';
    return out;
}

const char *utf8_printable(char *out, size_t capacity, const char *text, size_t length)
{
    size_t used = 0;
    while (length > 0) {
        size_t step = utf8_next(text, length);
        bool show = is_shown(text, step);
        size_t take = step ? step : 1;
        if (used + (show ? take : 1) + 4 > capacity) {
            memcpy(out + used, "...", 4);
            return out;
        }
        if (show)
            memcpy(out + used, text, take);
        else
            out[used] = '?';
        used += show ? take : 1;
        text += take;
        length -= take;
    }
    out[used] = '\0';
    return out;
}
