/* run.h - what is left of an experiment for workers, and the experiment of the demo. No promise: it may change with any version. */
#ifndef SOTTO_LAB_RUN_H
#define SOTTO_LAB_RUN_H

#include "sotto/run.h"

#ifdef __cplusplus
extern "C" {
#endif

/** What is left of an experiment for workers, from the records of the folder; one shadow model of a case is trained, and one block
 *  of pairs sampled and dropped, if none is there to tell how long it takes; nothing else. Hours are predictions: models missing, by workers and threads, times the mean of
 *  those that are there.
 *
 *  In:  as sotto_run()
 *  Out: *json  one object, schema sotto.plan/1 (docs/FORMATS.md)
 *       *text  a table of lines. Free both with sotto_text_free()
 *  Returns: those of sotto_run() */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_run_plan(char **json, char **text, const char *config_path,
                                                       const char *config_text, const char *config_name,
                                                       const struct sotto_run_options *options,
                                                       const struct sotto_context *ctx);

/** Returns: the experiment that `sotto demo` runs, as YAML text. Static storage. */
SOTTO_API const char *sotto_demo_config(void);

#ifdef __cplusplus
}
#endif
#endif
