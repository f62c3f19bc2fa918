/* experiment_run.h - an experiment from a file or a text, of the verbs run and demo. */
#ifndef CLI_VERBS_EXPERIMENT_RUN_H
#define CLI_VERBS_EXPERIMENT_RUN_H

#include "options/options.h"

/* The rows of sotto_run_options: both verbs take them. */
#define EXPERIMENT_ROWS OPTION_TABLE("run", NULL)
/* Runs the experiment of the file `config`, or of `text` which is called `name`, with NULL-terminated `overrides` ("key=value"), and
 * prints where its folder is. With --plan it prints the stages alone. */
sotto_status experiment_run(const char *config, const char *text, const char *name,
                            const char *const *overrides, const struct options *o,
                            const struct sotto_context *ctx, int json);

#endif
