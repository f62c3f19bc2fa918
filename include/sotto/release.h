/* release.h - the only calls that add noise: releases, private selection, files, and private training in steps. Each charges a ledger
 * first (ledger.h) and hands out a certificate (certificate.h). What mechanisms guarantee: account.h.
 *
 * Structs that go in start from {0}, where 0 stands for the default. */
#ifndef SOTTO_RELEASE_H
#define SOTTO_RELEASE_H

#include "sotto/certificate.h"
#include "sotto/ledger.h"

#ifdef __cplusplus
extern "C" {
#endif

struct sotto_release {
    const char *mechanism;  /**< sotto_mechanism_name() */
    double scale;           /**< [0: the smallest one that reaches `target`] */
    struct sotto_dp target; /**< epsilon: used when scale is 0; delta of the guarantee [0: pure epsilon-DP] */
    struct sotto_sensitivity sensitivity;
    struct sotto_spend spend;
    const char *input_sha256; /**< recorded in the ledger; the certificate holds a salted commitment only */
    size_t records;           /**< in the private data set; 0: unknown. delta >= 1/records is warned about */
    /** 1: which draws take the slow path is a function of the released values, so that the running time tells next to
     * nothing more about the size of the noise: negligible in divergence, not bounded as pure epsilon, and not
     * constant time (docs/derivations/exact-noise.md, section 4). The law stays exact; its lattice is 2^8 times coarser.
     * Not for discrete Gaussian and K-norm noise, selection and randomised response. [0] */
    int flat_doubt;
    struct sotto_risk risk; /**< instead of scale and target.epsilon: the smallest scale for it [{0}: none] */
};

/** The only place where noise is added to a vector: checks, accounts, writes and fsyncs the ledger entry, then adds
 * noise to vector[0..n). Values are rounded to the lattice of the noise by integers; the result is a point of that
 * lattice, rounded once to a float. A value beyond 2^120 steps of the lattice counts as that many, in silence.
 *
 *  In:      vector        (n); discrete mechanisms need whole multiples of sensitivity.value_step (0: 1)
 *  Out:     vector        with noise; untouched on failure
 *           *certificate  give it to sotto_certificate_save() once the output file is written; free with
 *                         sotto_certificate_free()
 *  Returns: EINVAL   a parameter, or a value that is not finite
 *           EDOMAIN  no scale reaches the target, or there is no finite epsilon: Gaussian noise at delta 0
 *           EBUDGET  the budget that the ledger records would be exceeded
 *           EFORMAT  the ledger is damaged
 *           EAGAIN   the ledger is locked
 *           EUSAGE   another file than the ledger of the data set
 *           ECREATE, EIO, ENOMEM
 *  Once the entry is written it stays, also on failure. */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_dp_release(struct sotto_certificate **certificate,
                                                         float *vector, size_t n,
                                                         const struct sotto_release *release,
                                                         const struct sotto_context *ctx);
/** The same for doubles: rounded to the lattice as they are; the result is rounded to a double. */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_dp_release_double(struct sotto_certificate **certificate,
                                                                double *vector, size_t n,
                                                                const struct sotto_release *release,
                                                                const struct sotto_context *ctx);
/** One index by the same path, drawn exactly from the scores rounded to the lattice. HIGHER scores are likelier. Its running
 * time depends on the scores.
 *
 *  In:      scores                  (n)
 *           release->mechanism      "exponential", or "permute-and-flip": never a larger expected error
 *           release->sensitivity.l1  the most by which one score can change between adjacent data sets
 *  Out:     *chosen                 exponential: i with probability proportional to exp(scores[i] / (2 scale));
 *                                   permute-and-flip: the first in random order that a coin of probability
 *                                   exp((scores[i] - best) / (2 scale)) takes
 *  Returns: those of sotto_dp_release() */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_dp_select(size_t *chosen,
                                                        struct sotto_certificate **certificate,
                                                        const double *scores, size_t n,
                                                        const struct sotto_release *release,
                                                        const struct sotto_context *ctx);
/** k different indices, each chosen among those left, at k times the scale: together they cost what one costs at the scale.
 *
 *  In:      k        1 to n, at most 512; exponential: 1
 *  Out:     chosen   (k), in the order in which they were chosen
 *  Returns: as above */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_dp_select_top(size_t *chosen, size_t k,
                                                            struct sotto_certificate **certificate,
                                                            const double *scores, size_t n,
                                                            const struct sotto_release *release,
                                                            const struct sotto_context *ctx);
/** Randomised response, by the same path; exact. Every label is kept with probability e^t / (e^t + classes - 1),
 * t = 1 / scale, else replaced by one of the others. One record for each label, so the guarantee is t for any n.
 *
 *  In:      labels                   (n) in 0 .. classes - 1
 *           release->sensitivity.l1  [1] must be 1; the guarantee is proved by construction
 *  Out:     labels                   randomised
 *  Returns: those of sotto_dp_release() */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_dp_randomise(struct sotto_certificate **certificate,
                                                           int64_t *labels, size_t n, size_t classes,
                                                           const struct sotto_release *release,
                                                           const struct sotto_context *ctx);
/** Iterated mechanisms (DP-SGD) charge the ledger for a whole run, or a block of it, in one entry before the first step.
 * What is charged is not refunded: a run that stops early, or is interrupted and redraws steps, pays for the steps
 * it reserved, and resuming reserves the rest anew. Short blocks waste less. One stop cannot depend on what a run has shown: a limit of
 * time that was set beforehand (SOTTO_STOP_BY_TIME). Trainers of sotto then charge the steps that they took. */
/** What steps sample and clip as one. */
enum sotto_unit {
    SOTTO_UNIT_AUTO, /**< persons where they are known */
    SOTTO_UNIT_RECORD,
    SOTTO_UNIT_PERSON
};
struct sotto_dpsgd_request {
    /** steps: how many are reserved; delta: the one that is recorded */
    struct sotto_sampled sampled;
    /** Norm (sampled.clipping) to which every record's contribution is clipped. */
    double max_grad_norm;
    size_t dimension;  /**< values in a step */
    size_t first_step; /**< of the run, for the record: where a checkpoint resumes; else 0 */
    struct sotto_spend spend;
    /** In the private data set; samples of a fixed size: must be given. */
    size_t records;
    /** Of records that are capped by person: steps sample whole persons, out of so many, and clip what all rows of one add
     * together as one contribution. The account is then that of a record, whatever the cap. [0: each row is sampled and
     * clipped by itself] */
    size_t persons;
    /** The run that goes on after an interruption, as sotto_dpsgd_session_run() named it; NULL: a new run. */
    const char *run;
    /** Under replace-input: the hash of the entry, in the same ledger, by which the labels of the same records were
     * released by sotto_dp_randomise() (sotto_certificate_hash()); the run's certificate counts both, so adjacent is
     * one RECORD replaced. NULL: labels are public. */
    const char *labels;
    /** 1: every sum will consist of whole multiples of sotto_dpsgd_session_lattice(), and one record changes it by
     * max_grad_norm at most. Nothing is then rounded, so the account is that of noise_multiplier as it is; sums go to
     * sotto_dp_step_lattice(). [0] */
    int on_lattice;
};
struct sotto_dpsgd_session;
/** Checks, accounts, writes and fsyncs the entry.
 *
 *  Out:     *out    hands out noise for that many steps; close with sotto_dpsgd_session_close()
 *  Returns: EINVAL  also: a run that the ledger does not hold, or with reservations that differ from this one in more
 *                   than their steps
 *           others as sotto_dp_release() and sotto_account_sampled() */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_dp_reserve(struct sotto_dpsgd_session **out,
                                                         const struct sotto_dpsgd_request *request,
                                                         const struct sotto_context *ctx);
/** Which of the records 0 .. n-1, or of the reservation's persons, are in the next step, as the reservation's sampling says: by coins, or by a draw
 * without replacement; so what is sampled is what is accounted. Samples may be drawn ahead, for all reserved steps if
 * need be: they come in the order of the steps, and neither they nor the noise depend on when they are drawn. Samples
 * that an interruption leaves unused are lost: their steps were charged with the reservation.
 *
 *  In:      rows     room for n
 *  Out:     rows     [0 .. *count) ascending
 *           *count   may be 0: the step is then noise alone
 *  Returns: EBUDGET  all reserved steps were sampled
 *           EINVAL   in a process that was forked since the reservation; n is 2^32 or more, or not the reservation's (a fixed size) */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_dp_sample(struct sotto_dpsgd_session *steps, uint32_t *rows,
                                                        size_t *count, size_t n);
/** Rounds the sum to the lattice and adds the noise of the next step, of scale noise_multiplier * max_grad_norm. Drawn by
 * as many threads as the context of the reservation asked for; its bits depend on neither threads nor instruction
 * set. What is released is an odd number of half lattice steps.
 *
 * Nothing about the values is refused, as that would tell about the records: beyond 2^51 lattice steps a value counts
 * as that many, and so does the result; NaN counts as 0.
 *
 *  In:      sum      (dimension) over the records of sotto_dp_sample(), contributions clipped to max_grad_norm
 *  Out:     sum      with noise
 *  Returns: EBUDGET  all reserved steps are used
 *           EINVAL   in a process that was forked since the reservation; the step was not sampled (rates below 1); the reservation is on_lattice; floating-point numbers
 *                    are not rounded to nearest; `sum` is then untouched and the step not used
 *           ENOMEM   `sum` is zeros and the step used */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_dp_step(struct sotto_dpsgd_session *steps, double *sum);
/** sotto_dp_step() of a reservation that is on_lattice.
 *
 *  In:      sum      (dimension) whole numbers of lattice steps
 *  Out:     sum      with noise, in the units of max_grad_norm
 *  Returns: EINVAL   also: the reservation is not on_lattice */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_dp_step_lattice(struct sotto_dpsgd_session *steps, double *sum);
/* What a checkpoint keeps. A resumed run passes first_step and run back to sotto_dp_reserve(). */
/** Returns: steps drawn so far, of this reservation. */
SOTTO_API size_t sotto_dpsgd_session_used(const struct sotto_dpsgd_session *steps);
/** Returns: the run's name. */
SOTTO_API const char *sotto_dpsgd_session_run(const struct sotto_dpsgd_session *steps);
/** The certificate of what the run made so far, finished or interrupted: charged are the steps of all its
 * reservations, also those that the ledger alone remembers.
 *
 *  Out:     *certificate  free with sotto_certificate_free()
 *  Returns: EINVAL   in a process that was forked since the reservation
 *           ENOMEM */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_dpsgd_session_certificate(
    struct sotto_certificate **certificate, const struct sotto_dpsgd_session *steps);
SOTTO_API void sotto_dpsgd_session_close(struct sotto_dpsgd_session *steps);

/** A release from file to file:
 *
 *  exponential mechanism  takes a .npy array of scores, writes the chosen index as a .npy array of one integer
 *  permute-and-flip       the same, or `choices` indices
 *  randomised response    takes and writes a .npy array of integer labels
 *  discrete mechanisms    also accept integers of at most 2^53 and write them as f8
 *  other mechanisms       noise on ALL tensors of a .safetensors file (one vector, in file order) or on a .npy array;
 *                         f8 comes out as f8, f4 and f2 as f4
 */
struct sotto_protect {
    const char *input, *output;
    size_t classes;               /**< randomised response: labels are 0 to classes - 1 */
    const char *sensitivity_file; /**< named in errors, or NULL */
    const char *sensitivity_data; /**< SHA-256 of the data that the sensitivity was sampled on, or NULL */
    /** The input holds records (n, columns), as .npy, and this statistic of each column is released (permute-and-flip: the columns where it is largest), with a sensitivity that
     * is proved: "mean", "chi-square-genotypes", "chi-square-alleles", or "median" (mechanism "smooth-median"). NULL: the input itself is released. n is public. */
    const char *statistic;
    double range[2]; /**< mean, median: values are clipped to it */
    /** median: of the means of so many blocks of records (row i is in block i modulo blocks), one column; 0: of the records */
    size_t blocks;
    /** permute-and-flip: [1] how many indices are chosen; of --table: columns, by their statistic */
    size_t choices;
    const char *cases; /**< chi-square: .npy (n), 1 for cases and 0 for controls, as many of each; public */
    /** randomised response, most-frequent: [0] the number of the first class, 0 or 1; a label that is no class counts as class 0, or
     * is not counted; released labels count from 0 */
    size_t labels_from;
    struct sotto_release release; /**< mechanism: ["logistic"] */
};
/** Writes `output` and `output`.certificate.json. Of text metadata recipe, shape and classes are kept and nothing else
 * (docs/FORMATS.md).
 *
 *  In:      release.input_sha256      is not read: it comes from the file
 *           release.spend.dataset_id  for a file with a provenance that names none
 *  Out:     *certificate              as saved; free with sotto_certificate_free()
 *  Returns: EUSAGE  no identity of the data set, or two that differ
 *           EINVAL  a sampled sensitivity is of another recipe or data than the head
 *           others as the readers and sotto_dp_release() */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_protect_file(struct sotto_certificate **certificate,
                                                           const struct sotto_protect *protect,
                                                           const struct sotto_context *ctx);

/** One release of every record, as a file that anyone may train on: what is made of it afterwards costs nothing more. */
struct sotto_protect_records {
    /** (n, ...), any file of sotto_array_load(): each row is a record; whole bytes of more than two dimensions are pixels and become numbers from 0 to 1.
     *  n and the shape are public. */
    const char *input;
    const char *output; /**< .npy to write: (n, values) f4 */
    /** norm to which every row is clipped, at least 1e-9; a row that is not finite counts as zeros */
    double clip;
    enum sotto_norm norm;   /**< [L2], L1 */
    const char *mechanism;  /**< ["gaussian", by L1 "laplace"], "logistic" */
    double scale;           /**< [0: the smallest one that reaches `target`] */
    struct sotto_dp target; /**< epsilon: of labels and records together; delta: [sotto_default_delta(n)] */
    /** [NULL: labels are public] (n) labels, likewise, released by randomised response. What is no class counts as class 0. */
    const char *labels;
    size_t labels_from;        /**< [0] the number of the first class, 0 or 1; released labels count from 0 */
    double label_epsilon;      /**< [0] of that; > 0 with labels */
    const char *labels_output; /**< [output, with .labels.npy for .npy] .npy to write: (n) i8 */
    size_t classes;            /**< with labels: their public number, which is not read from them */
    const char *classes_by;    /**< [NULL: "the caller"] source of that number, for the certificate */
    struct sotto_spend spend;  /**< dataset_id [NULL: that of the input's provenance] */
    /** Instead of scale and target.epsilon, where labels are public: the smallest scale for it [{0}: none]. */
    struct sotto_risk risk;
};
/** Clips every row, adds noise to it once by one charge of the ledger, and writes `output` and
 *  `output`.certificate.json. A replaced row changes the vector of all values by at most 2 clip, so the guarantee is that
 *  of one release, whatever n is.
 *
 *  Adjacent are files that differ in one row: replace-input without labels, which are then public; with labels replace-one,
 *  and both epsilons count (two entries in the ledger). Nothing is refused or told because of what a record holds.
 *
 *  Out:     *certificate  as saved, with the SHA-256 of the files; free with sotto_certificate_free()
 *  Returns: EINVAL   names the parameter
 *           those of the readers, sotto_calibrate_sampled() and sotto_dp_reserve() */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_protect_records(struct sotto_certificate **certificate,
                                                              const struct sotto_protect_records *records,
                                                              const struct sotto_context *ctx);

/** One private release of the median of n values: ledger entry first, then exact Cauchy noise of the smooth sensitivity, which
 * is never told. Its running time depends on the values.
 *
 *  In:      x              (n) in any order; a value outside [low, high] counts as its nearer end, NaN as low. One record is one
 *                          value, or one block's statistic
 *           release        mechanism "smooth-median"; scale 1 / epsilon or a target, delta 0 or not; its sensitivity is
 *                          not read
 *  Out:     *median        within [low, high]
 *           *certificate   free with sotto_certificate_free()
 *  Returns: EDOMAIN        epsilon below 2^-10 or above 64
 *           those of sotto_dp_release() */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_dp_median(double *median,
                                                        struct sotto_certificate **certificate,
                                                        const double *x, size_t n, double low, double high,
                                                        const struct sotto_release *release,
                                                        const struct sotto_context *ctx);

/** One private release of the most frequent label, or of nothing: ledger entry first, then an exact test.
 *
 *  In:      labels         (n); one that is not in 0 .. classes - 1 counts for none
 *           release        mechanism "propose-test-release", target (or scale 1 / epsilon) and delta > 0; its sensitivity is
 *                          not read
 *  Out:     *label         the most frequent, or -1: nothing is released, which costs the same
 *           *certificate   free with sotto_certificate_free()
 *  Returns: EINVAL  no delta; a scale below 2^-6 or above 2^10
 *           those of sotto_dp_release() */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_dp_most_frequent(
    int64_t *label, struct sotto_certificate **certificate, const int64_t *labels, size_t n, size_t classes,
    const struct sotto_release *release, const struct sotto_context *ctx);

enum sotto_canary_kind {
    SOTTO_CANARY_MISLABELLED, /**< a record of the set with a wrong label, in the place of that record */
    SOTTO_CANARY_RANDOM,      /**< noise with a random label, a new record */
    SOTTO_CANARY_DIRAC, /**< no record but a gradient: the clipping norm at one weight; DP-SGD alone. A new record */
    SOTTO_CANARY_CLIPBKD, /**< along the directions in which public rows vary least (Jagielski et al. 2020); a new record */
    SOTTO_CANARY_IN_DISTRIBUTION /**< a record of the set as it is, in its own place */
};
/** {0}: no canaries. */
struct sotto_canary_options {
    size_t count; /**< [0: none] */
    enum sotto_canary_kind kind;
    /** [1] of the canaries and the rows they displace, which are no secret; never of the coins */
    uint64_t seed;
};

#ifdef __cplusplus
}
#endif
#endif
