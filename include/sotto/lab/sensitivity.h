/* sensitivity.h - how far one record moves a head: sampled, or proved. No promise: it may change with any version. */
#ifndef SOTTO_LAB_SENSITIVITY_H
#define SOTTO_LAB_SENSITIVITY_H

#include "sotto/head.h"

#ifdef __cplusplus
extern "C" {
#endif

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
    char recipe[1024];

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

#ifdef __cplusplus
}
#endif
#endif
