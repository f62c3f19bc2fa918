/* fine_tune.h - trains encoder and head together on labelled PRIVATE images: the variant about which nothing
 * is proved. Here to be measured beside heads on a frozen encoder. */
#ifndef SOTTO_FINE_TUNE_H
#define SOTTO_FINE_TUNE_H

#include "sotto/head.h"
#include "sotto/ssl.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { SOTTO_FINE_TUNE_HIDDEN = 3 };

/** {0}: all defaults. */
struct sotto_fine_tune_options {
    const char *backend; /**< ["auto"] = measured (autotune.h), "winograd", "dnnl", "ref" */
    uint64_t seed;       /**< [1] head's initial weights, order, augmentation; below 2^63 */
    size_t epochs;       /**< [20] */
    size_t batch;        /**< [25] */
    double lr;           /**< [1e-3] Adam (betas .9 .999, epsilon 1e-7) for encoder and head alike */
    size_t hidden_count; /**< [0]: a linear head */
    size_t hidden[SOTTO_FINE_TUNE_HIDDEN];
    double min_area, brightness, jitter; /**< augmentation [.75, .3, .1] (Keras "weak") */
    uint64_t reserved[4];                /**< zeros: room for later members */
};
/** Out: *o: the values in brackets. */
SOTTO_API void sotto_fine_tune_defaults(struct sotto_fine_tune_options *o);

/** Continues from a pre-trained encoder, which stays as it is, with a new head on top: softmax cross-entropy
 * on rows[0..n) of `data`, one augmented view an image. Each epoch shuffles the rows; the last, incomplete
 * batch is dropped (a batch larger than n is n). f32.
 *
 * Both results are stamped "no privacy statement": sotto_protect_file() refuses them, and so does
 * sotto_sensitivity_prove() any head that says it stands on such an encoder. *loss: mean over the last epoch
 * in nats; may be NULL. The same options, data, threads and instruction set give the same bytes.
 *
 *  EINVAL      an option, the rows or the images do not fit; a single class; no labels
 *  EDIVERGED   the loss became NaN or infinite
 *  ESTOPPED    the context said stop; nothing is kept
 *  Source: Keras's semisupervised_simclr.py (fine-tuning stage) */
SOTTO_API SOTTO_MUST_CHECK sotto_status
sotto_fine_tune(struct sotto_encoder **encoder, struct sotto_head **head, double *loss,
                const struct sotto_encoder *from, const struct sotto_dataset *data, const int64_t *rows,
                size_t n, const struct sotto_fine_tune_options *options, const struct sotto_context *ctx);

#ifdef __cplusplus
}
#endif
#endif
