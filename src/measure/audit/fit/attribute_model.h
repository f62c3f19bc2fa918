/* attribute_model.h - the classifiers of attribute inference. */
#ifndef AUDIT_FIT_ATTRIBUTE_MODEL_H
#define AUDIT_FIT_ATTRIBUTE_MODEL_H

#include "audit/fit/linear_model.h"

/* ATTRIBUTE_MLP + k: a network of 3 + k dense layers. */
enum attribute_kind {
    ATTRIBUTE_LOGISTIC,
    ATTRIBUTE_MLP,
    ATTRIBUTE_DEEPEST = ATTRIBUTE_MLP + 3,
    ATTRIBUTE_KINDS
};
enum { ATTRIBUTE_LAYERS = 3, ATTRIBUTE_LAYERS_MAX = 6 };
const char *attribute_kind_name(enum attribute_kind kind);
/* Dense layers of a network. */
size_t attribute_layers(enum attribute_kind kind);

/* Learns from `train`, guesses the rows `test` (test->n) of the same arrays: the value with the highest
 * logit. A network has hidden layers of 128 ReLU units, Adam at 1e-3, batches of 64, 40 epochs,
 * standardised inputs. EINVAL, ENOMEM. */
sotto_status attribute_guess(int64_t *guess, enum attribute_kind kind, const struct linear_rows *train,
                             const struct linear_rows *test, size_t values, uint64_t seed,
                             const struct sotto_context *ctx);
/* Mean recall of the values that occur among `rows`, of which guess (rows->n) says the value. ENOMEM. */
sotto_status attribute_balanced(double *out, const struct linear_rows *rows, const int64_t *guess,
                                size_t values);
/* Tries a classifier: learns from the first `fitted` of the known rows, is judged on the rest of them.
 * A network counts 0 where there are too few records for one. */
sotto_status attribute_try(double *balanced, enum attribute_kind kind, const struct linear_rows *known,
                           size_t fitted, size_t values, uint64_t seed, const struct sotto_context *ctx);
/* The first of the best at that, of the first `kinds`. */
enum attribute_kind attribute_better(const double *balanced, size_t kinds);

#endif
