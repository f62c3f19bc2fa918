/* head.h - softmax heads on frozen embeddings: train, save, answer queries, sample their sensitivity. */
#ifndef SOTTO_HEAD_H
#define SOTTO_HEAD_H

#include "sotto/base.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { SOTTO_MAX_HIDDEN = 7 };

/** Everything that decides the trained weights besides the data. Defaults by sotto_head_defaults(). */
struct sotto_head_recipe {
    const char *trainer;                /**< ["adam"], "sgd" */
    size_t hidden_count;                /**< [0]: linear */
    size_t hidden[SOTTO_MAX_HIDDEN];    /**< ReLU widths */
    size_t epochs, batch;               /**< [20], [25] */
    double lr;                          /**< [1e-3]; Adam: betas .9 .999, epsilon 1e-7 (Keras) */
    uint64_t seed;                      /**< initialisation and batch order */
};
SOTTO_API void sotto_head_defaults(struct sotto_head_recipe *r);

struct sotto_head; /* layers: weight (out, in), bias (out), f32 */

/** Trains on X (n, d) and y (n) in 0..classes-1. Deterministic: same inputs and recipe, same bits, any thread count. */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_head_train(struct sotto_head **out, const float *x, const int64_t *y,
                                                         size_t n, size_t d, size_t classes,
                                                         const struct sotto_head_recipe *recipe,
                                                         const struct sotto_context *ctx);
/** "0.weight" (out, in), "0.bias", "2.weight", ... as PyTorch's nn.Sequential; metadata: recipe, data fingerprint. */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_head_save(const char *path, const struct sotto_head *h);
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_head_load(struct sotto_head **out, const char *path);
SOTTO_API void sotto_head_free(struct sotto_head *h);
SOTTO_API size_t sotto_head_inputs(const struct sotto_head *h);
SOTTO_API size_t sotto_head_classes(const struct sotto_head *h);
/** All parameters as one vector in file order (0.weight, 0.bias, 2.weight, ...), borrowed; for noise and norms. */
SOTTO_API float *sotto_head_parameters(struct sotto_head *h, size_t *count);
/** SHA-256 over X, y and their shapes: names the private data set in ledgers. "" if unknown (loaded from elsewhere). */
SOTTO_API const char *sotto_head_fingerprint(const struct sotto_head *h);
/** SHA-256 over the recipe. "" if unknown. */
SOTTO_API const char *sotto_head_recipe_hash(const struct sotto_head *h);
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_head_copy(struct sotto_head **out, const struct sotto_head *h);

/** Query handler: out (n, classes), probabilities or logits. */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_head_predict(float *out, const struct sotto_head *h, const float *x,
                                                           size_t n, size_t d, int logits);

/** Largest observed change of the weights over random replace-one pairs (Algorithm 2): EVIDENCE, not a bound. */
struct sotto_sensitivity_sample {
    double l1, l2, linf;                /**< entrywise, maxima over pairs */
    double mean_l1, mean_l2;
    size_t pairs;
    double gamma_dkw, gamma_exchangeable, gamma_tolerance, confidence; /**< papers: B.7 of the specification */
    char recipe_hash[65], fingerprint[65];
};
/** Slots are aligned: both heads of a pair see every common record in the same batch slot; the one differing slot
 *  holds record i in one and record j in the other. Pairs run in parallel, results do not depend on threads. */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_sensitivity_run(struct sotto_sensitivity_sample *out, const float *x,
                                                              const int64_t *y, size_t n, size_t d, size_t classes,
                                                              const struct sotto_head_recipe *recipe, size_t pairs,
                                                              const struct sotto_context *ctx);
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_sensitivity_save(const char *path,
                                                               const struct sotto_sensitivity_sample *s);
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_sensitivity_load(struct sotto_sensitivity_sample *out, const char *path);

#ifdef __cplusplus
}
#endif
#endif
