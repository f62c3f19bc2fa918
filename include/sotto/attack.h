/* attack.h - membership attacks on arrays of any origin, and honest statistics on their scores. */
#ifndef SOTTO_ATTACK_H
#define SOTTO_ATTACK_H

#include "sotto/audit.h"
#include "sotto/base.h"
#include "sotto/io.h"

#ifdef __cplusplus
extern "C" {
#endif

/** One attack's scores, higher = more member-like: (n_member) and (n_nonmember). */
struct sotto_audit_scores {
    const char *name, *title, *source; /**< title and source may be NULL */
    const double *member, *nonmember;
    int has_threshold; /**< the attack decides by itself: member when score > threshold. Found without looking
                          at who is a member of the target. */
    double threshold;
};
/** Can a hidden attribute be read off what a model reveals about a record? Attribute values are 0 .. values
 * - 1. */
struct sotto_attribute_input {
    const float *features;    /**< (n, d): embeddings, outputs or whatever the attacker sees */
    const int64_t *attribute; /**< (n) */
    const int64_t *labels;    /**< (n), 0 .. classes - 1: the task's label, for the baseline that sees nothing
                                 else; NULL: none */
    size_t n, d, classes;
    /** What weaker attackers have instead of `features`, each with the labels if there are any: the model's
     * answers (n, output_count), and what is known of the record anyway (n, known_count). NULL: no such
     * baseline. */
    const float *outputs, *known;
    size_t output_count, known_count;
    size_t n_aux; /**< > 0: the first n_aux records are the attacker's, and all others are the test set; 0:
                       random halves */
    size_t
        deepest; /**< networks of 3 .. deepest dense layers are tried, and each is reported by itself; at most 6
                       [0: one of 3 only] */
    uint64_t reserved[4]; /**< zeros: room for later members */
};
/** Arrays to audit. Rows are records. Either logits/probabilities with labels, or scores. */
struct sotto_audit_input {
    const float *member, *nonmember;        /**< (n, K) logits, or probabilities if `probabilities` */
    const double *member_f8, *nonmember_f8; /**< the same in double precision, instead of the two above */
    int probabilities;
    const int64_t *member_labels, *nonmember_labels;
    const double *member_losses, *nonmember_losses; /**< instead of logits */
    const double *member_scores, *nonmember_scores; /**< instead: any score, higher = more member-like */
    size_t n_member, n_nonmember, classes;
    /** Reference (shadow) models on the same records, for LiRA, RMIA and their relatives: (n, models) signals
     *  ln(p_y / (1 - p_y)) of the true class, or losses if `reference_losses`. NULL: none. */
    const double *member_reference, *nonmember_reference;
    /** (n, models): 1 where the model was trained on the record; NULL: no reference saw any record
     * (offline). */
    const uint8_t *member_trained, *nonmember_trained;
    size_t reference_models;
    int reference_losses;
    /** Instead of signals: the reference models' logits (or probabilities, as `probabilities` says) on all
     * records, members first: (models, n_member + n_nonmember, classes), in single or double precision; and
     * who was trained on what, (models, n_member + n_nonmember), NULL: no model saw any record. */
    const float *reference_outputs;
    const double *reference_outputs_f8;
    const uint8_t *reference_outputs_trained;
    /** Records known to be members of nothing: outputs (n_population, classes) and labels, or losses, as for
     * the target's records; population_reference (n_population, models): the reference models' signals, or
     * their losses. NULL: none. */
    const double *population, *population_losses, *population_reference;
    const int64_t *population_labels;
    size_t n_population;
    /** Answers on several views of every record (mirrored, shifted, the record itself): the same views in the
     * same order everywhere, outputs of the kind of the target's. (n, views, classes); of the reference
     * models (reference_models, n_member + n_nonmember, views, classes), in single or double precision. They
     * join what the references say about the records as they are. Of the population: for RMIA, which else
     * compares the records with each other. NULL: none. */
    const double *member_views, *nonmember_views, *population_views;
    const float *reference_views, *population_reference_views;
    const double *reference_views_f8, *population_reference_views_f8;
    size_t views; /**< 1 .. 255 */
    /** The records themselves, flattened: (n, feature_count). For the checks of the two sets and the quantile
     * attack. */
    const float *member_features, *nonmember_features, *population_features;
    size_t feature_count;
    /** A mean that was released (of a class, a cluster, a group of people) and that of a population,
     * (feature_count) each: was a record, given by its features, part of the released one? NULL: none. */
    const double *released_mean, *reference_mean;
    /** Scores of attacks that were run elsewhere; each becomes one more entry of "attacks". */
    const struct sotto_audit_scores *named;
    size_t named_count;
    /** Attribute inference, beside the attacks on membership or instead of them; adds "attribute". NULL:
     * none. */
    const struct sotto_attribute_input *attribute;
    /** A shadow model of the attacker's own: outputs (shadow_n, classes) of the same kind as the target's, on
     * records of which it was trained on those with shadow_trained[i] = 1. NULL: none. */
    const double *shadow;
    const int64_t *shadow_labels;
    const uint8_t *shadow_trained;
    size_t n_shadow;
    uint64_t reserved[4]; /**< zeros: room for later members */
};
/** {0} or NULL: all defaults. */
struct sotto_audit_options {
    const char *const *names; /**< attacks to run, NULL-terminated; NULL: every applicable one */
    const double *fpr;        /**< false-positive rates to report, [.01, .001] */
    size_t fpr_count;
    double confidence;           /**< [.95] */
    double delta;                /**< for epsilon lower bounds [0] */
    uint64_t seed;               /**< [0] of the half split for thresholds, and of the bootstrap */
    const char *const *settings; /**< "attack.parameter=value", NULL-terminated; NULL: the usual ones */
    size_t draws;                /**< of the bootstrap [2000] */
    int has_claim;               /**< test the claim of (claim_epsilon, claim_delta)-differential privacy */
    double claim_epsilon, claim_delta;
    /** Every record was a member by its own fair coin: adds the one-run bound on epsilon (Steinke, Nasr and
     * Jagielski 2023) from this many guesses on each side [0: no]. Fix it before looking. */
    size_t one_run_guesses;
    /** Scores are one per training run, "members" are runs with a group of this many records in their data:
     * bounds are divided accordingly (Jagielski et al. 2020) [0: no]. */
    size_t group_size;
    /** The mechanism claims a constant odds ratio (additive logistic noise): adds an exact interval of it
     * [0]. */
    int odds_ratio;
    /** How many of the most exposed members are listed [0]; their row numbers only with include_indices. */
    size_t exposed;
    int include_indices;
    uint64_t reserved[4]; /**< zeros: room for later members */
};
/** Runs the attacks. out (free with sotto_audit_result_free()): per attack auc, rates, balanced accuracy and lower bound on
 * epsilon with intervals, ROC points (at most 500), realised FPR, n, warnings. */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_audit(struct sotto_audit_result *out,
                                                    const struct sotto_audit_input *in,
                                                    const struct sotto_audit_options *options,
                                                    const struct sotto_context *ctx);

/** Reads an array to audit: "x.npy"; "x.npz" with one array in it, or "x.npz:name"; "x.csv" of numbers, with
 * or without a line of column names, as (rows, columns) f8. Errors as in io.h, with the file's name. */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_audit_load(struct sotto_array *out, const char *path);

/** What an encoder makes of n records: embeddings of `views` random views of each, (n, views, d), and of the record as
 * it is, (n, d); sotto_embed_views() and sotto_embed() make them, or any other program. */
struct sotto_encoder_views {
    const float *views, *plain;
    size_t n;
};
struct sotto_encoder_attack_input {
    struct sotto_encoder_views member, nonmember; /**< by the encoder under attack; members pre-trained it */
    struct sotto_encoder_views shadow_member, shadow_nonmember; /**< by an encoder of the attacker's own */
    size_t views, width, shadow_width; /**< views >= 2, even for the contrastive loss; widths d of either */
    /** Records in neither training set, embedded by each encoder: (bank_n, width), (bank_n, shadow_width). NULL: the
     * contrastive-loss attack is left out. */
    const float *bank, *shadow_bank;
    size_t bank_n;
    double temperature;   /**< [0.1] of the contrastive loss */
    uint64_t reserved[4]; /**< zeros: room for later members */
};
/** Membership of an ENCODER's pre-training set (not of a head trained on it): EncoderMI with its vector, set and
 *  threshold attackers (Liu et al. 2021), the contrastive loss, and a likelihood ratio of the embedding's norm. What
 *  they learn, and their thresholds, come from the shadow. out (free with sotto_audit_result_free()): these five attacks,
 *  and out->encoder. scores (5, n_member + n_nonmember) in the order of the attacks, HIGHER = MORE
 *  MEMBER-LIKE; may be NULL. EINVAL: sizes, values that are not finite, fewer than 20 shadow records a side. */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_encoder_attack(struct sotto_audit_result *out, double *scores,
                                                             const struct sotto_encoder_attack_input *in,
                                                             const struct sotto_audit_options *options,
                                                             const struct sotto_context *ctx);

/** AUC of scores with DeLong's interval (half ties). */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_auc(struct sotto_estimate *out, const double *member,
                                                  size_t n_member, const double *nonmember,
                                                  size_t n_nonmember, double confidence);
/** Clopper-Pearson interval of k successes in n. */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_clopper_pearson(struct sotto_estimate *out, size_t k, size_t n,
                                                              double confidence);

#ifdef __cplusplus
}
#endif
#endif
