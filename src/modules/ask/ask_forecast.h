/* ask_forecast.h - how far answers may lie from the truth by noise alone: of the schema and the queries, so public. */
#ifndef ASK_ASK_FORECAST_H
#define ASK_ASK_FORECAST_H

#include "ask/ask_query.h"

#include "sotto/account.h"

/* What the error of an answer is counted in. */
enum ask_unit {
    ASK_UNIT_NONE,
    ASK_UNIT_ROWS,
    ASK_UNIT_COLUMN,
    ASK_UNIT_MEAN,
    ASK_UNIT_CELLS,
    ASK_UNIT_RANKS
};
struct ask_forecast {
    enum ask_unit unit;
    double within; /* 95 %; at_once: all answers of the plan together */
};
/** NAME=E: at what scale of the noise the answers to that query lie within E.
 *  Errors: EUSAGE: no such text, query or number, or the error depends on how many rows there are */
sotto_status ask_forecast_scale(double *scale, const struct ask_plan *plan, const char *max_error,
                                bool gaussian, bool at_once);
/** One line for each query, or with json one object. scale: of the noise on each cell. ENOMEM. */
sotto_status ask_forecast_write(char **text, const struct ask_plan *plan, double scale,
                                struct sotto_dp target, bool at_once, bool json);

#endif
