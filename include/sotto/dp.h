/* dp.h - the one release function, private training in steps, ledgers and certificates. What mechanisms guarantee: account.h.
 *
 * Structs that go in start from {0}, where 0 stands for the default. */
#ifndef SOTTO_DP_H
#define SOTTO_DP_H

#include "sotto/account.h"
#include "sotto/lab/provenance.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
    SOTTO_DATASET_ID = 128, /**< room for the identity of a data set, as in struct sotto_provenance */
    SOTTO_DIGEST = 16
};
/** The records of the imported set that a release is about, and which ledgers it is charged to. The ledger keeps
 * hashes of the digests under a random key of its own. */
struct sotto_source_records {
    /** (n) one of each record, by sotto_dataset_digests() or sotto_array_digests(); NULL: unknown. */
    const unsigned char (*digests)[SOTTO_DIGEST];
    size_t n;
    /** NULL, or other data sets that the same people are in (NULL-terminated): each of their ledgers is charged too. */
    const char *const *same_people;
    /** 1: the data set's ledger moves to the file that is named. */
    int move_ledger;
    /** 1: sotto generates this set or knows it as a public benchmark. That is an exercise, which may keep a ledger
     * anywhere. */
    int public_set;
    uint64_t reserved[4]; /**< zeros: room for later members */
};

/** Which data set a privacy loss is charged to, where that is recorded, and what it may cost: the same for a release, for
 * a reservation and for the private training of a head or of a network. */
struct sotto_spend {
    /** Identity of the private data set, the key of its ledger: 1 to 127 bytes of UTF-8 without control characters;
     * NULL: the one that the provenance or the data set names. */
    const char *dataset_id;
    /** File; NULL: where the ledger of the data set is (sotto_ledger_find()). The first use of a file registers it;
     * afterwards another one is refused (EUSAGE). */
    const char *ledger;
    const char *purpose; /**< recorded in the ledger; NULL: none, or the trainer's own */
    /** epsilon > 0: recorded in the ledger; a recorded budget can only be tightened.
     * delta: [0: the recorded one's, else the release's] */
    struct sotto_dp budget;
    /** Which records they are; NULL: unknown. */
    const struct sotto_provenance *provenance;
    /** The records of the imported set behind them; NULL: unknown. */
    const struct sotto_source_records *source;
    /** NULL, or what an epsilon rests on besides the sensitivity: the certificate then proves nothing and states
     * epsilon under this condition. */
    const char *condition;
    /** NULL, or the parameters that were read from the private data, such as "max_grad_norm" (NULL-terminated): each
     * is a condition too, in account, ledger and certificate. */
    const char *const *read_from_data;
    /** At most so many records are one person's, as stated by the caller: the account is that of a person, and
     * conditional on it. [0: what the provenance says, where an import has capped them, else the unit is one record] */
    size_t rows_per_person;
    int insecure; /**< 1: noise from insecure_seed; every output says so */
    uint64_t insecure_seed;
    /** NULL, or "ID:K": the release is number K of a plan that was charged by sotto_ledger_plan(), as planned, and nothing more is
     * charged. For sotto_dp_release() and the like, and for a new run of sotto_dp_reserve(), which spends the slot whole; others
     * refuse it. */
    const char *planned;
    uint64_t reserved[3]; /**< zeros: room for later members */
};

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
    uint64_t reserved[2];   /**< zeros: room for later members */
};

/** How much of a guarantee is proved. */
enum sotto_guarantee {
    SOTTO_GUARANTEE_NONE,        /**< there is none, as the noise was seeded */
    SOTTO_GUARANTEE_CONDITIONAL, /**< epsilon rests on a condition */
    SOTTO_GUARANTEE_PROVED
};
/** Returns: "none", "conditional", "proved". */
SOTTO_API const char *sotto_guarantee_name(enum sotto_guarantee guarantee);

/** What a release, or a run of private training, guarantees and where it was recorded. Made by the calls that charge a
 * ledger, or read from a document; free with sotto_certificate_free(). What the functions below hand out lives as long
 * as the certificate. */
struct sotto_certificate;
/** Returns: the account of the release, or of all steps that the run was charged for. Of a certificate that was read,
 *           where the noise was seeded: epsilon.upper is INFINITY. */
SOTTO_API const struct sotto_account *sotto_certificate_account(const struct sotto_certificate *certificate);
/** Returns: the sensitivity as accounted, so with any enlargement by rounding. Norms that are unknown are NAN. */
SOTTO_API const struct sotto_sensitivity *
sotto_certificate_sensitivity(const struct sotto_certificate *certificate);
/** Returns: whether epsilon is proved, or rests on sotto_certificate_condition(), or there is none. */
SOTTO_API enum sotto_guarantee sotto_certificate_guarantee(const struct sotto_certificate *certificate);
/** Returns: 1: the guarantee is proved. 0: it rests on sotto_certificate_condition(), or there is none because the noise
 *           was seeded. */
SOTTO_API int sotto_certificate_is_proved(const struct sotto_certificate *certificate);
/** Returns: all that epsilon rests on without proof; "" for nothing. */
SOTTO_API const char *sotto_certificate_condition(const struct sotto_certificate *certificate);
/** Returns: the guarantee in one line. */
SOTTO_API const char *sotto_certificate_statement(const struct sotto_certificate *certificate);
/** Returns: the unit of privacy: "one record", or "one person (column patient, at most 3 rows each)". */
SOTTO_API const char *sotto_certificate_unit(const struct sotto_certificate *certificate);
/** Returns: number of its entry among the charges of the ledger, from 0; of an early document, among all its lines. */
SOTTO_API size_t sotto_certificate_entry(const struct sotto_certificate *certificate);
/** Returns: hash of its entry in the ledger. */
SOTTO_API const char *sotto_certificate_hash(const struct sotto_certificate *certificate);
/** One line: mechanism, scale, and the guarantee.
 *
 *  Out:     *line  free with sotto_text_free()
 *  Returns: ENOMEM */
SOTTO_API SOTTO_MUST_CHECK sotto_status
sotto_certificate_summary(char **line, const struct sotto_certificate *certificate);
/** The document sotto.certificate/2 (docs/FORMATS.md), with "output_sha256" if sotto_protect_file() made it.
 *
 *  Out:     *json  free with sotto_text_free()
 *  Returns: ENOMEM */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_certificate_encode(char **json,
                                                                 const struct sotto_certificate *certificate);
/** Reads that document, or one of version 1. Refuses what is out of range, and a guarantee that does not follow from
 * the document's other members. Nothing else is checked: sotto_certificate_verify() (verify.h) derives the account
 * again and compares file and ledger.
 *
 *  In:      json          the document
 *  Out:     *certificate  free with sotto_certificate_free(); untouched on failure
 *  Returns: EFORMAT       names the member
 *           ENOMEM */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_certificate_decode(struct sotto_certificate **certificate,
                                                                 const char *json);
/** The same from a file, such as FILE.certificate.json beside a released file.
 *
 *  Returns: EFORMAT, ENOENT, EIO, ENOMEM */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_certificate_load(struct sotto_certificate **certificate,
                                                               const char *path);
/** The end of a release: tells the ledger that was charged which file came out (a line "released", once for each file and
 * certificate), then writes that document with "output_sha256". Called when the file is complete.
 *
 *  In:      output_sha256  SHA-256 of the file that was released; the caller answers for its being what came out
 *  Returns: EINVAL  the certificate was read from a document, and is of another file; the ledger holds no such charge
 *           ENOENT  the ledger is gone; ECREATE, EIO, EAGAIN, EFORMAT, ENOMEM */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_certificate_save(const char *path,
                                                               const struct sotto_certificate *certificate,
                                                               const char *output_sha256);
/** The profile that a certificate stands for: of its mechanism, where the certificate is of one release or a run, of one
 * record, and nothing else was charged with it; in any case its (epsilon, delta) and its pure epsilon. What the certificate
 * rests on, the profile rests on.
 *
 *  Out:     *out  start from {0}; release with sotto_privacy_profile_clear()
 *  Returns: EINVAL  noise from a seed: there is no guarantee
 *           ENOMEM, ESTOPPED */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_certificate_profile(struct sotto_privacy_profile *out,
                                                                  const struct sotto_certificate *certificate,
                                                                  const struct sotto_context *ctx);
/** What holds of tests of membership, as one line: "any test of membership: true-positive rate at most 0.02 at false-positive
 * rate 0.01". The risk that is asked about, where the account of the certificate shows that it is not exceeded; else a larger
 * one, which its profile shows: after an interruption more steps were charged than the noise was found for. What epsilon
 * rests on, this rests on, and says so.
 *
 *  Out:     *line    free with sotto_text_free()
 *  Returns: EINVAL   the risk is none; noise from a seed: there is no guarantee
 *           ENOMEM, ESTOPPED */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_certificate_risk(char **line,
                                                               const struct sotto_certificate *certificate,
                                                               const struct sotto_risk *risk,
                                                               const struct sotto_context *ctx);
/** NULL is allowed. */
SOTTO_API void sotto_certificate_free(struct sotto_certificate *certificate);

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
    uint64_t reserved[4]; /**< zeros: room for later members */
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
/** Returns: the step r of the lattice that sums are rounded to, a power of two: 2^-31 of the noise's scale or less
 *           (clipping by L1 in many dimensions: down to 2^-40), and coarse enough that `records` contributions of
 *           max_grad_norm are at most 2^50 steps. */
SOTTO_API double sotto_dpsgd_session_lattice(const struct sotto_dpsgd_session *steps);
/** Which of the records 0 .. n-1 are in the next step, as the reservation's sampling says: by coins, or by a draw
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
/** The same for a sum of floats. */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_dp_step_float(struct sotto_dpsgd_session *steps, float *sum);
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
/** Returns: the hash of the run's entry in the ledger. */
SOTTO_API const char *sotto_dpsgd_session_entry(const struct sotto_dpsgd_session *steps);
/** The certificate of what the run made so far, finished or interrupted: charged are the steps of all its
 * reservations, also those that the ledger alone remembers.
 *
 *  Out:     *certificate  free with sotto_certificate_free()
 *  Returns: EINVAL   in a process that was forked since the reservation
 *           ENOMEM */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_dpsgd_session_certificate(
    struct sotto_certificate **certificate, const struct sotto_dpsgd_session *steps);
SOTTO_API void sotto_dpsgd_session_close(struct sotto_dpsgd_session *steps);

/** Where the ledger of a data set is: the file that was registered, else $XDG_DATA_HOME/sotto/ledger/ID.jsonl,
 * which need not exist.
 *
 *  Out:     *path   free with sotto_text_free()
 *  Returns: EUSAGE  the file that was registered is not there */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_ledger_find(char **path, const char *dataset_id);
/** How many of these records a data set's ledger was charged for, for the owner of both.
 *
 *  In:      digests (n)  by sotto_dataset_digests()
 *  Out:     *shared
 *  Returns: EUSAGE  the data set has no ledger
 *           errors of reading it */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_ledger_overlap(size_t *shared, const char *dataset_id,
                                                             const unsigned char (*digests)[SOTTO_DIGEST],
                                                             size_t n);
/** Opens or continues the ledger of a data set and records its officer's budget. A release can tighten that
 * budget for itself and cannot widen it. The budget's columns are fixed with it: one for pure releases, one for Gaussian noise
 * with a tenth of delta for failures. A first release that they cannot hold may replace them; behind it they stay.
 *
 *  In:      ledger, source  as in struct sotto_spend; may be NULL
 *           budget          delta 0: pure epsilon-DP
 *           contact         of the person who answers for it; NULL: none
 *  Out:     *path           where it is; free with sotto_text_free()
 *  Returns: EBUDGET  the ledger holds a tighter one */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_ledger_init(char **path, const char *dataset_id,
                                                          const char *ledger, struct sotto_dp budget,
                                                          const char *contact,
                                                          const struct sotto_source_records *source,
                                                          const struct sotto_context *ctx);
/** A column of a budget: releases that add up to a pure epsilon, a failure with that probability, and as much Gaussian shift as its
 *  share of the budget's delta leaves room for. */
struct sotto_ledger_column {
    double pure;    /**< >= 0 */
    double failure; /**< in [0, 1) */
    double share;   /**< of the budget's delta, > 0; all shares together are at most 1 */
};
/** sotto_ledger_init() with columns in place of the default ones, which no release replaces. A column for pure releases alone, which
 *  costs no delta, is always beside them.
 *
 *  In:      ledger, source  as in struct sotto_spend; may be NULL
 *           budget          its delta is above 0
 *           columns         (n), n from 1 to 15
 *           contact         of the person who answers for it; NULL: none
 *  Out:     *path           where it is; free with sotto_text_free()
 *  Returns: EDOMAIN  a column that its share of delta has no room for
 *           EBUDGET  its columns were fixed before; what was charged before fits none of these */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_ledger_init_columns(char **path, const char *dataset_id,
                                                                  const char *ledger, struct sotto_dp budget,
                                                                  const struct sotto_ledger_column *columns,
                                                                  size_t n, const char *contact,
                                                                  const struct sotto_source_records *source,
                                                                  const struct sotto_context *ctx);
/** Charges the releases of a file of events (docs/FORMATS.md, sotto.events/1) as one entry, accounted together, before any of them
 * is made. Whatever is released between them, each costs nothing more, once: `planned` of struct sotto_spend.
 *
 *  In:      events  noise of a scale under replace-one adjacency, with a pair of its own; a run of sampled steps is one release. No
 *                   stated guarantees, and no runs on persons
 *           delta   of the guarantee of all together; 0: pure epsilon-DP
 *           spend   provenance may be NULL; insecure 0
 *  Out:     json    may be NULL; *json: schema sotto.plan/1, with the plan's id and its slots; free with sotto_text_free()
 *           table   may be NULL; *table: the same in lines; free with sotto_text_free()
 *  Returns: EINVAL, EFORMAT  names the event
 *           EDOMAIN  no finite epsilon
 *           those of sotto_dp_release() */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_ledger_plan(char **json, char **table, const char *events,
                                                          double delta, const struct sotto_spend *spend,
                                                          const struct sotto_context *ctx);
/** The entries of a ledger. Checks the chain. A last line that was cut off while it was written does not count, and is warned of.
 *
 *  Out: *json  schema sotto.ledger_show/1: time, purpose, mechanism, epsilon and delta of each charge, and what all up
 *              to it add up to at the delta of the budget (without one: the largest of the entries); free with
 *              sotto_text_free() */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_ledger_show(char **json, const char *ledger,
                                                          const struct sotto_context *ctx);
/** Out: *text: the same as a table of lines; free with sotto_text_free() */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_ledger_table(char **text, const char *ledger,
                                                           const struct sotto_context *ctx);
/** What a ledger adds up to at `delta`. Checks the chain.
 *
 *  Out: *json  schema sotto.ledger_account/1: `together`, the one total that a budget counts ("none" as soon as a
 *              release used seeded noise); the proved column (or "none"), the conditional column, the budget; free
 *              with sotto_text_free() */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_ledger_account(char **json, const char *ledger, double delta,
                                                             const struct sotto_context *ctx);

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
    struct sotto_release release;
    uint64_t reserved[4]; /**< zeros: room for later members */
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
    double
        clip; /**< norm to which every row is clipped, at least 1e-9; a row that is not finite counts as zeros */
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
    uint64_t reserved[2]; /**< zeros: room for later members */
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

/** What the certificate of sotto_protect_records() says of files that a trainer reads. Start from {0}. */
struct sotto_released_inputs {
    char entry[65];  /**< hash of the ledger entry of the release; "": not both files were released by it */
    char text[2048]; /**< what may be said of what is trained on these files; "": nothing */
};
/** Reads FEATURES.certificate.json. Both files are compared with the hashes in it.
 *
 *  In:      labels  NULL: none are read
 *  Out:     *out    both were released by that certificate: entry, and its guarantee as that of post-processing;
 *                   the features alone: "features private, labels not"; neither, or no certificate: {0}
 *  Returns: EFORMAT  the certificate is damaged
 *           EIO, ENOMEM */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_released_inputs(struct sotto_released_inputs *out,
                                                              const char *features, const char *labels,
                                                              const struct sotto_context *ctx);

/** For MEASURING only: the same noise law by a fast double sampler from a seeded stream. No ledger is charged, so what
 * comes out must never be released. */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_noise_simulate(float *vector, size_t n, const char *mechanism,
                                                             double scale, uint64_t seed, uint64_t draw);

#ifdef __cplusplus
}
#endif
#endif
