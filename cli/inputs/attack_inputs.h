/* attack_inputs.h - what `attack` reads: the target, the records to judge, and the attacker's own data. */
#ifndef CLI_INPUTS_ATTACK_INPUTS_H
#define CLI_INPUTS_ATTACK_INPUTS_H

#include "options/options.h"

struct attack_inputs {
    struct sotto_attack_input input; /* points into the arrays below */
    struct sotto_array arrays[12];
    struct sotto_report_input files[12];
    size_t file_count;
    struct sotto_array cover;
    size_t image[3]; /* channels, height, width of the records; zeros: rows of numbers */
};
/* EUSAGE for options that contradict each other; errors name the file. Clear also after a failure. ctx must
 * outlive *in. */
sotto_status attack_inputs_load(struct attack_inputs *in, const struct options *o,
                                const struct sotto_context *ctx);
enum { ATTACK_RATES = 8 };
/* Rates, confidence and the like of the audit that an attack ends in. rates: held by *out. EUSAGE. */
sotto_status attack_statistics(struct sotto_audit_options *out, double rates[ATTACK_RATES],
                               const struct options *o);
void attack_inputs_clear(struct attack_inputs *in);

#endif
