/* train.h - supervised training of whole networks on labelled records, and what such a network answers.
 *
 * Start at sotto_train(). A record is an image or a row of a table; an answer is (classes) f4. */
#ifndef SOTTO_LAB_TRAIN_H
#define SOTTO_LAB_TRAIN_H

#include "sotto/head.h"
#include "sotto/lab/autotune.h"
#include "sotto/lab/canary.h"
#include "sotto/lab/data.h"
#include "sotto/lab/release.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Residual perturbation of resnet8 and resnet20: noise in every block, in training and in every answer, and ensembles. It
 *  resists attacks only empirically; what noise on the inputs proves is in sotto/lab/residual.h. */
struct sotto_residual_noise {
    /** [NULL: none]
     *  "additive": gamma n
     *  "multiplicative": gamma x~ n with x~ = sign(x) max(|x|, floor) */
    const char *kind;
    double gamma, floor; /**< [0] */
    /** [0] additive: gamma counts in deviations of the block's result over the batch, in answers too (an answer then depends
     *  on what is asked in the same batch). */
    int relative;
    /** [0: none] noise on the input; L2 norm that the input is clipped to first */
    double input_noise, radius;
    int no_skip; /**< [0] 1: without skip connections */
    /** [1] networks with averaged answers, trained together on the loss of the mean */
    size_t members;
    int separate_inputs; /**< [0] 1: every member draws its own noise on the input */
    /** [0] members: 1: the mean is of probabilities, in training and in answers; 0: of logits */
    int average_softmax;
    /** [0] 1: each member is trained by itself, on its own loss, from a seed of its own */
    int independent;
};

/** Everything that decides the trained weights besides the records, and where a run keeps its state. {0}: all defaults. */
struct sotto_train_options {
    /** ["cnn"], "deep-sets", "keras-simclr", "mlp", "mobilenetv2", "resnet8", "resnet18", "resnet20", "resnet50", "tanh-cnn";
     *  for 64 pixels and more: "mobilenetv2-imagenet", "resnet18-imagenet", "resnet50-imagenet". */
    const char *model;
    /** [0: the model's own] mlp: hidden widths; cnn: widths of the convolutions, then of the dense layer. */
    size_t hidden_count;
    size_t hidden[SOTTO_TRAIN_HIDDEN];
    const char *norm; /**< ["batch"], "group": resnets */
    /** [NULL: first weights are drawn] Fine-tuning: file of an encoder of sotto_pretrain(), or of a network of sotto_train(),
     *  of which it takes the layers below the last. The network is this encoder with a new last layer, which begins at 0;
     *  images are padded, and grey ones replicated, as in pre-training. */
    const char *from;
    /** ["norm"] with `from`, what stays as it is:
     *  "none"  nothing
     *  "norm"  batch norm, weights and running statistics: in training too it is then one affine map for each channel
     *  "1", "2", ..., "32"  batch norm and so many first blocks of the encoder (residual blocks; keras-simclr:
     *          convolutions)
     *  "all"   the whole encoder */
    const char *freeze;
    size_t warm_up; /**< [0] with `from`: first steps, which train the last layer alone */
    /** [NULL: as they are] with `from`: .npy (N, width) f4 of embeddings of PUBLIC images by that encoder. Their column means
     *  and deviations standardise the embeddings in front of the last layer, as sotto_standardise() does; nothing trains
     *  them, and the file of the network holds them. */
    const char *standardise;
    struct sotto_residual_noise residual; /**< resnet8, resnet20; input_noise and radius: every network */
    size_t channels, height, width;       /**< [0] rows of a table are images of this shape, (C, H, W) */
    const char *optimizer;                /**< ["adam"] (betas .9 .999, epsilon 1e-7), "sgd" */
    double lr;                            /**< [1e-3] */
    double momentum;                      /**< [0] sgd, below 1 */
    double weight_decay;                  /**< [0] L2, added to the gradient */
    /** ["constant"];
     *  "step": a tenth after half of the steps, a hundredth after three quarters of them;
     *  "cosine": to 0, after a linear warm-up over the first 5 %. */
    const char *schedule;
    size_t epochs, batch; /**< [20], [64] */
    int flip;             /**< [0] 1: mirror every second image, drawn anew each time */
    /** [0] shift images by up to this many pixels each way; what comes in is the mirror image. */
    size_t crop;
    /** [0] deviation of Gaussian noise on every number of an input, new in every step and not clipped, for
     *  randomised smoothing at the same deviation. Plain training only. It is no privacy noise. */
    double augment_noise;
    uint64_t seed; /**< [1] initial weights, order, augmentation; below 2^63 */
    /** ["auto"] of sums: "exact": the same bits on any number of threads; "fast": for this number only. "auto" is exact where
     *  that costs little and no layer computes with the whole batch (batch norm does). */
    const char *order;
    size_t leaf;         /**< [0: chosen by `batch`] records that a thread takes at a time in order "exact" */
    const char *dtype;   /**< ["auto"] = measured (autotune.h), "f32", "bf16" */
    const char *backend; /**< ["auto"] = likewise, "winograd", "dnnl", "ref" */
    /** Written every epoch, every minute and at a stop; resumed from when it exists; NULL: none. */
    const char *checkpoint;
    const char *metrics; /**< metrics.jsonl to append to; NULL: none */
    /** [0: none] Plain training only: epochs from one intermediate model that is kept to the next, for attacks by those who have
     *  them (struct sotto_attack_options). They are as little protected as the last one, which is not among them. */
    size_t snapshot_every;
    const char *snapshots; /**< [NULL] their folder, with snapshot_every: epoch-000001.safetensors, ... */
    /** ["batch"] moments that a batch norm computes with in training: of the batch, or "leaf": of the record's leaf alone, so that
     *  leaves do not wait for each other. Plain training in order "exact" only; part of the recipe. */
    const char *norm_scope;
};
/** Out: *o: the values in brackets. */
SOTTO_API void sotto_train_defaults(struct sotto_train_options *o);

struct sotto_network;
struct sotto_train_result {
    uint64_t steps;
    double loss, accuracy; /**< means over the last epoch, while it trained: nats; share of right answers */
    double seconds, records_per_second; /**< of this process */
    char dtype[8], backend[64];         /**< used; the backend with its version */
    struct sotto_autotune choice;       /**< dtype and backend, and why they were chosen */
};
/** Trains a network: softmax cross-entropy, a new order every epoch; the last, incomplete batch is dropped. Pixels become
 *  values in [0, 1]; tables are taken as they are. Only keras-simclr pads (images below 31 pixels, with zeros, to 32).
 *
 *  The network is stamped "no privacy statement": sotto_protect_file() refuses it. Deterministic: the same options, records,
 *  instruction set and oneDNN give the same bytes, whether the run was interrupted or not; "auto" counts as what it chose. In
 *  order "exact" they do so on any number of threads, in order "fast" on the same number. Takes a team (sotto/private/team.h), in order
 *  "exact": the same bytes on any number of ranks; rank 0 writes the files.
 *
 *  In:      rows     (n) of `data`; NULL: all rows
 *  Out:     *out     free with sotto_network_free()
 *           *result  may be NULL
 *  Returns: EINVAL     an option, the rows or the labels do not fit, or the checkpoint was made with others
 *           EDIVERGED  the loss became NaN or infinite
 *           ENOTSUP    dtype "bf16" without hardware for it, or a backend that was not built
 *           EAGAIN     another run continues this checkpoint
 *           ESTUCK     the last resumes of this checkpoint ended before they had finished one step
 *           ESTOPPED   ctx asked to stop; the checkpoint was written and the same call continues from it */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_train(struct sotto_network **out,
                                                    struct sotto_train_result *result,
                                                    const struct sotto_dataset *data, const int64_t *rows,
                                                    size_t n, const struct sotto_train_options *options,
                                                    const struct sotto_context *ctx);

/** Removes a checkpoint, and those of members that are trained apart (FILE.memberK). */
SOTTO_API void sotto_train_forget(const char *checkpoint);
/** The same before a fresh start, of any kind of training, unless another run continues the checkpoint or one of those.
 *
 *  In:      checkpoint  need not exist
 *  Returns: EAGAIN      another run does; nothing was removed
 *           ECREATE     the folder cannot be written to */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_train_discard(const char *checkpoint);

struct sotto_canaries;
/** What a private training needs besides. Start from {0}, or from sotto_train_privacy_defaults(). */
struct sotto_train_privacy {
    /** epsilon: the smallest noise_multiplier for it is found [0: noise_multiplier is given]
     *  delta: [0: sotto_default_delta(n)] */
    struct sotto_dp target;
    const char *noise; /**< ["gaussian"], "logistic" */
    /** [replace-one], or zero-out: Poisson samples only. Training on noisy inputs does not read it: replace-one with
     * label_epsilon, else replace-input. */
    enum sotto_adjacency adjacency;
    /** [poisson], or fixed: `batch` records without replacement in every step, under replace-one only. */
    enum sotto_sampling sampling;
    double noise_multiplier; /**< noise scale / max_grad_norm */
    /** [1] L2 norm to which a record's gradient is clipped; clipping "quantile": the norm of the first step */
    double max_grad_norm;
    /** ["flat"]     scaled down to max_grad_norm
     *  "automatic"  to max_grad_norm * |g| / (|g| + 0.01)
     *  "layers"     each of L layers to max_grad_norm / sqrt(L)
     *  "quantile"   max_grad_norm follows a quantile of the norms (Andrew et al. 2021), by a noisy count that takes its
     *               share of the same noise */
    const char *clipping;
    double quantile; /**< [0.5] share of records that are not clipped */
    size_t views;    /**< [1] augmented views of a record; their gradients are averaged before clipping */
    size_t steps;    /**< [0: ceil(epochs n / batch)] */
    size_t reserve;  /**< [0: all] steps for each entry of the ledger; short blocks lose less at a stop */
    /** [0: none] decay of the moving average of the weights; that average is then the result. */
    double average;
    /** What steps sample and clip: records, or persons, as in struct sotto_head_privacy. A person's contribution is the mean of the
     *  gradients of rows_per_step rows, each in `views` views. [person where `persons` is given, or where sotto_train_release()
     *  finds them and no canaries are asked for; else record] */
    enum sotto_unit unit;
    const int64_t *persons; /**< (n) whose row each of the chosen rows is; NULL: as there */
    /** [0: as many as any person has] rows of each person in a step, drawn anew for every step by the options' seed; a person with
     *  fewer rows has some of them in it twice */
    size_t rows_per_step;
    /** [NULL: the labels] "rotation" (Gidaris et al. 2018): no label is read; each image is seen in its four quarter turns, and the
     *  network learns by how much it was turned. What an image adds is the mean of the four gradients, clipped as one. The network
     *  has 4 answers and serves as an encoder. */
    const char *objective;
    /** [0: labels are public] Training on noisy inputs: labels are released too, once a record, by randomised response of
     *  this epsilon, which the certificate counts. */
    double label_epsilon;
    /** [0: chosen] records with gradients in work at a time; decides speed alone. */
    size_t part;
    /** The file that will be written: before anything is charged it must be possible to create it, and there must be room
     *  for it. NULL: not checked. */
    const char *output;
    struct sotto_spend spend; /**< dataset_id [NULL: data->dataset_id] */
    /** [0: those of the data set's description] public number of classes, never read off the records. */
    size_t classes;
    const char *classes_by; /**< [NULL: "the caller"] source of that number, for the certificate */
    /** [NULL: "the caller"] with `from`: who states that the encoder is public, for the certificate. Must be given where
     *  nothing beside the encoder's file (PATH.provenance.json) says which records trained it. */
    const char *encoder_by;
    /** [NULL: none] DP-SGD: as in struct sotto_head_privacy; `data` is then sotto_canaries_data(), all rows of it. Training on
     *  noisy inputs refuses them. */
    struct sotto_canaries *canaries;
    /** Instead of target.epsilon and noise_multiplier: the smallest noise for it [{0}: none]. On noisy inputs: labels are public. */
    struct sotto_risk risk;
};
/** Out: *p: the values in brackets. */
SOTTO_API void sotto_train_privacy_defaults(struct sotto_train_privacy *p);
/** DP-SGD (Abadi et al. 2016) of a whole network.
 *
 *  Every step is on a Poisson sample of rate batch / n (or on `batch` records), drawn by the reservation that also gives the
 *  noise and that was charged to the ledger before the first step. The sum of clipped gradients plus noise is divided by
 *  `batch`, not by the sample's size, and given to the optimizer; an empty sample is a step of noise. n is treated as
 *  public. A run that goes on from its checkpoint draws its steps anew and is charged for them again; a run is refused if
 *  its ledger does not hold what the checkpoint has used.
 *
 *  Protected are the records together, under privacy->adjacency, in everything that leaves this function but the
 *  checkpoint's name of the data. Nothing is refused, logged or shaped by what the records hold: a record with a gradient
 *  that is not finite adds nothing, nor does one with a label outside of 0 .. classes - 1 or with features that are not all
 *  finite.
 *
 *  With options->from the weights that are trained are protected, and only they are clipped and noised. The encoder counts
 *  as public: one that private records trained without protection, or that was trained on one of these records, is refused
 *  before anything is charged. One that was itself trained privately needs its certificate beside it (FILE.certificate.json),
 *  and its epsilon is added: the certificate of the result is conditional on it and states the sum. Steps of warm_up are charged like all others.
 *
 *  Takes a team (sotto/private/team.h): rank 0 alone charges its ledger, draws which records are in a step and writes the files; sums over all ranks
 *  are exact, and each coordinate gets its noise once, on one rank, from that one's operating system. All ranks must be trusted
 *  alike: sums without noise are sent between them. Canaries are made with the same team, and rank 0 sees what an observer sees.
 *
 *  In:      rows     (n) of `data`, each named once; NULL: all rows
 *           options  as for sotto_train(), but batch norm (use norm "group", or freeze it) and bf16 are refused, and no
 *                    losses, accuracies or metrics exist: they would tell of the records
 *  Out:     *out          free with sotto_network_free()
 *           *certificate  how far the records are protected; free with sotto_certificate_free(); NULL on ranks other than 0
 *           *result       loss and accuracy are NAN; may be NULL
 *  Returns: those of sotto_train(), sotto_calibrate_sampled() and sotto_dp_reserve() */
SOTTO_API SOTTO_MUST_CHECK sotto_status
sotto_train_private(struct sotto_network **out, struct sotto_certificate **certificate,
                    struct sotto_train_result *result, const struct sotto_dataset *data, const int64_t *rows,
                    size_t n, const struct sotto_train_options *options,
                    const struct sotto_train_privacy *privacy, const struct sotto_context *ctx);
/** Training on noisy inputs, with a proof for them (docs/derivations/residual.md, section 1).
 *
 *  Every epoch each input is clipped to the L2 norm options->residual.radius and released with Gaussian noise of deviation
 *  residual.input_noise from the operating system, after the ledger was charged. The network is trained on that copy; what
 *  else it does (noise in blocks, members, augmentation) is post-processing. An interrupted epoch is drawn and charged anew;
 *  released labels are kept in the checkpoint.
 *
 *  label_epsilon 0    labels count as PUBLIC: adjacent sets differ in one input, its label kept ("replace-input")
 *  label_epsilon > 0  labels are released too, by randomised response, before the first step, and whole records are
 *                     protected ("replace-one")
 *
 *  A record with a label outside of 0 .. classes - 1 or features that are not all finite is taken for zeros of class 0.
 *
 *  Takes a team (sotto/private/team.h): rank 0 alone charges its ledger, reads the inputs and draws all noise; the others get what was
 *  released and train on it together, with the bits of one process in order exact.
 *
 *  In:      rows          (n) of `data`; NULL: all rows
 *           privacy       read are: target (epsilon: the smallest input_noise for it is found, and options must give none),
 *                         reserve (epochs at a time), classes, label_epsilon, spend
 *  Out:     *out          free with sotto_network_free()
 *           *certificate  free with sotto_certificate_free(); NULL on ranks other than 0
 *           *result       losses and accuracies are of what was released, and shown; may be NULL
 *  Returns: EINVAL        also: no radius; members that would read copies of their own; canaries
 *           those of sotto_train() and sotto_dp_reserve() */
SOTTO_API SOTTO_MUST_CHECK sotto_status
sotto_train_noisy_inputs(struct sotto_network **out, struct sotto_certificate **certificate,
                         struct sotto_train_result *result, const struct sotto_dataset *data,
                         const int64_t *rows, size_t n, const struct sotto_train_options *options,
                         const struct sotto_train_privacy *privacy, const struct sotto_context *ctx);
/** Saves a privately trained network and, beside it, PATH.certificate.json with the file's hash. */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_network_save_private(
    const char *path, const struct sotto_network *n, const struct sotto_certificate *certificate);
/** One private release of a network, from the records to the files. {0} in a member stands for its default. */
struct sotto_train_release_request {
    const struct sotto_dataset *data;
    const int64_t *rows; /**< (n) of `data`, each named once; NULL: all rows, whatever n says */
    size_t n;
    /** As of sotto_train_private(), but for checkpoint [OUTPUT.checkpoint]. */
    const struct sotto_train_options *options;
    /** As of sotto_train_private(), but for:
     *  output         the network's file [NULL: the network stays in memory; canaries are refused]
     *  canaries       NULL: they are made here
     *  spend.source   as in struct sotto_head_release_request */
    struct sotto_train_privacy privacy;
    int noisy_inputs;                     /**< 1: sotto_train_noisy_inputs(). [0]: DP-SGD */
    struct sotto_canary_options canaries; /**< seed: [that of options] */
    const float *public_rows;             /**< (public_n, values of a record), for canaries of kind clipbkd */
    size_t public_n;
    int fresh; /**< 1: first removes the checkpoint, and with canaries the coins, of an earlier run */
    int keep_checkpoint; /**< as in struct sotto_head_release_request */
};
struct sotto_train_release_result {
    struct sotto_network *network; /**< free with sotto_network_free() */
    /** free with sotto_certificate_free(); NULL on ranks other than 0 */
    struct sotto_certificate *certificate;
    struct sotto_train_result training;
};
/** Makes a private release of a network in the order of sotto_head_release(): identify, digest, canaries, charge, train, save, ask the
 *  canaries, remove the checkpoint. Of a team (in ctx) rank 0 alone digests, charges and writes.
 *
 *  Out:     *out     {0} on failure, unless training was done: then it is filled in, though the network may not be in a file
 *  Returns: EINVAL   names the member; no identity, or two that differ
 *           EAGAIN   fresh: another run continues the checkpoint
 *           those of sotto_dataset_digests(), sotto_canaries_make(), the training and sotto_network_save_private() */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_train_release(struct sotto_train_release_result *out,
                                                            const struct sotto_train_release_request *request,
                                                            const struct sotto_context *ctx);

/** Notes what a certificate says of the files that trained it (sotto_released_inputs()); kept in its file. Where it covers
 *  all of them the network is no longer stamped "no privacy statement".
 *
 *  Returns: ENOMEM */
SOTTO_API SOTTO_MUST_CHECK sotto_status
sotto_network_set_released_inputs(struct sotto_network *n, const struct sotto_released_inputs *released);
/** Writes one .safetensors (docs/FORMATS.md, sotto.model/1).
 *
 *  Returns: ECREATE, EIO, ENOMEM */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_network_save(const char *path, const struct sotto_network *n);
/** Loads such a file. One that was made elsewhere needs only the tensors and the keys schema, model, input and classes.
 *
 *  Out:     *out  free with sotto_network_free()
 *  Returns: EFORMAT  metadata are missing or contradict each other, tensors have other names or shapes, or weights are not
 *                    finite or do not match their checksum
 *           ENOENT, EIO, ENOMEM */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_network_load(struct sotto_network **out, const char *path);
/** The bytes of that file, to memory.
 *
 *  Out:     *bytes (*size): free with sotto_bytes_free()
 *  Returns: as sotto_network_save(), without ECREATE and EIO; errors speak of "network in memory" */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_network_save_bytes(void **bytes, size_t *size,
                                                                 const struct sotto_network *n);
/** A network from the bytes of such a file.
 *
 *  In:      bytes (size): borrowed during the call
 *  Out:     *out: free with sotto_network_free()
 *  Returns: as sotto_network_load(), without ENOENT and EIO; errors speak of "network in memory" */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_network_load_bytes(struct sotto_network **out,
                                                                 const void *bytes, size_t size);
SOTTO_API void sotto_network_free(struct sotto_network *n);
/** Returns: numbers in a record, channels * height * width. */
SOTTO_API size_t sotto_network_inputs(const struct sotto_network *n);
SOTTO_API size_t sotto_network_classes(const struct sotto_network *n);
SOTTO_API size_t sotto_network_parameters(const struct sotto_network *n);
/** Returns: SHA-256 over names and values of the tensors. Lives as long as the network, as do the results of the next two
 *           functions. */
SOTTO_API const char *sotto_network_sha256(const struct sotto_network *n);
/** Returns: how it was trained (checkpoint and metrics are not kept; backend NULL: not known); NULL: made elsewhere. A seed 0
 *           stands there as SOTTO_SEED_ZERO, so that the recipe may be given to a call again. */
SOTTO_API const struct sotto_train_options *sotto_network_recipe(const struct sotto_network *n);

/** What of several answers is averaged. */
enum sotto_average {
    SOTTO_AVERAGE_LOGITS,
    SOTTO_AVERAGE_SOFTMAX /**< probabilities; logits are then the logarithms of their mean */
};
/** How a network with noise answers: every query with fresh noise. {0} or NULL: all defaults. */
struct sotto_answer_options {
    size_t repeats;             /**< [1] answers that are averaged */
    enum sotto_average average; /**< [logits] */
    uint64_t seed;              /**< of the noise [noise of the operating system, other in every call] */
};
/** Networks without noise ignore these.
 *
 *  Returns: EINVAL  a value out of range; *n stays as it was */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_network_set_answers(struct sotto_network *n,
                                                                  const struct sotto_answer_options *options);
/** Answers queries: f32, inference mode. Without noise the rows around a record do not change its bits.
 *
 *  In:      x       (n, d), finite; images as (C, H, W) in [0, 1]
 *           logits  1: answers are logits; 0: probabilities
 *  Out:     out     (n, classes)
 *  Returns: EINVAL  d is not the network's, or x is not finite */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_network_predict(float *out, const struct sotto_network *network,
                                                              const float *x, size_t n, size_t d, int logits,
                                                              const struct sotto_context *ctx);
/** The same of rows of a data set.
 *
 *  In:      rows    (n); NULL: 0 .. n-1
 *  Out:     out     (n, classes)
 *  Returns: EINVAL  its records have another shape */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_network_predict_data(float *out,
                                                                   const struct sotto_network *network,
                                                                   const struct sotto_dataset *data,
                                                                   const int64_t *rows, size_t n, int logits,
                                                                   const struct sotto_context *ctx);

#ifdef __cplusplus
}
#endif
#endif
