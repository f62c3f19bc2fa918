/* head.h - softmax heads on frozen embeddings: train, release privately, save, answer queries.
 *
 * Start at sotto_head_train(); with private records, at sotto_head_release(). Shapes: X (n, d) f4 row-major, y (n) in
 * 0..classes-1. */
#ifndef SOTTO_HEAD_H
#define SOTTO_HEAD_H

#include "sotto/release.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { SOTTO_TRAIN_HIDDEN = 8 };

enum { SOTTO_MAX_HIDDEN = 7, SOTTO_MAX_BALANCE = 64 };

/** Everything that decides the trained weights besides the data. {0}: all defaults. */
struct sotto_head_recipe {
    /** ["adam"], "sgd";
     *  with a proved sensitivity: "convex", "convex-sgd", "convex-lbfgs";
     *  with noise in every step: "dp-sgd", "dp-adam", "dp-gd";
     *  with noise in its objective, for pure epsilon: "objective";
     *  from one noisy release of second moments: "covariance", "functional", "functional-linear", "taylor".
     *  Those from "dp-sgd" on are for sotto_head_train_private() only. */
    const char *trainer;
    size_t hidden_count;             /**< [0]: linear */
    size_t hidden[SOTTO_MAX_HIDDEN]; /**< ReLU widths */
    size_t epochs, batch;            /**< [20], [25] */
    /** [0: 1e-3; "dp-sgd": .5 (1 - momentum) / max_grad_norm] Adam: betas .9 and .999, epsilon 1e-7, as in Keras */
    double lr;
    size_t balance_count; /**< [0]: each record counts the same; else the number of classes */
    /** 1 to 10^6: how much a record of each class counts in the loss, relative to their mean. PUBLIC: not counted off the private
     *  records. A gradient is clipped as it then is, so the guarantee is the same. "adam", "sgd", "dp-sgd", "dp-adam", "dp-gd". */
    size_t balance[SOTTO_MAX_BALANCE];
    /** [1] initialisation and batch order; below 2^63 */
    uint64_t seed;
    /** [0] "adam", "sgd": deviation of Gaussian noise on every number of a record, new in every step, for randomised
     *  smoothing at the same deviation; its radii are then distances between what the head takes: embeddings. No privacy noise. */
    double augment_noise;

    /* The convex trainers (docs/derivations/head.md) use the members from here instead of epochs, batch, lr and hidden.
     * "convex-sgd" also uses epochs, batch and seed (its batches have one order, which the seed decides).
     * No value may be chosen by looking at the private data. */
    /** [1] R: a record with a larger L2 norm is scaled down to it, in training and in queries */
    double clip;
    /** [1] c_b: the constant input behind the bias, which is regularised like a weight */
    double bias;
    /** [0.01] weight of half the squared norm of the weights, against the MEAN loss */
    double lambda;
    /** [0: 500] "convex", "dp-gd": full-batch gradient steps from zero, a fixed number; [0: ceil(epochs n / batch)] "dp-sgd",
     *  "dp-adam": steps, whatever the epochs */
    size_t steps;
    /** [0: the largest that the proof allows; "dp-gd": by its rule] "convex", "convex-sgd", "dp-gd" */
    double step_size;
    /** [0.01] "convex-lbfgs": stops at a gradient of this times Lipschitz constant / n */
    double tolerance;

    /* The DP trainers use the members from here besides hidden, epochs, lr, seed and batch. batch is then the EXPECTED
     * number of records of a step. */
    /** ["gaussian"], "logistic" */
    const char *noise;
    /** [1] C: a record's gradient with a larger L2 norm is scaled down to it */
    double max_grad_norm;
    /** [0: found for a target epsilon] noise scale / C */
    double noise_multiplier;
    /** [0] "dp-sgd": of the privatised gradient, below 1 */
    double momentum;
    /** [0: none] "dp-sgd", "dp-adam": decay of the moving average of the weights; that average is then the head. At step t it is at
     *  most (1 + t) / (10 + t). After noise, so it costs nothing */
    double average;
    /** [0: all] with persons as units: so many rows of each, drawn anew for every step by `seed`, are in a step */
    size_t rows_per_step;

    /* The trainers on second moments (docs/derivations/moments.md) are linear. They use cross and these:
     *   noise             also "laplace" [the trainer's own]
     *   noise_multiplier  over the proved L2 sensitivity ("laplace": L1)
     *   clip
     *   bias              in units of clip
     *   lambda            added to the mean products of records of norm 1 [as much as the noise asks for] */
    /** [1] "covariance": weight of the sums by class against those of products */
    double cross;
    /** [0] 1 in heads of earlier versions: no record was scaled to clip, and queries are not scaled either. Trainers refuse
     *  1, because a refused record would be an answer about the records. */
    int refuse_larger;
};

struct sotto_head; /* layers: weight (out, in), bias (out), f32 */

/** Trains on X and y: softmax cross-entropy.
 *
 *  adam, sgd        Glorot uniform weights, zero biases, batches in a new order every epoch; the last partial batch is
 *                   divided by its real count
 *  convex trainers  full-batch from zero
 *
 *  Batches run on one thread. Deterministic: same inputs, recipe and instruction-set level, same bits.
 *
 *  In:      x     (n, d)
 *           y     (n) in 0 .. classes - 1
 *  Out:     *out  free with sotto_head_free()
 *  Returns: EINVAL     names the recipe member, or what makes X or y unusable: a label out of range, NaN, fewer records
 *                      than classes, a single class, constant features. A convex trainer refuses none of these; see
 *                      sotto_head_train_private() for records that it cannot use
 *           EDIVERGED  a weight became infinite or NaN
 *           EDOMAIN    convex: lambda or tolerance is too small for double arithmetic to keep the proof
 *           ESTOPPED   ctx asked to stop (checked between epochs)
 *  Source:  Keras's semisupervised_simclr.py (classifier stage); Kingma & Ba 2015 */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_head_train(struct sotto_head **out, const float *x,
                                                         const int64_t *y, size_t n, size_t d, size_t classes,
                                                         const struct sotto_head_recipe *recipe,
                                                         const struct sotto_context *ctx);
struct sotto_canaries;
/** What a privately trained head costs, and which ledger is charged. */
struct sotto_head_privacy {
    /** epsilon: the smallest noise_multiplier for it is found [0: the recipe gives the noise_multiplier]
     *  delta: [0: sotto_default_delta(n); "objective", and on second moments noise that has a pure epsilon: pure] */
    struct sotto_dp target;
    struct sotto_spend spend;
    /** The file that will be written: before anything is charged it must be possible to create it, and there must be room
     *  for it. NULL: not checked. */
    const char *output;
    /** Where DP-SGD keeps its state, every few seconds and when it is stopped; NULL: nowhere. The same call continues from
     *  it: steps that are not in it are drawn and charged anew. The caller removes it once the head is saved. */
    const char *checkpoint;
    /** [NULL: "the caller"] source of the number of classes, for the certificate */
    const char *classes_by;
    enum sotto_adjacency adjacency; /**< [replace-one], or zero-out: DP-SGD by Poisson samples only */
    /** DP-SGD: [poisson], or fixed: `batch` records without replacement in every step, under replace-one only. */
    enum sotto_sampling sampling;
    /** [NULL: none] DP-SGD: canaries (sotto/lab/canary.h) of which X and y were made; those that are gradients act in every
     *  step, and what an observer of all steps sees of them is noted there. */
    struct sotto_canaries *canaries;
    /** Instead of target.epsilon and the recipe's noise_multiplier: the smallest noise for it [{0}: none]. */
    struct sotto_risk risk;
    /** What the steps of "dp-sgd" and "dp-adam" sample and clip: records, each by itself; or persons, whose contribution is the
     *  mean of the gradients of their rows. Then epsilon is that of a record, whatever rows a person has, `batch` and epochs
     *  count persons, and max_grad_norm is that of a person. [person where `persons` is given, or where spend.provenance names rows
     *  of a set that was imported with persons and no canaries are asked for; else record] */
    enum sotto_unit unit;
    /** (n) whose row each is: equal numbers are one person, which is public. NULL: sotto_head_release() takes them from the set
     *  that spend.provenance names. Where no import capped the rows, epsilon is conditional on them. */
    const int64_t *persons;
};
/** Writes a safetensors file (docs/FORMATS.md).
 *
 *  tensors   "0.weight" (out, in), "0.bias", "2.weight", ... as PyTorch's nn.Sequential
 *  metadata  recipe, recipe hash, SHA-256 of the data, encoder hash, instruction-set level
 *
 *  Returns:  ECREATE, EIO, ENOMEM */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_head_save(const char *path, const struct sotto_head *h);
/** Loads such a file, or one written by PyTorch: then recipe and hashes are unknown.
 *
 *  Out:     *out  free with sotto_head_free()
 *  Returns: EFORMAT  names or shapes do not chain, a weight is not finite, or weights, recipe, records, data or encoder are
 *                    not those of the checksum that training wrote
 *           ENOENT, EIO, ENOMEM */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_head_load(struct sotto_head **out, const char *path);
SOTTO_API void sotto_head_free(struct sotto_head *h);
SOTTO_API size_t sotto_head_inputs(const struct sotto_head *h);
SOTTO_API size_t sotto_head_classes(const struct sotto_head *h);
/** The files that made a head's inputs. {0}: none is known. */
struct sotto_head_files {
    /** Of the encoder that made X. The head keeps its SHA-256. An encoder that private records trained (sotto/fine_tune.h)
     *  passes its stamp "no privacy statement" on to the head. */
    const char *encoder;
    /** That X was read from. The head keeps the encoding.json beside it, if that is of its shape and depends on no private row, and
     *  what the file's certificate says (sotto_released_inputs()). */
    const char *features;
    const char *labels; /**< that y was read from; used with features only */
};

/** One private release, from the records to the files. {0} in a member stands for its default. */
struct sotto_head_release_request {
    const float *x;                         /**< (n, d) */
    const int64_t *y;                       /**< (n) */
    size_t n, d, classes;                   /**< classes: public */
    const struct sotto_head_recipe *recipe; /**< of a trainer with noise */
    /** As of sotto_head_train_private(), but for:
     *  output         the head's file [NULL: the head stays in memory; no checkpoint is kept, and canaries are refused]
     *  checkpoint     [OUTPUT.checkpoint]
     *  canaries       NULL: they are made here
     *  spend.source   without digests: those of the imported set's rows that spend.provenance names, else of x and y.
     *                 Of a public set none are taken */
    struct sotto_head_privacy privacy;
    struct sotto_canary_options canaries; /**< seed: [the recipe's] */
    const float *public_rows;             /**< (public_n, d), for canaries of kind clipbkd */
    size_t public_n;
    struct sotto_head_files files; /**< that made x and y */
    int fresh; /**< 1: first removes the checkpoint, and with canaries the coins, of an earlier run */
    /** 1: the checkpoint stays: for a caller who has to note that all is done before sotto_train_forget(). Until then the
     *  same call continues at the end of the run, and is charged for one step. */
    int keep_checkpoint;
};
struct sotto_head_release_result {
    struct sotto_head *head;               /**< free with sotto_head_free() */
    struct sotto_certificate *certificate; /**< free with sotto_certificate_free() */
};
/** Makes a private release of a head, in this order:
 *
 *  identify     which data set is charged: spend.dataset_id, or what the provenance names
 *  read         what the head's file will say of `files`
 *  digest       the records, by which the ledger knows them again
 *  canaries     tosses their coins, which go to OUTPUT.coins.json, and makes the set to train on
 *  charge       one entry of the ledger for the whole run, with the commitment to the coins, is written and synced before
 *               noise is drawn; the output can be written then
 *  train        sotto_head_train_private()
 *  save         the head, then the line of the ledger that binds file and certificate to the charge, then
 *               OUTPUT.certificate.json
 *  ask          the canaries' scores go to OUTPUT.canaries.npz
 *  remove       the checkpoint
 *
 *  Up to `canaries` nothing is charged. From `charge` on the whole run stays charged, and the hint of a failure names the
 *  entry. What a run that was stopped has cost: docs/PRIVACY.md.
 *
 *  Out:     *out     {0} on failure, unless training was done: then both are given, though they may not be in a file
 *  Returns: EINVAL   names the member; a trainer without noise; no identity, or two that differ
 *           EAGAIN   fresh: another run continues the checkpoint
 *           those of sotto_head_note_files(), sotto_provenance_digests(), sotto_canaries_make(),
 *           sotto_head_train_private() and sotto_head_save_private() */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_head_release(struct sotto_head_release_result *out,
                                                           const struct sotto_head_release_request *request,
                                                           const struct sotto_context *ctx);

/** Answers queries.
 *
 *  In:      x       (n, d), finite
 *           logits  1: answers are logits; 0: probabilities
 *  Out:     out     (n, classes)
 *  Returns: EINVAL  d is not the head's, or X is not finite */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_head_predict(float *out, const struct sotto_head *h,
                                                           const float *x, size_t n, size_t d, int logits,
                                                           const struct sotto_context *ctx);
/** The linear probe's score.
 *
 *  In:  x     (n, d)
 *       y     (n)
 *  Out: *out  share of records with the largest logit at their label; of equal logits the lower class counts */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_head_accuracy(double *out, const struct sotto_head *h,
                                                            const float *x, const int64_t *y, size_t n,
                                                            size_t d, const struct sotto_context *ctx);

#ifdef __cplusplus
}
#endif
#endif
