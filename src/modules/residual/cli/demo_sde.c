/* sotto demo sde: an image through the equations behind residual perturbation, and back. */
#include "options/options.h"
#include "sotto/lab/residual.h"

#include <math.h>
#include <stdio.h>

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

static sotto_status demo_sde(const struct options *o, const struct sotto_context *ctx, int json)
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

static const struct option_row rows[] = {
    OPTION_GROUP("Stochastic differential equation (sotto demo sde)"),
    {"data", OPTION_TEXT, "NAME", NULL, "data set (default: fashion-mnist, or else synthetic-images)"},
    {"row", OPTION_COUNT, "I", "0", "row of the image, from 0"},
    {"seed", OPTION_COUNT, "N", "1", "seed of velocity field and noise"},
    OPTION_END};

static const struct subcommand subcommands[] = {
    {"sde", "", "send one image through an equation with and without noise, and recover it from the end",
     "data|row|seed|output|json"},
    {NULL}};

const struct verb_part verb_part_demo_sde = {.verb = "demo",
                                             .when = "sde",
                                             .options = rows,
                                             .own = "row|seed",
                                             .examples = "  sotto demo sde -o runs/sde",
                                             .subcommands = subcommands,
                                             .run = demo_sde};
