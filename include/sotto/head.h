/* head.h - softmax heads on frozen embeddings: train, save, answer queries, sample their sensitivity.
 *
 * Start at sotto_head_train(). Shapes: X (n, d) f4 row-major, y (n) in 0..classes-1. */
#ifndef SOTTO_HEAD_H
#define SOTTO_HEAD_H
#include "sotto/dp.h"
#ifdef __cplusplus
extern "C" {
#endif
enum { SOTTO_MAX_HIDDEN = 7 };
/** Everything that decides the trained weights besides the data. {0}: all defaults. */
struct sotto_head_recipe {
    /** ["adam"], "sgd"; with a proved sensitivity: "convex", "convex-sgd", "convex-lbfgs"; with noise in
     * every step: "dp-sgd", "dp-adam"; from one noisy release of second moments: "covariance", "functional",
     * "functional-linear", "taylor" (the last six by sotto_head_train_private() only) */
    const char *trainer;
    size_t hidden_count;             /**< [0]: linear */
    size_t hidden[SOTTO_MAX_HIDDEN]; /**< ReLU widths */
    size_t epochs, batch;            /**< [20], [25] */
    double lr;                       /**< [1e-3]; Adam: betas .9 .999, epsilon 1e-7 (Keras) */
    uint64_t seed;                   /**< [1] initialisation and batch order; below 2^63 */
    /* The convex trainers (docs/derivations/head.md) use these instead of epochs, batch, lr and hidden;
     * "convex-sgd" uses epochs, batch and seed (the one order of its batches) too. None may be chosen by
     * looking at the private data. */
    double clip;   /**< [1] R: records with a larger L2 norm are scaled to it, in training and in queries */
    double bias;   /**< [1] c_b: the constant input behind the bias, which is regularised like a weight */
    double lambda; /**< [0.01] weight of half the squared norm of the weights, against the MEAN loss */
    size_t steps;  /**< [500] "convex": full-batch gradient steps from zero, a fixed number */
    double step_size; /**< [0: the largest that the proof allows] "convex", "convex-sgd" */
    double tolerance; /**< [0.01] "convex-lbfgs": stops at a gradient of this times Lipschitz constant / n */
    /* The DP trainers use these besides hidden, epochs, lr, seed and batch, which is the EXPECTED number of
     * records of a step. */
    const char *noise;       /**< ["gaussian"], "logistic" */
    double max_grad_norm;    /**< [1] C: a record's gradient of a larger L2 norm is scaled to it */
    double noise_multiplier; /**< [0: found for a target epsilon] noise scale / C */
    double momentum;         /**< [0] "dp-sgd": of the privatised gradient, below 1 */
    /* The trainers on second moments (docs/derivations/moments.md) are linear and use `noise` (also
     * "laplace") [the trainer's own], noise_multiplier (over the proved L2 sensitivity; "laplace": L1),
     * clip, bias (in units of clip) and lambda, which is added to the mean products of records of norm 1 [as
     * much as the noise asks for]. */
    double cross;      /**< [1] "covariance": weight of the sums by class against those of products */
    int refuse_larger; /**< [0] 1 in heads of earlier versions: no record was scaled to clip, and queries are
                          not either. Trainers refuse it: refused records would be an answer about them */
    uint64_t reserved[4]; /**< zeros: room for later members */
};
/** 1: a trainer of sotto_head_train_private(); 2: by second moments; 0: all others. */
SOTTO_API int sotto_head_trainer_private(const char *trainer);
/** 1: what it makes is certified, or leads to a certificate (the private and the convex trainers): it refuses,
 * logs and counts nothing that depends on what the records hold, and its number of classes must be public. */
SOTTO_API int sotto_head_trainer_silent(const char *trainer);
/** i-th trainer on second moments, NULL after the last; and one line about it. */
SOTTO_API const char *sotto_head_moment_trainer(size_t i);
SOTTO_API const char *sotto_head_moment_title(size_t i);
/** Out: *r: the values in brackets of trainer "adam"; a member that is then set to 0 is its default again (sotto/base.h). */
SOTTO_API void sotto_head_defaults(struct sotto_head_recipe *r);
struct sotto_head; /* layers: weight (out, in), bias (out), f32 */
/** Trains on X and y: softmax cross-entropy, Glorot uniform weights, zero biases, batches in a new order
 *  every epoch, the last partial batch divided by its real count; or, by a convex trainer, full-batch from
 *  zero. Batches run on one thread. Deterministic: same inputs, recipe and instruction-set level, same bits.
 *
 *  Returns: EINVAL     names the recipe member, or what makes X or y unusable: a label out of range, NaN,
 *                      fewer records than classes, a single class, constant features (a convex trainer: none of
 *                      these; see sotto_head_train_private() for records that it cannot use)
 *           EDIVERGED  a weight became infinite or NaN
 *           EDOMAIN    convex: lambda or tolerance too small for double arithmetic to keep the proof
 *           ESTOPPED   ctx asked to stop (checked between epochs)
 *  Out:  free with sotto_head_free()
 *  Source: Keras's semisupervised_simclr.py (classifier stage); Kingma & Ba 2015 */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_head_train(struct sotto_head **out, const float *x,
                                                         const int64_t *y, size_t n, size_t d, size_t classes,
                                                         const struct sotto_head_recipe *recipe,
                                                         const struct sotto_context *ctx);
/** What a privately trained head costs, and which ledger is charged. */
struct sotto_head_privacy {
    /** epsilon [0: the recipe gives the noise_multiplier]: the smallest noise_multiplier for it is found; delta
 * [0: sotto_default_delta(n); on second moments with noise that has a pure epsilon: pure]. */
    struct sotto_dp target;
    struct sotto_spend spend;
    /** NULL, or the file that will be written: before anything is charged it must be possible to create it, and there
 * must be room for it. */
    const char *output;
    /** NULL, or where DP-SGD keeps its state every few seconds and when it is stopped. The same call continues from it:
 * steps that are not in it are drawn and charged anew. The caller removes it once the head is saved. */
    const char *checkpoint;
    const char *classes_by; /**< source of the number of classes, for the certificate [NULL: "the caller"] */
    enum sotto_noise_mode noise_mode; /**< [exact] */
    enum sotto_adjacency adjacency;   /**< [replace-one], or zero-out: DP-SGD by Poisson samples only */
    /** Of DP-SGD [poisson], or fixed: `batch` records without replacement in every step, under replace-one only. */
    enum sotto_sampling sampling;
    uint64_t reserved[4]; /**< zeros: room for later members */
};
/** DP-SGD (Abadi et al. 2016): ceil(epochs n / batch) steps, each on a Poisson sample of rate batch / n. The gradient of
 * every record is clipped to max_grad_norm, noise of scale noise_multiplier * max_grad_norm is added to the sum, and
 * the sum is divided by `batch`, not by the sample's size. Norms are exact from one pass (no gradient of a single
 * record exists). The whole run is charged to the ledger before its first step, and stays charged if it is stopped.
 * n is treated as public. Sampling and noise come from the operating system: two runs differ.
 *
 * Protected are X and y together, under privacy->adjacency, in everything that leaves this function.
 *
 * In: classes public: it must not be read off the records
 * X, y nothing is refused, logged or shaped by what they hold: a class may be absent, n may be below
 * `classes`, and a record with a label outside of 0 .. classes - 1, or with features that are not all
 * finite, counts as nothing: it keeps its place among the n and adds nothing
 * Out: *certificate how far the records are protected (sotto_certificate_free)
 *
 * Returns: those of sotto_head_train(), sotto_calibrate_sampled() and sotto_dp_reserve() */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_head_train_private(
    struct sotto_head **out, struct sotto_certificate **certificate, const float *x, const int64_t *y,
    size_t n, size_t d, size_t classes, const struct sotto_head_recipe *recipe,
    const struct sotto_head_privacy *privacy, const struct sotto_context *ctx);
/* By second moments (the trainers listed by sotto_head_moment_trainer()): sums over the records of x x' and x
 * by class go through sotto_dp_release() once, with a proved replace-one sensitivity (rounding included), and
 * the head is computed from what comes out. Any mechanism that adds noise to vectors will do. EDIVERGED: the
 * noisy equations cannot be solved; the release is charged all the same. */
/** Saves such a head and, beside it, PATH.certificate.json with the file's hash. */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_head_save_private(const char *path, const struct sotto_head *h,
                                                                const struct sotto_certificate *certificate);
/** safetensors: "0.weight" (out, in), "0.bias", "2.weight", ... as PyTorch's nn.Sequential; metadata:
 *  recipe, recipe hash, SHA-256 of the data, encoder hash, ISA level (docs/FORMATS.md). */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_head_save(const char *path, const struct sotto_head *h);
/** Also loads files written by PyTorch: then recipe and hashes are unknown.
 *  EFORMAT: names or shapes do not chain, a weight is not finite, or weights, recipe, records, data or
 * encoder are not those of the checksum that training wrote. */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_head_load(struct sotto_head **out, const char *path);
/** The bytes of that file, to memory and from memory.
 *  In:      bytes (size): borrowed during the call
 *  Out:     *bytes (*size): free with sotto_bytes_free(); *out: free with sotto_head_free()
 *  Returns: as the forms above, without ENOENT, ECREATE and EIO; errors speak of "head in memory" */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_head_save_bytes(void **bytes, size_t *size,
                                                              const struct sotto_head *h);
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_head_load_bytes(struct sotto_head **out, const void *bytes,
                                                              size_t size);
SOTTO_API void sotto_head_free(struct sotto_head *h);
SOTTO_API size_t sotto_head_inputs(const struct sotto_head *h);
SOTTO_API size_t sotto_head_classes(const struct sotto_head *h);
/** All parameters as one vector in file order (0.weight, 0.bias, 2.weight, ...), borrowed. */
SOTTO_API float *sotto_head_parameters(struct sotto_head *h, size_t *count);
/** SHA-256 over X, y and their shapes: "" if unknown. */
SOTTO_API const char *sotto_head_data_sha256(const struct sotto_head *h);
/** SHA-256 over the recipe, d and classes. "" if unknown. */
SOTTO_API const char *sotto_head_recipe_hash(const struct sotto_head *h);
/** How many records trained it; 0 if unknown (known for the convex trainers). */
SOTTO_API size_t sotto_head_records(const struct sotto_head *h);
/** Borrowed, or NULL if unknown. Members of which 0 is not the default state it by a mark (sotto/base.h), so that the
 * recipe may be given to a call again. */
SOTTO_API const struct sotto_head_recipe *sotto_head_get_recipe(const struct sotto_head *h);
/** sotto.encoding/1 of the table that made X, as the file's metadata says it: NULL where none is known. It is released
 * with the head, so it must not depend on private rows (sotto_table_encoding_beside()). ENOMEM. */
SOTTO_API const char *sotto_head_encoding(const struct sotto_head *h);
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_head_set_encoding(struct sotto_head *h, const char *json);
/** SHA-256 of the encoder that made X, or "" (the default); 64 lower-case hexadecimal digits. */
SOTTO_API const char *sotto_head_encoder(const struct sotto_head *h);
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_head_set_encoder(struct sotto_head *h, const char *sha256);
/** The same from the encoder's file. ENOENT, EIO. An encoder that private records trained (fine_tune.h)
 * passes its stamp "no privacy statement" on to the head. */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_head_set_encoder_file(struct sotto_head *h, const char *path);
/** Notes who gave the number of classes ("--classes", ...; below 64 bytes), for the certificate of what is
 * made of this head. EINVAL. */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_head_set_classes_by(struct sotto_head *h,
                                                                  const char *classes_by);
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_head_copy(struct sotto_head **out, const struct sotto_head *h);
/** Query handler: out (n, classes), probabilities or logits. EINVAL: d is not the head's, X is not finite. */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_head_predict(float *out, const struct sotto_head *h,
                                                           const float *x, size_t n, size_t d, int logits,
                                                           const struct sotto_context *ctx);
/** Share of records with the largest logit at their label (the linear probe's score); ties: lower class. */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_head_accuracy(double *out, const struct sotto_head *h,
                                                            const float *x, const int64_t *y, size_t n,
                                                            size_t d, const struct sotto_context *ctx);
/** What "1-norm and 2-norm" may have meant in the published figures of the additive logistic mechanism:
 * maxima over pairs, reported beside the entrywise norms. NOT sensitivities: no guarantee follows from
 * them. */
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
/** "induced", ... and a line for people. */
SOTTO_API const char *sotto_paper_norm_name(enum sotto_paper_norm norm);
SOTTO_API const char *sotto_paper_norm_title(enum sotto_paper_norm norm);
/** Largest observed change of the weights over random replace-one pairs (Algorithm 2): EVIDENCE, not a bound.
 *
 *  gamma_*: share of such pairs (i, j) of the SAME data with a change above the maximum.
 *    dkw           as published (Rubinstein & Alda 2017), at the best rho
 *    exchangeable  1 / (pairs + 1): on average over samplings
 *    tolerance     holds with `confidence` over the sampling
 *  None of them is differential privacy: the sample is one data set, and a scale derived from it depends on
 *  that data. */
struct sotto_sensitivity_sample {
    double l1, l2, linf; /**< entrywise, maxima over pairs */
    double mean_l1, mean_l2;
    size_t pairs;
    double gamma_dkw, gamma_exchangeable, gamma_tolerance, confidence;
    struct sotto_norm_pair paper[SOTTO_PAPER_NORMS]; /**< 0 in files that lack them */
    int on_private_data; /**< set by the caller: 1 sampled on the head's own private data, -1 on other data, 0
                            unknown */
    char recipe_hash[65], data_sha256[65];
    char recipe[512]; /**< canonical text behind recipe_hash (docs/FORMATS.md); "" in files that lack it */
    /** 1: no sample but a PROOF for all pairs of neighbouring data sets of `records` records: l1, l2 and linf
     *  bound every change, what rounding adds (`rounding`) included; means and gammas are 0, pairs too. */
    int proved;
    size_t records;
    double rounding;
};
/** Draws `pairs` pairs i != j of records. Both heads of a pair see every common record in the same batch
 *  slot; slot i holds record i in one head and record j in the other, slot j stays empty in both, so each
 *  trains on n - 1 records. Pairs run in parallel; results do not depend on threads.
 *
 *  Linear heads of the trainers adam and sgd are trained near one another (docs/derivations/head.md, section
 *  6): a change is then known to some 1e-4 of itself, its norms to some 1e-5, besides the rounding of weights
 *  in single precision.
 *
 *  One head is trained twice, apart from the others: were its bits to differ, the trainer would not be a
 * function and the differences would measure its noise (EINVAL). Logs the maxima and gamma so far as the
 * pairs double.
 *
 *  Returns: EINVAL as sotto_head_train(), and when pairs is 0 or exceeds the n (n - 1) / 2 distinct ones;
 *           ESTOPPED; progress counts pairs */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_sensitivity_run(struct sotto_sensitivity_sample *out,
                                                              const float *x, const int64_t *y, size_t n,
                                                              size_t d, size_t classes,
                                                              const struct sotto_head_recipe *recipe,
                                                              size_t pairs, const struct sotto_context *ctx);
/** The proved replace-one sensitivity of a head by a convex trainer: follows from its recipe and number of
 *  records alone. EINVAL: another trainer, its recipe or records are unknown, private records trained its
 *  encoder, or its weights are larger than any that the recipe makes. */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_sensitivity_prove(struct sotto_sensitivity_sample *out,
                                                                const struct sotto_head *h);
/** The proof for p->input, a head by a convex trainer, into p->release.sensitivity. sample: one that was
 * loaded, which must be this head's (EINVAL), or {0}: filled in; borrowed by *p. The file of a head by an
 * early version does not bind its weights to its recipe: then p->release.condition says so. Errors of
 * sotto_head_load() and sotto_sensitivity_prove(). */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_sensitivity_of_head(struct sotto_protect *p,
                                                                  struct sotto_sensitivity_sample *sample);
/** What a release needs to know of it. */
SOTTO_API void sotto_sensitivity_of(struct sotto_sensitivity *out, const struct sotto_sensitivity_sample *s);
/** sensitivity.json (docs/FORMATS.md). The loader refuses what no sample can be, and a proof with figures
 * that do not follow from its recipe: EFORMAT. */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_sensitivity_save(const char *path,
                                                               const struct sotto_sensitivity_sample *s);
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_sensitivity_load(struct sotto_sensitivity_sample *out,
                                                               const char *path);
/** The same document on one line; free with sotto_text_free(). */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_sensitivity_json(char **json,
                                                               const struct sotto_sensitivity_sample *s);
#ifdef __cplusplus
}
#endif
#endif
