/* ask_parser.h - what the parts of the grammar are read with: columns, numbers, and the canonical text that is written. */
#ifndef ASK_ASK_PARSER_H
#define ASK_ASK_PARSER_H

#include "ask/ask_query.h"
#include "ask/ask_words.h"
#include "base/choice.h"

/* The query that is being read. */
struct parser {
    struct ask_words words;
    const struct sotto_table_encoding *schema;
    const char *name; /* of the schema */
    struct ask_query *q;
    size_t length; /* of q->text */
};
/** Appends to the canonical text. */
void parser_say(struct parser *p, const char *format, ...) __attribute__((format(printf, 2, 3)));
/** A name as it is in a canonical query: in quotes where it would be read as something else. Returns out. */
const char *parser_quote(char out[ASK_WORD + 2], const char *text);
/** Takes that sign. EUSAGE: another token comes, "expected 'SIGN' WHY". */
sotto_status parser_expect(struct parser *p, const char *sign, const char *why);
bool parser_at_keyword(const struct ask_words *w);
/** Takes the name of a number, a category or the label. EUSAGE. */
sotto_status parser_column(size_t *column, struct parser *p);
/** Takes a finite number. EUSAGE: "expected WHAT". */
sotto_status parser_number(double *x, struct parser *p, const char *what);

/* What a name may have meant, of names that are shown to it one by one. */
struct guess {
    const char *given;
    size_t nearest, length;
    char text[CHOICE_GUESS], all[300]; /* "; did you mean 'age'?"; "; expected one of age, ward" */
};
void parser_guess(struct guess *g, const char *name);
const char *parser_guessed(const struct guess *g);

/** "where" and all its terms, in ask_terms.c. EUSAGE, ENOMEM. */
sotto_status parser_terms(struct parser *p);

#endif
