#include "options/option_row.h"
#include "options/option_tables.h"
#include "sotto/head.h"

#define OPTIONS_OF struct sotto_head_recipe

const struct sotto_option options_head_recipe[] = {
    {"trainer", TEXT(trainer, "NAME"), .value = "adam", .group = "Head",
     .help =
         "trainer: adam, sgd or convex (proved sensitivity), or in 'sotto head' dp-sgd, dp-adam, dp-gd or "
         "objective (private); convex-sgd and convex-lbfgs too have a proved sensitivity; dp-gd and "
         "objective are linear and need no tuning, and objective gives pure epsilon; covariance, functional, "
         "functional-linear and taylor learn from one noisy release of second moments (in 'sotto head')"},
    {"hidden", SIZES(hidden, hidden_count, SOTTO_MAX_HIDDEN), .range = "[1,1048576]", .group = "Head",
     .help = "widths of the hidden ReLU layers, such as 512 or 512,128 (default: none, linear head)"},
    {"epochs", COUNT(epochs, "N"), .value = "20", .range = "[1,4294967295]", .group = "Head",
     .help = "passes over the records"},
    {"batch", COUNT(batch, "N"), .value = "25", .range = "[1,inf)", .group = "Head",
     .help = "records per step; with --unit person: persons"},
    {"lr", REAL(lr, "RATE"), .value = "0", .range = "[0,1000]", .group = "Head",
     .help = "learning rate; 0: 0.001, of dp-sgd 0.5 (1 - momentum) / max-grad-norm"},
    {"balance", COUNTS(balance, balance_count, SOTTO_MAX_BALANCE, "WEIGHTS"), .range = "[1,1000000]",
     .group = "Head",
     .help = "how much a record of each class counts in the loss, such as 1,4 where the second class is four "
             "times as rare: whole numbers, public, one for each class (adam, sgd, dp-sgd, dp-adam, dp-gd)"},
    {"seed", SEED(seed), .value = "1", .group = "Head",
     .help = "seed of initial weights, batch order and sampled pairs"},
    {"augment-noise", REAL(augment_noise, "SIGMA"), .value = "0", .range = "[0,1e6]", .group = "Head",
     .help = "standard deviation of noise on every number of a record, new in every step (adam, sgd; for "
             "randomised smoothing; no privacy noise)"},
    {"clip", REAL(clip, "R"), .value = "1", .range = "[1e-6,1e6]", .group = "Convex and moment trainers",
     .help = "L2 norm to which records are clipped (convex, covariance, functional, dp-gd, objective); "
             "taylor: features are "
             "clipped to [0, R]"},
    {"bias-constant", REAL(bias, "C"), .value = "1", .range = "[0,1e6]",
     .group = "Convex and moment trainers",
     .help = "constant input of the bias, in units of the features (convex); in units of --clip (moments)",
     .aliases = "bias"},
    {"lambda", REAL(lambda, "L"), .value = "0.01", .range = "[0,1e9]", .group = "Convex and moment trainers",
     .help = "L2 regularisation: factor of half the squared norm of the weights (convex); ridge of "
             "covariance and functional (chosen from the noise unless given)"},
    {"steps", COUNT(steps, "N"), .value = "0", .range = "[0,4294967295]",
     .group = "Convex and moment trainers",
     .help =
         "number of gradient steps; 0: 500 of convex and dp-gd, all records in each; of dp-sgd and dp-adam "
         "--epochs x records / --batch, rounded up"},
    {"step-size", REAL(step_size, "ETA"), .value = "0", .range = "[0,inf)",
     .group = "Convex and moment trainers",
     .help = "step size (convex, convex-sgd, dp-gd); 0: the largest that the proof allows; dp-gd: by a "
             "public rule"},
    {"tolerance", REAL(tolerance, "T"), .value = "0.01", .range = "[1e-9,1]",
     .group = "Convex and moment trainers",
     .help = "gradient norm at which convex-lbfgs stops, in units of Lipschitz constant / number of records"},
    {"cross-weight", REAL(cross, "W"), .value = "1", .range = "[0.001,1000]",
     .group = "Convex and moment trainers",
     .help = "weight of the class sums relative to the feature products (covariance)"},
    {"noise", TEXT(noise, "NAME"), .value = "gaussian", .group = "Noise and guarantee",
     .help = "noise: gaussian or logistic; trainers on second moments: also laplace (default of taylor)"},
    {"noise-multiplier", REAL(noise_multiplier, "M"), .range = "(0,inf)", .group = "Noise and guarantee",
     .help = "noise scale / clipping norm, instead of --epsilon (objective: 1 / epsilon)",
     .aliases = "sigma"},
    {"max-grad-norm", REAL(max_grad_norm, "C"), .value = "1", .range = "[1e-6,1e6]",
     .group = "Noise and guarantee",
     .help = "L2 norm to which the gradient of each record, or person, is clipped", .aliases = "clip-norm"},
    {"momentum", REAL(momentum, "M"), .value = "0", .range = "[0,1)", .group = "Noise and guarantee",
     .help = "momentum of the noisy gradient (dp-sgd)"},
    {"ema", REAL(average, "DECAY"), .value = "0", .range = "[0,1)", .group = "Noise and guarantee",
     .help = "decay of the exponential moving average of the weights, such as 0.999; the average becomes the "
             "model; 0: none"},
    {"rows-per-step", COUNT(rows_per_step, "K"), .value = "0", .range = "[0,1024]",
     .group = "Noise and guarantee",
     .help =
         "with --unit person: so many rows of each person, drawn anew for every step, are in a step; 0: all "
         "(dp-sgd, dp-adam)"},
    OPTIONS_END};
