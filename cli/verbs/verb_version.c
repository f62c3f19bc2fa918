#include "options/options.h"

#include <stdio.h>

static const struct option_row rows[] = {OPTION_END};

static sotto_status verb_version_run(const struct options *o, const struct sotto_context *ctx, int json)
{
    (void)o, (void)ctx;
    if (json)
        printf("{\"schema\": \"sotto.version/1\", \"version\": \"%s\", \"build\": \"%s\"}\n", sotto_version(),
               sotto_version_line());
    else
        printf("%s\n", sotto_version_line());
    return SOTTO_OK;
}

const struct verb verb_version = {.name = "version",
                                  .summary = "print version and build details, for bug reports",
                                  .arguments = "",
                                  .examples = "  sotto version\n"
                                              "  sotto --version --json",
                                  .floor = FLOOR_RUN,
                                  .ranks = RANK_0,
                                  .options = rows,
                                  .most_used = "json",
                                  .run = verb_version_run};
