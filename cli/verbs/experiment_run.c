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
    char *document, *lines;
    TRY_OR_RETURN(sotto_run_plan(&document, &lines, config, text, name, options, ctx));
    printf(json ? "%s\n" : "%s", json ? document : lines);
    sotto_text_free(document);
    sotto_text_free(lines);
    return SOTTO_OK;
}

sotto_status experiment_run(const char *config, const char *text, const char *name,
                            const char *const *overrides, const struct options *o,
                            const struct sotto_context *ctx, int json)
{
    struct sotto_run_options options = {.insecure = option_given(o, "insecure-noise-seed"),
                                        .command_line = option_command_line(o)};
    char *folder = NULL;
    TRY_OR_RETURN(option_members(&options, sotto_option_table("run"), o));
    options.overrides = overrides;
    TRY_OR_RETURN(shard_read(&options.shard, &options.shards, o));
    if (options.worker && options.shards > 1)
        return cli_fail(SOTTO_EUSAGE, "run: --worker takes any open shadow model; omit --shard");
    if (options.plan)
        return cli_writes() ? experiment_print_plan(config, text, name, &options, ctx, json) : SOTTO_OK;
    if (cli_shares()) { /* each rank is a worker; rank 0 then merges */
        struct sotto_run_options worker = options;
        worker.worker = 1;
        TRY_OR_RETURN(sotto_run(&folder, config, text, name, &worker, ctx));
        sotto_text_free(folder);
        if (!cli_writes())
            return SOTTO_OK;
    }
    TRY_OR_RETURN(sotto_run(&folder, config, text, name, &options, ctx));
    return experiment_print_folder(folder, options.worker || options.shards > 1, json);
}
