/* ask_answers.h - answers from noisy cells: functions of what was released, of queries and of the public number of rows. */
#ifndef ASK_ASK_ANSWERS_H
#define ASK_ASK_ANSWERS_H

#include "ask/ask_agree.h"

/** The cells as they were released. */
struct ask_release {
    const double *cells; /* (plan->cells + plan->block + plan->choices) */
    double scale;        /* of the noise on each of them, in the same units */
    bool gaussian, seeded, raw;
    size_t at_once;       /* so many intervals hold at once; 0: each by itself */
    bool population;      /* intervals are of the population that the rows, or persons, are a sample of */
    size_t rows, persons; /* public; persons 0: records */
    const struct ask_agreed *agreed; /* of ask_agree() */
};
/** NAN: nothing can be said. */
struct ask_answer {
    double value, low, high; /* low and high: 95 % */
    double deviation;        /* of the noise, and of sampling where intervals have it */
};
/** How many answers have noise. */
size_t ask_noisy_answers(const struct ask_plan *plan);
/** One group of a query; not of a quantile. */
struct ask_answer ask_answer_of(const struct ask_plan *plan, const struct ask_query *q, size_t group,
                                const struct ask_release *r);
/** The counts of all groups, as they are possible: at least 0, whole, and of all rows together where each row is in one of them.
 *  Out:     counts  (q->groups)
 *  Returns: ENOMEM */
sotto_status ask_counts_of(double *counts, const struct ask_plan *plan, const struct ask_query *q,
                           const struct ask_release *r);
/** Quantiles of one group: answers (q->share_count). ENOMEM. */
sotto_status ask_quantiles_of(struct ask_answer *answers, const struct ask_plan *plan,
                              const struct ask_query *q, size_t group, const struct ask_release *r);
/** All of them, one row each: as "sotto.answers/1" if the path ends in .json, else as CSV. ECREATE, EIO, ENOMEM. */
sotto_status ask_answers_write(const char *path, const struct ask_plan *plan, const struct ask_release *r);

#endif
