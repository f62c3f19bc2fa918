/* ssl.h - self-supervised pre-training on PUBLIC images, and embeddings. */
#ifndef SOTTO_SSL_H
#define SOTTO_SSL_H

#include "sotto/lab/autotune.h"
#include "sotto/lab/data.h"
#include "sotto/lab/provenance.h"

#ifdef __cplusplus
extern "C" {
#endif

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
    /** ["auto"] of sums: "exact": the same bits on any number of threads; "fast": for this number only. "auto" is exact where
     *  that costs little and no layer computes with the whole batch (batch norm does). */
    const char *order;
    /** Images that a thread takes at a time in order "exact", part of the recipe; [0: chosen by `batch`]. */
    size_t leaf;
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
    /** A part of training that a module adds (sotto/lab.h) by its name, and the struct of its options; NULL: none. */
    const char *part;
    const void *part_options;
    /** ["batch"] moments that a batch norm computes with in training: of the batch, or "leaf": of the record's leaf alone, so that
     *  leaves do not wait for each other, in order "exact" only; part of the recipe. Both views of an image are in one leaf, so
     *  "simclr" can cheat on it: a leaf's moments tell which views belong together. */
    const char *norm_scope;
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
    /** Of the classifier that a part trains against the encoder, loss in nats; 0 without one. */
    double adversary_loss, adversary_accuracy;
    /** Training time of this process, augmentation included. */
    double seconds, images_per_second;
    size_t planned_bytes;
    /** What the run computed with; backend with its version. */
    char dtype[8], backend[64];
    /** dtype and backend, and why they were chosen. */
    struct sotto_autotune choice;
};
/** Trains an encoder. Each epoch shuffles the rows and drops the last, incomplete batch. Grey images are replicated to 3
 *  channels, images below 32 pixels are zero-padded to 32.
 *
 *  The same options, data, instruction set and oneDNN give the same bytes, interrupted or not; "auto" counts as what it
 *  chose. In order "exact" they do so on any number of threads, and a run may be continued on another number; in order "fast"
 *  with another number of threads the last bits differ. Takes a team (sotto/private/team.h), in order "exact": the same bytes on any
 *  number of ranks; rank 0 writes the files.
 *
 *  In:      rows (n)  rows of `data`; NULL: all
 *  Out:     *out      free with sotto_encoder_free()
 *           *result   may be NULL
 *  Returns: EINVAL     an option does not fit the data, or the checkpoint was made with other options or other data
 *           EDIVERGED  the loss became NaN or infinite
 *           ENOTSUP    dtype "bf16" without hardware for it, or a backend that was not built
 *           EAGAIN     another run continues this checkpoint
 *           ESTUCK     the last resumes of this checkpoint ended before they had finished one step
 *           ESTOPPED   the checkpoint was written, and the same call continues from it */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_pretrain(struct sotto_encoder **out,
                                                       struct sotto_pretrain_result *result,
                                                       const struct sotto_dataset *data, const int64_t *rows,
                                                       size_t n, const struct sotto_pretrain_options *options,
                                                       const struct sotto_context *ctx);
/** What a pre-training run would take. Sizes are of the run; times were measured in this process. */
struct sotto_pretrain_plan {
    uint64_t steps;
    /** Images of a step, and of a leaf; leaves of a step: no more threads and ranks than these have work. Order "fast": one leaf. */
    size_t batch, leaf, leaves;
    int exact; /**< the order of sums is "exact", which several ranks need */
    size_t threads, parameters, width;
    size_t planned_bytes;  /**< memory of a process, without the images */
    size_t exchange_bytes; /**< what ranks tell each other in a step: outputs, and the gradient */
    /** Median of 3 steps after one, and of the contrastive loss alone, which is a part of it. Where Talos takes turns these and
     *  exchange_bytes are means over both. */
    double step_seconds, loss_seconds;
    struct sotto_autotune choice;
};
/** Measures four steps of a run (of each turn of Talos), and writes nothing: checkpoint and metrics are not looked at.
 *
 *  In:      as sotto_pretrain(), without a team
 *  Returns: errors of sotto_pretrain() before its first step; ESTOPPED */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_pretrain_plan(struct sotto_pretrain_plan *out,
                                                            const struct sotto_dataset *data,
                                                            const int64_t *rows, size_t n,
                                                            const struct sotto_pretrain_options *options,
                                                            const struct sotto_context *ctx);
/** A model, no measurement: processes like this one share the leaves, each with as many threads; the loss by the rows of each rank's
 *  leaves; what they tell each other goes over the network once, and nothing overlaps (docs/SCALE.md).
 *
 *  In:      ranks              at least 1
 *           seconds_per_byte   of the network: 8e-9 at 1 Gbit/s
 *  Returns: seconds of a step */
SOTTO_API double sotto_pretrain_plan_step(const struct sotto_pretrain_plan *plan, size_t ranks,
                                          double seconds_per_byte);
/** An untrained encoder: the random-features baseline.
 *
 *  In:      encoder  the model; NULL: "keras-simclr"
 *  Out:     *out     free with sotto_encoder_free() */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_encoder_random(struct sotto_encoder **out,
                                                             const struct sotto_dataset *data,
                                                             const char *encoder, uint64_t seed);
enum { SOTTO_IMPORT_STATEMENT = 160 };
/** {0} but for model and statement: all defaults. */
struct sotto_encoder_import_options {
    /** "resnet18", "resnet50", "mobilenetv2", or one of these with "-imagenet": as in torchvision, with a stem for
     *  large images; without it, stem and strides are for small ones. */
    const char *model;
    /** "public, by WHO": who states that no private record trained the weights. One line of UTF-8, below
     *  SOTTO_IMPORT_STATEMENT bytes. */
    const char *statement;
    /** Pixels of the images that will be embedded [224 of -imagenet, else 32]; at least 32: smaller images are padded. */
    size_t height, width;
    /** How the network's images were normalised, once they were in [0, 1]: ["imagenet"], "none", or means and deviations of
     *  red, green and blue, "0.5,0.5,0.5/0.25,0.25,0.25". The encoder does the same with the images that it gets. */
    const char *normalise;
};
/** What a file of weights held. */
struct sotto_encoder_import_report {
    const char *names;       /**< origin of the names: "torchvision"; static */
    size_t tensors;          /**< tensors of the encoder */
    size_t ignored;          /**< of what stands above or beside it, such as fc.weight */
    size_t counters;         /**< num_batches_tracked, which inference does not read */
    char ignored_names[256]; /**< the first of the ignored, for people */
};
/** Makes an encoder of a .safetensors file of weights (f16, bf16, f32 or f64) from elsewhere, under torchvision's names. The
 *  encoder keeps the statement, as "stated by the user: public, by WHO": the weights cannot show it.
 *
 *  In:      path     "-": standard input
 *           ctx      NULL, or asked whether to stop
 *  Out:     *out     free with sotto_encoder_free()
 *           *report  may be NULL
 *  Returns: EINVAL   a model or statement that is missing or unknown; a file of sotto, which has a statement of its own
 *           EFORMAT  another kind of file; tensors that are missing, unknown, or of another shape or dtype; values that are not
 *                    finite, and variances below 0
 *           ENOENT, EIO, ENOMEM, ESTOPPED */
SOTTO_API SOTTO_MUST_CHECK sotto_status
sotto_encoder_import(struct sotto_encoder **out, struct sotto_encoder_import_report *report, const char *path,
                     const struct sotto_encoder_import_options *options, const struct sotto_context *ctx);
/** Writes a safetensors file (docs/FORMATS.md).
 *
 *  Returns: ECREATE, EIO, ENOMEM */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_encoder_save(const char *path, const struct sotto_encoder *e);
/** In:      path  an encoder; or a whole network of sotto_train() on colour images: the encoder is then its layers below the
 *                 last (the supervised counterpart)
 *  Out:     *out  free with sotto_encoder_free()
 *  Returns: ENOENT, EIO, EFORMAT, ENOMEM */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_encoder_load(struct sotto_encoder **out, const char *path);
/** The bytes of that file, to memory.
 *
 *  Out:     *bytes (*size): free with sotto_bytes_free()
 *  Returns: as sotto_encoder_save(), without ECREATE and EIO; errors speak of "encoder in memory" */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_encoder_save_bytes(void **bytes, size_t *size,
                                                                 const struct sotto_encoder *e);
/** An encoder from the bytes of such a file.
 *
 *  In:      bytes (size): borrowed during the call
 *  Out:     *out: free with sotto_encoder_free()
 *  Returns: as sotto_encoder_load(), without ENOENT and EIO; errors speak of "encoder in memory" */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_encoder_load_bytes(struct sotto_encoder **out,
                                                                 const void *bytes, size_t size);
SOTTO_API void sotto_encoder_free(struct sotto_encoder *e);
/** Returns: D, the numbers of one embedding. */
SOTTO_API size_t sotto_encoder_width(const struct sotto_encoder *e);
/** Returns: "none: ..." if private records trained the encoder (fine_tune.h), else "". Lives as long as the encoder. */
SOTTO_API const char *sotto_encoder_statement(const struct sotto_encoder *e);
/** Returns: SHA-256 over names and values of the encoder's tensors. Lives as long as the encoder. */
SOTTO_API const char *sotto_encoder_sha256(const struct sotto_encoder *e);

/** The encoder shaped the columns of p: the records that trained it, and all that it was made from. A random encoder, and one of a
 * generated set, adds nothing; one that does not say what trained it adds an unknown.
 *
 *  In:      path  its file; the provenance beside it says which records trained it. NULL: it was never saved
 *  Returns: EFORMAT  the provenance is damaged, or belongs to other bytes
 *           EIO, ENOMEM */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_encoder_shape(struct sotto_provenance *p,
                                                            const struct sotto_encoder *e, const char *path);

/** Embeddings of images as they are, in f32 and inference mode; padded and replicated as in training.
 *
 *  In:      rows (n)  rows of `data`; NULL: rows 0 .. n-1
 *  Out:     out       (n, D), D = sotto_encoder_width()
 *  Returns: EINVAL  the images have another size than the encoder's input
 *           ENOMEM, ESTOPPED */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_embed(float *out, const struct sotto_encoder *e,
                                                    const struct sotto_dataset *data, const int64_t *rows,
                                                    size_t n, const struct sotto_context *ctx);

/** Random views. {0}: as the encoder was pre-trained on them. */
struct sotto_view_options {
    /** [10] of each image. */
    size_t views;
    /** [the encoder's own, else the default of pre-training] This member and those below mean what they mean in struct
     *  sotto_pretrain_options. */
    const char *augmentation;
    double min_area, brightness, jitter;
    /** Where augmentation is NULL: the encoder's own. */
    int vertical_flip;
    double grey, blur;
    /** [0] with the row number, it decides the views of an image. */
    uint64_t seed;
};
/** Out: *v: every member gets its default for the encoder. */
SOTTO_API void sotto_view_defaults(struct sotto_view_options *v, const struct sotto_encoder *e);
/** Embeddings of random views. The views of an image depend on seed and row alone.
 *
 *  In:      rows (n)  rows of `data`; NULL: rows 0 .. n-1
 *  Out:     out       (n, views, D)
 *  Returns: those of sotto_embed() */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_embed_views(float *out, const struct sotto_encoder *e,
                                                          const struct sotto_dataset *data,
                                                          const int64_t *rows, size_t n,
                                                          const struct sotto_view_options *views,
                                                          const struct sotto_context *ctx);

/** What else an encoder says of an image, beside its embedding. */
struct sotto_block_features {
    /** [0] results of the encoder's last blocks (the blocks that training can freeze), before the embedding */
    size_t blocks;
    /** [0: every place] average of these over grid x grid cells, which overlap where the sizes do not divide; a block with
     *  fewer places keeps them */
    size_t grid;
    /** [0]; 1: mean of the image and its mirror image, of the embedding too */
    int mirror;
};
/** Out:     *width: columns of sotto_embed_blocks()
 *  Returns: EINVAL  the encoder has fewer blocks */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_block_width(size_t *width, const struct sotto_encoder *e,
                                                          const struct sotto_block_features *f);
/** Inner features: each block's, channel first, then the embedding. With *f all 0, and f NULL, the embedding alone.
 *
 *  In:      rows (n)  rows of `data`; NULL: rows 0 .. n-1
 *  Out:     out       (n, width), width by sotto_block_width()
 *  Returns: those of sotto_embed() and sotto_block_width() */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_embed_blocks(float *out, const struct sotto_encoder *e,
                                                           const struct sotto_dataset *data,
                                                           const int64_t *rows, size_t n,
                                                           const struct sotto_block_features *f,
                                                           const struct sotto_context *ctx);

/** Fixed features, without any training: a wavelet scattering transform of two orders over 2 octaves and 8 directions. It has
 *  81 channels at every fourth pixel of each of the image's own channels (no padding to 32 pixels, grey stays grey): 81 x 7
 *  x 7 for 28x28, 243 x 8 x 8 for 32x32 in colour. Features of an image depend on that image alone, so they cost no privacy.
 *
 *  Source: Bruna & Mallat 2013 */
struct sotto_scattering {
    /** [27] neighbouring channels are normalised together within an image, in this many groups, to mean 0 and variance 1;
     *  SOTTO_NONE: not at all. Must divide the channels. */
    size_t groups;
    /** [0: every place] average over grid x grid cells, before that. */
    size_t grid;
    /** [0]; 1: mean of the image and its mirror image, of which the left half of the places is kept. What an image shows is
     *  the same in a mirror, and a private head then has half as many weights to be noised. */
    int mirror;
};
/** Out:     shape: channels, rows, columns of the features of an image
 *  Returns: EINVAL  the data are not images, or an option does not fit */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_scattering_shape(size_t shape[3],
                                                               const struct sotto_dataset *data,
                                                               const struct sotto_scattering *s);
/** Computes these features. The same bits for any number of threads.
 *
 *  In:      rows (n)  rows of `data`; NULL: rows 0 .. n-1
 *  Out:     out       (n, channels * rows * columns), channel first
 *  Returns: EINVAL  as sotto_scattering_shape(); images below 8 or above 256 pixels
 *           ENOMEM, ESTOPPED */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_scatter(float *out, const struct sotto_dataset *data,
                                                      const int64_t *rows, size_t n,
                                                      const struct sotto_scattering *s,
                                                      const struct sotto_context *ctx);

/** Shifts and scales every column of x by mean and deviation of that column of public_x, in place. A column that is
 *  constant in public_x becomes 0.
 *
 *  In:      public_x  (n_public, width): embeddings of PUBLIC images by the same encoder; statistics of private ones would
 *                     have to be paid for
 *  Out:     x         (n, width)
 *  Returns: EINVAL  fewer than 2 public rows, or values that are not finite */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_standardise(float *x, size_t n, size_t width,
                                                          const float *public_x, size_t n_public);

/** k-nearest-neighbour accuracy of test rows among train rows: majority of the k most similar by cosine. Equal votes go to
 *  the class of the nearer neighbour, equal similarities to the smaller index.
 *
 *  In:      train_x    (n_train, width)
 *           train_y    (n_train)
 *           test_x     (n_test, width)
 *           test_y     (n_test)
 *           k          20 is usual
 *  Out:     *accuracy  share of right answers
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
