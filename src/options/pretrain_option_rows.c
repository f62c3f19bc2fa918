#include "sotto/ssl.h"

#define OPTIONS_OF struct sotto_pretrain_options
#include "options/option_row.h"

static const struct sotto_option rows[] = {
    {"method", TEXT(method, "NAME"), .value = "simclr", .range = "simclr|rotation", .group = "Training",
     .help = "objective: simclr, or rotation (prediction of quarter turns)"},
    {"encoder", TEXT(encoder, "NAME"), .value = "keras-simclr", .group = "Training",
     .help = "network: keras-simclr, resnet8, resnet18, resnet50 or mobilenetv2; for 64 pixels and more "
             "resnet18-imagenet, resnet50-imagenet or mobilenetv2-imagenet"},
    {"epochs", COUNT(epochs, "N"), .value = "10", .range = "[1,1000000]", .group = "Training",
     .help = "passes over the images"},
    {"batch", COUNT(batch, "N"), .value = "256", .range = "[1,1048576]", .group = "Training",
     .help = "images per step, two views each; the last, incomplete batch of an epoch is dropped"},
    {"lr", REAL(lr, "RATE"), .value = "0.001", .range = "(0,inf)", .group = "Training",
     .help = "learning rate of Adam"},
    {"schedule", TEXT(schedule, "NAME"), .value = "constant", .range = "constant|cosine", .group = "Training",
     .help = "learning-rate schedule: constant, or cosine to 0 after a warm-up of 5 %"},
    {"temperature", REAL(temperature, "T"), .value = "0.1", .range = "(0,inf)", .group = "Training",
     .help = "temperature of the contrastive loss"},
    {"loss", TEXT(loss, "FORM"), .value = "keras", .range = "keras|simclr", .group = "Training",
     .help = "negatives of simclr: keras (the other view only) or simclr (all 2N - 2)"},
    {"seed", SEED(seed), .value = "0", .group = "Training",
     .help = "seed of initial weights, order and augmentation"},
    {"augmentation", TEXT(augmentation, "RECIPE"), .value = "keras", .range = "keras|simclr",
     .group = "Views",
     .help = "recipe: keras (shift, zoom, brightness, mixed colours) or simclr (crop, colour jitter, grey, "
             "blur)"},
    {"min-area", REAL(min_area, "A"), .value = "0.25", .range = "(0,1]", .group = "Views",
     .help = "smallest share of the image that a view shows, in (0, 1]"},
    {"brightness", REAL(brightness, "B"), .value = "0.6", .range = "[0,1]", .group = "Views",
     .help = "strength of the brightness factor 1 +- B, in [0, 1]; simclr: of contrast and saturation too"},
    {"jitter", REAL(jitter, "J"), .value = "0.2", .range = "[0,1]", .group = "Views",
     .help = "strength of the colour change, in [0, 1]: channels mixed by +- J; simclr: hue turned by +- J "
             "of the "
             "circle"},
    {"vertical-flip", FLAG(vertical_flip), .value = "0", .group = "Views",
     .help = "vertical mirroring of half of the views (simclr)"},
    {"grey", REAL(grey, "P"), .value = "0.2", .range = "[0,1]", .group = "Views",
     .help = "share of views without colour (simclr)"},
    {"blur", REAL(blur, "P"), .value = "0.5", .range = "[0,1]", .group = "Views",
     .help = "share of blurred views (simclr)"},
    {"dtype", TEXT(dtype, "TYPE"), .value = "auto", .range = "auto|f32|bf16", .group = "Speed",
     .help = "arithmetic: f32, bf16, or auto: the fastest by measurement on this machine (results that no "
             "measurement decides: f32 and --backend dnnl)"},
    {"backend", TEXT(backend, "NAME"), .value = "auto", .range = "auto|winograd|dnnl|ref", .group = "Speed",
     .help =
         "kernels: dnnl (oneDNN), winograd (oneDNN, 3x3 kernels by minimal filtering), ref (readable "
         "kernels), or auto: measured together with the dtype; f32 on dnnl is left only for a gain of 10 %"},
    {"checkpoint", TEXT(checkpoint, "FILE"), .group = "Files",
     .help = "state to continue from (default: OUTPUT.checkpoint; removed at the end)"},
    {"metrics", TEXT(metrics, "FILE"), .group = "Files",
     .help = "metrics.jsonl, to which one line per epoch is appended"},
    {.name = NULL}};

const struct sotto_option *sotto_pretrain_option_table(void)
{
    return rows;
}
