#include "options/options.h"

#include <stdio.h>

static const struct option_row rows[] = {OPTION_END};

static sotto_status verb_inspect_run(const struct options *o, const struct sotto_context *ctx, int json)
{
    char *text = NULL;
    const char *path = option_argument(o, 0);
    TRY_OR_RETURN(json ? sotto_inspect(&text, path, ctx) : sotto_inspect_text(&text, path, ctx));
    fputs(text, stdout);
    if (json)
        putchar('\n');
    sotto_text_free(text);
    return SOTTO_OK;
}

const struct verb verb_inspect = {
    .name = "inspect",
    .summary = "show the type and the contents of a file; reads .npy, .npz, .safetensors, JSON, CSV, YAML, "
               "IDX and ledgers",
    .arguments = "FILE",
    .min_arguments = 1,
    .max_arguments = 1,
    .examples = "  sotto inspect head.safetensors\n"
                "  sotto inspect embeddings.npy --json",
    .floor = FLOOR_LEARN,
    .ranks = RANK_0,
    .options = rows,
    .most_used = "json",
    .run = verb_inspect_run,
};
