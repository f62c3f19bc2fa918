#include "options/option_row.h"
#include "options/module_tables.h"
#include "sotto/lab/talos.h"

#define OPTIONS_OF struct sotto_talos
#define TALOS "Talos: training against a classifier of an attribute (no guarantee)"

const struct sotto_option options_talos[] = {
    {"lambda", REAL(lambda, "L"), .value = "1", .range = "[0,inf)", .group = TALOS,
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
