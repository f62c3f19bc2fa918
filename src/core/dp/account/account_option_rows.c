#include "options/option_row.h"
#include "options/option_tables.h"
#include "sotto/account.h"

#define OPTIONS_OF struct sotto_sampled

const struct sotto_option options_sampled[] = {
    {"mechanism", TEXT(mechanism, "NAME"), .group = "DP-SGD",
     .help = "noise: gaussian or logistic; laplace with gradients clipped by L1"},
    {"noise-multiplier", REAL(noise_multiplier, "M"), .range = POSITIVE, .group = "DP-SGD",
     .help = "noise scale / clipping norm", .aliases = "sigma"},
    {"sample-rate", REAL(sample_rate, "Q"), .range = "[1e-100,1]", .group = "DP-SGD",
     .help = "sampling rate: probability that a record is in a step, in (0, 1]", .aliases = "sampling-rate",
     .old_names = "sampling_rate"},
    {"sampling", CHOICE(sampling, "NAME", "poisson|fixed"), .value = "poisson", .group = "DP-SGD",
     .help = "batches: poisson, or fixed: constant batch size without replacement (replace-one adjacency)"},
    {"rows-per-person", COUNT(rows_per_person, "M"), .value = "0", .range = "[0,1048576]", .group = "DP-SGD",
     .help = "unit of privacy: a person with at most M records, in Poisson batches; 0: one record"},
    {"steps", COUNT(steps, "N"), .range = "[1,1099511627776]", .group = "DP-SGD", .help = "number of steps"},
    {"delta", REAL(delta, "D"), .range = "(0,1)", .group = "DP-SGD",
     .help = "delta of (epsilon, delta)-DP for all steps together"},
    {"clipping", CHOICE(clipping, "NORM", "l2|l1"), .value = "l2", .group = "DP-SGD",
     .help = "norm of gradient clipping: l1 or l2 (laplace: l1)"},
    {"adjacency", CHOICE(adjacency, "NAME", "replace-one|add-remove"), .group = "Mechanism",
     .help = "adjacency: replace-one (default) or add-remove (default for Poisson batches)"},
    OPTIONS_END};

/* Arguments of calls that stand in no struct. */
const struct sotto_option options_account[] = {
    {"sigma", "sigma", SOTTO_OPTION_REAL, .unit = "S", .range = "(0,inf)",
     .help = "alias of --scale; with --sample-rate, of --noise-multiplier"},
    {"compose", "compose", SOTTO_OPTION_COUNT, .unit = "K", .value = "1", .range = "[1,inf)",
     .help = "number of identical releases with independent noise"},
    {"choose", "choose", SOTTO_OPTION_FLAG, .value = "0",
     .help = "table of the noise that each mechanism needs for --epsilon, smallest first"},
    {"certified", "certified", SOTTO_OPTION_FLAG, .value = "0",
     .help = "bounds by ball arithmetic, valid under rounding (takes seconds)"},
    {"group", "group", SOTTO_OPTION_COUNT, .unit = "N",
     .help = "number of records in which the data sets differ (group)"},
    {"probabilities", "probabilities", SOTTO_OPTION_REALS, .unit = "LIST", .range = "(0,1)",
     .help = "probability of each part, such as 0.5,0.5 (mixture; default: unknown)"},
    {.name = NULL}};
