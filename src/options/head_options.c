#include "sotto/head.h"

#define OPTIONS_OF struct sotto_head_recipe
#include "options/option_row.h"

static const struct sotto_option rows[] = {
    {"trainer", TEXT(trainer, "NAME"), .value = "adam", .group = "Head",
     .help =
         "trainer: adam or sgd; with a proved sensitivity: convex, convex-sgd or convex-lbfgs; with noise in "
         "every step (sotto head alone): dp-sgd or dp-adam; from one noisy release of second moments (sotto "
         "head alone): covariance, functional, functional-linear or taylor"},
    {"hidden", SIZES(hidden, hidden_count, SOTTO_MAX_HIDDEN), .range = "[1,1048576]", .group = "Head",
     .help = "widths of the hidden ReLU layers, such as 512 or 512,128 (default: none, a linear head)"},
    {"epochs", COUNT(epochs, "N"), .value = "20", .range = "[1,4294967295]", .group = "Head",
     .help = "passes over the records"},
    {"batch", COUNT(batch, "N"), .value = "25", .range = "[1,inf)", .group = "Head",
     .help = "records per step"},
    {"lr", REAL(lr, "RATE"), .value = "0.001", .range = "(0,inf)", .group = "Head", .help = "learning rate"},
    {"seed", SEED(seed), .value = "1", .group = "Head",
     .help = "seed of initial weights, batch order and sampled pairs"},
    {"clip", REAL(clip, "R"), .value = "1", .range = "[1e-6,1e6]", .group = "Convex and moment trainers",
     .help =
         "L2 norm to which longer records are scaled (convex, covariance, functional); taylor: upper end of "
         "every feature, which is cut to 0 .. R"},
    {"bias-constant", REAL(bias, "C"), .value = "1", .range = "[0,1e6]",
     .group = "Convex and moment trainers",
     .help = "constant input of the bias, in units of the features (convex); in units of --clip (moments)",
     .aliases = "bias"},
    {"lambda", REAL(lambda, "L"), .value = "0.01", .range = "[0,1e9]", .group = "Convex and moment trainers",
     .help =
         "weight of half the squared norm of the weights (convex); ridge of covariance and functional, by "
         "default chosen from the noise"},
    {"steps", COUNT(steps, "N"), .value = "500", .range = "[1,4294967295]",
     .group = "Convex and moment trainers", .help = "full-batch gradient steps of trainer convex"},
    {"step-size", REAL(step_size, "ETA"), .value = "0", .range = "[0,inf)",
     .group = "Convex and moment trainers",
     .help = "step size of convex and convex-sgd; 0: the largest that the proof allows"},
    {"tolerance", REAL(tolerance, "T"), .value = "0.01", .range = "[1e-9,1]",
     .group = "Convex and moment trainers",
     .help = "gradient norm at which convex-lbfgs stops, in units of Lipschitz constant / records"},
    {"cross-weight", REAL(cross, "W"), .value = "1", .range = "[0.001,1000]",
     .group = "Convex and moment trainers",
     .help = "weight of the sums by class against the products of features (covariance)"},
    {"noise", TEXT(noise, "NAME"), .value = "gaussian", .group = "Noise and guarantee",
     .help = "noise: gaussian or logistic; on second moments also laplace (default of taylor)"},
    {"noise-multiplier", REAL(noise_multiplier, "M"), .range = "(0,inf)", .group = "Noise and guarantee",
     .help = "noise scale / clipping norm; --epsilon finds it instead", .aliases = "sigma"},
    {"max-grad-norm", REAL(max_grad_norm, "C"), .value = "1", .range = "[1e-6,1e6]",
     .group = "Noise and guarantee", .help = "L2 norm to which the gradient of each record is clipped",
     .aliases = "clip-norm"},
    {"momentum", REAL(momentum, "M"), .value = "0", .range = "[0,1)", .group = "Noise and guarantee",
     .help = "momentum of the noisy gradient (dp-sgd)"},
    {.name = NULL}};

const struct sotto_option *sotto_head_recipe_options(void)
{
    return rows;
}
