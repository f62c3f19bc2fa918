/* The grammar of queries (page.md). What a query means is written out again, in one way for one meaning: its canonical text. */
#include "ask/ask_choice.h"
#include "ask/ask_quantile.h"
#include "ask/ask_parser.h"
#include "io/text/number.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const char *const statistics[] = {[ASK_COUNT] = "count",
                                         [ASK_SUM] = "sum",
                                         [ASK_MEAN] = "mean",
                                         [ASK_VARIANCE] = "variance",
                                         [ASK_DEVIATION] = "deviation",
                                         [ASK_COVARIANCE] = "covariance",
                                         [ASK_CORRELATION] = "correlation",
                                         [ASK_QUANTILE] = "quantile"};

static sotto_status read_number_column(struct parser *p)
{
    sotto_status status = SOTTO_OK;
    const struct ask_token t = p->words.next;
    size_t *column = &p->q->columns[p->q->column_count];
    char name[ASK_WORD + 2];
    TRY(parser_column(column, p));
    if (ask_column_kind(p->schema, *column) != COLUMN_NUMBER)
        TRY(ask_fail_at(&p->words, &t,
                        "column '%s' is a category, and a %s is of numbers; 'histogram %s' counts its values",
                        t.text, statistics[p->q->statistic], parser_quote(name, t.text)));
    parser_say(p, "%s%s", p->q->column_count ? ", " : " ", parser_quote(name, t.text));
    p->q->column_count++;
done:
    return status;
}

/* ---- keys ---- */

/* One more edge behind key->cells others. */
static sotto_status add_edge(struct ask_key *key, double edge, struct parser *p, const struct ask_token *at)
{
    sotto_status status = SOTTO_OK;
    const size_t n = key->cells;
    if (n > 0 && !(edge > key->edges[n - 1]))
        TRY(ask_fail_at(&p->words, at, "the edges do not increase; expected each above the one before"));
    if (n >= ASK_CELLS)
        TRY(ask_fail_at(&p->words, at, "more than %zu cells; expected fewer edges", ASK_CELLS));
    if (n == 0 || (n & (n - 1)) == 0)
        REGROW(key->edges, n, n ? 2 * n : 1);
    key->edges[key->cells++] = edge;
done:
    return status;
}

static sotto_status read_steps(double steps[3], struct ask_key *key, struct parser *p)
{
    sotto_status status = SOTTO_OK;
    const struct ask_token at = p->words.next;
    double low = 0, high = 0, step = 0;
    TRY(parser_number(&low, p, "edges, such as 0:110:10"));
    TRY(parser_expect(p, ":", "between low, high and step, as in 0:110:10"));
    TRY(parser_number(&high, p, "the highest edge, as in 0:110:10"));
    TRY(parser_expect(p, ":", "between low, high and step, as in 0:110:10"));
    TRY(parser_number(&step, p, "the step, as in 0:110:10"));
    if (!(low < high) || !(step > 0))
        TRY(ask_fail_at(&p->words, &at,
                        "the edges do not increase; expected low:high:step with low < high and step > 0"));
    if (!((high - low) / step < (double)ASK_CELLS))
        TRY(ask_fail_at(&p->words, &at, "more than %zu cells; expected a larger step", ASK_CELLS));
    for (size_t i = 0; low + (double)i * step < high - step * 1e-9; i++)
        TRY(add_edge(key, low + (double)i * step, p, &at));
    TRY(add_edge(key, high, p, &at));
    steps[0] = low, steps[1] = high, steps[2] = step;
done:
    return status;
}

static sotto_status read_list_of_edges(struct ask_key *key, struct parser *p)
{
    sotto_status status = SOTTO_OK;
    const struct ask_token at = p->words.next;
    double edge = 0;
    do {
        TRY(ask_words_take(&p->words));
        const struct ask_token t = p->words.next;
        TRY(parser_number(&edge, p, "an edge, as in [0, 18, 65, 110]"));
        TRY(add_edge(key, edge, p, &t));
    } while (ask_words_next_is(&p->words, ","));
    TRY(parser_expect(p, "]", "or ',' behind an edge"));
    if (key->cells < 2)
        TRY(ask_fail_at(&p->words, &at, "one edge; expected at least two, as in [0, 18, 65, 110]"));
done:
    return status;
}

/* Edges that a user may have meant. */
static sotto_status miss_edges(struct parser *p, const struct ask_token *t, size_t column)
{
    char low[NUMBER_TEXT], high[NUMBER_TEXT], step[NUMBER_TEXT], name[ASK_WORD + 2];
    const struct encoding_column *c = &p->schema->columns[column];
    return ask_fail_at(&p->words, t,
                       "column '%s' holds numbers and needs edges; give them as in '%s %s:%s:%s'", t->text,
                       parser_quote(name, t->text), number_text(low, c->low), number_text(high, c->high),
                       number_text(step, (c->high - c->low) / 10));
}

/* "Alter [0, 18, 65]": numbers that read back as they are, so other edges have another text. */
static sotto_status write_key(struct ask_key *key, const char *column, const double *steps, struct parser *p,
                              const struct ask_token *at)
{
    char name[ASK_WORD + 2], number[NUMBER_TEXT];
    const size_t room = sizeof key->text, count = steps ? 3 : key->edges ? key->cells : 0;
    size_t n = (size_t)snprintf(key->text, room, "%s%s", parser_quote(name, column),
                                steps   ? " "
                                : count ? " ["
                                        : "");
    for (size_t i = 0; i < count && n < room; i++)
        n += (size_t)snprintf(key->text + n, room - n, "%s%s",
                              i == 0  ? ""
                              : steps ? ":"
                                      : ", ",
                              number_text(number, steps ? steps[i] : key->edges[i]));
    if (n < room)
        n += (size_t)snprintf(key->text + n, room - n, "%s", count && !steps ? "]" : "");
    if (n >= room)
        return ask_fail_at(&p->words, at, "the edges have more than %zu bytes; give low:high:step", room - 1);
    return SOTTO_OK;
}

static sotto_status read_key(struct parser *p)
{
    sotto_status status = SOTTO_OK;
    const struct ask_token t = p->words.next;
    if (p->q->key_count == ASK_KEYS)
        TRY(ask_fail_at(&p->words, &t, "more than %d keys; expected fewer", ASK_KEYS));
    struct ask_key *key = &p->q->keys[p->q->key_count];
    TRY(parser_column(&key->column, p));
    p->q->key_count++;
    double steps[3];
    bool even = false;
    const bool edges = ask_words_next_is(&p->words, "[") || p->words.next.kind == ASK_A_NUMBER;
    if (ask_words_next_is(&p->words, "from"))
        TRY(ask_fail_at(&p->words, &p->words.next,
                        "keys that only the data know are not available; list the categories of '%s' in %s",
                        t.text, p->name));
    if (ask_column_kind(p->schema, key->column) == COLUMN_CATEGORY) {
        if (edges)
            TRY(ask_fail_at(&p->words, &p->words.next,
                            "column '%s' is a category, which has no edges; omit them", t.text));
        key->cells = ask_category_cells(p->schema, key->column);
    } else if (!edges) {
        TRY(miss_edges(p, &t, key->column));
    } else {
        even = !ask_words_next_is(&p->words, "[");
        TRY(even ? read_steps(steps, key, p) : read_list_of_edges(key, p));
    }
    TRY(write_key(key, t.text, even ? steps : NULL, p, &t));
done:
    return status;
}

static sotto_status read_keys(struct parser *p, const char *between)
{
    sotto_status status = SOTTO_OK;
    bool more;
    do {
        TRY(read_key(p));
        parser_say(p, "%s", p->q->keys[p->q->key_count - 1].text);
        more = ask_words_next_is(&p->words, between);
        if (more) {
            TRY(ask_words_take(&p->words));
            parser_say(p, strcmp(between, ",") == 0 ? ", " : " x ");
        }
    } while (more);
done:
    return status;
}

/* ---- a query ---- */

static sotto_status add_share(struct parser *p, double share)
{
    char number[NUMBER_TEXT];
    if (!(share > 0 && share < 1) || p->q->share_count == ASK_SHARES)
        return ask_fail_at(&p->words, &p->words.next,
                           "expected 1 to %d numbers between 0 and 1, as in 'quantile a .25 .5'", ASK_SHARES);
    p->q->shares[p->q->share_count++] = share;
    parser_say(p, " %s", number_text(number, share));
    return SOTTO_OK;
}

static sotto_status read_shares(struct parser *p)
{
    sotto_status status = SOTTO_OK;
    do {
        TRY(add_share(p, p->words.next.kind == ASK_A_NUMBER ? p->words.next.number : 0));
        TRY(ask_words_take(&p->words));
    } while (p->words.next.kind == ASK_A_NUMBER);
done:
    return status;
}

static sotto_status read_statistic(struct parser *p)
{
    sotto_status status = SOTTO_OK;
    const struct ask_token t = p->words.next;
    const char *const all = "count, sum, mean, variance, deviation, covariance, correlation, median, "
                            "quantile, histogram or crosstab";
    char guess[CHOICE_GUESS];
    size_t s = 0;
    while (s <= ASK_QUANTILE && !ask_words_next_is(&p->words, statistics[s]))
        s++;
    const bool median = ask_words_next_is(&p->words, "median");
    if (median)
        s = ASK_QUANTILE;
    p->q->statistic = s <= ASK_QUANTILE ? (enum ask_statistic)s : ASK_COUNT;
    if (ask_words_next_is(&p->words, "histogram") || ask_words_next_is(&p->words, "crosstab")) {
        const bool cross = ask_words_next_is(&p->words, "crosstab");
        parser_say(p, cross ? "crosstab " : "histogram ");
        TRY(ask_words_take(&p->words));
        TRY(read_keys(p, cross ? "x" : ""));
        if (cross && p->q->key_count < 2)
            TRY(ask_fail_at(&p->words, &p->words.next,
                            "expected 'x' and another column, as in 'crosstab a x b'"));
        goto done;
    }
    if (s > ASK_QUANTILE) {
        choice_guess(guess, t.text, all);
        status = ask_fail_at(&p->words, &t, "'%s' begins no query; expected %s%s", t.text, all, guess);
        goto done;
    }
    parser_say(p, "%s", statistics[s]);
    TRY(ask_words_take(&p->words));
    if (s == ASK_COUNT && ask_words_next_is(&p->words, "persons")) {
        p->q->persons = true;
        parser_say(p, " persons");
        TRY(ask_words_take(&p->words));
    }
    if (s == ASK_COUNT)
        goto done;
    TRY(read_number_column(p));
    if (s == ASK_COVARIANCE || s == ASK_CORRELATION) {
        TRY(parser_expect(p, ",", "between two columns, as in 'covariance a, b'"));
        TRY(read_number_column(p));
    }
    if (s == ASK_QUANTILE)
        TRY(median ? add_share(p, 0.5) : read_shares(p));
done:
    return status;
}

static sotto_status read_name(struct parser *p)
{
    sotto_status status = SOTTO_OK;
    TRY(ask_words_take(&p->words));
    if (p->words.next.kind != ASK_A_WORD || parser_at_keyword(&p->words))
        TRY(ask_fail_at(&p->words, &p->words.next, "expected a name behind 'as'"));
    snprintf(p->q->name, sizeof p->q->name, "%s", p->words.next.text);
    TRY(ask_words_take(&p->words));
done:
    return status;
}

/* It is no part of the canonical text: the answer is that of the same cells. */
static sotto_status read_weight(struct parser *p)
{
    sotto_status status = SOTTO_OK;
    TRY(ask_words_take(&p->words));
    const struct ask_token t = p->words.next;
    TRY(parser_number(&p->q->weight, p, "a number above 0 behind 'weight'"));
    if (!(p->q->weight >= 1e-3 && p->q->weight <= 1e3))
        TRY(ask_fail_at(&p->words, &t, "the weight is %s; expected one from 0.001 to 1000", t.text));
done:
    return status;
}

/* Quantiles of a tree have intervals, those that are chosen have none; other statistics have theirs anyway. */
static sotto_status read_interval(struct parser *p)
{
    sotto_status status = SOTTO_OK;
    if (p->q->statistic != ASK_QUANTILE)
        TRY(ask_fail_at(
            &p->words, &p->words.next,
            "'with interval' is not available here: other answers than quantiles have theirs; omit it"));
    TRY(ask_words_take(&p->words));
    TRY(parser_expect(p, "interval", "behind 'with'"));
    parser_say(p, " with interval");
    p->q->interval = true;
done:
    return status;
}

static sotto_status read_per_person(struct parser *p)
{
    sotto_status status = SOTTO_OK;
    const struct ask_token t = p->words.next;
    TRY(ask_words_take(&p->words));
    TRY(parser_expect(p, "person", "behind 'per'"));
    if (p->q->statistic < ASK_MEAN || p->q->statistic > ASK_CORRELATION)
        TRY(ask_fail_at(
            &p->words, &t,
            "'per person' is of a mean, variance, deviation, covariance or correlation; omit it"));
    p->q->per_person = true;
    parser_say(p, " per person");
done:
    return status;
}

static sotto_status read_query(struct parser *p)
{
    sotto_status status = SOTTO_OK;
    p->q->weight = 1;
    TRY(read_statistic(p));
    if (ask_words_next_is(&p->words, "by")) {
        parser_say(p, " by ");
        TRY(ask_words_take(&p->words));
        TRY(read_keys(p, ","));
    }
    if (ask_words_next_is(&p->words, "where"))
        TRY(parser_terms(p));
    if (ask_words_next_is(&p->words, "per"))
        TRY(read_per_person(p));
    if (ask_words_next_is(&p->words, "with"))
        TRY(read_interval(p));
    if (ask_words_next_is(&p->words, "weight"))
        TRY(read_weight(p));
    if (ask_words_next_is(&p->words, "as"))
        TRY(read_name(p));
    if (p->words.next.kind != ASK_END && !ask_words_next_is(&p->words, ";"))
        TRY(ask_fail_at(&p->words, &p->words.next,
                        "'%s' is not expected here; expected 'by', 'where', 'weight', 'as', ';' or the end",
                        p->words.next.text));
    if (p->length + 1 >= sizeof p->q->text)
        TRY(ask_fail_at(&p->words, &p->words.next, "the query has more than %zu bytes; shorten it",
                        sizeof p->q->text - 2));
done:
    return status;
}

/* Cells, and columns that are read. */
static sotto_status finish_query(struct ask_plan *plan, struct parser *p)
{
    sotto_status status = SOTTO_OK;
    struct ask_query *q = p->q;
    const bool whole = q->key_count == 0 && q->term_count == 0;
    static const size_t parts[] = {1, 3, 3, 4, 4, 5, 10, 0};
    q->groups = 1;
    for (size_t k = 0; k < q->key_count; k++) {
        plan->used[q->keys[k].column] = true;
        if (!size_multiply(&q->groups, q->groups, q->keys[k].cells) || q->groups > ASK_CELLS)
            TRY(ask_fail_at(&p->words, &p->words.next, "more than %zu cells; expected fewer keys or edges",
                            ASK_CELLS));
    }
    for (size_t k = 0; k < q->term_count; k++)
        plan->used[q->terms[k].column] = true;
    for (size_t k = 0; k < q->column_count; k++)
        plan->used[q->columns[k]] = true;
    q->single = q->statistic == ASK_COUNT
                    ? q->key_count == 0
                    : whole && q->statistic <= ASK_MEAN && p->schema->columns[q->columns[0]].fills;
    q->parts = q->single ? 1 : parts[q->statistic];
    if (q->statistic == ASK_COUNT && whole)
        q->parts = 0;
    if (q->statistic == ASK_QUANTILE) {
        const struct encoding_column *c = &p->schema->columns[q->columns[0]];
        const struct ask_tree t = ask_tree_of(c);
        q->one_by_one = q->share_count <= ASK_ONE_BY_ONE && !q->interval;
        q->parts = q->one_by_one ? ask_choice_edges(c).edges : ask_tree_nodes(&t) + 1;
        if (q->groups > ASK_CELLS / q->parts)
            TRY(ask_fail_at(&p->words, &p->words.next, "more than %zu cells; expected fewer keys or edges",
                            ASK_CELLS));
    }
    plan->cells += q->again ? 0 : q->groups * q->parts;
    if (plan->cells > ASK_CELLS)
        TRY(ask_fail_at(&p->words, &p->words.next,
                        "more than %zu cells with the queries before; ask for less", ASK_CELLS));
done:
    return status;
}

static bool same_name(const struct ask_query *a, const struct ask_query *b)
{
    return strcmp(a->name[0] ? a->name : a->text, b->name[0] ? b->name : b->text) == 0;
}

/* The same query twice is charged once; two queries of one name are an error. */
static sotto_status keep_query(struct ask_plan *plan, struct parser *p)
{
    struct ask_query *q = p->q;
    for (size_t i = 0; i < plan->count; i++) {
        const struct ask_query *old = &plan->queries[i];
        const bool same = old != q && strcmp(old->text, q->text) == 0;
        if (same && !q->again) {
            q->again = true;
            q->same = i;
            plan->queries[i].weight = fmax(plan->queries[i].weight, q->weight);
        }
        if (old != q && !same && same_name(old, q))
            return ask_fail_at(&p->words, &(struct ask_token){.at = 1},
                               "the name '%s' is that of query %zu too; give another one behind 'as'",
                               q->name[0] ? q->name : q->text, i + 1);
    }
    return finish_query(plan, p);
}

/* All queries of one text. */
static sotto_status read_text(struct ask_plan *plan, struct parser *p, const char *text)
{
    sotto_status status = SOTTO_OK;
    TRY(ask_words_begin(&p->words, text, plan->count + 1));
    do {
        REGROW(plan->queries, plan->count, plan->count + 1);
        p->q = &plan->queries[plan->count++];
        p->length = 0;
        TRY(read_query(p));
        TRY(keep_query(plan, p));
        if (ask_words_next_is(&p->words, ";"))
            TRY(ask_words_next_query(&p->words));
    } while (p->words.next.kind != ASK_END);
done:
    return status;
}

/* Of all rows by one cell, is the sum of that column asked, in that unit? */
static bool asks_sum(const struct ask_plan *plan, size_t column, bool per_person)
{
    for (size_t i = 0; i < plan->count; i++) {
        const struct ask_query *q = &plan->queries[i];
        if (q->single && q->column_count == 1 && q->statistic <= ASK_MEAN && q->columns[0] == column &&
            q->per_person == per_person)
            return true;
    }
    return false;
}

/* A second moment of all rows takes one cell, about the middle of the bounds, where other queries of the plan ask the means. */
static void centre_moments(struct ask_plan *plan)
{
    for (size_t i = 0; i < plan->count; i++) {
        struct ask_query *q = &plan->queries[i];
        bool means = q->statistic >= ASK_VARIANCE && q->statistic <= ASK_COVARIANCE && q->key_count == 0 &&
                     q->term_count == 0;
        for (size_t k = 0; k < q->column_count && means; k++)
            means = asks_sum(plan, q->columns[k], q->per_person);
        if (means)
            q->single = true, q->parts = 1;
    }
}

sotto_status ask_parse(struct ask_plan *plan, const char *const *texts, size_t count,
                       const struct sotto_table_encoding *schema, const char *name)
{
    sotto_status status = SOTTO_OK;
    struct parser p = {.schema = schema, .name = name};
    *plan = (struct ask_plan){.schema = schema};
    NEW(plan->used, schema->count + 1);
    for (size_t i = 0; i < count; i++)
        TRY(read_text(plan, &p, texts[i]));
    centre_moments(plan);
    if (plan->cells == 0)
        FAIL(SOTTO_EUSAGE,
             "ask: nothing needs noise here: the number of rows is public; expected another query");
done:
    if (status != SOTTO_OK)
        ask_plan_clear(plan);
    return status;
}
