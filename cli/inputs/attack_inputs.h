/* attack_inputs.h - what `attack` reads: the target, the records to judge, and the attacker's own data. */
#ifndef CLI_INPUTS_ATTACK_INPUTS_H
#define CLI_INPUTS_ATTACK_INPUTS_H

#include "options/options.h"

#define ATTACK_INPUT_ROWS                                                                                      \
    {"target", OPTION_TEXT, "FILE", NULL, "the model: a head, MLP or whole network (.safetensors)", NULL},     \
        {"target-command",                                                                                     \
         OPTION_TEXT,                                                                                          \
         "COMMAND",                                                                                            \
         NULL,                                                                                                 \
         "or any model behind a command, .npy frames in and out (examples/serve_numpy.py)",                    \
         NULL},                                                                                                \
        {"timeout", OPTION_REAL, "S", "60", "target command: seconds for one frame, its start included",       \
         NULL},                                                                                                \
        {"query-batch", OPTION_COUNT, "ROWS", "1024", "target command: rows in a frame, at most", NULL},       \
        {"classes", OPTION_COUNT, "K", NULL, "target command: its classes (default: as it answers)", NULL},    \
        {"budget", OPTION_COUNT, "ROWS", NULL, "rows that the target may be asked in all (default: no limit)", \
         NULL},                                                                                                \
        {"member-features", OPTION_TEXT, "X.npy", NULL, "records that trained the target (n, D)", NULL},       \
        {"member-labels", OPTION_TEXT, "y.npy", NULL, "their classes, from 0 (n)", NULL},                      \
        {"nonmember-features", OPTION_TEXT, "X.npy", NULL, "records that did not (m, D)", NULL},               \
        {"nonmember-labels", OPTION_TEXT, "y.npy", NULL, "their classes (m)", NULL},                           \
        {"attacker-features", OPTION_TEXT, "X.npy", NULL, "records of the attacker's own (a, D)", NULL},       \
        {"attacker-labels", OPTION_TEXT, "y.npy", NULL, "their classes (a)", NULL},                            \
        {"other-features", OPTION_TEXT, "X.npy", NULL, "data transfer: records of another set (b, D')", NULL}, \
    {                                                                                                          \
        "other-labels", OPTION_TEXT, "y.npy", NULL, "their classes (b)", NULL                                  \
    }

struct attack_inputs {
    struct sotto_attack_input input; /* points into the arrays below */
    struct sotto_array arrays[8];
    struct sotto_report_input files[8];
    size_t file_count;
};
/* EUSAGE for options that contradict each other; errors name the file. Clear also after a failure. ctx must
 * outlive *in. */
sotto_status attack_inputs_load(struct attack_inputs *in, const struct options *o,
                                const struct sotto_context *ctx);
void attack_inputs_clear(struct attack_inputs *in);

#endif
