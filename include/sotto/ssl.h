/* ssl.h - self-supervised pre-training on PUBLIC images, and embeddings. */
#ifndef SOTTO_SSL_H
#define SOTTO_SSL_H

#include "sotto/autotune.h"
#include "sotto/data.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Talos (He & Zhang 2021): the encoder is trained against a classifier that reads a sensitive attribute from
 * its embeddings (three dense layers, 64 wide). Odd epochs, counted from 1, teach the classifier; even ones
 * the encoder, on contrastive loss - lambda * classifier's loss. Twice the epochs of a plain run therefore
 * give the encoder as many steps. As published that loss has no lower end: the encoder can make a classifier
 * that stands still as wrong as it likes, and from some lambda on does nothing else. Bounded, a record's part
 * in the classifier's loss is min(loss, -ln share of its value among the images): it stops to count once the
 * classifier knows no more of it than the shares tell. Talos censors what this classifier finds and proves
 * nothing: measure with an attacker of its own training (sotto_audit() with features and attribute), also to
 * choose lambda. */
struct sotto_talos {
    double lambda;           /**< [0: no censoring] >= 0 */
    const char *alternation; /**< ["odd-even"] as published; "two-pass": every epoch teaches the encoder, then
                                the classifier, as in the authors' code; "joint": every step teaches both, so
                                the classifier keeps up and a run costs no more than a plain one */
    int bounded;             /**< [0]; 1: the encoder's loss has a lower end (above) */
    size_t adversary_steps;  /**< [1] steps of the classifier on each batch of its turn, up to 1000 */
    int relu_logits;   /**< [0]; 1: ReLU after the classifier's last layer too, as in the authors' code */
    const char *reads; /**< ["views"] what the classifier reads; "images": the images as they are, which go
                            through the encoder beside their views (half again as much work), since
                            embeddings will be of images, and views hide an attribute by themselves;
                            "views-of-three": the views, with the images beside them for batch norm, as in
                            the authors' code */
    const int64_t *attribute; /**< (data->n), >= 0; [NULL] the set's own */
    uint64_t reserved[4];     /**< zeros: room for later members */
};
/** {0}: all defaults. */
struct sotto_pretrain_options {
    const char *method;  /**< ["simclr"] or "rotation" */
    const char *encoder; /**< ["keras-simclr"], or a network of struct sotto_train_options for images */
    const char *backend; /**< ["auto"] = measured (autotune.h), "winograd", "dnnl", "ref" */
    const char *dtype;   /**< ["auto"] = likewise, "f32", "bf16" */
    const char *loss;    /**< ["keras"] cross-view negatives only, or "simclr" with 2N-2 negatives */
    uint64_t seed;       /**< [0] below 2^63 */
    size_t epochs;       /**< [10] */
    size_t batch;        /**< [256] images (two views each) */
    double lr;           /**< [1e-3] Adam */
    const char *
        schedule; /**< ["constant"], "cosine": to 0, after a linear warm-up over the first 5 % of the steps */
    double temperature;       /**< [0.1] */
    const char *augmentation; /**< ["keras"] shift and zoom, brightness and mixed colours; "simclr": crop,
                                   colour jitter (brightness, contrast, saturation; hue), grey, blur */
    double min_area, brightness, jitter; /**< augmentation strength [.25, .6, .2] (Keras "strong"); simclr:
                                              jitter is the share of the colour circle that hue turns */
    int vertical_flip;                   /**< [0] simclr */
    double grey, blur;                   /**< [.2, .5] simclr: share of views that are */
    const char *checkpoint; /**< file written every epoch, every minute and at a stop, and resumed from when
                               it exists; NULL: none */
    const char *metrics;    /**< metrics.jsonl to append to; NULL: none */
    const struct sotto_talos *talos; /**< with "simclr" only; NULL: none */
    uint64_t reserved[4];            /**< zeros: room for later members */
};
/** Out: *o: the values in brackets. */
SOTTO_API void sotto_pretrain_defaults(struct sotto_pretrain_options *o);

struct sotto_encoder;
/** Result of a pre-training run. */
struct sotto_pretrain_result {
    uint64_t steps;
    double loss;                               /**< mean over the last epoch, nats */
    double accuracy;                           /**< contrastive (or rotation) accuracy over the last epoch */
    double adversary_loss, adversary_accuracy; /**< likewise, of Talos's classifier, in nats; else 0 */
    double seconds, images_per_second;         /**< training time of this process, augmentation included */
    size_t planned_bytes;
    char dtype[8], backend[64];   /**< the latter with its version */
    struct sotto_autotune choice; /**< the same, and why */
};
/** Trains on rows[0..n) of `data` (all rows if rows is NULL). Each epoch shuffles the rows and drops the
 * last, incomplete batch. Grey images are replicated to 3 channels, images below 32 pixels are zero-padded
 * to 32.
 *
 *  The same options, data, thread count, instruction set and oneDNN give the same bytes, whether the run was
 *  interrupted or not; "auto" counts as what it chose. With another thread count the backend sums in another
 *  order: the last bits differ.
 *
 *  ESTOPPED    the context said stop; the checkpoint was written and the same call continues from it
 *  EINVAL      an option does not fit the data, or the checkpoint was made with other options or other data
 *  EDIVERGED   the loss became NaN or infinite
 *  ENOTSUP     dtype "bf16" without hardware for it, or a backend that was not built
 *  result may be NULL. */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_pretrain(struct sotto_encoder **out,
                                                       struct sotto_pretrain_result *result,
                                                       const struct sotto_dataset *data, const int64_t *rows,
                                                       size_t n, const struct sotto_pretrain_options *options,
                                                       const struct sotto_context *ctx);
/** Untrained encoder (the random-features baseline). */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_encoder_random(struct sotto_encoder **out,
                                                             const struct sotto_dataset *data,
                                                             const char *encoder, uint64_t seed);
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_encoder_save(const char *path, const struct sotto_encoder *e);
/** Also from a whole network of sotto_train() on colour images: its layers below the last (the supervised
 *  counterpart). */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_encoder_load(struct sotto_encoder **out, const char *path);
/** The bytes of that file, to memory and from memory.
 *  In:      bytes (size): borrowed during the call
 *  Out:     *bytes (*size): free with sotto_bytes_free(); *out: free with sotto_encoder_free()
 *  Returns: as the forms above, without ENOENT, ECREATE and EIO; errors speak of "encoder in memory" */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_encoder_save_bytes(void **bytes, size_t *size,
                                                                 const struct sotto_encoder *e);
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_encoder_load_bytes(struct sotto_encoder **out,
                                                                 const void *bytes, size_t size);
SOTTO_API void sotto_encoder_free(struct sotto_encoder *e);
SOTTO_API size_t sotto_encoder_width(const struct sotto_encoder *e);
/** "none: ..." if private records trained it (fine_tune.h), else "". Lives as long as the encoder. */
SOTTO_API const char *sotto_encoder_statement(const struct sotto_encoder *e);
/** SHA-256 over names and values of the encoder's tensors. Lives as long as the encoder. */
SOTTO_API const char *sotto_encoder_sha256(const struct sotto_encoder *e);

/** Embeddings of un-augmented images: out (n, D), D = sotto_encoder_width(). f32, inference mode; padded and
 *  replicated as in training. rows (n), or NULL for rows 0 .. n-1. EINVAL: the images have another size than
 * the encoder's input. */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_embed(float *out, const struct sotto_encoder *e,
                                                    const struct sotto_dataset *data, const int64_t *rows,
                                                    size_t n, const struct sotto_context *ctx);

/** Random views. {0}: as the encoder was pre-trained on them. */
struct sotto_view_options {
    size_t views; /**< [10] of each image */
    const char
        *augmentation; /**< as in pre-training, as all that follows [the encoder's own, else the default of
                                   pre-training] */
    double min_area, brightness, jitter;
    int vertical_flip; /**< where augmentation is NULL: the encoder's own */
    double grey, blur;
    uint64_t seed;        /**< [0] with the row number, it decides an image's views */
    uint64_t reserved[4]; /**< zeros: room for later members */
};
SOTTO_API void sotto_view_defaults(struct sotto_view_options *v, const struct sotto_encoder *e);
/** Embeddings of random views: out (n, views, D). An image's views depend on seed and row alone. Errors as
 *  sotto_embed(). */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_embed_views(float *out, const struct sotto_encoder *e,
                                                          const struct sotto_dataset *data,
                                                          const int64_t *rows, size_t n,
                                                          const struct sotto_view_options *views,
                                                          const struct sotto_context *ctx);

/** Fixed features, without any training: a wavelet scattering transform of two orders over 2 octaves and 8
 * directions (Bruna & Mallat 2013), 81 channels at every fourth pixel of each of the image's own channels (no
 * padding to 32 pixels, grey stays grey): 81 x 7 x 7 for 28x28, 243 x 8 x 8 for 32x32 in colour. Features of
 * an image depend on that image alone, so they cost no privacy. */
struct sotto_scattering {
    size_t groups; /**< [27] neighbouring channels are normalised together within an image, in this many
                      groups, to mean 0 and variance 1; SOTTO_NONE: not at all. Must divide the channels */
    size_t grid;   /**< [0: every place] average over grid x grid cells, before that */
    int mirror;    /**< [0] 1: mean of the image and its mirror image, of which the left half of the places is
                      kept: what a image shows is the same in a mirror, and a private head then has half as
                      many weights to be noised */
    uint64_t reserved[4]; /**< zeros: room for later members */
};
SOTTO_API void sotto_scattering_defaults(struct sotto_scattering *s);
/** shape: channels, rows, columns of an image's features. EINVAL: not images, or an option does not fit. */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_scattering_shape(size_t shape[3],
                                                               const struct sotto_dataset *data,
                                                               const struct sotto_scattering *s);
/** out (n, channels * rows * columns), channel first; rows (n), or NULL for rows 0 .. n-1. The same bits for
 * any number of threads. EINVAL as above; images below 8 or above 256 pixels; ESTOPPED. */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_scatter(float *out, const struct sotto_dataset *data,
                                                      const int64_t *rows, size_t n,
                                                      const struct sotto_scattering *s,
                                                      const struct sotto_context *ctx);

/** Shifts and scales every column of x (n, width) by mean and deviation of that column of public_x (n_public,
 * width), in place. A column that is constant there becomes 0. public_x must be embeddings of PUBLIC images
 * by the same encoder: statistics of private ones would have to be paid for. EINVAL: fewer than 2 public
 * rows, or not finite. */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_standardise(float *x, size_t n, size_t width,
                                                          const float *public_x, size_t n_public);

/** k-nearest-neighbour accuracy of test rows among train rows: majority of the k most similar by cosine.
 * Equal votes go to the class of the nearer neighbour, equal similarities to the smaller index. x (n, width),
 * y (n). k = 20 is usual. */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_knn_accuracy(double *accuracy, const float *train_x,
                                                           const int64_t *train_y, size_t n_train,
                                                           const float *test_x, const int64_t *test_y,
                                                           size_t n_test, size_t width, size_t k,
                                                           const struct sotto_context *ctx);

#ifdef __cplusplus
}
#endif
#endif
