/* compare.h - several models on several axes at once: what compare.c finds and compare_page.c shows. */
#ifndef REPORT_COMPARE_COMPARE_H
#define REPORT_COMPARE_COMPARE_H

#include "io/json/json.h"
#include "report/document/document.h"

enum compare_axis { AXIS_UTILITY, AXIS_MEMBERSHIP, AXIS_ENCODER, AXIS_ATTRIBUTE, AXES };
extern const struct compare_axis_facts {
    const char *name, *title;
    bool higher_is_better;
} compare_axes[AXES];

enum compare_change { CHANGE_UNKNOWN, CHANGE_NONE, CHANGE_BETTER, CHANGE_WORSE };
extern const char *const compare_change_names[];

struct compare_row {
    const char *name;
    struct estimate axis[AXES];
    const char *by[AXES]; /* the attack behind the number, or NULL */
    enum compare_change change[AXES];
    bool front, worse, wins; /* worse: on any axis */
};
struct compare {
    size_t count;
    struct compare_row *rows; /* (count); the first is what the others are compared with */
    bool shared[AXES];        /* every row has it: the front is over these */
    size_t choice[AXES];      /* a row: who mends this axis most and breaks none; 0, the original: nobody */
};
/** Changes, front, wins and choice from the estimates. */
void compare_judge(struct compare *c);
/** The document as a page. */
sotto_status compare_page(char **html, const struct compare *c, const char *title);

#endif
