#include "options/option_row.h"
#include "options/option_tables.h"
#include "train/plain/fine_tune.h"

#define OPTIONS_OF struct fine_tune_options

const struct sotto_option options_fine_tune[] = {
    {"backend", TEXT(backend, "NAME"), .value = "auto", .range = "auto|winograd|dnnl|ref", .group = "Speed",
     .help = "kernels: auto, winograd, dnnl or ref"},
    {"seed", SEED(seed), .value = "1", .group = "Training",
     .help = "seed of the head's initial weights, order and augmentation"},
    {"epochs", COUNT(epochs, "N"), .value = "20", .range = "[1,1000000]", .group = "Training",
     .help = "passes over the images"},
    {"batch", COUNT(batch, "N"), .value = "25", .range = "[1,1048576]", .group = "Training",
     .help = "images per step"},
    {"lr", REAL(lr, "RATE"), .value = "0.001", .range = "(0,1000]", .group = "Training",
     .help = "learning rate of Adam"},
    {"hidden", SIZES(hidden, hidden_count, FINE_TUNE_HIDDEN), .group = "Training",
     .help = "widths of the head's hidden ReLU layers"},
    {"min-area", REAL(min_area, "A"), .value = "0.75", .range = "(0,1]", .group = "Views",
     .help = "smallest share of the image that a view shows"},
    {"brightness", REAL(brightness, "B"), .value = "0.3", .range = "[0,1]", .group = "Views",
     .help = "strength of the brightness factor 1 +- B"},
    {"jitter", REAL(jitter, "J"), .value = "0.1", .range = "[0,1]", .group = "Views",
     .help = "strength of the colour change"},
    OPTIONS_END};
