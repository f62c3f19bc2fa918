/* ledger_show_json.h - what is shown of a ledger: its columns, and its lines as rows. */
#ifndef DP_LEDGER_VIEW_LEDGER_SHOW_JSON_H
#define DP_LEDGER_VIEW_LEDGER_SHOW_JSON_H

#include "dp/ledger_line/ledger_line.h"

/** A column: the account of its entries at the delta that was asked for, and their plain sums. */
struct ledger_column {
    struct sotto_account account;
    size_t releases, add_remove;
    double pure, rho;
};
struct ledger_totals {
    size_t entries, imported, seeded, inputs_only, as_recorded;
    double delta;
    struct sotto_dp budget; /* epsilon NAN: none */
    struct ledger_column proved, conditional;
    struct sotto_account together; /* epsilon INFINITY: none */
    struct sotto_dp any_order; /* what holds for any order of choices; NAN: not opened yet, INFINITY: none */
    size_t any_order_from;     /* from this charge on */
};
/** Schema sotto.ledger_account/1. ENOMEM. */
sotto_status ledger_totals_encode(char **json, const struct ledger_totals *t);

struct ledger_summary {
    const char *ledger, *dataset_id, *moved; /* NULL: none */
    const char *unit;                        /* of privacy */
    size_t records;
    struct sotto_dp budget; /* epsilon NAN: none */
    bool by_officer;
    double delta, total;                    /* if all parameters had been fixed beforehand; INFINITY: none */
    const struct adaptive_columns *columns; /* count 0: not opened yet */
    struct sotto_dp any_order;              /* what holds for any order of choices; INFINITY: none */
    size_t any_order_from;                  /* from this charge on */
    bool of_budget;                         /* the columns are; else they are levels, of before it was set */
    size_t seeded;                          /* releases without a guarantee */
    size_t as_recorded; /* charges whose recorded epsilon was not derived again from their own facts */
};
/** A line as a row of ledger_summary_encode(); *rows: an array, begun where it is NULL. total: of the ledger up to
 * this line. ENOMEM. */
sotto_status ledger_rows_add(struct json **rows, const struct ledger_line *line, double total);
/** Harmless on NULL. */
void ledger_rows_free(struct json *rows);
/** Schema sotto.ledger_show/1. Takes the rows. ENOMEM. */
sotto_status ledger_summary_encode(char **json, const struct ledger_summary *s, struct json **rows);

/** A plan that was just charged. */
struct charged_plan {
    const char *id, *ledger; /* the hash of its line */
    size_t charge;           /* its number among the charges */
    const struct event_list *events;
    const struct sotto_account *account;
};
/** sotto.plan/1. ENOMEM. */
sotto_status charged_plan_encode(char **json, const struct charged_plan *p);

#endif
