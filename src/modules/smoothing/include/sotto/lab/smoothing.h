/* smoothing.h - randomised smoothing (Cohen, Rosenfeld and Kolter 2019): the answer that a model gives most often to noisy
 * copies of an input, and a radius within which it stays.
 *
 * Start at sotto_smoothing(). The smoothed model is g(x) = argmax_c P(f(x + noise) = c) for a model f that is reached by
 * queries; inputs are not clipped after noise. A radius is about the query, not about the training records: smoothing gives
 * no membership guarantee. */
#ifndef SOTTO_LAB_SMOOTHING_H
#define SOTTO_LAB_SMOOTHING_H

#include "sotto/attack.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Independent noise on every number of an input. */
enum sotto_smoothing_noise {
    SOTTO_SMOOTHING_GAUSSIAN, /**< of deviation sigma; radii are L2 */
    SOTTO_SMOOTHING_LAPLACE,  /**< of scale sigma; radii are L1 */
    SOTTO_SMOOTHING_LOGISTIC  /**< likewise */
};
/** {0} but for sigma: all defaults. */
struct sotto_smoothing_options {
    double sigma; /**< scale of the noise, in units of the input as the model gets it */
    enum sotto_smoothing_noise noise;
    int certify;  /**< 1: radii; [0]: answers by vote only */
    int compare;  /**< [0] 1: with the radius that differential privacy of the query gives (PixelDP) */
    size_t n;     /**< [1000] noisy copies of a row that vote, or estimate the probability of its class */
    size_t n0;    /**< [100] other copies that choose the class to certify */
    double alpha; /**< [0.001] probability of a wrong answer or radius, for each row, below 1/2 */
    /** [from the operating system, other in every call] of the noise. Who knows it can search for an input on which the
     *  noise misleads. */
    uint64_t seed;
    /** (radius_count) of the curve, >= 0; NULL: 21 from 0 to the largest possible radius */
    const double *radii;
    size_t radius_count;
};

/** What is said of one row. */
struct sotto_smoothing_row {
    int64_t answer; /**< class of most votes, or the class that was to be certified; ties: the lower class */
    int abstained;  /**< 1: the answer does not count */
    size_t votes;   /**< of n copies for `answer` */
    int64_t label;  /**< -1: not known */
    /** Lower limit of the probability of `answer`, at level alpha; NAN without `certify`. */
    double p_lower;
    double radius;  /**< no change of the row below this norm changes the answer; 0: abstained */
    double pixeldp; /**< the same by PixelDP (Lecuyer et al. 2019); NAN without `compare` */
};
/** Share of rows with the right answer and at least this radius, with a 95 % Clopper-Pearson interval. */
struct sotto_smoothing_point {
    double radius;
    struct sotto_estimate accuracy, pixeldp; /**< NAN: no labels, or not asked for */
};
/** Start from {0}; free with sotto_smoothing_result_free(). */
struct sotto_smoothing_result {
    /** in full; the list of radii, and a seed of the system, are not kept */
    struct sotto_smoothing_options options;
    int seeded; /**< 1: the caller gave options.seed */
    size_t inputs, classes;
    struct sotto_smoothing_row *rows; /**< (row_count) */
    size_t row_count, abstained;
    double largest_radius; /**< that n copies can give; NAN without `certify` */
    /** Probability that any row is wrong, or the row with the largest of many radii: at most alpha for each row. */
    double alpha_all;
    struct sotto_smoothing_point *curve; /**< (curve_count); of answers without radii: one point at 0 */
    size_t curve_count;
    char statement[1024]; /**< what this promises, and what it does not; every output carries it */
};

/** Smooths the answers of a model.
 *
 *  PREDICT  n copies vote; a row with two close counts gets no answer (a two-sided exact binomial test at level alpha)
 *  CERTIFY  n0 copies choose a class A; of n OTHER copies k are answered by A; p is the one-sided Clopper-Pearson limit
 *           below k/n; the radius is F^-1(p) for p > 1/2, F the distribution function of the noise
 *
 *  The L2 radius of Gaussian noise is Cohen's; the L1 radii of Laplace and logistic noise follow from the chain of trade-off
 *  curves (docs/derivations/logistic.md, section 6). p and radius are rounded down. All of it holds for noise in real
 *  numbers: floats have finite reach and rounding. The noise on a row is a function of the seed, the row's numbers and the
 *  copy, so rows around it do not matter.
 *
 *  In:      records  rows to answer; y NULL: no labels
 *  Out:     *out     free with sotto_smoothing_result_free()
 *  Returns: EINVAL   an option, a label or a row out of range; a network with noise that depends on the batch
 *           those of target_query() */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_smoothing(struct sotto_smoothing_result *out,
                                                        struct sotto_target *target,
                                                        const struct sotto_records *records,
                                                        const struct sotto_smoothing_options *options,
                                                        const struct sotto_context *ctx);
SOTTO_API void sotto_smoothing_result_free(struct sotto_smoothing_result *r);

/** Out:     *json: one "sotto.smooth/1" object (page.md)
 *           *text: lines for the terminal. Free with sotto_text_free()
 *  Returns: ENOMEM */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_smoothing_encode(char **json,
                                                               const struct sotto_smoothing_result *r);
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_smoothing_summary(char **text,
                                                                const struct sotto_smoothing_result *r);
/** In:      path  "x.json": that object; "x.csv": a line for each row; "x.npy": (row_count, 4) f8 of answer (-1: abstained),
 *                 votes, p_lower and radius
 *  Returns: EUSAGE  another ending
 *           ECREATE, EIO, ENOMEM */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_smoothing_save(const char *path,
                                                             const struct sotto_smoothing_result *r);

#ifdef __cplusplus
}
#endif
#endif
