/* What all parts of the grammar are read with. */
#include "ask/ask_parser.h"
#include "base/choice.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const char *const keywords[] = {"by", "x",   "where", "and",    "in", "is",
                                       "or", "per", "with",  "weight", "as", "from"};

void parser_say(struct parser *p, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    const size_t room = sizeof p->q->text - p->length;
    const int wrote = vsnprintf(p->q->text + p->length, room, format, list);
    va_end(list);
    p->length += (size_t)wrote < room ? (size_t)wrote : room - 1;
}

/* As it is in a canonical query: in quotes where it would be read as something else. */
const char *parser_quote(char out[ASK_WORD + 2], const char *text)
{
    struct ask_words w;
    bool plain = ask_words_begin(&w, text, 1) == SOTTO_OK && w.next.kind == ASK_A_WORD && !*w.rest;
    for (size_t i = 0; i < sizeof keywords / sizeof *keywords; i++)
        plain = plain && !ask_words_next_is(&w, keywords[i]);
    snprintf(out, ASK_WORD + 2, plain ? "%s" : "\"%s\"", text);
    return out;
}

sotto_status parser_expect(struct parser *p, const char *sign, const char *why)
{
    if (!ask_words_next_is(&p->words, sign))
        return ask_fail_at(&p->words, &p->words.next, "expected '%s' %s", sign, why);
    return ask_words_take(&p->words);
}

bool parser_at_keyword(const struct ask_words *w)
{
    for (size_t i = 0; i < sizeof keywords / sizeof *keywords; i++)
        if (ask_words_next_is(w, keywords[i]))
            return true;
    return false;
}

/* ---- columns ---- */

void parser_guess(struct guess *g, const char *name)
{
    const size_t distance = name_distance(g->given, name), room = sizeof g->all - g->length;
    const int wrote =
        snprintf(g->all + g->length, room, "%s%s", g->length ? ", " : "; expected one of ", name);
    g->length += (size_t)wrote < room ? (size_t)wrote : room - 1;
    if (distance >= strlen(g->given) || distance >= (g->nearest ? g->nearest : 2 + strlen(g->given) / 6))
        return;
    g->nearest = distance;
    snprintf(g->text, sizeof g->text, "; did you mean '%.64s'?", name);
}

const char *parser_guessed(const struct guess *g)
{
    return g->text[0] ? g->text : g->all;
}

sotto_status parser_column(size_t *column, struct parser *p)
{
    sotto_status status = SOTTO_OK;
    const struct sotto_table_encoding *e = p->schema;
    const struct ask_token t = p->words.next;
    if (parser_at_keyword(&p->words))
        TRY(ask_fail_at(&p->words, &t,
                        "'%s' is a word of the grammar; expected a column, in quotes if it is called so",
                        t.text));
    if (t.kind != ASK_A_WORD && t.kind != ASK_A_QUOTE)
        TRY(ask_fail_at(&p->words, &t, "expected the name of a column"));
    const bool is_label = e->label && strcmp(t.text, e->label) == 0;
    *column = is_label ? e->count : encoding_find(e, t.text);
    if (*column == e->count && !is_label) {
        struct guess g = {.given = t.text};
        for (size_t j = 0; j < e->count + (e->label != NULL); j++)
            if (ask_column_kind(e, j) != COLUMN_IGNORED)
                parser_guess(&g, ask_column_name(e, j));
        TRY(ask_fail_at(&p->words, &t, "'%s' is no column of %s%s", t.text, p->name, parser_guessed(&g)));
    }
    if (e->person && strcmp(t.text, e->person) == 0)
        TRY(ask_fail_at(&p->words, &t, "column '%s' says who a person is; expected another column", t.text));
    if (ask_column_kind(e, *column) == COLUMN_IGNORED)
        TRY(ask_fail_at(&p->words, &t, "column '%s' is of type ignore in %s; expected a number or a category",
                        t.text, p->name));
    TRY(ask_words_take(&p->words));
done:
    return status;
}

sotto_status parser_number(double *x, struct parser *p, const char *what)
{
    if (p->words.next.kind != ASK_A_NUMBER || !isfinite(p->words.next.number))
        return ask_fail_at(&p->words, &p->words.next, "expected %s", what);
    *x = p->words.next.number;
    return ask_words_take(&p->words);
}
