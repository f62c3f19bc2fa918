#include "verbs/experiment_run.h"

#include <stdio.h>
#include <string.h>

static const struct option_row rows[] = {EXPERIMENT_ROWS, OPTION_END};

/* Without the Fashion-MNIST package the demo still runs, on a made-up set that every page then calls
 * synthetic. */
static sotto_status verb_demo_run(const struct options *o, const struct sotto_context *ctx, int json)
{
    enum { MOST = 40 };
    if (option_argument_count(o) > 0)
        return cli_fail(SOTTO_EUSAGE,
                        "demo: unknown example '%s'; expected one that 'sotto demo --help' shows, or no name",
                        option_argument(o, 0));
    const char *overrides[MOST + 2] = {NULL};
    const char *const *given = option_list(o, "set");
    size_t count = 0;
    int chosen = 0;
    for (; given[count] && count < MOST; count++) {
        overrides[count] = given[count];
        chosen |= strncmp(given[count], "data.set=", 9) == 0;
    }
    struct sotto_dataset *data = NULL;
    if (!chosen && sotto_dataset_open(&data, "fashion-mnist", ctx) == SOTTO_ENOENT) {
        cli_warn("%s; the synthetic set is used instead, and the report says so", sotto_error_text());
        overrides[count] = "data.set=synthetic-images";
    }
    sotto_dataset_free(data);
    return experiment_run(NULL, sotto_demo_config(), "demo.yaml", overrides, o, ctx, json);
}

const struct verb verb_demo = {
    .name = "demo",
    .summary = "run the whole example on the default data, from pre-training to the report",
    .arguments = "[NAME]",
    .max_arguments = 1,
    .examples = "  sotto demo\n"
                "  sotto demo -o runs/demo -s data.set=synthetic-images",
    .floor = FLOOR_RUN,
    .ranks = REFUSED,
    .options = rows,
    .most_used = "output|set|fresh|plan|worker|json",
    .run = verb_demo_run};
