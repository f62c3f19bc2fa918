#include "options/option_row.h"
#include "options/option_tables.h"
#include "sotto/lab/ssl.h"

#define OPTIONS_OF struct sotto_pretrain_options

const struct sotto_option options_pretrain[] = {
    {"method", TEXT(method, "NAME"), .value = "simclr", .range = "simclr|rotation", .group = "Training",
     .help = "objective: simclr, or rotation (predict quarter turns)"},
    {"encoder", TEXT(encoder, "NAME"), .value = "keras-simclr", .group = "Training",
     .help = "network: keras-simclr, resnet8, resnet18, resnet50 or mobilenetv2; for 64 pixels and more "
             "resnet18-imagenet, resnet50-imagenet or mobilenetv2-imagenet"},
    {"epochs", COUNT(epochs, "N"), .value = "10", .range = "[1,1000000]", .group = "Training",
     .help = "passes over the images"},
    {"batch", COUNT(batch, "N"), .value = "256", .range = "[1,1048576]", .group = "Training",
     .help = "images per step, two views each; the last, incomplete batch of an epoch is dropped"},
    {"lr", REAL(lr, "RATE"), .value = "0.001", .range = "(0,1000]", .group = "Training",
     .help = "learning rate of Adam"},
    {"schedule", TEXT(schedule, "NAME"), .value = "constant", .range = "constant|cosine", .group = "Training",
     .help = "learning-rate schedule: constant, or cosine to 0 after a warm-up of 5 %"},
    {"temperature", REAL(temperature, "T"), .value = "0.1", .range = "(0,inf)", .group = "Training",
     .help = "temperature of the contrastive loss"},
    {"loss", TEXT(loss, "FORM"), .value = "keras", .range = "keras|simclr", .group = "Training",
     .help = "negatives of simclr: keras (other view only) or simclr (all 2N - 2)"},
    {"seed", SEED(seed), .value = "0", .group = "Training",
     .help = "seed of initial weights, order and augmentation"},
    {"augmentation", TEXT(augmentation, "RECIPE"), .value = "keras", .range = "keras|simclr",
     .group = "Views",
     .help = "augmentation recipe: keras (shift, zoom, brightness, mixed colours) or simclr (crop, colour "
             "jitter, grey, blur)"},
    {"min-area", REAL(min_area, "A"), .value = "0.25", .range = "(0,1]", .group = "Views",
     .help = "smallest share of the image that a view shows, in (0, 1]"},
    {"brightness", REAL(brightness, "B"), .value = "0.6", .range = "[0,1]", .group = "Views",
     .help = "strength of brightness changes, a factor of 1 +- B, in [0, 1]; simclr: also of contrast and "
             "saturation"},
    {"jitter", REAL(jitter, "J"), .value = "0.2", .range = "[0,1]", .group = "Views",
     .help = "strength of colour changes, in [0, 1]: channels mixed by +- J; simclr: hue rotated by up to J "
             "turns"},
    {"vertical-flip", FLAG(vertical_flip), .value = "0", .group = "Views",
     .help = "vertical flips of half of the views (simclr)"},
    {"grey", REAL(grey, "P"), .value = "0.2", .range = "[0,1]", .group = "Views",
     .help = "share of views without colour (simclr)"},
    {"blur", REAL(blur, "P"), .value = "0.5", .range = "[0,1]", .group = "Views",
     .help = "share of blurred views (simclr)"},
    {"dtype", TEXT(dtype, "TYPE"), .value = "auto", .range = "auto|f32|bf16", .group = "Speed",
     .help = "arithmetic: f32, bf16 or auto, the fastest measured on this machine; use f32 with --backend "
             "dnnl for results that do not depend on measured times"},
    {"backend", TEXT(backend, "NAME"), .value = "auto", .range = "auto|winograd|dnnl|ref", .group = "Speed",
     .help =
         "kernels: dnnl (oneDNN), winograd (oneDNN with minimal filtering of 3x3 kernels), ref (readable "
         "kernels) or auto (measured with the dtype; another choice than f32 on dnnl must be 10 % faster)"},
    {"order", TEXT(order, "ORDER"), .value = "auto", .range = "auto|exact|fast", .group = "Speed",
     .help =
         "order of sums over a batch: exact (the same bits on any number of threads), fast (for this number "
         "only) or auto (exact where it costs little; not with batch norm or Talos)"},
    {"leaf", COUNT(leaf, "N"), .range = "[0,1048576]", .group = "Speed",
     .help =
         "images that a thread takes at a time in order exact; decides the last bits (default: 32, fewer for "
         "small batches)"},
    {"norm-scope", TEXT(norm_scope, "SCOPE"), .value = "batch", .range = "batch|leaf", .group = "Speed",
     .help = "moments that batch norm uses in training: of the batch, or of the leaf (then threads and ranks "
             "do not "
             "wait for each other; order exact only; simclr can cheat "
             "on it, as both views of an image are in one leaf; decides the result)"},
    {"checkpoint", TEXT(checkpoint, "FILE"), .group = "Files",
     .help = "state of an interrupted run to continue (default: OUTPUT.checkpoint; removed at the end)"},
    {"metrics", TEXT(metrics, "FILE"), .group = "Files",
     .help = "metrics.jsonl to append to, one line per epoch"},
    OPTIONS_END};
