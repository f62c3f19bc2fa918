/* A text is made in three steps: marks of the format get other braces, arguments are put in, and what is marked is shown in the style of the
 * process, which the program and the Python package choose at their start. */
#include "base/error_format.h"

#include "base/status.h"
#include "sotto/private/error.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

static _Atomic int error_style; /* enum sotto_error_style */

void sotto_error_style(enum sotto_error_style style)
{
    atomic_store(&error_style, (int)style);
}

/* Bytes of the character at p, 0: it is none of UTF-8, or steers a terminal (control characters of one byte or two). The lowest
 * folder has no io/text/utf8.h, which also knows overlong forms. */
static size_t error_shown(const unsigned char *p)
{
    const size_t length = p[0] < 0x80   ? 1
                          : p[0] < 0xc2 ? 0
                          : p[0] < 0xe0 ? 2
                          : p[0] < 0xf0 ? 3
                          : p[0] < 0xf5 ? 4
                                        : 0;
    for (size_t i = 1; i < length; i++)
        if ((p[i] & 0xc0) != 0x80)
            return 0;
    return p[0] < ' ' || p[0] == 0x7f || (p[0] == 0xc2 && p[1] < 0xa0) ? 0 : length;
}

/* Texts quote names and cells of files: what is no character of one line becomes '?'. */
static void error_disarm(char *text)
{
    for (unsigned char *p = (unsigned char *)text; *p;) {
        const size_t length = error_shown(p);
        if (length == 0)
            *p = '?';
        p += length ? length : 1;
    }
}

/* The braces of a mark while a text is made: bytes that no format holds, so that braces of an argument mark nothing. */
enum { MARK_OPEN = 1, MARK_CLOSE = 2, MARK_LENGTH = 1024 };

/* The names of a mark, without braces: KEY|OPTION|KEYWORD. Those that are left out are those before. */
struct mark_names {
    const char *name[3];
    size_t length[3];
};

/* Returns what follows the names, "=VALUE" or the end of the mark; NULL: `at` is no mark. */
static const char *mark_names(struct mark_names *out, const char *at, char close)
{
    int n = 0;
    for (int i = 0; i < 3; i++) {
        const size_t length = strspn(at, "abcdefghijklmnopqrstuvwxyz0123456789_.-%");
        n = length ? i : n;
        out->name[i] = length ? at : out->name[n];
        out->length[i] = length ? length : out->length[n];
        if (i == 0 && length == 0)
            return NULL;
        at += length;
        at += *at == '|' && i < 2;
    }
    return (*at == close || *at == '=') && strchr(at, close) ? at : NULL;
}

/* A format whose marks have other braces; at most the length of a text. */
static void mark_arm(char out[MARK_LENGTH], const char *format)
{
    struct mark_names names;
    snprintf(out, MARK_LENGTH, "%s", format);
    for (char *at = out; (at = strchr(at, '{')); at++) {
        const char *rest = mark_names(&names, at + 1, '}');
        if (rest) {
            *at = MARK_OPEN;
            *strchr(rest, '}') = MARK_CLOSE;
        }
    }
}

/* Writes a name: of a keyword or an option, only what follows the last dot of the member. */
static size_t mark_name(char *out, size_t capacity, const struct mark_names *m, enum sotto_error_style style)
{
    const char *name = m->name[style], *dot = memrchr(name, '.', m->length[style]);
    const char from = style == SOTTO_STYLE_OPTION ? '_' : '-', to = from == '_' ? '-' : '_';
    const size_t skip = dot && style != SOTTO_STYLE_MEMBER ? (size_t)(dot + 1 - name) : 0;
    size_t n = 0;
    for (size_t i = skip; i < m->length[style] && n + 1 < capacity; i++)
        out[n++] = name[i] == from ? to : name[i];
    out[n] = '\0';
    return n;
}

/* The one place that shows members. Out: key  of the first mark, where it is "" before. */
static void mark_render(char *out, size_t capacity, char *key, const char *armed)
{
    const enum sotto_error_style style = (enum sotto_error_style)atomic_load(&error_style);
    struct mark_names names;
    size_t n = 0;
    while (*armed && n + 4 < capacity) {
        const char *rest = *armed == MARK_OPEN ? mark_names(&names, armed + 1, MARK_CLOSE) : NULL;
        if (!rest) {
            out[n++] = *armed++;
            continue;
        }
        if (style == SOTTO_STYLE_OPTION)
            n += (size_t)snprintf(out + n, 3, "--");
        n += mark_name(out + n, capacity - n - 1, &names, style);
        if (!key[0])
            mark_name(key, STATUS_KEY, &names, SOTTO_STYLE_MEMBER);
        /* of a keyword that is the subject, "types: 'x' is ...", the name alone */
        if (*rest == '=' || (style == SOTTO_STYLE_KEYWORD && rest[1] != ':'))
            out[n++] = style == SOTTO_STYLE_OPTION ? ' ' : '=';
        armed = rest + (*rest == '=');
        for (; *armed != MARK_CLOSE && n + 1 < capacity; armed++)
            out[n++] = *armed;
        armed += *armed == MARK_CLOSE;
    }
    out[n] = '\0';
    error_disarm(out);
}

void error_format(char *out, size_t capacity, char *key, const char *format, va_list args)
{
    char armed[MARK_LENGTH], text[MARK_LENGTH];
    mark_arm(armed, format);
    vsnprintf(text, sizeof text, armed, args);
    mark_render(out, capacity, key, text);
}
