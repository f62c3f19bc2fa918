/* ask.h - private statistics of a table by the names of its columns.
 *
 * A query turns a row into whole numbers that are at least 0 and have one sum, the mass of the query, whatever the row holds.
 * What is released are the sums of these cells, with noise. Up to four quantiles of a query are edges that are chosen instead. All
 * queries of a call are one vector with one ledger entry, which is written before the table is read, and one certificate. page.md has the grammar. */
#ifndef SOTTO_LAB_ASK_H
#define SOTTO_LAB_ASK_H

#include "sotto/release.h"

#ifdef __cplusplus
extern "C" {
#endif

/** How queries share the budget (docs/derivations/ask.md). The weight of a query multiplies its error there. */
enum sotto_ask_weights {
    SOTTO_ASK_EQUAL,   /**< each one moves by as much; a weight is a share */
    SOTTO_ASK_SQUARES, /**< the least sum of squared errors, as shares of the rows, or of the range */
    SOTTO_ASK_LARGEST  /**< the least largest one of these errors */
};
/** {0}: the defaults in brackets. */
struct sotto_ask {
    const char *table;  /**< CSV, its header as in the schema */
    const char *schema; /**< sotto.schema/1: bounds, categories and classes, none of them read off the rows */
    const char *const *queries; /**< (count), each one or several with ';' between them */
    size_t count;
    const char *queries_file; /**< one a line, behind the others; lines that begin with # say nothing */
    const char *
        person; /**< column of type person in the schema, or "none": records [NULL: the schema's, or else records] */
    size_t rows_per_person; /**< of each person the first so many rows count [0: as the schema says it] */
    struct sotto_dp target; /**< epsilon; delta [0]: Laplace noise; above 0: Gaussian noise */
    int weights;            /**< enum sotto_ask_weights [SOTTO_ASK_EQUAL] */
    const char *
        max_error; /**< NAME=E instead of target.epsilon: the smallest one at which 95 % of the answers to that query, a count,
                            * a sum or chosen quantiles, lie within E of what they are without noise [NULL] */
    const char *
        output; /**< CSV, one row for each cell of an answer, or sotto.answers/1 if it ends in .json; its certificate lies beside it */
    int raw; /**< 1: each answer from its own noisy cells, counts as they are [0: answers that agree, and whole counts, which costs nothing] */
    int simultaneous; /**< 1: all intervals hold at once with 95 % probability [0: each one] */
    int population; /**< 1: intervals are of the population too, which rows, or persons, are a sample of; approximately [0: of the noise alone] */
    struct sotto_spend spend; /**< provenance and rows_per_person are not read */
};
/** Checks everything that does not need the table, charges the ledger, reads the table, adds the noise and writes
 *  output and output.certificate.json.
 *
 *  Out:     *certificate  as saved; sotto_certificate_free()
 *  Returns: EUSAGE   a query, which is named with the character; nothing is read and nothing charged
 *           ECONFIG  the schema
 *           EFORMAT  the header of a file, before the charge; that of a pipe: what was charged stays charged. No row is refused
 *           others as sotto_dp_release() */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_ask(struct sotto_certificate **certificate,
                                                  const struct sotto_ask *ask,
                                                  const struct sotto_context *ctx);
/** How far each answer may lie from the truth by the noise of such a call. The schema alone is read, nothing is charged; table and output are not
 *  needed.
 *
 *  In:      json   1: one object, with "within" and its "unit" for each query; 0: lines for people
 *  Out:     *text  sotto_text_free()
 *  Returns: as sotto_ask() before the charge */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_ask_forecast(char **text, const struct sotto_ask *ask, int json,
                                                           const struct sotto_context *ctx);
/** The answers as one page that loads nothing: a card with bars, intervals and a table for each query, and the budget before and after.
 *
 *  In:      answers      text of a sotto.answers/1
 *           certificate  of these answers; as sotto_ask() made it, it names the ledger, which the budget is read from
 *  Out:     *page        sotto_text_free()
 *  Returns: EFORMAT  no such document
 *           ENOMEM; of the ledger, as sotto_ledger_show() */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_ask_page(char **page, const char *answers,
                                                       const struct sotto_certificate *certificate,
                                                       const struct sotto_context *ctx);

#ifdef __cplusplus
}
#endif
#endif
