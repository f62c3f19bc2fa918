#include "ask/ask_words.h"

#include "io/text/number.h"
#include "io/text/utf8.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

sotto_status ask_fail_at(const struct ask_words *w, const struct ask_token *at, const char *format, ...)
{
    char text[700];
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    return status_fail(SOTTO_EUSAGE, "ask: query %zu, character %zu: %s", w->query, at->at, text);
}

/* Letters are those of ASCII and every character beyond it. */
static bool is_letter(char c)
{
    return isalpha((unsigned char)c) || c == '_' || (unsigned char)c >= 0x80;
}

static bool goes_on(char c)
{
    return is_letter(c) || isdigit((unsigned char)c) || c == '-' || c == '.';
}

static size_t count_characters(const char *text, size_t bytes)
{
    size_t n = 0;
    for (size_t i = 0; i < bytes; i++)
        n += ((unsigned char)text[i] & 0xc0) != 0x80;
    return n;
}

static size_t length_of_number(const char *s)
{
    size_t n = *s == '-' || *s == '+';
    while (isdigit((unsigned char)s[n]) || s[n] == '.')
        n++;
    const size_t sign = s[n] != '\0' && (s[n + 1] == '-' || s[n + 1] == '+');
    if ((s[n] == 'e' || s[n] == 'E') && isdigit((unsigned char)s[n + 1 + sign])) {
        n += 1 + sign;
        while (isdigit((unsigned char)s[n]))
            n++;
    }
    return n;
}

static bool begins_number(const char *s)
{
    s += *s == '-' || *s == '+';
    s += *s == '.';
    return isdigit((unsigned char)*s);
}

/* The bytes of the next token, at least 1; its kind. 0: a quote that is not closed. */
static size_t measure_token(enum ask_token_kind *kind, const char *s)
{
    size_t n = 1;
    if (*s == '"') {
        const char *end = strchr(s + 1, '"');
        *kind = ASK_A_QUOTE;
        return end ? (size_t)(end - s) + 1 : 0;
    }
    if (begins_number(s)) {
        *kind = ASK_A_NUMBER;
        return length_of_number(s);
    }
    if (is_letter(*s)) {
        *kind = ASK_A_WORD;
        while (goes_on(s[n]))
            n++;
        return n;
    }
    *kind = ASK_A_SIGN;
    return strchr("!<>", *s) && s[1] == '=' ? 2 : 1;
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

sotto_status ask_words_take(struct ask_words *w)
{
    sotto_status status = SOTTO_OK;
    struct ask_token t = {0};
    while (is_blank(*w->rest))
        w->rest++, w->at++;
    t.at = w->at;
    if (*w->rest) {
        const size_t bytes = measure_token(&t.kind, w->rest), quote = t.kind == ASK_A_QUOTE;
        if (bytes == 0)
            TRY(ask_fail_at(w, &t, "a quote is not closed; expected another '\"' behind the name"));
        if (bytes - 2 * quote >= sizeof t.text)
            TRY(ask_fail_at(w, &t, "a word of %zu bytes; expected at most %zu", bytes, sizeof t.text - 1));
        memcpy(t.text, w->rest + quote, bytes - 2 * quote);
        if (t.kind == ASK_A_NUMBER && !number_real(&t.number, t.text, bytes))
            TRY(ask_fail_at(w, &t, "'%s' is no number; expected one such as 65 or .5", t.text));
        if (t.kind == ASK_A_SIGN && !strchr(";,:[]{}=<>!", t.text[0])) {
            char shown[16];
            TRY(ask_fail_at(w, &t, "'%s' is no part of a query; put names with such characters in quotes",
                            utf8_printable(shown, sizeof shown, w->rest, 1)));
        }
        w->at += count_characters(w->rest, bytes);
        w->rest += bytes;
    }
    w->next = t;
done:
    return status;
}

static sotto_status take_first(struct ask_words *w)
{
    while (is_blank(*w->rest))
        w->rest++;
    w->at = 1;
    return ask_words_take(w);
}

sotto_status ask_words_next_query(struct ask_words *w)
{
    w->query++;
    return take_first(w);
}

sotto_status ask_words_begin(struct ask_words *w, const char *text, size_t query)
{
    *w = (struct ask_words){.rest = text, .query = query, .at = 1};
    if (!utf8_valid(text, strlen(text)))
        return ask_fail_at(w, &(struct ask_token){.at = 1}, "the text is no UTF-8");
    return take_first(w);
}

bool ask_words_next_is(const struct ask_words *w, const char *word)
{
    return (w->next.kind == ASK_A_WORD || w->next.kind == ASK_A_SIGN) && strcasecmp(w->next.text, word) == 0;
}
