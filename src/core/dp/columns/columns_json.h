/* columns_json.h - what the lines of a ledger say of its columns (dp/account/adaptive_columns.h). */
#ifndef DP_COLUMNS_COLUMNS_JSON_H
#define DP_COLUMNS_COLUMNS_JSON_H

#include "dp/account/adaptive_columns.h"
#include "dp/account/adaptive_part.h"

struct json;

/** What a charge takes of each column: one of the boxes that cover it, chosen once. columns 0: it was written before columns were. */
struct any_order {
    struct adaptive offer[ADAPTIVE_OFFERS];
    size_t offers, columns;
    unsigned char took[ADAPTIVE_COLUMNS]; /* its offer; offers: none, and the column is dead */
};
/** Columns as they are fixed. epsilon NAN: there is no budget, and levels are on offer. */
struct opened_columns {
    struct adaptive_columns columns; /* with what was spent before */
    double epsilon, delta;
};
/** What a charge says of columns. */
struct admission {
    bool opens; /* it fixes them: */
    struct opened_columns opened;
    struct any_order any_order;
};

/** Leaves out what no column took. */
void any_order_prune(struct any_order *a);
void admission_put(struct json **line, const struct admission *a);
/** A line without the member has columns 0. EFORMAT. */
sotto_status admission_get(struct admission *out, const struct json *line, const char *name);
/** As a member "columns". */
void columns_put(struct json **line, const struct opened_columns *c);
/** EFORMAT. */
sotto_status columns_get(struct opened_columns *out, const struct json *line, const char *name);

#endif
