/* autotune_output.h - what a training computed with, and why, as a line or as members of its JSON. */
#ifndef CLI_VERBS_AUTOTUNE_OUTPUT_H
#define CLI_VERBS_AUTOTUNE_OUTPUT_H

#include "sotto/lab/autotune.h"

enum { AUTOTUNE_OUTPUT = 768 };
/** json: "choice": "measured", "measured": [{"backend", "dtype", "per_second"}, ...], without braces. */
void autotune_output(char out[AUTOTUNE_OUTPUT], const struct sotto_autotune *a, const char *unit, int json);

#endif
