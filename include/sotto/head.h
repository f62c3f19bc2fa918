/* head.h - softmax heads on frozen embeddings: train, save, answer queries, sample their sensitivity.
 *
 * Start at sotto_head_train(); with private records, at sotto_head_release(). Shapes: X (n, d) f4 row-major, y (n) in
 * 0..classes-1. */
#ifndef SOTTO_HEAD_H
#define SOTTO_HEAD_H

#include "sotto/lab/canary.h"
#include "sotto/lab/release.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { SOTTO_MAX_HIDDEN = 7 };

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
    /** [1e-3] Adam: betas .9 and .999, epsilon 1e-7, as in Keras */
    double lr;
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
    /** [500] "convex", "dp-gd": full-batch gradient steps from zero, a fixed number */
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
    uint64_t reserved[4]; /**< zeros: room for later members */
};
/** Returns: EINVAL  no trainer has this name; the text names all */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_head_trainer_check(const char *trainer);
/** Does a member make a difference to this trainer?
 *
 *  In:      key  of sotto_option_table("head_recipe")
 *  Returns: 1: it is part of the trainer's recipe, or belongs to all trainers; 0: it is not */
SOTTO_API int sotto_head_trainer_reads(const char *trainer, const char *key);
/** Returns: 1: a trainer of sotto_head_train_private() with noise in every step; 2: "objective", or one by second moments; 0: any other. */
SOTTO_API int sotto_head_trainer_private(const char *trainer);
/** Returns: 1: a private or a convex trainer: its heads are certified or lead to a certificate. It refuses, logs and
 *           counts nothing that depends on what the records hold, and its number of classes must be public. 0: another. */
SOTTO_API int sotto_head_trainer_silent(const char *trainer);
/** Name of the i-th trainer on second moments. Returns: NULL after the last. */
SOTTO_API const char *sotto_head_moment_trainer(size_t i);
/** One line about the i-th trainer on second moments. Returns: NULL after the last. */
SOTTO_API const char *sotto_head_moment_title(size_t i);
/** Out: *r: the values in brackets of trainer "adam"; a member that is then set to 0 has its default again (sotto/base.h). */
SOTTO_API void sotto_head_defaults(struct sotto_head_recipe *r);

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
    uint64_t reserved[2]; /**< zeros: room for later members */
};
/** Trains with noise: the whole run is charged to the ledger before its first step, and stays charged if it is stopped.
 *  Protected are X and y together, under privacy->adjacency, in everything that leaves this function. n is treated as
 *  public. Sampling and noise come from the operating system: two runs differ.
 *
 *  DP-SGD (Abadi et al. 2016): ceil(epochs n / batch) steps, each on a Poisson sample of rate batch / n. The gradient of
 *  every record is clipped to max_grad_norm, noise of scale noise_multiplier * max_grad_norm is added to the sum, and the
 *  sum is divided by `batch`, not by the sample's size. Norms are exact from one pass (no gradient of a single record
 *  exists).
 *
 *  "dp-gd": steps on all records, with a momentum of 0.9. The first 1/20 of them release the mean and the mean square of
 *  the records, clipped to `clip`; features are then centred and scaled by these, and the head is the mean over the last
 *  quarter of the other steps. step_size 0: by a rule from noise, steps, n, d and classes. Linear, from zero; gaussian.
 *
 *  "objective" (docs/derivations/objective.md): objective perturbation under pure epsilon. A noisy mean centres and scales the
 *  records, clipped to `clip`; noise enters a convex objective, and its minimum is blurred by exact noise. noise_multiplier is
 *  1 / epsilon; everything else follows public rules. Linear; replace-one; pure unless a delta is given.
 *
 *  Second moments (the trainers of sotto_head_moment_trainer()): sums over the records of x x' and of x by class go through
 *  sotto_dp_release() once, with a proved replace-one sensitivity (rounding included), and the head is computed from what
 *  comes out. Any mechanism that adds noise to vectors will do.
 *
 *  In:      classes       public: it must not be read off the records
 *           x, y          nothing is refused, logged or shaped by what they hold: a class may be absent, n may be below
 *                         `classes`. A record with a label outside of 0 .. classes - 1, or with features that are not all
 *                         finite, counts as nothing: it keeps its place among the n and adds nothing
 *  Out:     *out          free with sotto_head_free()
 *           *certificate  how far the records are protected; free with sotto_certificate_free()
 *  Returns: EDIVERGED     also: second moments: the noisy equations cannot be solved; the release stays charged
 *           those of sotto_head_train(), sotto_calibrate_sampled() and sotto_dp_reserve() */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_head_train_private(
    struct sotto_head **out, struct sotto_certificate **certificate, const float *x, const int64_t *y,
    size_t n, size_t d, size_t classes, const struct sotto_head_recipe *recipe,
    const struct sotto_head_privacy *privacy, const struct sotto_context *ctx);
/** What private training would make of records: for their owner, who looks before a charge. It is no release. */
struct sotto_records_check {
    size_t n;
    size_t nothing;      /**< records that would count as nothing: one or both of the next two */
    size_t not_finite;   /**< records with a feature that is not a finite number */
    size_t no_class;     /**< records with a label outside of 0 .. classes - 1 */
    size_t empty;        /**< classes without a record that counts */
    int64_t least, most; /**< smallest and largest label */
    uint64_t reserved[4];
};
/** Counts the records that count as nothing in private training, by the rule of training itself.
 *
 *  In:      x        (n, d); NULL: the label alone decides, as of images
 *           y        (n)
 *           classes  public
 *  Returns: EINVAL   y is NULL, n is 0, fewer than 2 classes
 *           ENOMEM */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_head_check_records(struct sotto_records_check *out,
                                                                 const float *x, const int64_t *y, size_t n,
                                                                 size_t d, size_t classes);
/** Saves a privately trained head and, beside it, PATH.certificate.json with the file's hash. */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_head_save_private(const char *path, const struct sotto_head *h,
                                                                const struct sotto_certificate *certificate);
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
/** The bytes of that file, to memory.
 *
 *  Out:     *bytes (*size): free with sotto_bytes_free()
 *  Returns: as sotto_head_save(), without ECREATE and EIO; errors speak of "head in memory" */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_head_save_bytes(void **bytes, size_t *size,
                                                              const struct sotto_head *h);
/** A head from the bytes of such a file.
 *
 *  In:      bytes (size): borrowed during the call
 *  Out:     *out: free with sotto_head_free()
 *  Returns: as sotto_head_load(), without ENOENT and EIO; errors speak of "head in memory" */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_head_load_bytes(struct sotto_head **out, const void *bytes,
                                                              size_t size);
SOTTO_API void sotto_head_free(struct sotto_head *h);
SOTTO_API size_t sotto_head_inputs(const struct sotto_head *h);
SOTTO_API size_t sotto_head_classes(const struct sotto_head *h);
/** Returns: all parameters as one vector in file order (0.weight, 0.bias, 2.weight, ...); borrowed.
 *  Out: *count: how many */
SOTTO_API float *sotto_head_parameters(struct sotto_head *h, size_t *count);
/** Returns: SHA-256 over X, y and their shapes; "": unknown. */
SOTTO_API const char *sotto_head_data_sha256(const struct sotto_head *h);
/** Returns: SHA-256 over the recipe, d and classes; "": unknown. */
SOTTO_API const char *sotto_head_recipe_hash(const struct sotto_head *h);
/** Returns: how many records trained it (known for the convex trainers); 0: unknown. */
SOTTO_API size_t sotto_head_records(const struct sotto_head *h);
/** Returns: the recipe, borrowed; NULL: unknown. Members of which 0 is not the default state it by a mark (sotto/base.h),
 *           so that the recipe may be given to a call again. */
SOTTO_API const struct sotto_head_recipe *sotto_head_get_recipe(const struct sotto_head *h);
/** Returns: sotto.encoding/1 of the table that made X, as the file's metadata says it; NULL: none is known. */
SOTTO_API const char *sotto_head_encoding(const struct sotto_head *h);
/** Notes it.
 *
 *  In:      json  is released with the head, so it must not depend on private rows (sotto_table_encoding_beside())
 *  Returns: ENOMEM */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_head_set_encoding(struct sotto_head *h, const char *json);
/** Returns: SHA-256 of the encoder that made X, 64 lower-case hexadecimal digits; "" (the default): none. */
SOTTO_API const char *sotto_head_encoder(const struct sotto_head *h);
/** In:      sha256  64 lower-case hexadecimal digits, or ""
 *  Returns: EINVAL  another text */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_head_set_encoder(struct sotto_head *h, const char *sha256);
/** The files that made a head's inputs. {0}: none is known. */
struct sotto_head_files {
    /** Of the encoder that made X. The head keeps its SHA-256. An encoder that private records trained (sotto/lab/fine_tune.h)
     *  passes its stamp "no privacy statement" on to the head. */
    const char *encoder;
    /** That X was read from. The head keeps the encoding beside it (sotto_table_encoding_beside()), if that is of its shape,
     *  and what the file's certificate says (sotto_released_inputs()). */
    const char *features;
    const char *labels; /**< that y was read from; used with features only */
};
/** Notes what a reader of the head has to know of them; kept in its file.
 *
 *  Returns: ENOENT, EIO, EFORMAT, ENOMEM  names the file */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_head_note_files(struct sotto_head *h,
                                                              const struct sotto_head_files *files,
                                                              const struct sotto_context *ctx);
/** The same from the encoder's file. An encoder that private records trained (sotto/lab/fine_tune.h) passes its stamp "no
 *  privacy statement" on to the head.
 *
 *  Returns: ENOENT, EIO */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_head_set_encoder_file(struct sotto_head *h, const char *path);
/** Notes the source of the number of classes, for the certificate of what is made of this head.
 *
 *  In:      classes_by  such as "--classes"; below 64 bytes
 *  Returns: EINVAL      it is longer */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_head_set_classes_by(struct sotto_head *h,
                                                                  const char *classes_by);
/** Notes what a certificate says of the files that trained it (sotto_released_inputs()); kept in its file. */
SOTTO_API void sotto_head_set_released_inputs(struct sotto_head *h,
                                              const struct sotto_released_inputs *released);
/** Out: *out: a copy; free with sotto_head_free() */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_head_copy(struct sotto_head **out, const struct sotto_head *h);

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

/** What "1-norm and 2-norm" may have meant in the published figures of the additive logistic mechanism: maxima over pairs,
 *  reported beside the entrywise norms. NOT sensitivities: no guarantee follows from them. */
enum sotto_paper_norm {
    SOTTO_PAPER_NORM_INDUCED,      /**< kernel: largest column sum; largest singular value */
    SOTTO_PAPER_NORM_INDUCED_ROWS, /**< kernel: largest row sum; largest singular value */
    SOTTO_PAPER_NORM_BIAS,         /**< bias vectors alone */
    SOTTO_PAPER_NORM_DIFFERENCE,   /**< difference of the two heads' entrywise norms */
    SOTTO_PAPER_NORM_PER_TENSOR,   /**< 2-norm of each tensor, then 1- and 2-norm of those */
    SOTTO_PAPER_NORMS
};
struct sotto_norm_pair {
    double one, two;
};
/** Returns: "induced", ... */
/** Returns: one line of description. */
SOTTO_API const char *sotto_paper_norm_name(enum sotto_paper_norm norm);
SOTTO_API const char *sotto_paper_norm_title(enum sotto_paper_norm norm);

/** Largest observed change of the weights over random replace-one pairs (Algorithm 2): EVIDENCE, not a bound.
 *
 *  gamma_...: share of such pairs (i, j) of the SAME data with a change above the maximum:
 *    dkw           as published (Rubinstein & Alda 2017), at the best rho
 *    exchangeable  1 / (pairs + 1): on average over samplings
 *    tolerance     holds with `confidence` over the sampling
 *  None of them is differential privacy: the sample is one data set, and a scale derived from it depends on that data. */
struct sotto_sensitivity_sample {
    double l1, l2, linf; /**< entrywise, maxima over pairs */
    double mean_l1, mean_l2;
    size_t pairs;
    double gamma_dkw, gamma_exchangeable, gamma_tolerance, confidence;
    /** 0 in files that lack them. */
    struct sotto_norm_pair paper[SOTTO_PAPER_NORMS];
    /** Set by the caller: 1 sampled on the head's own private data, -1 on other data, 0 unknown. */
    int on_private_data;
    char recipe_hash[65], data_sha256[65];
    /** Canonical text behind recipe_hash (docs/FORMATS.md); "" in files that lack it. */
    char recipe[512];

    /** 1: no sample but a PROOF for all pairs of neighbouring data sets of `records` records: l1, l2 and linf bound every
     *  change, what rounding adds (`rounding`) included; means, gammas and pairs are 0. */
    int proved;
    size_t records;
    double rounding;
};
/** Pairs in one block: a file in the cache of sotto_sensitivity_share(). */
enum { SOTTO_PAIRS_BLOCK = 64 };
/** How several processes sample one sensitivity. {0} but for the cache. */
struct sotto_sensitivity_options {
    /** Folder of finished blocks of pairs, which all share. As private as the records. */
    const char *cache;
    /** 1: sample blocks that no other process works on, until none is open, and leave it at that [0]. */
    int worker;
    /** Read by the program only, which then calls sotto_sensitivity_plan(). */
    int plan;
    /** Sample only blocks with number % shards == shard [0 of 1]. */
    size_t shard, shards;
    /** Zeros: room for later members. */
    uint64_t reserved[4];
};
/** sotto_sensitivity_run() by any number of processes, on machines that share the folder `cache`; the same numbers. A call
 *  that is no worker samples what is missing, waits for blocks that others sample, and merges by number.
 *
 *  Out:     *missing  pairs that other processes have not delivered
 *           out       filled where *missing is 0 and the call is no worker; NULL: of a worker
 *  Returns: EUSAGE    no cache; a worker with shards
 *           EFORMAT   a damaged file in the cache
 *           those of sotto_sensitivity_run() */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_sensitivity_share(
    struct sotto_sensitivity_sample *out, size_t *missing, const float *x, const int64_t *y, size_t n,
    size_t d, size_t classes, const struct sotto_head_recipe *recipe, size_t pairs,
    const struct sotto_sensitivity_options *options, const struct sotto_context *ctx);
/** What is left of one for workers. */
struct sotto_sensitivity_plan {
    size_t blocks, missing; /**< of pairs; those that are not in the cache */
    double seconds_each;    /**< of a block on the threads of a worker */
    double bytes;           /**< of the files of all blocks */
};
/** Nothing is written. The time is the mean of the blocks in the cache; if none is there (or no cache is given), one is sampled.
 *
 *  In:      options  cache alone is read
 *  Returns: those of sotto_sensitivity_share() */
SOTTO_API SOTTO_MUST_CHECK sotto_status
sotto_sensitivity_plan(struct sotto_sensitivity_plan *out, const float *x, const int64_t *y, size_t n,
                       size_t d, size_t classes, const struct sotto_head_recipe *recipe, size_t pairs,
                       const struct sotto_sensitivity_options *options, const struct sotto_context *ctx);
/** Returns: hours that `workers` (at least 1) need for what is missing: each does a block at a time, on all its threads. */
SOTTO_API double sotto_sensitivity_plan_hours(const struct sotto_sensitivity_plan *plan, size_t workers);
/** Draws `pairs` pairs i != j of records and trains two heads for each. Both heads of a pair see every common record in the
 *  same batch slot; slot i holds record i in one head and record j in the other; slot j stays empty in both, so each trains
 *  on n - 1 records. Pairs run in parallel; results do not depend on threads. Logs the maxima and gamma so far as the pairs
 *  double.
 *
 *  One head is trained twice, apart from the others: if its bits differed, the trainer would not be a function and the
 *  differences would measure its noise (EINVAL).
 *
 *  In:      x      (n, d)
 *           y      (n)
 *           ctx    its progress counts pairs
 *  Returns: EINVAL    as sotto_head_train(); `pairs` is 0 or exceeds the n (n - 1) / 2 distinct ones; or as said above
 *           ESTOPPED  ctx asked to stop */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_sensitivity_run(struct sotto_sensitivity_sample *out,
                                                              const float *x, const int64_t *y, size_t n,
                                                              size_t d, size_t classes,
                                                              const struct sotto_head_recipe *recipe,
                                                              size_t pairs, const struct sotto_context *ctx);
/** The proved replace-one sensitivity of a head by a convex trainer: follows from its recipe and number of records alone.
 *
 *  Returns: EINVAL  another trainer; recipe or records are unknown; private records trained the encoder; or the weights are
 *                   larger than any that the recipe makes */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_sensitivity_prove(struct sotto_sensitivity_sample *out,
                                                                const struct sotto_head *h);
/** The proof for p->input, a head by a convex trainer. The file of a head by an early version does not bind its weights to
 *  its recipe: then p->release.spend.condition says so.
 *
 *  In:      *sample                  loaded from a file, or {0}
 *  Out:     *sample                  filled in if it was {0}; borrowed by *p
 *           p->release.sensitivity   the proof
 *  Returns: EINVAL                   the sample is not this head's
 *           those of sotto_head_load() and sotto_sensitivity_prove() */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_sensitivity_of_head(struct sotto_protect *p,
                                                                  struct sotto_sensitivity_sample *sample);
/** Out: *out: what a release needs to know of a sample or proof */
SOTTO_API void sotto_sensitivity_of(struct sotto_sensitivity *out, const struct sotto_sensitivity_sample *s);
/** Writes sensitivity.json (docs/FORMATS.md). */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_sensitivity_save(const char *path,
                                                               const struct sotto_sensitivity_sample *s);
/** Returns: EFORMAT  what no sample can be, or a proof with figures that do not follow from its recipe */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_sensitivity_load(struct sotto_sensitivity_sample *out,
                                                               const char *path);
/** The same document on one line.
 *
 *  Out: *json: free with sotto_text_free() */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_sensitivity_json(char **json,
                                                               const struct sotto_sensitivity_sample *s);

#ifdef __cplusplus
}
#endif
#endif
