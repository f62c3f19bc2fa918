#include "verbs/experiment_run.h"

#include "inputs/shard.h"

#include <stdio.h>

static sotto_status experiment_print_folder(char *folder, int worker, int json)
{
    if (worker && !json)
        printf("%s: nothing is left for a worker; the same command without --worker and --shard merges\n",
               folder);
    else if (json)
        printf("{\"schema\": \"sotto.run/1\", \"folder\": \"%s\"}\n", folder);
    else
        printf("%s/report.html\n", folder);
    sotto_text_free(folder);
    return SOTTO_OK;
}

static sotto_status experiment_print_plan(const char *config, const char *text, const char *name,
                                          const struct sotto_run_options *options,
                                          const struct sotto_context *ctx, int json)
{
    char *document = NULL, *lines = NULL;
    sotto_status status = sotto_run_plan(&document, &lines, config, text, name, options, ctx);
    if (status == SOTTO_OK)
        printf(json ? "%s\n" : "%s", json ? document : lines);
    sotto_text_free(document);
    sotto_text_free(lines);
    return status;
}

sotto_status experiment_run(const char *config, const char *text, const char *name,
                            const char *const *overrides, const struct options *o,
                            const struct sotto_context *ctx, int json)
{
    struct sotto_run_options options = {.insecure = option_given(o, "insecure-noise-seed"),
                                        .command_line = option_command_line(o)};
    char *folder = NULL;
    sotto_status status = option_members(&options, sotto_option_table("run"), o);
    options.overrides = overrides;
    if (status == SOTTO_OK)
        status = shard_read(&options.shard, &options.shards, o);
    if (status == SOTTO_OK && options.worker && options.shards > 1)
        status = cli_fail(SOTTO_EUSAGE, "run: --worker takes any open shadow model; omit --shard");
    if (status == SOTTO_OK && options.plan)
        return cli_writes() ? experiment_print_plan(config, text, name, &options, ctx, json) : SOTTO_OK;
    if (status == SOTTO_OK && cli_shares()) { /* each rank is a worker; rank 0 then merges */
        struct sotto_run_options worker = options;
        worker.worker = 1;
        status = sotto_run(&folder, config, text, name, &worker, ctx);
        if (status == SOTTO_OK && !cli_writes()) {
            sotto_text_free(folder);
            return SOTTO_OK;
        }
        sotto_text_free(status == SOTTO_OK ? folder : NULL);
    }
    if (status == SOTTO_OK)
        status = sotto_run(&folder, config, text, name, &options, ctx);
    return status == SOTTO_OK ? experiment_print_folder(folder, options.worker || options.shards > 1, json)
                              : status;
}
