/* head.h - more of heads: the parts of a private release, what a head knows of its training, its bytes. No promise: it may change with
 * any version. */
#ifndef SOTTO_LAB_HEAD_H
#define SOTTO_LAB_HEAD_H

#include "sotto/head.h"
#include "sotto/lab/release.h"

#ifdef __cplusplus
extern "C" {
#endif

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
/** Out: *r: the values in brackets of trainer "adam"; a member that is then set to 0 has its default again (sotto/base.h). */
SOTTO_API void sotto_head_defaults(struct sotto_head_recipe *r);
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
 *  Second moments (trainers "moments-..."): sums over the records of x x' and of x by class go through
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
/** Returns: SHA-256 of the encoder that made X, 64 lower-case hexadecimal digits; "" (the default): none. */
SOTTO_API const char *sotto_head_encoder(const struct sotto_head *h);
/** Notes what a reader of the head has to know of them; kept in its file.
 *
 *  Returns: ENOENT, EIO, EFORMAT, ENOMEM  names the file */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_head_note_files(struct sotto_head *h,
                                                              const struct sotto_head_files *files,
                                                              const struct sotto_context *ctx);
/** The same from the encoder's file. An encoder that private records trained (sotto/fine_tune.h) passes its stamp "no
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
/** Out: *out: a copy; free with sotto_head_free() */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_head_copy(struct sotto_head **out, const struct sotto_head *h);

#ifdef __cplusplus
}
#endif
#endif
