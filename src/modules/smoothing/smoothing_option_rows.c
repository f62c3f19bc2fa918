#include "options/option_row.h"
#include "options/module_tables.h"
#include "sotto/lab/smoothing.h"

#define OPTIONS_OF struct sotto_smoothing_options

const struct sotto_option options_smoothing[] = {
    {"smooth", REAL(sigma, "SIGMA"), .range = "(0,inf)", .group = "Randomised smoothing",
     .help = "scale of the noise on every number of an input, in units of the input as the model gets it; "
             "answers are then votes of noisy copies, and --output is .json, .csv or .npy"},
    {"noise", CHOICE(noise, "LAW", "gaussian|laplace|logistic"), .group = "Randomised smoothing",
     .help = "law of that noise: gaussian (L2 radii), laplace or logistic (L1 radii)"},
    {"certify", FLAG(certify), .value = "0", .group = "Randomised smoothing",
     .help = "radius for each row, within which no change of the input changes the answer"},
    {"compare", FLAG(compare), .value = "0", .group = "Randomised smoothing",
     .help = "second radius, which differential privacy of the query gives (PixelDP)"},
    {"n", COUNT(n, "N"), .value = "1000", .range = "[1,100000000]", .group = "Randomised smoothing",
     .help = "noisy copies of each row; 1000 for a test set, 100000 for a row that is shown"},
    {"n0", COUNT(n0, "N"), .value = "100", .range = "[1,100000000]", .group = "Randomised smoothing",
     .help = "other copies, which choose the class to certify"},
    {"alpha", REAL(alpha, "A"), .value = "0.001", .range = "(0,0.5)", .group = "Randomised smoothing",
     .help = "probability of a wrong answer or radius, for each row by itself"},
    {"radii", REALS(radii, radius_count, "LIST"), .range = "[0,inf)", .group = "Randomised smoothing",
     .help = "radii at which the certified accuracy is stated, such as 0,0.25,0.5 (default: 21 radii from 0 "
             "to the "
             "largest possible one)"},
    {"seed", ANY_SEED(seed), .value = "auto", .group = "Randomised smoothing",
     .help = "seed of the noise (default: from the operating system, other in every run)"},
    OPTIONS_END};
