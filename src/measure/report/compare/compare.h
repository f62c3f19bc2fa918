/* compare.h - several models on several axes at once: what compare.c finds and compare_page.c shows. */
#ifndef REPORT_COMPARE_COMPARE_H
#define REPORT_COMPARE_COMPARE_H

#include "audit/audit_memory.h"
#include "sotto/lab/compare.h"

#include <math.h>
#include <stdbool.h>

extern const struct compare_axis_facts {
    const char *name, *title;
    bool higher_is_better, decides; /* decides: who wins */
} compare_axes[SOTTO_AXES];
extern const char *const compare_change_names[]; /* by enum sotto_compare_change; ended by NULL */

static inline bool compare_measured(const struct sotto_estimate *e)
{
    return !isnan(e->estimate);
}
/** Some row has it. */
bool compare_shows(const struct sotto_compare_result *c, int k);
/** The axes of all rows from their files and certificates; the names of the attacks. */
sotto_status compare_read(struct sotto_compare_result *c, const struct sotto_compared *rows);
/** Changes, front, wins, choice and winner from the estimates. */
void compare_judge(struct sotto_compare_result *c);

#endif
