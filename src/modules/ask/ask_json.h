/* ask_json.h - answers as "sotto.answers/1", and forecasts. */
#ifndef ASK_ASK_JSON_H
#define ASK_ASK_JSON_H

#include "ask/ask_answers.h"
#include "ask/ask_forecast.h"

struct json;
/** No rows yet; NULL is fine for all that follows, and is ENOMEM at last. */
struct json *ask_json_rows(void);
/** Appends the answer of one group. */
void ask_json_row(struct json **rows, const struct ask_plan *plan, const struct ask_query *q, size_t group,
                  const char *statistic, const struct ask_answer *a);
void ask_json_drop(struct json *rows);
/** Takes the rows. ECREATE, EIO, ENOMEM. */
sotto_status ask_json_write(const char *path, struct json *rows, const struct ask_plan *plan,
                            const struct ask_release *r);
/** Of all queries: forecasts (plan->count). ENOMEM. */
sotto_status ask_json_forecasts(char **text, const struct ask_plan *plan,
                                const struct ask_forecast *forecasts);

#endif
