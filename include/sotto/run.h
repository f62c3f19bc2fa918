/* run.h - a whole experiment from one YAML file: stages with hashes, reuse, resume. */
#ifndef SOTTO_RUN_H
#define SOTTO_RUN_H

#include "sotto/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/** {0}: all defaults. */
struct sotto_run_options {
    const char *folder;           /**< [runs/NAME] */
    const char *const *overrides; /**< "key.path=value", NULL-terminated; NULL: none */
    int fresh;                    /**< start another folder instead of continuing */
    int insecure;                 /**< seeded privacy noise, stamped on every output */
    uint64_t insecure_seed;
    const char *command_line; /**< recorded in run.json */
    uint64_t reserved[4];     /**< zeros: room for later members */
};
/** Runs the experiment in `config_path` (or, if it is NULL, in config_text, named `config_name` in errors).
 *  Finished stages with an unchanged hash are reused. *folder: where the results are (free with
 * sotto_text_free). */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_run(char **folder, const char *config_path,
                                                  const char *config_text, const char *config_name,
                                                  const struct sotto_run_options *options,
                                                  const struct sotto_context *ctx);

/** The experiment that `sotto demo` runs, as YAML text. Static storage. */
SOTTO_API const char *sotto_demo_config(void);

#ifdef __cplusplus
}
#endif
#endif
