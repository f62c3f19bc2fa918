/* talos.h - Talos: pre-training that hides one attribute of the images from a classifier. */
#ifndef SOTTO_LAB_TALOS_H
#define SOTTO_LAB_TALOS_H

#include "sotto/lab/ssl.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Talos (He & Zhang 2021): the encoder is trained against a classifier that reads a sensitive attribute from its embeddings
 *  (three dense layers, 64 wide). Odd epochs, counted from 1, teach the classifier; even ones teach the encoder, on
 *  contrastive loss - lambda * loss of the classifier. So with twice the epochs of a plain run the encoder gets as many
 *  steps as in that run.
 *
 *  As published this loss has no lower bound: the encoder can make a classifier that stands still as wrong as it likes, and
 *  from some lambda on does nothing else. With `bounded` a record counts in the classifier's loss with min(loss, -ln share
 *  of its value among the images): it stops to count once the classifier knows no more of it than the shares tell.
 *
 *  Talos censors what this classifier finds and proves nothing. Measure with an attacker that is trained separately
 *  (sotto_audit() with features and attribute), also to choose lambda. */
struct sotto_talos { /* part_options of sotto_pretrain_options, with part "talos" and method "simclr" */
    /** [1] >= 0; SOTTO_ZERO: no censoring. */
    double lambda;
    /** ["odd-even"] as published; "two-pass": every epoch teaches the encoder, then the classifier, as in the authors' code;
     *  "joint": every step teaches both, so the classifier keeps up and a run costs no more than a plain one. */
    const char *alternation;
    /** [0]; 1: the encoder's loss has a lower bound (above). */
    int bounded;
    /** [1] steps of the classifier on each batch of its turn, up to 1000. */
    size_t adversary_steps;
    /** [0]; 1: ReLU after the classifier's last layer too, as in the authors' code. */
    int relu_logits;
    /** ["views"] what the classifier reads. "images": the images as they are, which go through the encoder beside their
     *  views (half again as much work), since embeddings will be of images, and views hide an attribute by themselves.
     *  "views-of-three": the views, with the images beside them for batch norm, as in the authors' code. */
    const char *reads;
    /** (data->n), >= 0; [NULL] the set's own. */
    const int64_t *attribute;
};

#ifdef __cplusplus
}
#endif
#endif
