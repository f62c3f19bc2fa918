/* dp_sgd.h - inside of sotto_train_private(), for its tests. */
#ifndef TRAIN_PRIVATE_DP_SGD_H
#define TRAIN_PRIVATE_DP_SGD_H

#include "nn/loop/same_run.h"
#include "nn/nn.h"
#include "sotto/certificate.h"
#include "sotto/lab/train.h"

/** Faults that a test plants to see that an audit finds them. */
struct dp_sgd_fault {
    double clip;                      /* clips at so many times max_grad_norm; 0: none planted */
    const struct nn_backend *backend; /* in place of the one that was chosen; NULL: none planted */
};
/** sotto_train_private() with a fault (NULL: none). */
sotto_status dp_sgd_train(struct sotto_network **out, struct sotto_certificate **certificate,
                          struct sotto_train_result *result, const struct sotto_dataset *data,
                          const int64_t *rows, size_t n, const struct sotto_train_options *options,
                          const struct sotto_train_privacy *privacy, const struct dp_sgd_fault *fault,
                          const struct sotto_context *ctx);

struct planned_event;
/** What it charges for n records, as an event of a plan; what the records decide is not asked: it has no encoder's conditions. */
sotto_status dp_sgd_event(struct planned_event *out, size_t n, const struct sotto_train_options *options,
                          const struct sotto_train_privacy *privacy, const struct sotto_context *ctx);

/** Clipping by a quantile: gradients scaled by `gradient` / C, so that their norm is at most `gradient`, and
 * the coordinate +count or -count for a record that is or is not below C: together at most 1. The count's
 * noise is then a twentieth of the batch (as published), or as much as a count of .3 allows. */
struct dp_sgd_shares {
    double gradient, count;
};
struct dp_sgd_shares dp_sgd_shares_of(double noise_multiplier, size_t batch);
/** The next C: C exp(-0.2 (share - quantile)), where share = noisy / (2 count batch) + 1/2. */
double dp_sgd_next_clip(double clip, double noisy, double count, size_t batch, double quantile);

/** Largest clipping norm: sums of 2^32 gradients stay finite floats, so no record can make one overflow. */
#define DP_SGD_LARGEST_CLIP 1e28
/** Smallest: floats of gradients in lattice steps stay finite. */
#define DP_SGD_SMALLEST_CLIP 1e-9
/** What the epsilon of a run of an earlier version rests on: its recipe has no line "sums=exact". */
#define DP_SGD_FLOAT_SUMS "float sums that one record moves by at most C in a step (measured, not proved)"

enum { DP_SGD_TEXT = 768 };
/** A copy of the options, {0} filled in by their table. */
sotto_status train_privacy_resolve(struct sotto_train_privacy *out, const struct sotto_train_privacy *given);
/** Static texts, every member checked (EINVAL), noise_multiplier and steps worked out for n records. */
sotto_status dp_sgd_resolve(struct sotto_train_privacy *p, const struct sotto_train_options *o, size_t n,
                            const struct sotto_context *ctx);
/** Can this network be trained by DP-SGD on the records of `data`? For callers that have much to do before they train.
 *
 *  In:      o        as train_options_check() leaves it
 *           encoder  model of the encoder that the training will start from, which need not exist yet; NULL: none
 *  Returns: EINVAL   the records do not fit, or no encoder has so many blocks to freeze
 *           ENOTSUP  a layer that is trained mixes records */
sotto_status dp_sgd_check_model(const struct sotto_train_options *o, const char *encoder,
                                const struct sotto_dataset *data);
/** Lines "key=value" of all that decides the run. */
sotto_status dp_sgd_describe(char out[DP_SGD_TEXT], const struct sotto_train_privacy *p);
/** The inverse, of a network trained by `o`; all but the number of records is checked as dp_sgd_resolve()
 * does. EFORMAT texts start with `where`. */
sotto_status dp_sgd_parse(struct sotto_train_privacy *out, const char *text, const char *where,
                          const struct sotto_train_options *o);
/** A recipe of dp_sgd_describe() of this version: one record moves a sum by no more than the clipping norm. */
bool dp_sgd_sums_exactly(const char *text);
/** For same_run_check(): a recipe, and what the ledger is charged for and the checkpoint does not keep. EINVAL: too long. */
sotto_status dp_sgd_describe_charge(char out[SAME_RUN_RECIPE], const char *recipe,
                                    const struct sotto_train_privacy *p);
enum nn_clipping dp_sgd_clipping(const struct sotto_train_privacy *p);
int dp_sgd_follows_quantile(const struct sotto_train_privacy *p);
/** Quarter turns of an image that a step sees: 4 of objective "rotation", else 1. */
size_t dp_sgd_turns(const struct sotto_train_privacy *p);

#endif
