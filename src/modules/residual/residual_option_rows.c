#include "options/option_row.h"
#include "options/module_tables.h"
#include "sotto/lab/residual.h"

#define OPTIONS_OF struct sotto_residual_input

const struct sotto_option options_residual_input[] = {
    {"radius", REAL(radius, "R"), .range = "(0,inf)", .group = "Additive residual perturbation",
     .help = "L2 norm to which every input is clipped"},
    {"input-noise", REAL(noise, "PI"), .range = "(0,inf)", .group = "Additive residual perturbation",
     .help = "standard deviation of the noise on inputs"},
    {"uses", COUNT(uses, "E"), .range = "[1,inf)", .group = "Additive residual perturbation",
     .help = "uses of each record in training (epochs)"},
    {"copies", COUNT(copies, "N"), .value = "1", .range = "[1,inf)",
     .group = "Additive residual perturbation",
     .help = "independent noisy copies in each use (networks of an ensemble with separate inputs)"},
    {"label-epsilon", REAL(label_epsilon, "E"), .value = "0", .range = "[0,inf)",
     .group = "Additive residual perturbation",
     .help = "epsilon of randomised response on labels; 0: labels are public"},
    {"delta", REAL(delta, "D"), .range = "(0,1)", .group = "Additive residual perturbation",
     .help = "delta of (epsilon, delta)-DP"},
    OPTIONS_END};

#undef OPTIONS_OF
#define OPTIONS_OF struct sotto_residual_answers

const struct sotto_option options_residual_answers[] = {
    {"gamma", REAL(gamma, "G"), .range = "(0,inf)", .group = "Residual perturbation",
     .help = "standard deviation of the noise in every block"},
    {"mappings", COUNT(mappings, "M"), .value = "3", .range = "[1,inf)", .group = "Residual perturbation",
     .help = "number of residual blocks"},
    {"branch-bound", REAL(branch_bound, "B"), .range = "(0,inf)",
     .group = "Multiplicative residual perturbation", .help = "L2 norm to which every branch is clipped"},
    {"floor", REAL(floor, "ETA"), .value = "0", .range = "[0,inf)",
     .group = "Multiplicative residual perturbation",
     .help = "lower limit of the absolute activations that scale the noise"},
    {"weight-bound", REAL(weight_bound, "A"), .range = "(0,inf)",
     .group = "Multiplicative residual perturbation", .help = "L1 norm of the output weights"},
    {"output-noise", REAL(output, "PI"), .range = "(0,inf)", .group = "Multiplicative residual perturbation",
     .help = "standard deviation of the output noise, relative to the largest activation"},
    {"queries", COUNT(queries, "K"), .value = "1", .range = "[1,inf)",
     .group = "Multiplicative residual perturbation", .help = "number of answers to one adversary"},
    {"delta", REAL(delta, "D"), .range = "(0,1)", .group = "Multiplicative residual perturbation",
     .help = "delta of (epsilon, delta)-DP"},
    OPTIONS_END};

#undef OPTIONS_OF
#define OPTIONS_OF struct sotto_residual_theorem1

const struct sotto_option options_residual_theorem1[] = {
    {"mapping-bound", REAL(mapping_bound, "G"), .range = "(0,inf)", .group = "Additive residual perturbation",
     .help = "bound on the expected output of a residual block, for the published, unproved epsilon"},
    OPTIONS_END};

/* Arguments of calls that stand in no struct. */
const struct sotto_option options_residual_demo[] = {
    {"exponent", "exponent", SOTTO_OPTION_REAL, .unit = "P", .value = "0.3333333333333333", .range = "(0,1]",
     .help = "exponent p of the read-out E[w x^p], in (0, 1]"},
    {"time", "time", SOTTO_OPTION_REAL, .unit = "T", .value = "1", .range = "(0,inf)",
     .help = "end of the dynamics dx = U x dt"},
    {"norm-bound", "norm-bound", SOTTO_OPTION_REAL, .unit = "C", .value = "1", .range = "(0,inf)",
     .help = "bound on the norms of U and w (with --points)"},
    {"draws", "draws", SOTTO_OPTION_COUNT, .unit = "N", .value = "100", .range = "[2,inf)",
     .help = "draws of signs (with --points)"},
    {.name = NULL}};
