/* The conditions of a query. */
#include "ask/ask_parser.h"
#include "io/text/number.h"

#include <stdio.h>
#include <string.h>

static const char *const comparisons[] = {[ASK_IS] = "=",       [ASK_IS_NOT] = "!=", [ASK_BELOW] = "<",
                                          [ASK_AT_MOST] = "<=", [ASK_ABOVE] = ">",   [ASK_AT_LEAST] = ">="};
enum { COMPARISONS = sizeof comparisons / sizeof *comparisons };

/* A value of the column: its number, or the number of its category. */
static sotto_status read_value(struct ask_term *term, struct parser *p)
{
    sotto_status status = SOTTO_OK;
    const struct ask_token t = p->words.next;
    double value = t.number;
    char shown[NUMBER_TEXT], name[ASK_WORD + 2];
    const char *text = t.text;
    if (ask_column_kind(p->schema, term->column) == COLUMN_NUMBER) {
        TRY(parser_number(&value, p, "a number, as the column holds numbers"));
        value = (double)(float)value; /* as cells are kept */
        text = number_text(shown, value);
    } else {
        const struct text_list *list = ask_categories(p->schema, term->column);
        const size_t k = text_list_find(list, cell_of_text(t.text));
        if (t.kind == ASK_END || t.kind == ASK_A_SIGN)
            TRY(ask_fail_at(&p->words, &t, "expected a value of column '%s'",
                            ask_column_name(p->schema, term->column)));
        if (k == list->count) {
            struct guess g = {.given = t.text};
            for (size_t i = 0; i < list->count; i++)
                parser_guess(&g, list->texts[i]);
            TRY(ask_fail_at(&p->words, &t, "'%s' is no value of column '%s' in %s%s", t.text,
                            ask_column_name(p->schema, term->column), p->name, parser_guessed(&g)));
        }
        value = (double)k;
        text = parser_quote(name, t.text);
        TRY(ask_words_take(&p->words));
    }
    if (term->count == 0 || (term->count & (term->count - 1)) == 0)
        REGROW(term->values, term->count, term->count ? 2 * term->count : 1);
    term->values[term->count++] = value;
    parser_say(p, "%s", text);
done:
    return status;
}

static sotto_status read_values(struct ask_term *term, struct parser *p)
{
    sotto_status status = SOTTO_OK;
    TRY(ask_words_take(&p->words));
    if (!ask_words_next_is(&p->words, "{"))
        TRY(ask_fail_at(&p->words, &p->words.next, "expected '{' behind 'in', as in 'in {a, b}'"));
    parser_say(p, "in {");
    do {
        TRY(ask_words_take(&p->words));
        if (term->count)
            parser_say(p, ", ");
        TRY(read_value(term, p));
    } while (ask_words_next_is(&p->words, ","));
    TRY(parser_expect(p, "}", "or ',' behind a value"));
    parser_say(p, "}");
done:
    return status;
}

static sotto_status read_term(struct parser *p)
{
    sotto_status status = SOTTO_OK;
    char name[ASK_WORD + 2];
    const struct ask_token t = p->words.next;
    size_t c = 0;
    if (p->q->term_count == ASK_TERMS)
        TRY(ask_fail_at(&p->words, &t, "more than %d conditions; expected fewer", ASK_TERMS));
    struct ask_term *term = &p->q->terms[p->q->term_count];
    TRY(parser_column(&term->column, p));
    p->q->term_count++;
    parser_say(p, "%s ", parser_quote(name, t.text));
    while (c < COMPARISONS && !ask_words_next_is(&p->words, comparisons[c]))
        c++;
    if (ask_words_next_is(&p->words, "in")) {
        TRY(read_values(term, p));
    } else if (ask_words_next_is(&p->words, "is")) {
        term->comparison = ASK_IS_MISSING;
        TRY(ask_words_take(&p->words));
        if (!ask_words_next_is(&p->words, "missing"))
            TRY(ask_fail_at(&p->words, &p->words.next, "expected 'missing' behind 'is'"));
        TRY(ask_words_take(&p->words));
        parser_say(p, "is missing");
    } else if (c == COMPARISONS) {
        TRY(ask_fail_at(&p->words, &p->words.next,
                        "expected =, !=, <, <=, >, >=, 'in {...}' or 'is missing' behind column '%s'",
                        t.text));
    } else {
        if (c > ASK_IS_NOT && ask_column_kind(p->schema, term->column) == COLUMN_CATEGORY)
            TRY(ask_fail_at(&p->words, &p->words.next,
                            "column '%s' is a category, which has no order; give =, != or 'in {...}'",
                            t.text));
        term->comparison = (enum ask_comparison)c;
        TRY(ask_words_take(&p->words));
        parser_say(p, "%s ", comparisons[c]);
        TRY(read_value(term, p));
    }
done:
    return status;
}

sotto_status parser_terms(struct parser *p)
{
    sotto_status status = SOTTO_OK;
    bool more;
    parser_say(p, " where ");
    do {
        TRY(ask_words_take(&p->words)); /* where, and */
        TRY(read_term(p));
        more = ask_words_next_is(&p->words, "and");
        if (more)
            parser_say(p, " and ");
    } while (more);
    if (ask_words_next_is(&p->words, "or"))
        TRY(ask_fail_at(&p->words, &p->words.next,
                        "'or' is not available; write two queries, or 'in {a, b}'"));
done:
    return status;
}
