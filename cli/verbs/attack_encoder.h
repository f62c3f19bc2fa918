/* attack_encoder.h - `sotto attack encoder`: who pre-trained an encoder? */
#ifndef CLI_VERBS_ATTACK_ENCODER_H
#define CLI_VERBS_ATTACK_ENCODER_H

#include "options/options.h"

#define ATTACK_ENCODER_ROWS                                                                                  \
    {"encoder", OPTION_TEXT, "FILE", NULL, "attack encoder: the encoder under attack (.safetensors)", NULL}, \
        {"shadow-encoder", OPTION_TEXT, "FILE", NULL, "one of the attacker's own, trained alike", NULL},     \
        {"data", OPTION_TEXT, "SET", NULL, "the images of all rows below", NULL},                            \
        {"member-indices", OPTION_TEXT, "rows.npy", NULL, "rows that pre-trained the encoder", NULL},        \
        {"nonmember-indices", OPTION_TEXT, "rows.npy", NULL, "rows that did not", NULL},                     \
        {"shadow-member-indices", OPTION_TEXT, "rows.npy", NULL, "rows that pre-trained the shadow", NULL},  \
        {"shadow-nonmember-indices", OPTION_TEXT, "rows.npy", NULL, "rows that did not", NULL},              \
        {"bank-indices",                                                                                     \
         OPTION_TEXT,                                                                                        \
         "rows.npy",                                                                                         \
         NULL,                                                                                               \
         "rows of neither, as negatives of the contrastive loss (default: no such attack)",                  \
         NULL},                                                                                              \
    {                                                                                                        \
        "temperature", OPTION_REAL, "T", "0.1", "of that loss", NULL                                         \
    }

extern const char attack_encoder_line[]; /* for `sotto attack list` */
/** fpr rates and the like are read by the caller. Prints or writes the result. */
sotto_status attack_encoder_run(const struct options *o, const struct sotto_audit_options *audit,
                                const struct sotto_context *ctx, int json);

#endif
