/* ask_words.h - a query as words, numbers and signs, and the error that names a place in it. */
#ifndef ASK_ASK_WORDS_H
#define ASK_ASK_WORDS_H

#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>

enum { ASK_WORD = 128 };
enum ask_token_kind { ASK_END, ASK_A_WORD, ASK_A_QUOTE, ASK_A_NUMBER, ASK_A_SIGN };
struct ask_token {
    enum ask_token_kind kind;
    char text[ASK_WORD]; /* of a sign: "=", "!=", ":" ... */
    double number;
    size_t at; /* its first character in the query, from 1 */
};
/** Where a text is being read. */
struct ask_words {
    const char *rest;
    size_t query, at;      /* number of the query, from 1, and the character that comes next */
    struct ask_token next; /* not taken yet */
};
/** The first query of a text; query: its number. EUSAGE. */
sotto_status ask_words_begin(struct ask_words *w, const char *text, size_t query);
/** The query behind a ';', which is the token that comes next. EUSAGE. */
sotto_status ask_words_next_query(struct ask_words *w);
/** Reads the next token into w->next. EUSAGE: no token begins there. */
sotto_status ask_words_take(struct ask_words *w);
/** Is the next one that word, in any case, or that sign? A quoted text is neither. */
bool ask_words_next_is(const struct ask_words *w, const char *word);
/** "ask: query 2, character 11: ...": the place is that of the token. EUSAGE. */
sotto_status ask_fail_at(const struct ask_words *w, const struct ask_token *at, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
