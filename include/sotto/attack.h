/* attack.h - membership attacks on arrays of any origin, and the statistics of their scores. */
#ifndef SOTTO_ATTACK_H
#define SOTTO_ATTACK_H

#include "sotto/audit.h"
#include "sotto/base.h"
#include "sotto/private/io.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Scores of one attack: member (n_member) and nonmember (n_nonmember), higher = more member-like. */
struct sotto_audit_scores {
    /** title and source may be NULL. */
    const char *name, *title, *source;
    const double *member, *nonmember;
    /** 1: the attack decides by itself: member when score > threshold. The threshold was found without looking at which
     *  records are members of the target. */
    int has_threshold;
    double threshold;
    /** Of an attack on a generative model: what of it the attack sees ("discriminator"). NULL: another attack. */
    const char *access;
};
/** What is known of a generative model. Its records are the features of the audit's input: images as the generator makes them,
 *  or embeddings of both. */
struct sotto_generative_input {
    /** Logits of its discriminator (not their sigmoid, which makes ties), (n_member), (n_nonmember). NULL: none. */
    const double *member_discriminator, *nonmember_discriminator;
    /** Samples of its generator, (generated_n, feature_count), and of a generator that was trained by the same recipe on other
     *  records. NULL: none. */
    const float *generated, *reference_generated;
    size_t generated_n, reference_generated_n;
    /** Records of the attacker's own, (attacker_n, feature_count), which principal components are taken from. NULL: from
     *  the samples. */
    const float *attacker;
    size_t attacker_n;
    /** Of a record and a sample, channels 1 or 3, for the pictures of a report [0: they are not images]. */
    size_t channels, height, width;
    /** Zeros: room for later members. */
    uint64_t reserved[4];
};
/** What a language model says of texts. All arrays: members first, then non-members. */
struct sotto_token_input {
    /** (n, length) ln p(token | those before it); NaN behind a text's end. */
    const float *logprobs;
    size_t length;
    /** (n, length): mean and standard deviation of ln p over the model's vocabulary at each token. NULL: none. */
    const float *mean, *deviation;
    /** The same texts by a reference model, and in lower case by the model itself. NULL: none. */
    const float *reference, *lowercase;
    size_t reference_length, lowercase_length;
    /** (n): length of the text as zlib compresses it. NULL: none. */
    const double *bytes;
    /** (n, neighbours): mean losses of texts that differ from it in a few words, nats a token. NULL: none. */
    const float *neighbour_losses;
    size_t neighbours;
    /** Zeros: room for later members. */
    uint64_t reserved[4];
};
/** Attribute inference: records with a hidden attribute, 0 .. values - 1, and what a model reveals about them. */
struct sotto_attribute_input {
    /** (n, d): embeddings, outputs or anything else that the attacker sees. */
    const float *features;
    /** (n) */
    const int64_t *attribute;
    /** (n), 0 .. classes - 1: the task's label, for the baseline that sees nothing else; NULL: none. */
    const int64_t *labels;
    size_t n, d, classes;
    /** What weaker attackers have instead of `features`, each with the labels if there are any: the model's answers
     *  (n, output_count), and what is known of the record anyway (n, known_count). NULL: no such baseline. */
    const float *outputs, *known;
    size_t output_count, known_count;
    /** > 0: the attacker knows the first n_aux records and is tested on all others; 0: a random half is known, the
     *  other half is the test. */
    size_t n_aux;
    /** Networks of 3 .. deepest dense layers are tried, each with a result of its own; at most 6 [0: one of 3 only]. */
    size_t deepest;
    /** Zeros: room for later members. */
    uint64_t reserved[4];
};
/** Arrays to audit. Rows are records. Either logits or probabilities with labels, or scores. */
struct sotto_audit_input {
    /** (n, K) logits, or probabilities if `probabilities`. */
    const float *member, *nonmember;
    /** The same in double precision, instead of the two above. */
    const double *member_f8, *nonmember_f8;
    int probabilities;
    const int64_t *member_labels, *nonmember_labels;
    /** Instead of logits. */
    const double *member_losses, *nonmember_losses;
    /** Instead of logits: any score, higher = more member-like. */
    const double *member_scores, *nonmember_scores;
    size_t n_member, n_nonmember, classes;
    /** Reference (shadow) models on the same records, for LiRA, RMIA and their relatives: (n, models) signals
     *  ln(p_y / (1 - p_y)) of the true class, or losses if `reference_losses`. NULL: none. */
    const double *member_reference, *nonmember_reference;
    /** (n, models): 1 where the model was trained on the record; NULL: no reference saw any record (offline). */
    const uint8_t *member_trained, *nonmember_trained;
    /** Instead of the four above: the same matrices in files (sotto/private/io.h), both sides of each, which are read in several
     *  passes. Not with views. */
    const struct sotto_rows *member_reference_rows, *nonmember_reference_rows;
    const struct sotto_rows *member_trained_rows, *nonmember_trained_rows;
    /** At least 1. Attacks that need the spread of several models are left out where there is one. */
    size_t reference_models;
    int reference_losses;
    /** Instead of signals: the reference models' logits or probabilities on all records, members first:
     *  (models, n_member + n_nonmember, classes), in single or double precision. `reference_kind` says which. */
    const float *reference_outputs;
    const double *reference_outputs_f8;
    /** (models, n_member + n_nonmember): 1 where the model was trained on the record; NULL: no model saw any record. */
    const uint8_t *reference_outputs_trained;
    /** Records known to be members of nothing: outputs (n_population, classes) and labels, or losses, as for the
     *  target's records. NULL: none. */
    const double *population, *population_losses;
    /** (n_population, models): the reference models' signals, or their losses. */
    const double *population_reference;
    const int64_t *population_labels;
    size_t n_population;
    /** Answers on several views of each record (mirrored, shifted, the record itself), (n, views, classes): the same
     *  views in the same order for all models, outputs of the kind of the target's. Those of the population are for
     *  RMIA, which without them compares the records with each other. NULL: none. */
    const double *member_views, *nonmember_views, *population_views;
    /** Of the reference models: (reference_models, n_member + n_nonmember, views, classes), in single or double
     *  precision. They join what the references say about the records as they are. */
    const float *reference_views, *population_reference_views;
    const double *reference_views_f8, *population_reference_views_f8;
    /** 1 .. 255 */
    size_t views;
    /** The records themselves, flattened: (n, feature_count). For the checks of the two sets, the quantile attack and distances to
     *  generated samples. */
    const float *member_features, *nonmember_features, *population_features;
    size_t feature_count;
    /** A mean that was released (of a class, a cluster, a group of people) and that of a population, (feature_count)
     *  each. The attack decides whether a record, given by its features, was part of the released mean. NULL: none. */
    const double *released_mean, *reference_mean;
    /** Instead of reference_mean: the people behind it, (n_reference, feature_count). None of them may be a non-member of
     *  this audit: the mean holds them, so they would look like anything but outsiders. NULL: unknown. */
    const float *reference_people;
    size_t n_reference;
    /** Scores of attacks that were run elsewhere; each becomes one more entry of "attacks". */
    const struct sotto_audit_scores *named;
    size_t named_count;
    /** Attribute inference, beside the attacks on membership or instead of them. NULL: none. */
    const struct sotto_attribute_input *attribute;
    /** A generative model under attack. NULL: none. */
    const struct sotto_generative_input *generative;
    /** A shadow model of the attacker's own: outputs (n_shadow, classes) of the same kind as the target's. NULL: none. */
    const double *shadow;
    const int64_t *shadow_labels;
    /** 1 for the records that the shadow model was trained on. */
    const uint8_t *shadow_trained;
    size_t n_shadow;
    /** Texts and a language model. NULL: none. */
    const struct sotto_token_input *tokens;
    /** When each record was written, as a number (days, years). Sets that differ by date can be told apart without any model.
     *  NULL: unknown. */
    const double *member_dates, *nonmember_dates;
    /** Of reference_outputs [0: the kind of the target's outputs]; 1: logits; 2: probabilities. */
    int reference_kind;
    /** Zeros: room for later members. */
    uint64_t reserved[4];
};
/** {0} or NULL: all defaults. */
struct sotto_audit_options {
    /** Attacks to run, NULL-terminated; NULL: all that apply. */
    const char *const *names;
    /** False-positive rates to report [.01, .001]. */
    const double *fpr;
    size_t fpr_count;
    /** [.95] */
    double confidence;
    /** Of the lower bounds on epsilon [0]. */
    double delta;
    /** [0] of the half split for thresholds, and of the bootstrap. */
    uint64_t seed;
    /** "attack.parameter=value", NULL-terminated; NULL: the usual values. */
    const char *const *settings;
    /** Of the bootstrap [2000]. */
    size_t draws;
    /** 1: test the claim of (claim_epsilon, claim_delta)-differential privacy. */
    int has_claim;
    double claim_epsilon, claim_delta;
    /** Each record was a member by a fair coin of its own: adds the one-run bound on epsilon (Steinke, Nasr and
     *  Jagielski 2023) from this many guesses on each side [0: no]. Fix it before looking at results. */
    size_t one_run_guesses;
    /** Scores are one for each training run, and "members" are runs on data that held a group of this many records:
     *  bounds are divided accordingly (Jagielski et al. 2020) [0: no]. */
    size_t group_size;
    /** 1: the mechanism claims a constant odds ratio (additive logistic noise); adds an exact interval of it [0]. */
    int odds_ratio;
    /** 1: memorisation of single records by the reference models [0]. */
    int memorisation;
    /** Number of the most vulnerable members that are listed [0]. */
    size_t most_vulnerable;
    /** 1: with their row numbers. */
    int include_indices;
    /** Zeros: room for later members. */
    uint64_t reserved[4];
};
/** Runs the attacks.
 *
 *  In:  options  NULL: the defaults
 *  Out: out      for each attack AUC, rates, balanced accuracy and a lower bound on epsilon, with intervals; ROC points (at
 *                most 500), realised false-positive rates, sizes, warnings. Free with sotto_audit_result_free().
 *
 *  Returns: EUSAGE  there is no such attack, or it needs other arrays; one side has what the other lacks
 *           EINVAL  sizes, labels, values that are not finite or no probabilities
 *           ENOMEM, ESTOPPED */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_audit(struct sotto_audit_result *out,
                                                    const struct sotto_audit_input *in,
                                                    const struct sotto_audit_options *options,
                                                    const struct sotto_context *ctx);

/** What a model betrays of a canary: its place among candidates of which any could have been inserted. */
struct sotto_exposure {
    double score;
    size_t rank,
        candidates; /**< rank 1: most likely, ties count against the canary's exposure; candidates: with the canary */
    double exposure, most; /**< bits: log2 candidates - log2 rank; most: at rank 1 */
    double
        p_value; /**< rank / candidates: of a canary that was never inserted, at most p with probability p */
    double
        extrapolated; /**< bits, by a normal law fitted to the candidates: assumed, not measured. NAN: they are constant */
};
/** In:      candidates  (n) scores of the others, higher = more likely to be in the training
 *  Returns: EINVAL  a score that is not finite, no candidates
 *  Source:  Carlini et al. 2019, The secret sharer, section 4 */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_exposure(struct sotto_exposure *out, double score,
                                                       const double *candidates, size_t n);

/** What tracing can find in a mean of `pool` people, over independent loci, before any data are touched. */
struct sotto_tracing_power {
    double separation; /**< d': distance of members and others, in standard deviations */
    double auc, tpr;   /**< tpr: at the false-positive rate that was asked for */
    double plain_auc;  /**< of tracing without standardisation, for frequencies uniform in (.05, .95) */
};
/** In:      loci, pool  at least 1
 *           reference   people behind the population's frequencies; 0: these are known exactly
 *           fpr         in (0, 1)
 *  Out:     *out        d' = sqrt(loci) (1/pool) / sqrt(1/pool + 1/reference), AUC = Phi(d'/sqrt 2), TPR = Phi(d' - z_fpr)
 *  Returns: EINVAL
 *  Source:  docs/derivations/tracing.md */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_tracing_power(struct sotto_tracing_power *out, double loci,
                                                            double pool, double reference, double fpr);
/** Out:     *loci  the fewest independent loci at which `tpr` of the members are found at `fpr`
 *  Returns: EINVAL, also for tpr <= fpr */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_tracing_loci(double *loci, double pool, double reference,
                                                           double fpr, double tpr);
/** Writes r->memorisation->values as .npy.
 *
 *  Returns: EUSAGE   no memorisation was measured
 *           ECREATE, EIO, ENOMEM */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_audit_save_memorisation(const char *path,
                                                                      const struct sotto_audit_result *r);
/** Writes the p-values of the attacks that are tests with a known law: CSV, one line for each record, with attack, side,
 *  row, score, p_normal and p_conformal.
 *  Returns: EUSAGE   no attack has p-values
 *           ECREATE, EIO, ENOMEM */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_audit_save_p_values(const char *path,
                                                                  const struct sotto_audit_result *result);

/** Embeddings of n records by one encoder: `views` random views of each, (n, views, d), and the record as it is, (n, d).
 *  sotto_embed_views() and sotto_embed() make them, or any other program. */
struct sotto_encoder_views {
    const float *views, *plain;
    size_t n;
};
struct sotto_encoder_attack_input {
    /** By the encoder under attack. Members pre-trained it. */
    struct sotto_encoder_views member, nonmember;
    /** By an encoder of the attacker's own. Both {0}: no shadow; then only the mean similarity of views and, with a bank, the
     *  contrastive loss are attacks, without thresholds. */
    struct sotto_encoder_views shadow_member, shadow_nonmember;
    /** Views of each record, at least 2, even for the contrastive loss; d of either encoder. */
    size_t views, width, shadow_width;
    /** Records that are in neither training set, embedded by either encoder: (bank_n, width), (bank_n, shadow_width).
     *  NULL: the contrastive-loss attack is left out. */
    const float *bank, *shadow_bank;
    size_t bank_n;
    /** [0.1] of the contrastive loss. */
    double temperature;
    /** Zeros: room for later members. */
    uint64_t reserved[4];
};
/** Membership in the pre-training set of an ENCODER (not of a head trained on it): EncoderMI with its vector, set and
 *  threshold attackers (Liu et al. 2021), the contrastive loss, and a likelihood ratio of the embedding's norm. Their
 *  classifiers and thresholds are fitted on the shadow encoder.
 *
 *  Out: out     those of the five attacks that were run, and out->encoder; free with sotto_audit_result_free()
 *       scores  (5, n_member + n_nonmember) in the order of the attacks, HIGHER = MORE MEMBER-LIKE; may be NULL
 *
 *  Returns: EINVAL  sizes, values that are not finite, fewer than 20 shadow records on a side
 *           ENOMEM, ESTOPPED */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_encoder_attack(struct sotto_audit_result *out, double *scores,
                                                             const struct sotto_encoder_attack_input *in,
                                                             const struct sotto_audit_options *options,
                                                             const struct sotto_context *ctx);

/** Out: *out: area under the ROC curve (ties count half), with DeLong's interval. Returns: EINVAL, ENOMEM. */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_auc(struct sotto_estimate *out, const double *member,
                                                  size_t n_member, const double *nonmember,
                                                  size_t n_nonmember, double confidence);
/** Out: *out: k / n and its Clopper-Pearson interval. Returns: EINVAL. */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_clopper_pearson(struct sotto_estimate *out, size_t k, size_t n,
                                                              double confidence);

#ifdef __cplusplus
}
#endif
#endif
