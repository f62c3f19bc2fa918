#include "options/option_row.h"
#include "options/module_tables.h"
#include "sotto/lab/generate.h"

#define OPTIONS_OF struct sotto_generator_options

const struct sotto_option options_generator[] = {
    {"model", TEXT(model, "NAME"), .value = "dcgan", .range = "dcgan|wgan-gp|vae", .group = "Training",
     .help = "model: dcgan, wgan-gp or vae; these are a generative adversarial network, a Wasserstein GAN "
             "with a gradient penalty, and a variational auto-encoder"},
    {"steps", COUNT(steps, "N"), .value = "6000", .range = "[1,1000000000]", .group = "Training",
     .help =
         "steps of training, one batch each; wgan-gp: of the generator, with five batches for the critic"},
    {"batch", COUNT(batch, "N"), .value = "64", .range = "[2,65536]", .group = "Training",
     .help = "images per step; the last, incomplete batch of a pass is dropped"},
    {"width", COUNT(width, "W"), .value = "32", .range = "[2,256]", .group = "Training",
     .help = "channels of the narrowest layers of a dcgan or wgan-gp; a vae has 12.5 W hidden units"},
    {"lr", REAL(lr, "RATE"), .value = "auto", .range = "(0,1000]", .group = "Training",
     .help = "learning rate of Adam (default: 0.0002 of a dcgan, 0.0001 of a wgan-gp, 0.001 of a vae)"},
    {"seed", SEED(seed), .value = "0", .group = "Training",
     .help = "seed of weights, order and latents; sample and reconstruction: of the draws"},
    {"backend", TEXT(backend, "NAME"), .value = "auto", .range = "auto|dnnl|winograd|ref",
     .group = "Training",
     .help =
         "kernels: dnnl (oneDNN), winograd (oneDNN with minimal filtering), ref (readable kernels) or auto "
         "(dnnl where it was built)"},
    {"checkpoint", TEXT(checkpoint, "FILE"), .group = "Files",
     .help = "state of an interrupted run to continue (default: OUTPUT.checkpoint; removed at the end)"},
    {"metrics", TEXT(metrics, "FILE"), .group = "Files",
     .help = "metrics.jsonl to append to; it gets losses, and what the discriminator says of records and "
             "samples"},
    OPTIONS_END};

#undef OPTIONS_OF
#define OPTIONS_OF struct sotto_generator_score_options

const struct sotto_option options_generator_score[] = {
    {"draws", COUNT(draws, "N"), .value = "auto", .range = "[1,100000]",
     .group = "Attack on a generative model",
     .help = "draws of the latent vector for each record (default: 300 of reconstruction, 20 of elbo)"},
    {"draw-seed", SEED(seed), .value = "0", .group = "Attack on a generative model",
     .help = "seed of these draws, and of the samples that searches start from"},
    {"image-queries", COUNT(queries, "N"), .value = "20000", .range = "[1,1000000000]",
     .group = "Attack on a generative model",
     .help = "images that gan-leaks-partial may ask the generator for about one record"},
    OPTIONS_END};

#undef OPTIONS_OF
#define OPTIONS_OF struct sotto_imitation_options

const struct sotto_option options_imitation[] = {
    {"imitation-samples", COUNT(samples, "N"), .value = "20000", .range = "[2,100000000]",
     .group = "Attack on a generative model",
     .help = "samples of the generator that logan-blackbox trains its own discriminator on"},
    {"imitation-steps", COUNT(steps, "N"), .value = "auto", .range = "[1,1000000000]",
     .group = "Attack on a generative model",
     .help = "steps of that training (default: those of the target; 6000 where it is a vae)"},
    {"imitation-seed", SEED(seed), .value = "0", .group = "Attack on a generative model",
     .help = "seed of these samples and that training"},
    OPTIONS_END};
