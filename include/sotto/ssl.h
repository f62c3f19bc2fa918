/* ssl.h - self-supervised pre-training on PUBLIC images, and embeddings. */
#ifndef SOTTO_SSL_H
#define SOTTO_SSL_H

#include "sotto/autotune.h"
#include "sotto/data.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Talos (He & Zhang 2021): the encoder is trained against a classifier that reads a sensitive attribute from its
 *  embeddings (three dense layers, 64 wide). Odd epochs, counted from 1, teach the classifier; even ones teach the encoder,
 *  on contrastive loss - lambda * loss of the classifier. Twice the epochs of a plain run therefore give the encoder as many
 *  steps.
 *
 *  As published this loss has no lower end: the encoder can make a classifier that stands still as wrong as it likes, and
 *  from some lambda on does nothing else. Bounded, the part of a record in the classifier's loss is min(loss, -ln share of
 *  its value among the images): it stops to count once the classifier knows no more of it than the shares tell.
 *
 *  Talos censors what this classifier finds and proves nothing. Measure with an attacker of its own training (sotto_audit()
 *  with features and attribute), also to choose lambda. */
struct sotto_talos {
    /** [0: no censoring] >= 0. */
    double lambda;
    /** ["odd-even"] as published; "two-pass": every epoch teaches the encoder, then the classifier, as in the authors' code;
     *  "joint": every step teaches both, so the classifier keeps up and a run costs no more than a plain one. */
    const char *alternation;
    /** [0]; 1: the encoder's loss has a lower end (above). */
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
    /** Zeros: room for later members. */
    uint64_t reserved[4];
};
/** {0}: all defaults. */
struct sotto_pretrain_options {
    /** ["simclr"] or "rotation". */
    const char *method;
    /** ["keras-simclr"], or a network of struct sotto_train_options for images. */
    const char *encoder;
    /** ["auto"] = measured (autotune.h), "winograd", "dnnl", "ref". */
    const char *backend;
    /** ["auto"] = likewise, "f32", "bf16". */
    const char *dtype;
    /** ["keras"] cross-view negatives only, or "simclr" with 2N-2 negatives. */
    const char *loss;
    /** [0] below 2^63. */
    uint64_t seed;
    /** [10] */
    size_t epochs;
    /** [256] images (two views each). */
    size_t batch;
    /** [1e-3] of Adam. */
    double lr;
    /** ["constant"], "cosine": to 0, after a linear warm-up over the first 5 % of the steps. */
    const char *schedule;
    /** [0.1] */
    double temperature;
    /** ["keras"] shift and zoom, brightness and mixed colours; "simclr": crop, colour jitter (brightness, contrast,
     *  saturation; hue), grey, blur. */
    const char *augmentation;
    /** Augmentation strength [.25, .6, .2] (Keras "strong"); simclr: jitter is the share of the colour circle that hue
     *  turns. */
    double min_area, brightness, jitter;
    /** [0] simclr */
    int vertical_flip;
    /** [.2, .5] simclr: share of views that are grey, that are blurred. */
    double grey, blur;
    /** File written every epoch, every minute and at a stop, and resumed from when it exists; NULL: none. */
    const char *checkpoint;
    /** metrics.jsonl to append to; NULL: none. */
    const char *metrics;
    /** With "simclr" only; NULL: none. */
    const struct sotto_talos *talos;
    /** Zeros: room for later members. */
    uint64_t reserved[4];
};
/** Out: every member of *o gets the default in brackets. */
SOTTO_API void sotto_pretrain_defaults(struct sotto_pretrain_options *o);

struct sotto_encoder;
/** Result of a pre-training run. */
struct sotto_pretrain_result {
    uint64_t steps;
    /** Mean over the last epoch, nats. */
    double loss;
    /** Contrastive (or rotation) accuracy over the last epoch. */
    double accuracy;
    /** The same of Talos's classifier, in nats; 0 without Talos. */
    double adversary_loss, adversary_accuracy;
    /** Training time of this process, augmentation included. */
    double seconds, images_per_second;
    size_t planned_bytes;
    /** What the run computed with; backend with its version. */
    char dtype[8], backend[64];
    /** The same, and why. */
    struct sotto_autotune choice;
};
/** Trains an encoder. Each epoch shuffles the rows and drops the last, incomplete batch. Grey images are replicated to 3
 *  channels, images below 32 pixels are zero-padded to 32.
 *
 *  The same options, data, thread count, instruction set and oneDNN give the same bytes, interrupted or not; "auto" counts
 *  as what it chose. With another thread count the backend sums in another order: the last bits differ.
 *
 *  In:  rows (n)  rows of `data`; NULL: all
 *  Out: *out      free with sotto_encoder_free()
 *       *result   may be NULL
 *
 *  Returns: EINVAL     an option does not fit the data, or the checkpoint was made with other options or other data
 *           EDIVERGED  the loss became NaN or infinite
 *           ENOTSUP    dtype "bf16" without hardware for it, or a backend that was not built
 *           ESTOPPED   the checkpoint was written, and the same call continues from it */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_pretrain(struct sotto_encoder **out,
                                                       struct sotto_pretrain_result *result,
                                                       const struct sotto_dataset *data, const int64_t *rows,
                                                       size_t n, const struct sotto_pretrain_options *options,
                                                       const struct sotto_context *ctx);
/** Out: *out: an untrained encoder (the random-features baseline); free with sotto_encoder_free(). */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_encoder_random(struct sotto_encoder **out,
                                                             const struct sotto_dataset *data,
                                                             const char *encoder, uint64_t seed);
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_encoder_save(const char *path, const struct sotto_encoder *e);
/** In: path: an encoder, or a whole network of sotto_train() on colour images: its layers below the last (the supervised
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
/** Returns: "none: ..." if private records trained the encoder (fine_tune.h), else "". Lives as long as the encoder. */
SOTTO_API const char *sotto_encoder_statement(const struct sotto_encoder *e);
/** Returns: SHA-256 over names and values of the encoder's tensors. Lives as long as the encoder. */
SOTTO_API const char *sotto_encoder_sha256(const struct sotto_encoder *e);

/** Embeddings of images as they are, in f32 and inference mode; padded and replicated as in training.
 *
 *  In:  rows (n)  rows of `data`; NULL: rows 0 .. n-1
 *  Out: out       (n, D), D = sotto_encoder_width()
 *
 *  Returns: EINVAL  the images have another size than the encoder's input
 *           ENOMEM, ESTOPPED */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_embed(float *out, const struct sotto_encoder *e,
                                                    const struct sotto_dataset *data, const int64_t *rows,
                                                    size_t n, const struct sotto_context *ctx);

/** Random views. {0}: as the encoder was pre-trained on them. */
struct sotto_view_options {
    /** [10] of each image. */
    size_t views;
    /** As in pre-training, as all that follows [the encoder's own, else the default of pre-training]. */
    const char *augmentation;
    double min_area, brightness, jitter;
    /** Where augmentation is NULL: the encoder's own. */
    int vertical_flip;
    double grey, blur;
    /** [0] with the row number, it decides the views of an image. */
    uint64_t seed;
    /** Zeros: room for later members. */
    uint64_t reserved[4];
};
SOTTO_API void sotto_view_defaults(struct sotto_view_options *v, const struct sotto_encoder *e);
/** Out: out: (n, views, D), embeddings of random views. The views of an image depend on seed and row alone.
 *  Returns: those of sotto_embed() */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_embed_views(float *out, const struct sotto_encoder *e,
                                                          const struct sotto_dataset *data,
                                                          const int64_t *rows, size_t n,
                                                          const struct sotto_view_options *views,
                                                          const struct sotto_context *ctx);

/** Fixed features, without any training: a wavelet scattering transform of two orders over 2 octaves and 8 directions (Bruna
 *  & Mallat 2013), 81 channels at every fourth pixel of each of the image's own channels (no padding to 32 pixels, grey
 *  stays grey): 81 x 7 x 7 for 28x28, 243 x 8 x 8 for 32x32 in colour. Features of an image depend on that image alone, so
 *  they cost no privacy. */
struct sotto_scattering {
    /** [27] neighbouring channels are normalised together within an image, in this many groups, to mean 0 and variance 1;
     *  SOTTO_NONE: not at all. Must divide the channels. */
    size_t groups;
    /** [0: every place] average over grid x grid cells, before that. */
    size_t grid;
    /** [0]; 1: mean of the image and its mirror image, of which the left half of the places is kept. What an image shows is
     *  the same in a mirror, and a private head then has half as many weights to be noised. */
    int mirror;
    /** Zeros: room for later members. */
    uint64_t reserved[4];
};
SOTTO_API void sotto_scattering_defaults(struct sotto_scattering *s);
/** Out: shape: channels, rows, columns of the features of an image.
 *  Returns: EINVAL  the data are not images, or an option does not fit */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_scattering_shape(size_t shape[3],
                                                               const struct sotto_dataset *data,
                                                               const struct sotto_scattering *s);
/** The same bits for any number of threads.
 *
 *  In:  rows (n)  rows of `data`; NULL: rows 0 .. n-1
 *  Out: out       (n, channels * rows * columns), channel first
 *
 *  Returns: EINVAL  as sotto_scattering_shape(); images below 8 or above 256 pixels
 *           ENOMEM, ESTOPPED */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_scatter(float *out, const struct sotto_dataset *data,
                                                      const int64_t *rows, size_t n,
                                                      const struct sotto_scattering *s,
                                                      const struct sotto_context *ctx);

/** Shifts and scales every column of x by mean and deviation of that column of public_x, in place. A column that is
 *  constant there becomes 0.
 *
 *  In:  public_x  (n_public, width): embeddings of PUBLIC images by the same encoder; statistics of private ones would
 *                 have to be paid for
 *  Out: x         (n, width)
 *
 *  Returns: EINVAL  fewer than 2 public rows, or values that are not finite */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_standardise(float *x, size_t n, size_t width,
                                                          const float *public_x, size_t n_public);

/** k-nearest-neighbour accuracy of test rows among train rows: majority of the k most similar by cosine. Equal votes go to
 *  the class of the nearer neighbour, equal similarities to the smaller index.
 *
 *  In:  x (n, width), y (n) of both; k: 20 is usual
 *  Returns: EINVAL  nothing to compare, k out of range, values that are not finite
 *           ENOMEM, ESTOPPED */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_knn_accuracy(double *accuracy, const float *train_x,
                                                           const int64_t *train_y, size_t n_train,
                                                           const float *test_x, const int64_t *test_y,
                                                           size_t n_test, size_t width, size_t k,
                                                           const struct sotto_context *ctx);

#ifdef __cplusplus
}
#endif
#endif
