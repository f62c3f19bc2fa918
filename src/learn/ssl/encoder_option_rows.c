#include "options/option_row.h"
#include "options/option_tables.h"
#include "sotto/lab/ssl.h"

#define OPTIONS_OF struct sotto_encoder_import_options

const struct sotto_option options_encoder_import[] = {
    {"model", TEXT(model, "NAME"),
     .range = "resnet18|resnet18-imagenet|resnet50|resnet50-imagenet|mobilenetv2|mobilenetv2-imagenet",
     .group = "Weights",
     .help = "network of the weights: resnet18, resnet50 or mobilenetv2; with -imagenet as in torchvision, "
             "without "
             "it with the stem and strides for small images"},
    {"statement", TEXT(statement, "TEXT"), .group = "Weights",
     .help = "\"public, by WHO\": who states that no private record trained the weights, which the "
             "file cannot "
             "show; kept in the encoder and in certificates"},
    {"size", INPUT(height, "HxW"), .group = "Images",
     .help = "size in pixels of the images to embed, at least 32x32 (default: 224x224 with -imagenet, else "
             "32x32)"},
    {"normalise", TEXT(normalise, "MOMENTS"), .value = "imagenet", .group = "Images",
     .help =
         "normalisation of pixels in [0, 1] that the network was trained with: imagenet, none, or means and "
         "deviations of red, green and blue, such as 0.5,0.5,0.5/0.25,0.25,0.25"},
    OPTIONS_END};

#undef OPTIONS_OF
/* "auto": the encoder's own, which is not known here. */
#define OPTIONS_OF struct sotto_view_options

const struct sotto_option options_view[] = {
    {"views", COUNT(views, "N"), .value = "10", .range = "[1,256]", .group = "Views",
     .help = "views of each image"},
    {"augmentation", TEXT(augmentation, "RECIPE"), .group = "Views", .help = "recipe: keras or simclr"},
    {"min-area", REAL(min_area, "A"), .value = "auto", .range = "(0,1]", .group = "Views",
     .help = "smallest share of the image that a view shows"},
    {"brightness", REAL(brightness, "B"), .value = "auto", .range = "[0,1]", .group = "Views",
     .help = "strength of the brightness factor 1 +- B"},
    {"jitter", REAL(jitter, "J"), .value = "auto", .range = "[0,1]", .group = "Views",
     .help = "strength of the colour change"},
    {"vertical-flip", FLAG(vertical_flip), .value = "0", .group = "Views",
     .help = "vertical mirroring of half of the views (simclr)"},
    {"grey", REAL(grey, "P"), .value = "auto", .range = "[0,1]", .group = "Views",
     .help = "share of views without colour (simclr)"},
    {"blur", REAL(blur, "P"), .value = "auto", .range = "[0,1]", .group = "Views",
     .help = "share of blurred views (simclr)"},
    {"seed", SEED(seed), .value = "0", .group = "Views", .help = "seed of the views"},
    OPTIONS_END};

#undef OPTIONS_OF
#define OPTIONS_OF struct sotto_block_features

const struct sotto_option options_block[] = {
    {"blocks", COUNT(blocks, "N"), .value = "0", .group = "Scattering and blocks",
     .help = "results of the encoder's last N blocks, before the embedding; its first layers often tell "
             "classes apart better "
             "than its last"},
    {"grid", COUNT(grid, "G"), .value = "0", .group = "Scattering and blocks",
     .help = "averaging of the blocks' results over G x G cells; 0: none"},
    {"mirror", FLAG(mirror), .value = "0", .group = "Scattering and blocks",
     .help = "mean over the image and its mirror image"},
    OPTIONS_END};

#undef OPTIONS_OF
#define OPTIONS_OF struct sotto_scattering

const struct sotto_option options_scattering[] = {
    {"groups", COUNT(groups, "G"), .value = "27", .group = "Scattering and blocks",
     .help =
         "number of channel groups, each normalised within an image (81 channels, 243 in colour); 0: none"},
    {"grid", COUNT(grid, "G"), .value = "0", .group = "Scattering and blocks",
     .help = "averaging of the features over G x G cells; 0: none (scattering: every fourth pixel)"},
    {"mirror", FLAG(mirror), .value = "0", .group = "Scattering and blocks",
     .help = "mean over the image and its mirror image (scattering: its left half)"},
    OPTIONS_END};

/* Arguments of calls that stand in no struct. */
const struct sotto_option options_embedding[] = {
    {"encoder", "encoder", SOTTO_OPTION_TEXT, .unit = "FILE",
     .help = "encoder.safetensors, or 'scattering' for fixed wavelet features without training"},
    {"random", "random", SOTTO_OPTION_TEXT, .unit = "NAME",
     .help = "untrained encoder of this name, such as keras-simclr, as a baseline"},
    {"seed", "seed", SOTTO_OPTION_SEED, .unit = "N", .value = "0",
     .help = "seed of --random and of the linear head of --evaluate"},
    {.name = NULL}};
