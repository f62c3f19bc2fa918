/* audit_inputs.h - the arrays that `audit` reads. */
#ifndef CLI_INPUTS_AUDIT_INPUTS_H
#define CLI_INPUTS_AUDIT_INPUTS_H

#include "options/options.h"

enum { AUDIT_FILES = 64, AUDIT_ROLE = 40 };

struct audit_inputs {
    const struct sotto_audit_input *input; /* lives as long as the arrays */
    struct sotto_arrays *arrays;
    struct sotto_array scores, heads; /* of canaries */
    struct sotto_report_input files[AUDIT_FILES];
    char roles[AUDIT_FILES][AUDIT_ROLE];
    size_t file_count;
};
/* EUSAGE for options that contradict each other; EINVAL names the file. Clear also after a failure. */
sotto_status audit_inputs_load(struct audit_inputs *in, const struct options *o);
/* Gives the array of an option, and lists its file for the report. `array`: read already. */
sotto_status audit_inputs_give(struct audit_inputs *in, const struct sotto_option *row,
                               const struct sotto_array *array, const struct options *o);
/* Scores of canaries, and what their coins said as their membership. */
sotto_status audit_inputs_give_coins(struct audit_inputs *in, const struct options *o);
void audit_inputs_clear(struct audit_inputs *in);

#endif
