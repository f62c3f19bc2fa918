#include "sotto/ssl.h"

#define OPTIONS_OF struct sotto_pretrain_options
#include "options/option_row.h"

static const struct sotto_option rows[] = {
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
     .help = "arithmetic: f32, bf16 or auto (the fastest measured on this machine; use f32 with --backend "
             "dnnl for results that do not depend on measured times)"},
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

const struct sotto_option *sotto_pretrain_option_table(void)
{
    return rows;
}

#undef OPTIONS_OF
#define OPTIONS_OF struct sotto_encoder_import_options

static const struct sotto_option import_rows[] = {
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

const struct sotto_option *sotto_encoder_import_option_table(void)
{
    return import_rows;
}

#undef OPTIONS_OF
#define OPTIONS_OF struct sotto_talos
#define TALOS "Talos: training against a classifier of an attribute (no guarantee)"

static const struct sotto_option talos_rows[] = {
    {"lambda", REAL(lambda, "L"), .value = "0", .range = "[0,inf)", .group = TALOS,
     .help = "weight of the classifier's loss, which is subtracted from the encoder's loss, >= 0"},
    {"attribute", INPUT(attribute, "a.npy"), .group = TALOS,
     .help = "attribute of each row of the set, whole numbers (default: the one stored with the set)"},
    {"bounded", FLAG(bounded), .value = "0", .group = TALOS,
     .help = "bounded adversarial loss: a record stops counting once the classifier does no better on it "
             "than the attribute's frequencies (default: unbounded, as published; diverges for large "
             "--lambda)"},
    {"alternation", TEXT(alternation, "RULE"), .value = "odd-even", .range = "odd-even|two-pass|joint",
     .group = TALOS,
     .help = "order of updates: odd-even (odd epochs train the classifier, even epochs the encoder), "
             "two-pass (both in every epoch) or joint (both in every step)"},
    {"adversary-steps", COUNT(adversary_steps, "N"), .value = "1", .range = "[1,1000]", .group = TALOS,
     .help = "classifier steps on each batch"},
    {"adversary-reads", TEXT(reads, "WHAT"), .value = "views", .range = "views|images|views-of-three",
     .group = TALOS,
     .help = "input of the classifier: views, images (not augmented; 1.5 times the work) or views-of-three "
             "(views, in batches that also hold the images)"},
    {"relu-logits", FLAG(relu_logits), .value = "0", .group = TALOS,
     .help = "ReLU on the classifier's logits, as in the authors' code"},
    OPTIONS_END};

const struct sotto_option *sotto_talos_option_table(void)
{
    return talos_rows;
}

/* "auto": the encoder's own, which is not known here. */
#undef OPTIONS_OF
#define OPTIONS_OF struct sotto_view_options

static const struct sotto_option view_rows[] = {
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

const struct sotto_option *sotto_view_option_table(void)
{
    return view_rows;
}

#undef OPTIONS_OF
#define OPTIONS_OF struct sotto_block_features

static const struct sotto_option block_rows[] = {
    {"blocks", COUNT(blocks, "N"), .value = "0", .group = "Scattering and blocks",
     .help = "results of the encoder's last N blocks, before the embedding; its first layers often tell "
             "classes apart better "
             "than its last"},
    {"grid", COUNT(grid, "G"), .value = "0", .group = "Scattering and blocks",
     .help = "averaging of the blocks' results over G x G cells; 0: none"},
    {"mirror", FLAG(mirror), .value = "0", .group = "Scattering and blocks",
     .help = "mean over the image and its mirror image"},
    OPTIONS_END};

const struct sotto_option *sotto_block_option_table(void)
{
    return block_rows;
}

#undef OPTIONS_OF
#define OPTIONS_OF struct sotto_scattering

static const struct sotto_option scattering_rows[] = {
    {"groups", COUNT(groups, "G"), .value = "27", .group = "Scattering and blocks",
     .help =
         "number of channel groups, each normalised within an image (81 channels, 243 in colour); 0: none"},
    {"grid", COUNT(grid, "G"), .value = "0", .group = "Scattering and blocks",
     .help = "averaging of the features over G x G cells; 0: none (scattering: every fourth pixel)"},
    {"mirror", FLAG(mirror), .value = "0", .group = "Scattering and blocks",
     .help = "mean over the image and its mirror image (scattering: its left half)"},
    OPTIONS_END};

const struct sotto_option *sotto_scattering_option_table(void)
{
    return scattering_rows;
}
