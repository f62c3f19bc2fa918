/* run.h - a whole experiment from one YAML file: stages with hashes, reuse, resume. */
#ifndef SOTTO_RUN_H
#define SOTTO_RUN_H

#include "sotto/base.h"

#ifdef __cplusplus
extern "C" {
#endif

struct sotto_run_options {
    /** Folder of the results; [runs/NAME]. */
    const char *folder;
    /** "key.path=value", NULL-terminated; NULL: none. */
    const char *const *overrides;
    /** 1: start another folder instead of continuing. */
    int fresh;
    /** 1: privacy noise from insecure_seed; every output says so. */
    int insecure;
    uint64_t insecure_seed;
    /** Recorded in run.json; NULL: nothing is. */
    const char *command_line;
    /** 1: do what no other process does of this experiment, without its releases and its report: any number of such calls, on
     *  machines that share the folder, at the same time. A call without it merges what they made [0]. */
    int worker;
    /** Read by the program only, which then calls sotto_run_plan(). */
    int plan;
    /** Likewise, of the shadow models only those with number % shards == shard [0 of 1: not likewise]. */
    size_t shard, shards;
};
/** Runs an experiment. Finished stages with an unchanged hash are reused.
 *
 *  In:  config_path               YAML file; NULL: config_text holds the YAML
 *       config_text, config_name  the text, and its name in errors; NULL where config_path is given
 *  Out: *folder                   where the results are; free with sotto_text_free()
 *
 *  Returns: ECONFIG   the configuration is wrong
 *           ESTOPPED  finished stages stay; the same call continues
 *           those of the calls that the stages make */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_run(char **folder, const char *config_path,
                                                  const char *config_text, const char *config_name,
                                                  const struct sotto_run_options *options,
                                                  const struct sotto_context *ctx);

#ifdef __cplusplus
}
#endif
#endif
