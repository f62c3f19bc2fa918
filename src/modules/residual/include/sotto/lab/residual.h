/* residual.h - what residual perturbation (noise in every residual block of a network) proves about its training records and
 * its answers, and what it only claims.
 *
 * Proved: sotto_residual_input(), by the noise on the INPUTS alone; and sotto_residual_answers(), corrected, for networks
 * with clipped branches. The paper's theorems are here to be compared; each names the assumption that no code can check.
 * Equations and names follow the paper: radius R, input noise pi, residual noise gamma. */
#ifndef SOTTO_LAB_RESIDUAL_H
#define SOTTO_LAB_RESIDUAL_H

#include "sotto/account.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Training on noisy inputs x + pi n, n standard normal, each input clipped to L2 norm `radius` first. Weights are
 *  post-processing of the noisy inputs, so nothing is asked of the network. Adjacent sets differ in ONE INPUT, its label
 *  kept: labels are public, or randomised once each before training. */
struct sotto_residual_input {
    double radius, noise; /**< R, pi > 0 */
    /** Times a record is used in training, at most (epochs without replacement). */
    size_t uses;
    /** Independent noisy copies for each use: one for each member of an ensemble, or 1 if the members share one. */
    size_t copies;
    /** Of randomised response on labels, once for each record; 0: labels are public. */
    double label_epsilon;
    double delta; /**< 0 < delta < 1 */
};
struct sotto_residual_account {
    /** Of the weights and of everything that training shows, labels included; the upper end is the guarantee. */
    struct sotto_interval epsilon;
    /** The closed form by Renyi divergence, c + 2 sqrt(c ln(1 / delta)) with c = 2 R^2 uses copies / pi^2 (+ label epsilon):
     *  looser, as the paper's theorem computes. */
    double renyi_epsilon;
};
/** Out:     *out    what training on noisy inputs guarantees
 *  Returns: EINVAL  names the member */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_residual_input(struct sotto_residual_account *out,
                                                             const struct sotto_residual_input *in);
/** Smallest pi with an upper end of at most epsilon.
 *
 *  In:      in->noise  is not read
 *  Out:     *noise     pi
 *  Returns: EINVAL     epsilon does not exceed the part of the labels */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_residual_input_noise(double *noise, double epsilon,
                                                                   const struct sotto_residual_input *in);

/** Theorem 1 (Strategy I, additive noise) AS PUBLISHED. Its second half (gamma, and epsilon of each mapping) assumes that
 *  outputs of residual mappings are Gaussian with one covariance for all records, which is false for ReLU networks
 *  (tests/known/test_residual_known.c has a counterexample). sotto_residual_input() is the sound form of its first
 *  half. */
struct sotto_residual_theorem1 {
    double radius, mapping_bound; /**< R of inputs, G of the mappings' expectations */
    double uses;                  /**< iterations * batch / records */
    double delta;
    double lambda;             /**< in (0, 1); 0: the best, which is then filled in */
    double epsilon;            /**< In for ..._noise(), Out for ..._epsilon() */
    double input_noise, gamma; /**< Out for ..._noise(), In for ..._epsilon() */
    double alpha;              /**< Out: order of the Renyi divergence */
};
/** Noise for an epsilon.
 *
 *  Out: t->input_noise, t->gamma, t->alpha */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_residual_theorem1_noise(struct sotto_residual_theorem1 *t);
/** Epsilon of a noise, by the best lambda.
 *
 *  Out: t->epsilon, t->lambda, t->alpha */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_residual_theorem1_epsilon(struct sotto_residual_theorem1 *t);
/** As published: it needs the Gaussian assumption.
 *
 *  In:      i  the mapping, from 1; the output layer counts as the last mapping
 *  Returns: epsilon of the weights of mapping i: (lambda / i + 1 - lambda) epsilon */
SOTTO_API double sotto_residual_theorem1_mapping(const struct sotto_residual_theorem1 *t, size_t i);

/** Theorem 2 (Strategy II, multiplicative noise): what an ANSWER shows of the model that gave it. It compares any two models,
 *  never two training sets, so it protects the weights from the adversary that asks, no matter what they were trained on.
 *  Corrected: the output layer counts as a layer, |w| is meant in the 1-norm, and every query composes. */
struct sotto_residual_answers {
    double branch_bound; /**< B: every residual branch is clipped to this L2 norm */
    /** eta: activations count as at least this large when noise is scaled; 0: none, and then nothing is proved (a zero
     *  activation gets no noise). */
    double floor;
    double weight_bound; /**< a: the output weights are clipped to this 1-norm */
    size_t mappings;     /**< M */
    size_t queries;      /**< k answers to one adversary */
    double delta;        /**< 0 < delta < 1 */
    /** Noise of the mappings; of the output, relative to the largest activation. */
    double gamma, output;
};
/** Out:     *epsilon    at delta, as corrected; INFINITY without a floor
 *           *published  as the paper composes it, M layers and one query; may be NULL
 *  Returns: EINVAL      names the member */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_residual_answers(double *epsilon, double *published,
                                                               const struct sotto_residual_answers *in);
/** Smallest noises for a target; all layers share the budget alike.
 *
 *  Out:     in->gamma, in->output
 *  Returns: EINVAL */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_residual_answers_noise(struct sotto_residual_answers *in,
                                                                     double epsilon);

/** Theorem 3: what gamma leaves of the Rademacher complexity of LINEAR dynamics dx = U x dt read out as E[w x^p(T)].
 *
 *  Returns: the factor exp(-p (1 - p) gamma^2 T / 2), exactly; 1 for p = 1 */
SOTTO_API double sotto_residual_complexity_factor(double p, double gamma, double time);
/** Empirical Rademacher complexity of that class without noise: U circulant, |U|_2 <= bound, |w|_2 <= bound, x^p the signed
 *  root. A search never finds more than there is, so this is a LOWER estimate.
 *
 *  In:      x          (n, d), d <= 64
 *           draws      of signs
 *  Out:     *mean      over the draws, of the largest correlation that a search finds
 *           *interval  95 %, over the draws
 *  Returns: EINVAL, ENOMEM */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_residual_complexity(
    double *mean, struct sotto_interval *interval, const double *x, size_t n, size_t d, double p,
    double bound, double time, size_t draws, uint64_t seed, const struct sotto_context *ctx);

/** One way through the equations and back: dx = F dt, with additive noise gamma dB or multiplicative noise gamma x dB. */
struct sotto_sde_run {
    char name[24];
    double gamma;
    int multiplicative;
    /** Of the recovered image against the first one, pixels in [0, 1]. */
    double rmse;
    /** From the noise alone: gamma sqrt(2), or the image's root mean square times sqrt(e^(2 gamma^2) - 1); NAN for runs
     *  without noise. */
    double predicted;
};
enum { SOTTO_SDE_RUNS = 6 };
struct sotto_dataset;
/** Takes one image from t = 0 to 1 in 100 Euler steps and back. That noise cannot be undone by THIS procedure is no privacy
 *  guarantee: an attacker may estimate.
 *
 *  ODE    by the explicit reverse step, and by solving each forward step for its start (fixed-point iteration)
 *  SDEs   both at gamma .1 and 1
 *  field  F(u, t) = 3 tanh(K_j * u), K_j four random 3x3 kernels with rows of L1 norm 1, j = floor(4 t), periodic borders
 *
 *  In:      data    images; grey ones fill three channels
 *           row     the image's row in data
 *  Out:     runs    one for each way
 *           folder  gets NAME-features.png and NAME-recovered.png of every run, image.png and sde.json
 *  Returns: EINVAL  no such row, or a table
 *           EIO, ENOMEM */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_sde_demo(struct sotto_sde_run runs[SOTTO_SDE_RUNS],
                                                       const char *folder, const struct sotto_dataset *data,
                                                       int64_t row, uint64_t seed,
                                                       const struct sotto_context *ctx);

#ifdef __cplusplus
}
#endif
#endif
