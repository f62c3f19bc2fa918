#include "verbs/experiment_run.h"

static const struct option_row rows[] = {EXPERIMENT_ROWS, OPTION_END};

static sotto_status verb_run_config(const struct options *o, const struct sotto_context *ctx, int json)
{
    return experiment_run(option_argument(o, 0), NULL, NULL, option_list(o, "set"), o, ctx, json);
}

const struct verb verb_run = {.name = "run",
                              .summary = "run a whole experiment from one YAML file; finished stages are "
                                         "reused, and an interrupted run continues",
                              .arguments = "CONFIG.yaml",
                              .min_arguments = 1,
                              .max_arguments = 1,
                              .examples = "  sotto run experiments/demo.yaml\n"
                                          "  sotto run experiments/demo.yaml -s seed=2 -o runs/demo-seed-2",
                              .floor = FLOOR_RUN,
                              .ranks = WORKERS,
                              .options = rows,
                              .most_used = "output|set|fresh|plan|worker|shard|json",
                              .run = verb_run_config};
