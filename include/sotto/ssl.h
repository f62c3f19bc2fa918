/* ssl.h - self-supervised pre-training on PUBLIC images, and embeddings. */
#ifndef SOTTO_SSL_H
#define SOTTO_SSL_H

#include "sotto/data.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Zero / NULL members mean the default in brackets; sotto_pretrain_defaults() writes them all in. */
struct sotto_pretrain_options {
    const char *method;   /**< "simclr" [default] or "rotation" */
    const char *encoder;  /**< ["keras-simclr"], "resnet8", "resnet18" */
    const char *backend;  /**< ["auto"], "dnnl", "ref" */
    const char *dtype;    /**< ["auto"] = bf16 where fast, "f32", "bf16" */
    const char *loss;     /**< ["keras"] cross-view negatives only, or "simclr" with 2N-2 negatives */
    uint64_t seed;
    size_t epochs;        /**< [10] */
    size_t batch;         /**< [256] images (two views each) */
    double lr;            /**< [1e-3] Adam */
    const char *schedule; /**< ["constant"], "cosine" */
    double temperature;   /**< [0.1] */
    double min_area, brightness, jitter; /**< augmentation strength [.25, .6, .2] (Keras "strong") */
    const char *checkpoint; /**< file written every epoch and at a stop, and resumed from when it exists; NULL: none */
    const char *metrics;    /**< metrics.jsonl to append to; NULL: none */
};
SOTTO_API void sotto_pretrain_defaults(struct sotto_pretrain_options *o);

struct sotto_encoder;
/** Result of a pre-training run. */
struct sotto_pretrain_result {
    uint64_t steps;
    double loss;       /**< mean over the last epoch, nats */
    double accuracy;   /**< contrastive (or rotation) accuracy over the last epoch */
    double seconds, images_per_second; /**< training time of this process, augmentation included */
    size_t planned_bytes;
    char dtype[8], backend[64];
};
/** Trains on rows[0..n) of `data` (all rows if rows is NULL). ESTOPPED after writing the checkpoint when the context
 *  says stop; calling again with the same options continues with the same bits. */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_pretrain(struct sotto_encoder **out, struct sotto_pretrain_result *result,
                                                       const struct sotto_dataset *data, const int64_t *rows, size_t n,
                                                       const struct sotto_pretrain_options *options,
                                                       const struct sotto_context *ctx);
/** Untrained encoder (the random-features baseline). */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_encoder_random(struct sotto_encoder **out, const struct sotto_dataset *data,
                                                             const char *encoder, uint64_t seed);
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_encoder_save(const char *path, const struct sotto_encoder *e);
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_encoder_load(struct sotto_encoder **out, const char *path);
SOTTO_API void sotto_encoder_free(struct sotto_encoder *e);
SOTTO_API size_t sotto_encoder_width(const struct sotto_encoder *e);

/** Embeddings of un-augmented images: out (n, D), D = sotto_encoder_width(). f32, inference mode. */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_embed(float *out, const struct sotto_encoder *e,
                                                    const struct sotto_dataset *data, const int64_t *rows, size_t n,
                                                    const struct sotto_context *ctx);

/** k-nearest-neighbour accuracy (cosine; ties to the nearer neighbour) of test rows among train rows. */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_knn_accuracy(double *accuracy, const float *train_x,
                                                           const int64_t *train_y, size_t n_train, const float *test_x,
                                                           const int64_t *test_y, size_t n_test, size_t width,
                                                           size_t k, const struct sotto_context *ctx);

#ifdef __cplusplus
}
#endif
#endif
