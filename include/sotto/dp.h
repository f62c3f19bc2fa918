/* dp.h - mechanisms, accounting, the one release function, ledgers and certificates.
 *
 * Adjacency is replace-one unless a name says otherwise. Every epsilon is an interval; the headline is its
 * upper end. */
#ifndef SOTTO_DP_H
#define SOTTO_DP_H

#include "sotto/io.h"

#ifdef __cplusplus
extern "C" {
#endif

struct sotto_dp {
    double epsilon, delta;
};
struct sotto_interval {
    double lower, upper;
};

/** Where a sensitivity comes from; only PROVED and CLIPPED count as proved. */
enum sotto_sensitivity_source {
    SOTTO_SENSITIVITY_GIVEN,
    SOTTO_SENSITIVITY_SAMPLED,
    SOTTO_SENSITIVITY_CLIPPED,
    SOTTO_SENSITIVITY_PROVED
};
struct sotto_sensitivity {
    double l1, l2;    /**< entrywise norms; NAN where unknown (at least one is known) */
    size_t dimension; /**< coordinates of the released vector; 0: unknown. Known, it sharpens bounds by L2,
                         gives l1 <= sqrt(n) l2, and pays for rounding to the noise lattice (2^-52 of the
                         scale each) */
    enum sotto_sensitivity_source source;
    char evidence[65]; /**< hash of the recipe it was measured for, or "" */
    double value_step; /**< every value is a whole multiple of this power of two (1: integers); 0: not so.
                          Needed by the discrete mechanisms, which then add whole multiples of it */
};

/** One way to bound epsilon; the account keeps every way that applies and reports the smallest. */
struct sotto_bound {
    char name[32];
    double epsilon; /**< upper bound, rounded up */
};
enum { SOTTO_MAX_BOUNDS = 8 };

/** What a mechanism at a scale guarantees for a sensitivity. */
struct sotto_account {
    char mechanism[24];
    char accountant[32]; /**< which bound won; "none" with epsilon.upper = INFINITY when none applies */
    char adjacency[16];
    double scale, delta;
    size_t compose;                /**< identical releases, independent noise; sampled: steps */
    double sample_rate;            /**< 1, or the share that is sampled: then scale is the noise multiplier
                                      (scale / max_grad_norm) */
    char sampling[8];              /**< sampled: "poisson" or "fixed"; else "" */
    char clipping[4];              /**< sampled: the norm that bounds a gradient, "l1" or "l2"; else "" */
    struct sotto_interval epsilon; /**< of the whole composition at delta; both ends proved */
    double pure_epsilon;           /**< of the whole composition; NAN: none */
    double zcdp_rho;               /**< of the whole composition; NAN: none */
    double standard_deviation;     /**< of one coordinate of the noise */
    size_t bound_count;
    struct sotto_bound bounds[SOTTO_MAX_BOUNDS];
    char note[160]; /**< a warning that belongs to the numbers, or "" */
    /** Sampled steps: the same run under the other relation, at the same delta ("" and 0: not accounted). */
    char other_adjacency[16];
    struct sotto_interval other_epsilon;
};

/** i-th mechanism that has an account, NULL after the last; and one line about it. */
SOTTO_API const char *sotto_mechanism_name(size_t i);
SOTTO_API const char *sotto_mechanism_title(size_t i);
/** EINVAL names the parameter. delta = 0 asks for pure DP. compose >= 1 identical releases. */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_account_release(struct sotto_account *out,
                                                              const char *mechanism, double scale,
                                                              const struct sotto_sensitivity *sensitivity,
                                                              double delta, size_t compose,
                                                              const struct sotto_context *ctx);
/** The mechanism's own curve at one shift, and nothing else: microseconds where sotto_account_release() looks
 * for the best of all bounds. Upper ends hold for every adjacent pair; lower ends are what one coordinate
 * that moves as far as the norms allow really gives (0 where only a dominating pair is known). EDOMAIN: the
 * curve needs a norm that is not given. Adjacency is that of the sensitivity. */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_epsilon(struct sotto_interval *epsilon, const char *mechanism,
                                                      double scale,
                                                      const struct sotto_sensitivity *sensitivity,
                                                      double delta);
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_delta(struct sotto_interval *delta, const char *mechanism,
                                                    double scale, const struct sotto_sensitivity *sensitivity,
                                                    double epsilon);
/** The same, proved again in ball arithmetic (FLINT): its interval does not rest on the accuracy of the C
 * library. Bounds by the privacy loss (exact for gaussian and logistic, on a grid for laplace) and by Renyi
 * divergence. ENOTSUP: other mechanisms; ENOMEM; EDOMAIN: losses too large for a grid. */
SOTTO_API SOTTO_MUST_CHECK sotto_status
sotto_account_release_certified(struct sotto_account *out, const char *mechanism, double scale,
                                const struct sotto_sensitivity *sensitivity, double delta, size_t compose,
                                const struct sotto_context *ctx);
/** Smallest scale (rounded up) with an account that meets `target`; EDOMAIN: none. */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_calibrate(double *scale, const char *mechanism,
                                                        const struct sotto_sensitivity *sensitivity,
                                                        struct sotto_dp target,
                                                        const struct sotto_context *ctx);
/** The classical Gaussian formula, sigma = sqrt(2 ln(1.25 / delta)) l2 / epsilon, beside the exact curve. */
struct sotto_classical_gaussian {
    double scale;           /**< by the formula, rounded up */
    double analytic_scale;  /**< smallest scale that is private */
    double achieved_delta;  /**< of the formula's scale at epsilon, rounded up; > delta: not private */
    double first_violation; /**< the formula is not private from this epsilon on */
    int is_private;         /**< 1: achieved_delta <= delta */
    int published;          /**< 1: epsilon < 1, where the published proof covers it */
};
/** For comparing only (plots mark it "not private" where is_private is 0). EINVAL names the parameter. */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_gaussian_classical(struct sotto_classical_gaussian *out,
                                                                 double l2, struct sotto_dp target);
/** The same for `compose` identical releases together. */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_calibrate_composed(double *scale, const char *mechanism,
                                                                 const struct sotto_sensitivity *sensitivity,
                                                                 struct sotto_dp target, size_t compose,
                                                                 const struct sotto_context *ctx);

enum { SOTTO_MAX_MECHANISMS = 8 };
/** What every additive mechanism needs for the same target, least noise first: accounts[0..*count), each at
 * its calibrated scale. Mechanisms that cannot reach the target are left out; so are the discrete ones unless
 * sensitivity->value_step says that they fit, and K-norm noise unless the dimension is known. Errors as
 * sotto_calibrate(); EDOMAIN: none can. */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_choose(struct sotto_account accounts[SOTTO_MAX_MECHANISMS],
                                                     size_t *count,
                                                     const struct sotto_sensitivity *sensitivity,
                                                     struct sotto_dp target, size_t compose,
                                                     const struct sotto_context *ctx);

/** Which norm of the change between adjacent inputs a shift is measured in. Curves of one coordinate hold for
 * whole vectors with Laplace or logistic noise by L1 only, with Gaussian noise by either. */
enum sotto_norm { SOTTO_NORM_L2, SOTTO_NORM_L1 };

/** Who is in a step of n records. */
enum sotto_sampling {
    SOTTO_SAMPLING_POISSON, /**< each with probability sample_rate, independently */
    SOTTO_SAMPLING_FIXED    /**< sample_rate n of them, all such sets equally likely (without replacement).
                               Accounted for a replaced record only: one record more or less changes how many
                               are drawn, or from how many */
};
/** "poisson", "fixed"; and back. EINVAL: names the known ones. */
SOTTO_API const char *sotto_sampling_name(enum sotto_sampling sampling);
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_sampling_find(enum sotto_sampling *sampling, const char *name);
/** The rate of samples of `sample` records out of `records` > 0; of a fixed size: rounded up, so that the
 * account holds. */
SOTTO_API double sotto_sample_rate(enum sotto_sampling sampling, size_t sample, size_t records);

/** DP-SGD: `steps` steps, each a sum of gradients clipped to norm C over a Poisson sample of rate
 * `sample_rate`, plus noise of scale noise_multiplier * C. Adjacency is add-remove (one record more or less)
 * unless replace_one says otherwise. */
struct sotto_sampled {
    const char *mechanism; /**< "gaussian", "logistic", or "laplace" (clipped by L1 only) */
    double noise_multiplier, sample_rate;
    size_t steps;
    double delta;
    enum sotto_norm clipping;     /**< the norm that bounds a gradient by C; 0: L2 */
    int replace_one;              /**< 1: adjacent is a record replaced by another (n is public) */
    enum sotto_sampling sampling; /**< 0: Poisson; fixed: replace_one must be 1 */
};
/** The smallest of these upper bounds: Renyi divergence of integer and fractional orders (Mironov, Talwar,
 * Zhang 2019; logistic by the L2 theorem; a replaced record as a group of two), the sum of pure epsilons
 * (clipping by L1), and, for Gaussian noise or clipping by L1, the privacy-loss distribution. The lower end
 * is that of a gradient moved along one coordinate, by its privacy-loss distribution. EINVAL names the
 * parameter; ENOTSUP: mechanism without such a bound; ENOMEM. Samples of a fixed size: by the pair of Balle,
 * Barthe, Gaboardi 2018 (docs/derivations/pld.md, section 3.2); the lower end is that of two data sets in
 * which all records but one are alike. */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_account_sampled(struct sotto_account *out,
                                                              const struct sotto_sampled *sampled,
                                                              const struct sotto_context *ctx);
/** The same, and in other_adjacency and other_epsilon what it is under the other relation, add-remove or
 * replace-one, at the same delta. Samples of a fixed size have no other: it stays empty. */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_account_sampled_both(struct sotto_account *out,
                                                                   const struct sotto_sampled *sampled,
                                                                   const struct sotto_context *ctx);
/** Default delta of private trainers: 1 / (10 records), rounded down to a power of ten; 0 for 0 records. */
SOTTO_API double sotto_default_delta(size_t records);
/** The same, proved again in ball arithmetic (FLINT) by the privacy-loss distribution, in seconds: its
 * interval does not rest on the accuracy of the C library. ENOTSUP: not for this mechanism, or replace_one;
 * ENOMEM; EDOMAIN: losses too large for a grid. */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_account_sampled_certified(struct sotto_account *out,
                                                                        const struct sotto_sampled *sampled,
                                                                        const struct sotto_context *ctx);
/** A noise multiplier with upper epsilon <= target_epsilon, within about 1e-6 of the smallest; ignores
 * sampled->noise_multiplier. EDOMAIN: none; others as above. */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_calibrate_sampled(double *noise_multiplier,
                                                                const struct sotto_sampled *sampled,
                                                                double target_epsilon,
                                                                const struct sotto_context *ctx);
/** Calibrated so that the certified account holds: starts from the calibration above and steps up until the
 * upper end in balls is at most the target. *out: that account; its scale is the scale (sampled: the noise
 * multiplier) to use. Errors of both; EDOMAIN: the target is not reached. Many seconds when sampled. */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_calibrate_certified(struct sotto_account *out,
                                                                  const char *mechanism,
                                                                  const struct sotto_sensitivity *sensitivity,
                                                                  struct sotto_dp target, size_t compose,
                                                                  const struct sotto_context *ctx);
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_calibrate_sampled_certified(struct sotto_account *out,
                                                                          const struct sotto_sampled *sampled,
                                                                          double target_epsilon,
                                                                          const struct sotto_context *ctx);

enum {
    SOTTO_DATASET_ID = 128, /**< room for the identity of a data set, as in struct sotto_provenance */
    SOTTO_DIGEST = 16
};
/** The records of the imported set that a release is about, and which ledgers it is charged to. The ledger keeps
 * hashes of the digests under a random key of its own. */
struct sotto_source_records {
    const unsigned char (*digests)[SOTTO_DIGEST]; /**< (n) one of each record, by sotto_dataset_digests() or
                                                     sotto_array_digests(); NULL: unknown */
    size_t n;
    const char *const
        *same_people; /**< NULL, or other data sets that the same people are in (NULL-terminated):
                                       each of their ledgers is charged too */
    int move_ledger;  /**< 1: the data set's ledger moves to the file that is named */
    int public_set; /**< 1: sotto generates this set or knows it as a public benchmark: an exercise, which may
                       keep a ledger anywhere, and is not compared with other sets */
};

/** The data set that a privacy loss is charged to, its ledger and budget: the same for a release, for a reservation and for
 * the training of a head or of a network. */
struct sotto_spend {
    const char
        *dataset_id; /**< identity of the private data set, the key of its ledger; NULL: the one that the
                               provenance or the data set names */
    /** File; NULL: where the ledger of the data set is (sotto_ledger_find()). The first use of a file registers it;
     * afterwards another one is refused (EUSAGE). */
    const char *ledger;
    const char *purpose; /**< recorded in the ledger; NULL: none, or the trainer's own */
    /** epsilon > 0: recorded in the ledger; a recorded budget can only be tightened. delta NAN: the recorded one's,
     * else the release's. */
    struct sotto_dp budget;
    const struct sotto_provenance *provenance; /**< which records they are; NULL: unknown */
    const struct sotto_source_records
        *source; /**< the records of the imported set behind them; NULL: unknown */
    /** NULL, or what an epsilon rests on besides the sensitivity: the certificate then proves nothing and states
     * epsilon under this condition. */
    const char *condition;
    int insecure; /**< 1: noise from insecure_seed; every output says so */
    uint64_t insecure_seed;
};

struct sotto_release {
    const char *mechanism;  /**< sotto_mechanism_name() */
    double scale;           /**< NAN: calibrate to `target` */
    struct sotto_dp target; /**< epsilon is used when scale is NAN; delta is always the certificate's */
    struct sotto_sensitivity sensitivity;
    struct sotto_spend spend;
    const char *input_sha256; /**< recorded in the ledger; the certificate holds a salted commitment only */
    size_t records;           /**< in the private data set; 0: unknown. delta >= 1/records is warned about */
    int constant_time; /**< 1: noise in a fixed number of steps (logistic, laplace), so that the running time
                          does not tell its size. Not exact: within n 2^-110 of its law, which is added to
                          delta, so delta must be > 0 and no pure epsilon is left */
};
/** The only place where noise is added to a vector: checks, accounts, writes and fsyncs the ledger entry,
 * then adds noise to vector[0..n). Values are rounded to the lattice of the noise by integers, and what comes
 * out is that lattice's point, rounded once to a float. A value beyond 2^120 steps of the lattice counts as
 * that many, in silence. Discrete mechanisms need whole multiples of sensitivity.value_step (0: 1).
 * *certificate: the certificate's JSON text without the output hash; give it to
 *  sotto_certificate_save() once the output file is written, then to sotto_text_free().
 *  EINVAL (a parameter, a value that is not finite), EDOMAIN (no scale reaches the target), EBUDGET (recorded
 * in the ledger), EFORMAT (damaged ledger), EAGAIN (ledger locked), ECREATE, EIO, ENOMEM. The vector is
 * untouched on failure; once the entry is written it stays. */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_dp_release(char **certificate, float *vector, size_t n,
                                                         const struct sotto_release *release,
                                                         const struct sotto_context *ctx);
/** The same for doubles: rounded to the lattice as they are, and what comes out is rounded to a double. */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_dp_release_double(char **certificate, double *vector, size_t n,
                                                                const struct sotto_release *release,
                                                                const struct sotto_context *ctx);
/** The exponential mechanism, by the same path: *chosen = i with probability proportional to exp(scores[i] /
 * (2 scale)), drawn exactly from the scores rounded to the lattice. sensitivity.l1: the most by which one
 * score can change between adjacent data sets. HIGHER scores are likelier. Its running time depends on the
 * scores. */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_dp_select(size_t *chosen, char **certificate,
                                                        const double *scores, size_t n,
                                                        const struct sotto_release *release,
                                                        const struct sotto_context *ctx);
/** Randomised response, by the same path: every labels[i] in {0, ..., classes - 1} is kept with probability
 * e^t / (e^t + classes - 1), t = 1 / scale, else replaced by one of the others; exact. One record per label,
 * so the guarantee is t whatever n is; sensitivity.l1 must be 1. */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_dp_randomise(char **certificate, int64_t *labels, size_t n,
                                                           size_t classes,
                                                           const struct sotto_release *release,
                                                           const struct sotto_context *ctx);
/** How the noise of an iterated mechanism is drawn. */
enum sotto_noise_mode {
    SOTTO_NOISE_EXACT, /**< integers only, on a lattice: nothing of the sum hides in low bits; 0.4 us a
                            value */
    SOTTO_NOISE_FAST   /**< 64 bits of a ChaCha20 stream a value (Gaussian noise on floats: 48), in the
                          precision of the sum, by vectors; a hundred times faster. Guaranteed for real
                          numbers: what floating-point arithmetic leaves in low bits, the time it takes and
                          the finite reach of the noise are not excluded (docs/PRIVACY.md, section 5); account,
                          ledger and certificate say so */
};
/** "exact", "fast"; and back. EINVAL: names the known ones. */
SOTTO_API const char *sotto_noise_mode_name(enum sotto_noise_mode mode);
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_noise_mode_find(enum sotto_noise_mode *mode, const char *name);

/** Iterated mechanisms (DP-SGD) charge the ledger for a whole run, or a block of it, in one entry before the
 * first step. What is charged is never refunded: a run that stops early, or is interrupted and redraws steps,
 * pays for the steps it reserved, and resuming reserves the rest anew. Short blocks waste less. */
struct sotto_dpsgd_request {
    struct sotto_sampled sampled; /**< steps: how many are reserved; delta: the one that is recorded */
    double max_grad_norm; /**< norm (sampled.clipping) to which every record's contribution is clipped */
    size_t dimension;     /**< values per step */
    size_t first_step;    /**< of the run, for the record: where a checkpoint resumes; else 0 */
    struct sotto_spend spend;
    size_t records; /**< in the private data set; samples of a fixed size: must be given */
    const char
        *run; /**< the run that goes on after an interruption, as sotto_dpsgd_session_run() named it; NULL: a
                        new run */
    enum sotto_noise_mode noise_mode; /**< 0: exact */
    int inputs_only;    /**< 1: a contribution is a record's input, its label is public: adjacent is one INPUT
                           replaced, its label kept ("replace-input"); needs sampled.replace_one */
    const char *labels; /**< inputs_only: the hash of the entry, in the same ledger, by which the labels of
                           the same records were released by sotto_dp_randomise() (its certificate's
                           ledger.hash); the run's certificate counts both, so adjacent is one RECORD
                           replaced. NULL: labels are public */
};
struct sotto_dpsgd_session;
/** Checks, accounts, writes and fsyncs the entry; then *out hands out noise for that many steps. Errors of
 * sotto_dp_release() and sotto_account_sampled(); EINVAL also for a run that the ledger does not hold, or
 * with reservations that differ from this one in more than their steps. Close with sotto_dpsgd_session_close(). */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_dp_reserve(struct sotto_dpsgd_session **out,
                                                         const struct sotto_dpsgd_request *request,
                                                         const struct sotto_context *ctx);
/** Who is in the next step, of 0 .. n-1, as the reservation's sampling says: by coins, or by a draw without
 * replacement, from the stream that also gives the noise; so what is sampled is what is accounted. rows: room
 * for n; rows[0 .. *count) ascending, *count may be 0 (the step is then noise alone). EBUDGET: all reserved
 * steps are used; EINVAL: this step was sampled before, n is 2^32 or more, or not the reservation's (a fixed
 * size). */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_dp_sample(struct sotto_dpsgd_session *steps, uint32_t *rows,
                                                        size_t *count, size_t n);
/** Adds the noise of the next step to sum[0..dimension), of scale noise_multiplier * max_grad_norm: exact and
 * on the lattice, or fast. `sum` must be a sum over the records of sotto_dp_sample() of contributions clipped
 * to max_grad_norm. Fast noise is drawn by as many threads as the context of the reservation asked for; its
 * bits depend on neither threads nor instruction set. EBUDGET: all reserved steps are used; EINVAL: the step
 * was not sampled (rates below 1); `sum` is then untouched and the step not used. Nothing about the values is
 * refused, as that would tell about the records: beyond 2^120 lattice steps (fast: 2^30 scales, floats:
 * 2^16), where the noise would be lost, a value counts as that limit, and NaN as 0. */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_dp_step(struct sotto_dpsgd_session *steps, double *sum);
/** The same for a sum of floats. */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_dp_step_float(struct sotto_dpsgd_session *steps, float *sum);
/** Steps drawn so far (of this reservation), the run's name and the hash of its entry: what a checkpoint
 * keeps. A resumed run passes first_step and run back to sotto_dp_reserve(). */
SOTTO_API size_t sotto_dpsgd_session_used(const struct sotto_dpsgd_session *steps);
SOTTO_API const char *sotto_dpsgd_session_run(const struct sotto_dpsgd_session *steps);
SOTTO_API const char *sotto_dpsgd_session_entry(const struct sotto_dpsgd_session *steps);
/** The certificate of what the run made so far, finished or interrupted: charged are the steps of all its
 * reservations, also those that the ledger alone remembers. Text as that of sotto_dp_release(): give it to
 * sotto_certificate_save() with the output's hash, then to sotto_text_free(). ENOMEM. */
SOTTO_API SOTTO_MUST_CHECK sotto_status
sotto_dpsgd_session_certificate(char **certificate, const struct sotto_dpsgd_session *steps);
SOTTO_API void sotto_dpsgd_session_close(struct sotto_dpsgd_session *steps);
/** Adds "output_sha256" and writes the certificate file. */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_certificate_save(const char *path, const char *certificate,
                                                               const char *output_sha256);
/** Re-derives everything that a certificate says from its own facts. `output`: the released file (its hash is
 * checked) or NULL; `ledger`: where its entry and commitment must be, or NULL. *report: one JSON object,
 * schema sotto.verify/1, with every check (sotto_text_free), also on EGATE. EGATE: a check failed, the first
 * one named; EFORMAT: no certificate. */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_certificate_verify(char **report, const char *certificate,
                                                                 const char *output, const char *ledger,
                                                                 const struct sotto_context *ctx);
/** Where the ledger of a data set is: the file that was registered, else $XDG_DATA_HOME/sotto/ledger/ID.jsonl
 * (sotto_text_free), whether it exists or not. EUSAGE: the file that was registered is not there. */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_ledger_find(char **path, const char *dataset_id);
/** Opens or continues the ledger of a data set and records its officer's budget, which a release can tighten for
 * itself and cannot widen. source, ledger: as in struct sotto_release; contact: who answers for it, or NULL.
 * *path: where it is (sotto_text_free). EBUDGET: the ledger holds a tighter one. */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_ledger_init(char **path, const char *dataset_id,
                                                          const char *ledger, struct sotto_dp budget,
                                                          const char *contact,
                                                          const struct sotto_source_records *source,
                                                          const struct sotto_context *ctx);
/** Its entries, schema sotto.ledger_show/1: time, purpose, mechanism, epsilon and delta of each charge, and what
 * all up to it add up to at the delta of the budget (without one: the largest of the entries). Checks the
 * chain. */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_ledger_show(char **json, const char *ledger,
                                                          const struct sotto_context *ctx);
/** The same as a table for people. */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_ledger_table(char **text, const char *ledger,
                                                           const struct sotto_context *ctx);
/** What a ledger adds up to at `delta`, schema sotto.ledger_account/1: the proved column (or "none"), the
 * conditional column, the budget. Checks the chain. */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_ledger_account(char **json, const char *ledger, double delta,
                                                             const struct sotto_context *ctx);
/** One line for people: mechanism, scale, and what the guarantee says (free with sotto_text_free). */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_certificate_summary(char **line, const char *certificate);
/** The account as one JSON object, schema sotto.account/1 (free with sotto_text_free). */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_account_json(char **json, const struct sotto_account *account);

/** A release from file to file. The exponential mechanism takes a .npy array of scores and writes the chosen
 * index as a .npy array of one integer; randomised response takes and writes a .npy array of integer labels;
 * the discrete mechanisms accept integers of at most 2^53 and write them as f8. Otherwise noise on ALL
 * tensors of a .safetensors file (one vector, in file order) or on
 * a .npy array; f8 comes out as f8, f4 and f2 as f4. Writes `output` and `output`.certificate.json. Of text
 * metadata recipe, shape and classes are kept and nothing else (docs/FORMATS.md). release.input_sha256 comes
 * from the file; release.spend.dataset_id from its provenance, or is given for a file that has none (EUSAGE:
 * neither, or two that differ). A sampled sensitivity must be of the same recipe and data as the head (EINVAL).
 * *certificate: as saved (sotto_text_free). Errors: those of the readers and of sotto_dp_release(). */
struct sotto_protect {
    const char *input, *output;
    size_t classes;               /**< randomised response: labels are 0 to classes - 1 */
    const char *sensitivity_file; /**< named in errors, or NULL */
    const char *sensitivity_data; /**< SHA-256 of the data that the sensitivity was sampled on, or NULL */
    struct sotto_release release;
};
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_protect_file(char **certificate,
                                                           const struct sotto_protect *protect,
                                                           const struct sotto_context *ctx);

/** MEASURING only: the same noise law by a fast double sampler from a seeded stream, no ledger, never
 * released. */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_noise_simulate(float *vector, size_t n, const char *mechanism,
                                                             double scale, uint64_t seed, uint64_t draw);

#ifdef __cplusplus
}
#endif
#endif
