#include "verbs/experiment_run.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const struct option_row rows[] = {
    EXPERIMENT_ROWS,
    OPTION_GROUP("Stochastic differential equation (sotto demo sde)"),
    {"data", OPTION_TEXT, "NAME", NULL, "data set (default: fashion-mnist, or else synthetic-images)"},
    {"row", OPTION_COUNT, "I", "0", "row of the image, from 0"},
    {"seed", OPTION_COUNT, "N", "1", "seed of velocity field and noise"},
    OPTION_END};

static void print_sde(const struct sotto_sde_run *runs, const char *folder, int json)
{
    printf(json ? "{\"schema\": \"sotto.sde/1\", \"folder\": \"%s\", \"runs\": ["
                : "%s: images and sde.json\n",
           folder);
    if (!json)
        printf("%-20s %-22s %s\n", "run", "RMSE of recovered", "by the noise alone, on average");
    for (size_t i = 0; i < SOTTO_SDE_RUNS; i++) {
        if (json)
            printf("%s{\"name\": \"%s\", \"rmse\": %.17g}", i ? ", " : "", runs[i].name, runs[i].rmse);
        else if (isnan(runs[i].predicted))
            printf("%-20s %-22.3g -\n", runs[i].name, runs[i].rmse);
        else
            printf("%-20s %-22.3g %.3g\n", runs[i].name, runs[i].rmse, runs[i].predicted);
    }
    if (json)
        printf("]}\n");
    else
        printf(
            "With multiplicative noise of gamma 1 a few pixels carry the sum, so one seed may lie far from "
            "the average.\nThis is no privacy guarantee: another procedure may remove the noise, for example "
            "a "
            "posterior mean, or an average over repeated queries.\n");
}

/* An image through the equations behind residual perturbation, and back. */
static sotto_status run_sde(const struct options *o, const struct sotto_context *ctx, int json)
{
    struct sotto_dataset *data = NULL;
    struct sotto_sde_run runs[SOTTO_SDE_RUNS];
    const char *name = option_text(o, "data"), *folder = option_text(o, "output");
    sotto_status status = sotto_dataset_open(&data, name ? name : "fashion-mnist", ctx);
    if (status == SOTTO_ENOENT && !name) {
        cli_warn("%s; the synthetic set is used instead", sotto_error_text());
        status = sotto_dataset_open(&data, "synthetic-images", ctx);
    }
    if (status != SOTTO_OK)
        return status;
    folder = folder ? folder : "runs/sde";
    status =
        sotto_sde_demo(runs, folder, data, (int64_t)option_count(o, "row"), option_count(o, "seed"), ctx);
    sotto_dataset_free(data);
    if (status == SOTTO_OK)
        print_sde(runs, folder, json);
    return status;
}

/* Without the Fashion-MNIST package the demo still runs, on a made-up set that every page then calls
 * synthetic. */
static sotto_status run(const struct options *o, const struct sotto_context *ctx, int json)
{
    enum { MOST = 40 };
    if (option_argument_count(o) > 0 && strcmp(option_argument(o, 0), "sde") == 0)
        return run_sde(o, ctx, json);
    if (option_argument_count(o) > 0)
        return cli_fail(SOTTO_EUSAGE, "demo: unknown demo '%s'; expected sde, or no name",
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

static const struct subcommand subcommands[] = {
    {"sde", "", "send one image through an equation with and without noise, and recover it from the end",
     "data|row|seed|output|json"},
    {NULL}};

const struct verb verb_demo = {
    .name = "demo",
    .summary = "run the whole example on the default data, from pre-training to the report",
    .arguments = "[sde]",
    .max_arguments = 1,
    .examples = "  sotto demo\n"
                "  sotto demo sde -o runs/sde\n"
                "  sotto demo -o runs/demo -s data.set=synthetic-images",
    .floor = FLOOR_RUN,
    .ranks = REFUSED,
    .own = "row|seed",
    .options = rows,
    .most_used = "output|set|fresh|plan|worker|json",
    .subcommands = subcommands,
    .run = run};
