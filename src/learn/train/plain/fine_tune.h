/* fine_tune.h - trains encoder and head together on labelled PRIVATE images: the variant about which nothing is proved. It
 * is here so that it can be measured beside heads on a frozen encoder. */
#ifndef TRAIN_PLAIN_FINE_TUNE_H
#define TRAIN_PLAIN_FINE_TUNE_H

#include "sotto/head.h"
#include "sotto/lab/ssl.h"

enum { FINE_TUNE_HIDDEN = 3 };

/** {0}: all defaults. */
struct fine_tune_options {
    /** ["auto"] = measured (autotune.h), "winograd", "dnnl", "ref". */
    const char *backend;
    /** [1] of the head's initial weights, the order and the augmentation; below 2^63. */
    uint64_t seed;
    /** [20] */
    size_t epochs;
    /** [25] images */
    size_t batch;
    /** [1e-3] of Adam (betas .9 .999, epsilon 1e-7), for encoder and head alike. */
    double lr;
    /** [0]: a linear head. */
    size_t hidden_count;
    size_t hidden[FINE_TUNE_HIDDEN];
    /** Augmentation [.75, .3, .1] (Keras "weak"). */
    double min_area, brightness, jitter;
};
/** Out: every member of *o gets its default. */
void fine_tune_defaults(struct fine_tune_options *o);

/** Continues from a pre-trained encoder, which stays as it is, with a new head on top: softmax cross-entropy, one augmented
 *  view for each image, f32. Each epoch shuffles the rows and drops the last, incomplete batch (a batch larger than n is n).
 *  The same options, data, threads and instruction set give the same bytes.
 *
 *  Both results are stamped "no privacy statement": sotto_protect_file() refuses them, and sotto_sensitivity_prove() refuses
 *  any head that states that it stands on such an encoder.
 *
 *  In:      from      the pre-trained encoder
 *           rows (n)  rows of `data`, labelled images
 *  Out:     *encoder  free with sotto_encoder_free()
 *           *head     free with sotto_head_free()
 *           *loss     mean over the last epoch in nats; may be NULL
 *  Returns: EINVAL     an option, the rows or the images do not fit; a single class; no labels
 *           EDIVERGED  the loss became NaN or infinite
 *           ESTOPPED   nothing is kept
 *  Source:  Keras's semisupervised_simclr.py (fine-tuning stage) */
sotto_status fine_tune_encoder(struct sotto_encoder **encoder, struct sotto_head **head, double *loss,
                               const struct sotto_encoder *from, const struct sotto_dataset *data,
                               const int64_t *rows, size_t n, const struct fine_tune_options *options,
                               const struct sotto_context *ctx);

#endif
