/* labelled_rows.h - features and labels of one group of records. */
#ifndef CLI_INPUTS_LABELLED_ROWS_H
#define CLI_INPUTS_LABELLED_ROWS_H

#include "options/options.h"

struct labelled_rows {
    struct sotto_array x, y; /* f4 (n, d), i8 (n) */
};
/* By --SIDE-features and --SIDE-labels, such as "member". EUSAGE: one is missing; EINVAL names the file: another number of labels than
 * of rows, another number of columns than `d` (0: any), a label that is none of `classes`. */
sotto_status labelled_rows_load(struct labelled_rows *r, const struct options *o, const char *side, size_t d,
                                size_t classes);
void labelled_rows_clear(struct labelled_rows *r);

#endif
