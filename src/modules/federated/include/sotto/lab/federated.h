/* federated.h - federated averaging on one machine, and the attackers who sit in it (Nasr, Shokri and Houmansadr 2019).
 *
 * In every round each participant starts at the common weights, trains on its own records and uploads its weights; the
 * mean, weighted by records, is the next common model. Everything here is measured and nothing is proved. There is no
 * secure aggregation: the server sees every upload. */
#ifndef SOTTO_LAB_FEDERATED_H
#define SOTTO_LAB_FEDERATED_H

#include "sotto/audit.h"
#include "sotto/head.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Records, and who holds them. */
struct sotto_federated_input {
    const float *x;   /**< (n, d) */
    const int64_t *y; /**< (n), 0 .. classes - 1 */
    size_t n, d, classes;
    /** (n): the participant that trains on the record, or -1: none does. NULL: options->records are drawn for each. */
    const int64_t *owner;
};
/** {0} or NULL: the defaults in brackets. */
struct sotto_federated_options {
    /** What a participant does in a round: trainer "adam" or "sgd", its epochs are those of one round; the seed is not used.
     *  Adam's moments begin anew in each round. What is 0, or all where it is NULL: "sgd", one epoch, batches of 32, learning
     *  rate .1, one hidden layer of 128 (hidden_count SOTTO_NONE: none); others as of sotto_head_train(). */
    const struct sotto_head_recipe *recipe;
    size_t participants; /**< [4], at least 2 */
    size_t rounds;       /**< [100] */
    size_t records;      /**< of each participant [n / (participants + 1), rounded down] */
    size_t target;       /**< [0] the participant under attack; the next one is the local attacker */
    size_t outsiders;    /**< most records of no participant to compare with [as many as the target's] */
    size_t observed;     /**< [5] rounds, the last ones, at which attackers look */
    size_t ascend;   /**< [20] records that an active attacker raises the loss of in one round, in turns */
    double strength; /**< [1] length of that step, in lengths of the last change of the model */
    int learnt; /**< 1: scores come from a network which learnt on half of the records; results are of the other half */
    int control; /**< 1: records of no participant take the place of members: every attacker should guess */
    /** [0: none] of local DP-SGD: noise scale / max_grad_norm. The noise is simulated, so that nothing written here is
     *  private; the document says what epsilon a participant would have with noise of the operating system. Batches are
     *  Poisson samples, of the recipe's size on average; trainer "sgd" only. */
    double noise_multiplier;
    double max_grad_norm; /**< [1] L2 norm that each record's gradient is clipped to then */
    /** for the models of all rounds without an active attacker [NULL: none are written] */
    const char *folder;
    int keep_uploads; /**< 1: the uploads too */
    uint64_t seed;    /**< [1] of weights, orders, draws */
    /** fpr, confidence, delta, and most_vulnerable [none]; names and seed are not used */
    struct sotto_audit_options audit;
};
/** Trains once without and four times with an active attacker, and measures six of them:
 *
 *  passive-local     a participant: the model after each round
 *  passive-global    the server: the target's upload in each round
 *  active-local      a participant that uploads weights at which the loss of candidates is higher: members are pulled back
 *  active-global     a server that sends such weights to all
 *  isolating         a server that sends the target its own upload back, never averaged, in the last rounds
 *  isolating-ascent  both of the last two
 *
 *  Active attackers are at work in the last rounds, as many as give every candidate a turn and at least `observed`. A step of
 *  ascent is the sum of the candidates' gradients, each at length 1. A score is minus the mean of the loss at what is seen.
 *
 *  Out:     *out     attacks in this order, and the document's member "federated"; free with sotto_audit_result_free()
 *  Returns: EINVAL   shapes, labels, owners; too few records of the target or of no participant
 *           EDIVERGED, ESTOPPED, ENOMEM, ECREATE, EIO */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_federated(struct sotto_audit_result *out,
                                                        const struct sotto_federated_input *in,
                                                        const struct sotto_federated_options *options,
                                                        const struct sotto_context *ctx);

#ifdef __cplusplus
}
#endif
#endif
