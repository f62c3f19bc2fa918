/* CIFAR-100's two binary files. Every record carries a coarse and a fine label: one is the label, the other
 * the attribute. */
#include "data/format/cifar.h"
#include "data/format/format.h"

#include <string.h>

enum { COARSE, FINE };

const struct cifar_layout cifar100_layout = {.labels = 2,
                                             .classes = {[COARSE] = 20, [FINE] = 100},
                                             .what = {[COARSE] = "coarse label", [FINE] = "fine label"},
                                             .files = {"train.bin", [CIFAR_FILES - 1] = "test.bin"}};

static const char *const coarse_names[] = {"aquatic_mammals",
                                           "fish",
                                           "flowers",
                                           "food_containers",
                                           "fruit_and_vegetables",
                                           "household_electrical_devices",
                                           "household_furniture",
                                           "insects",
                                           "large_carnivores",
                                           "large_man-made_outdoor_things",
                                           "large_natural_outdoor_scenes",
                                           "large_omnivores_and_herbivores",
                                           "medium_mammals",
                                           "non-insect_invertebrates",
                                           "people",
                                           "reptiles",
                                           "small_mammals",
                                           "trees",
                                           "vehicles_1",
                                           "vehicles_2"};

static const char *const fine_names[] = {
    "apple",      "aquarium_fish", "baby",         "bear",       "beaver",      "bed",         "bee",
    "beetle",     "bicycle",       "bottle",       "bowl",       "boy",         "bridge",      "bus",
    "butterfly",  "camel",         "can",          "castle",     "caterpillar", "cattle",      "chair",
    "chimpanzee", "clock",         "cloud",        "cockroach",  "couch",       "crab",        "crocodile",
    "cup",        "dinosaur",      "dolphin",      "elephant",   "flatfish",    "forest",      "fox",
    "girl",       "hamster",       "house",        "kangaroo",   "keyboard",    "lamp",        "lawn_mower",
    "leopard",    "lion",          "lizard",       "lobster",    "man",         "maple_tree",  "motorcycle",
    "mountain",   "mouse",         "mushroom",     "oak_tree",   "orange",      "orchid",      "otter",
    "palm_tree",  "pear",          "pickup_truck", "pine_tree",  "plain",       "plate",       "poppy",
    "porcupine",  "possum",        "rabbit",       "raccoon",    "ray",         "road",        "rocket",
    "rose",       "sea",           "seal",         "shark",      "shrew",       "skunk",       "skyscraper",
    "snail",      "snake",         "spider",       "squirrel",   "streetcar",   "sunflower",   "sweet_pepper",
    "table",      "tank",          "telephone",    "television", "tiger",       "tractor",     "train",
    "trout",      "tulip",         "turtle",       "wardrobe",   "whale",       "willow_tree", "wolf",
    "woman",      "worm"};
_Static_assert(sizeof fine_names / sizeof *fine_names == 100, "one name per fine class");
_Static_assert(sizeof coarse_names / sizeof *coarse_names == 20, "one name per coarse class");

static bool cifar100_recognise(const struct bundle *b)
{
    return cifar_recognise(b, &cifar100_layout);
}

static sotto_status read_files(struct dataset *d, const struct bundle *b,
                               const struct sotto_import_options *options, const struct sotto_context *ctx)
{
    static const char *const *const names[] = {[COARSE] = coarse_names, [FINE] = fine_names};
    (void)ctx;
    if (!options->label || strcmp(options->label, "fine") == 0)
        return cifar_pool(d, b, &cifar100_layout, FINE, names);
    if (strcmp(options->label, "coarse") == 0)
        return cifar_pool(d, b, &cifar100_layout, COARSE, names);
    return status_fail(SOTTO_EUSAGE,
                       "%s: label '%.40s' is unknown; expected fine (100 classes) or coarse (20 classes)",
                       b->origin, options->label);
}

const struct dataset_format format_cifar100 = {
    .name = "cifar100",
    .set = "cifar100",
    .layout = "CIFAR-100 binary: train.bin and test.bin; fine labels, or label coarse",
    .takes_label = true,
    .recognise = cifar100_recognise,
    .read = read_files};
