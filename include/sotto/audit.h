/* audit.h - the result of an audit as plain values, its JSON document, its table and its gates.
 *
 * sotto_audit(), sotto_attack() and sotto_encoder_attack() fill a struct sotto_audit_result. The strongest attack by AUC:
 *
 *     for (size_t i = 0; i < r.attack_count; i++)
 *         if (r.attacks[i].auc.area.estimate > best)
 *             best = r.attacks[i].auc.area.estimate, name = r.attacks[i].name;
 *
 * Rates, shares and confidences are fractions; intervals are at the audit's confidence. NAN: not measured. A threshold of
 * INFINITY flags no record. docs/FORMATS.md, sotto.audit/1, says what each number means.
 *
 * Lower bounds on epsilon are tried in both directions: high scores are taken for members, and for non-members. The two
 * directions share the error probability (Bonferroni): each has half of it. sotto_audit_judge() says what an audit found. */
#ifndef SOTTO_AUDIT_H
#define SOTTO_AUDIT_H

#include "sotto/account.h"

#ifdef __cplusplus
extern "C" {
#endif

struct sotto_rows;

/** Records with a score above one threshold that was chosen on other records. */
struct sotto_audit_flagged {
    double threshold;
    struct sotto_estimate tpr, fpr; /**< of members, of non-members; fpr is the realised one */
    struct sotto_estimate ppv[3]; /**< share of members among the flagged if .5, .1, .01 of all are members */
    size_t n_member, n_nonmember; /**< records that were scored */
};
/** The true-positive rate at a false-positive rate, from all records. The threshold with that rate is unknown; its chance is
 *  part of the interval. */
struct sotto_audit_tpr {
    /** estimate: at the lowest threshold that flags no larger share of non-members */
    struct sotto_estimate rate;
    double confidence, realised_fpr;
    const char *method;                  /**< "bootstrap" or "order statistics" */
    const char *no_lower;                /**< why `lower` is 0 whatever the scores are; NULL: it is a bound */
    size_t draws, n_member, n_nonmember; /**< draws 0: no bootstrap */
};
/** What was measured for one false-positive rate. */
struct sotto_audit_rate {
    double fpr;                          /**< the rate of the options */
    const char *refused;                 /**< why it cannot be measured; NULL: the rest is filled in */
    struct sotto_audit_tpr tpr;          /**< the result */
    struct sotto_audit_tpr simultaneous; /**< the same with an interval that holds for all attacks at once */
    /** at a threshold fixed beforehand (on other records), which has another FPR */
    struct sotto_audit_flagged fixed;
    int weak; /**< 1: fewer than 10 / fpr non-members */
    /** smallest true rate at `fixed` that 4 of 5 audits of this size tell from guessing */
    double least_detectable;
};
struct sotto_audit_auc {
    struct sotto_estimate area;
    const char *method; /**< of the interval */
};
struct sotto_audit_balanced {
    struct sotto_estimate accuracy; /**< (TPR + TNR) / 2 */
    double threshold, oracle;       /**< oracle: the best over all thresholds; optimistic */
    size_t n_member, n_nonmember;   /**< records that were scored */
};
/** What the attack itself decides, on all records. */
struct sotto_audit_decision {
    struct sotto_estimate balanced_accuracy, tpr, fpr;
    double threshold;
    const char *from; /**< where the threshold comes from */
    size_t n_member, n_nonmember;
};
/** A lower bound on epsilon, at one threshold that was chosen on other records: the larger one of two directions. fpr above
 *  tpr: it is that of the opposite guess, which takes a high score for a non-member's. */
struct sotto_audit_bound {
    double lower_bound, threshold, delta, confidence;
    struct sotto_estimate tpr, fpr;           /**< each alone, at the audit's confidence */
    size_t n_member, n_nonmember, group_size; /**< group_size 0: single records */
    const char *assumption;
};
/** The largest of several lower bounds on epsilon, which share the error probability. */
struct sotto_audit_best {
    double lower_bound, delta, confidence;
    const char *bound; /**< which: "Clopper-Pearson", "one run" or "odds ratio" */
    size_t bounds;     /**< that were tried */
};
/** What one attack says of a claimed epsilon. */
struct sotto_audit_attack_claim {
    struct sotto_audit_best best; /**< at this attack's share of the error probability */
    int contradicted;             /**< 1: the lower bound is above the claimed epsilon */
};
/** A lower bound on epsilon from guesses about the records of one training. High scores are guessed members; then the
 *  opposite is guessed. The direction with more right guesses counts, and the bound pays for both directions. */
struct sotto_audit_one_run {
    size_t records, guesses, right;        /**< records; those that were guessed; guesses that were right */
    double delta, confidence, lower_bound; /**< lower_bound: of epsilon */
    const char *assumption;
};
/** What the same guesses prove with other assumptions than those of sotto_audit_one_run, each under its own name, and a
 *  Bayesian interval beside them. Only `epsilon` bounds every (epsilon, delta) mechanism. */
struct sotto_audit_one_run_bounds {
    /** lower bound by the recursion of Mahloujifar, Melis and Chaudhuri 2024 on (epsilon, delta) itself */
    double epsilon;
    double mu; /**< lower bound of mu in Gaussian differential privacy, if the curve is Gaussian */
    double gaussian_epsilon;        /**< of a Gaussian curve with that mu, at delta; NAN: delta is 0 */
    struct sotto_estimate bayesian; /**< median and credible interval (Zanella-Beguelin et al. 2023) */
    double delta, confidence;
    const char *epsilon_assumes, *mu_assumes, *bayesian_assumes;
};
/** How the odds of being flagged differ between members and non-members. */
struct sotto_audit_odds {
    struct sotto_estimate ln_odds_ratio; /**< Fisher's exact conditional interval */
    double threshold;
    const char *of;
    size_t n_member, n_nonmember;
};
/** Records without statistics of their own (too few reference models, too rare a class). The statistics of their class or of
 *  all records stand in. */
struct sotto_audit_fallback {
    size_t member, nonmember;
    size_t *member_rows, *nonmember_rows; /**< their rows; NULL: not asked for, or none on either side */
};
/** How rarely a record outside of the released mean scores as high as this one. */
struct sotto_audit_p_value {
    double score;
    double normal; /**< of the normal law: holds only if the features are independent */
    /** (1 + non-members that score as high) / (1 + non-members): holds for exchangeable records */
    double conformal;
};
/** Of Homer's test: shares of the records with a p-value of at most `level`. */
struct sotto_audit_p_values {
    double level; /**< .01 */
    struct sotto_estimate member_normal, member_conformal, nonmember_normal;
    int normal_refuted; /**< 1: non-members are below `level` more often than it says; do not use `normal` */
    struct sotto_audit_p_value *member, *nonmember; /**< (n_member), (n_nonmember); NULL: from a document */
};
struct sotto_audit_point {
    double fpr, tpr;
};
struct sotto_audit_histogram {
    double lower, upper; /**< ends of the axis of scores, cut into equal bins */
    size_t bins, *member, *nonmember;
};
struct sotto_audit_parameter {
    const char *name;
    double value;
};
/** What is measured only of attacks on generative models. */
struct sotto_audit_generative {
    const char *access; /**< what of the model the attack sees: "samples", "discriminator", ... */
    double radius;      /**< largest distance of a sample that counts; NAN: not that kind of attack */
    size_t lowest_tied; /**< records of both sides that share the lowest score */
    double top_share;   /**< share of members among the n_member highest scores; ties count by their share */
    /** Which of two sets of `set_size` records was trained on: the one with the larger sum of scores. Share of right
     *  answers over set_draws random pairs of sets. The sets overlap: the interval is for such pairs, not for models. */
    struct sotto_estimate set_accuracy;
    size_t set_draws, set_size;
};
/** Intervals that hold for all attacks at once: the error probability is shared (Bonferroni). Gates use these. */
struct sotto_audit_simultaneous {
    double confidence; /**< of each single interval */
    struct sotto_estimate auc, balanced_accuracy;
    struct sotto_audit_best epsilon;
};
/** One attack on membership. */
struct sotto_audit_attack {
    const char *name, *title, *source;
    size_t n_member, n_nonmember;
    struct sotto_audit_auc auc;
    struct sotto_audit_rate *rates; /**< one for each false-positive rate of the options */
    size_t rate_count;
    struct sotto_audit_flagged at_zero; /**< above every non-member of the calibration half */
    struct sotto_audit_balanced balanced;
    double advantage;                     /**< largest TPR - FPR over all thresholds; optimistic */
    struct sotto_audit_bound epsilon;     /**< Clopper-Pearson */
    struct sotto_audit_best epsilon_best; /**< of all bounds that hold here */
    struct sotto_audit_simultaneous simultaneous;
    struct sotto_audit_decision *decision;             /**< NULL: the attack does not decide by itself */
    struct sotto_audit_attack_claim *claim;            /**< NULL: no claim was tested */
    struct sotto_audit_one_run *one_run;               /**< NULL: not asked for */
    struct sotto_audit_one_run_bounds *one_run_bounds; /**< NULL: not asked for */
    struct sotto_audit_odds *odds;                     /**< NULL: not asked for */
    struct sotto_audit_fallback *fallback;             /**< NULL: the caller gave the scores */
    struct sotto_audit_p_values *p_values;             /**< NULL: the attack is no test with a known law */
    struct sotto_audit_point *roc;                     /**< at most 500 of the curve's own vertices */
    size_t roc_count;
    struct sotto_audit_histogram histogram;
    struct sotto_audit_parameter *parameters; /**< NULL: the caller gave the scores */
    size_t parameter_count;
    struct sotto_audit_generative *generative; /**< NULL: not an attack on a generative model */
};

struct sotto_audit_accuracy {
    struct sotto_estimate rate;
    size_t n;
};
struct sotto_audit_class {
    size_t class_number;
    struct sotto_audit_accuracy accuracy; /**< on the non-members of this class, at least one */
};
/** Accuracy of the model under attack. */
struct sotto_audit_accuracies {
    struct sotto_audit_accuracy member, nonmember;
    double gap; /**< of members minus non-members */
    struct sotto_audit_class *by_class;
    size_t class_count;
};

/** How much more often models are right about one record if they were trained on it. */
struct sotto_memorised {
    int64_t row; /**< among the members, or the non-members; -1: rows were not asked for */
    int member;  /**< of the target: 1 or 0 */
    /** share of right IN models less that of right OUT models; Newcombe's interval */
    struct sotto_estimate value;
    double probability; /**< the same with mean probabilities of the true class */
    size_t in, out;     /**< reference models trained on it, and not */
};
/** Memorisation of records by the recipe that trained the reference models (Feldman and Zhang 2020). The target has no part in
 *  it. Of many records, the highest values are high by chance too. */
struct sotto_audit_memorisation {
    const char *right;    /**< what counts as a right answer */
    size_t judged, least; /**< records with at least `least` reference models on each side */
    double above_half;    /**< share of these with a value above .5; NAN: none was judged */
    struct sotto_audit_histogram histogram; /**< of the values, from -1 to 1 */
    struct sotto_memorised *highest;        /**< highest first */
    size_t count;
    double *values; /**< (n_member + n_nonmember), members first; NAN: not judged. NULL: from a document */
};

enum sotto_check_level { SOTTO_CHECK_OK, SOTTO_CHECK_WARNING, SOTTO_CHECK_UNKNOWN };
struct sotto_audit_duplicates {
    const char *compared; /**< "records" or "rows of outputs" */
    size_t members, nonmembers, within_members, within_nonmembers;
};
struct sotto_audit_shift {
    struct sotto_estimate auc; /**< of a classifier that sees the records alone */
    size_t n;
};
struct sotto_audit_classes {
    double p; /**< p-value of equal shares of the classes on both sides */
    size_t classes, *member, *nonmember;
};
/** Rounded probabilities: of how many records a signal lies beyond what the rounding left. */
struct sotto_audit_rounding {
    double step; /**< that they were rounded to */
    size_t saturated_members, saturated_nonmembers;
};
/** A check that comes before any claim. Of the five pointers below, the one that `name` says is set. */
struct sotto_audit_check {
    /** "duplicates", "distribution", "classes" or "generalisation"; where there is something to say, also "dates", "rounding", "logits",
     *  "losses", "constant", "references" and "direction". */
    const char *name;
    enum sotto_check_level level;
    const char *text;
    struct sotto_audit_duplicates *duplicates;
    struct sotto_audit_shift *shift;
    struct sotto_audit_classes *classes;
    struct sotto_estimate *gap; /**< of the two accuracies */
    struct sotto_audit_rounding *rounding;
};

/** One verdict on the claim, over all attacks. A claim that is not contradicted is not proved. */
struct sotto_audit_claim {
    double epsilon, delta, lower_bound, confidence;
    int contradicted;   /**< 1: at least one lower bound is above the claimed epsilon */
    const char *attack; /**< with the largest bound; NULL: none ran */
    const char *bound;  /**< which bound that was */
    size_t attacks;
};

/** What the coins of one run decided. */
enum sotto_coins {
    SOTTO_COINS_INCLUSION,  /**< whether a record was there: tests add-remove and zero-out */
    SOTTO_COINS_REPLACEMENT /**< which of two records was there: tests replace-one and replace-input */
};
/** Whether guesses in one run contradict a certificate's whole trade-off curve. A curve that is not contradicted is not
 *  proved; one that is says nothing of other (epsilon, delta). */
struct sotto_audit_curve {
    const char *of, *adjacency; /**< of the profile */
    const char *refused;        /**< why it was not tested; NULL: it was */
    double confidence, p_value; /**< p_value: over all attacks and both directions (Bonferroni) */
    int contradicted;           /**< 1: p_value is at most 1 - confidence */
    const char *attack;         /**< with the smallest p-value */
    size_t attacks;
    const char *assumption;
};

struct sotto_audit_slice {
    const char *name, *refused; /**< refused: why nothing was measured; NULL: it was */
    size_t n_member, n_nonmember, scored_member, scored_nonmember;
    struct sotto_estimate auc, tpr, fpr;
};
/** One attack, chosen independently of the results, on parts of the records; intervals hold for all slices at once. */
struct sotto_audit_slices {
    const char *attack;
    double threshold, confidence;
    struct sotto_audit_slice *rows;
    size_t count;
};

/** Spread over the models that the recipe trains. */
struct sotto_audit_spread {
    double mean, deviation, lowest, highest;
};
struct sotto_audit_spread_rate {
    double fpr;
    struct sotto_audit_spread tpr;
    struct sotto_audit_flagged transferred; /**< the models' median threshold, on the real target */
};
/** Which records trainings of the reference models flag again.
 *
 *  jaccard  records flagged by both models / records flagged by either, among the records that trained both; mean over pairs
 *  pairs    of reference models
 *  judged   records that trained 4 or more models
 *  steady   of those: flagged by at least 80 % of the models trained on them and by none of the others */
struct sotto_audit_stability {
    double fpr, jaccard; /**< fpr NAN: no training had a threshold */
    size_t pairs, steady, judged;
};
/** One attack with every reference model as the target once. */
struct sotto_audit_left_out {
    const char *name;
    size_t targets;
    struct sotto_audit_spread auc; /**< mean NAN: no target could be scored */
    struct sotto_audit_spread_rate *rates;
    size_t rate_count;
    struct sotto_audit_stability *stability; /**< NULL: not the attack of the slices */
};

/** How often trainings flagged one record. */
struct sotto_audit_refound {
    size_t runs, flagged;    /**< trainings that saw the record; those of them that flagged it */
    size_t others, mistaken; /**< trainings that did not see it; those of them that flagged it */
};
struct sotto_audit_vulnerable_member {
    int64_t row; /**< -1: rows were not asked for */
    /** separation: distance of the mean scores of models trained on it and models not trained on it, in units of the two
     *  spreads; NAN: too few reference models. */
    double score, separation;
    size_t nonmembers_as_high;           /**< non-members with a score at least as high */
    int fallback;                        /**< 1: the score uses statistics of its class or of all records */
    struct sotto_audit_refound *repeats; /**< NULL: no reference models */
};
/** The members with the highest scores of one attack, highest first. */
struct sotto_audit_vulnerable {
    const char *attack;
    size_t n_nonmember, count;
    struct sotto_audit_vulnerable_member *members;
};

struct sotto_attribute_scores {
    const char *name; /**< of the classifier or baseline; NULL: a network of `layers` */
    size_t layers;
    struct sotto_estimate accuracy, balanced_accuracy, macro_f1;
};
struct sotto_attribute_step {
    struct sotto_estimate accuracy;
    double share; /**< of the known records that taught the classifier */
    size_t n;
};
/** What a classifier learns about a hidden attribute. */
struct sotto_attribute_result {
    size_t n, values, n_known, n_test, draws;
    double confidence;
    const char *model;
    struct sotto_audit_parameter *validation; /**< balanced accuracy of each classifier that was tried */
    size_t validation_count;
    struct sotto_attribute_step *curve;
    size_t curve_count;
    struct sotto_attribute_scores *depths; /**< NULL: one depth only */
    size_t depth_count;
    struct sotto_attribute_scores attack, *baselines;
    size_t baseline_count;
    struct sotto_estimate gain; /**< in accuracy, over the best baseline */
    const char *gain_over;      /**< the name of that baseline */
};
/** What only the attack on an encoder knows. */
struct sotto_encoder_facts {
    const char *about;
    size_t views, bank, shadow_members, shadow_nonmembers, views_without_direction;
    struct sotto_audit_parameter *shadow_auc; /**< by attack */
    size_t shadow_auc_count;
};

/** A member and the sample that is nearest to it. */
struct sotto_generator_nearest {
    int64_t row;         /**< of the members */
    double distance;     /**< L2, between the values themselves */
    const char *picture; /**< the record, and the sample on its right: a data URI */
};
/** The samples that attacks on a generative model saw. */
struct sotto_generator_facts {
    size_t samples, reference_samples, attacker_records; /**< 0: none were given */
    /** The first samples as one picture, a data URI; NULL: they are not images of at most 64 x 64 pixels. */
    const char *sheet;
    /** The members that are nearest to a sample, nearest first; NULL: likewise, or records must not be shown. */
    struct sotto_generator_nearest *nearest;
    size_t nearest_count;
};

struct sotto_audit_memory;

/** The result of an audit. Start from {0}; free with sotto_audit_result_free(), which owns all that it points to. */
struct sotto_audit_result {
    /** 1: sotto_attack() did its shard and others are not done; the document is a "sotto.shadows/1" object. */
    int pending;
    const char *version;                   /**< of sotto */
    const char *input;                     /**< "logits", "probabilities", "losses", "scores" or "features" */
    size_t n_member, n_nonmember, classes; /**< classes 0: no outputs were given */
    double confidence, delta;
    uint64_t seed;
    struct sotto_audit_attack *attacks;
    size_t attack_count;
    /* Below, NULL stands for what was not asked for or could not be measured. */
    struct sotto_audit_accuracies *accuracy; /**< NULL: no labels were given */
    struct sotto_audit_check *checks;
    size_t check_count;
    struct sotto_audit_claim *claim;
    struct sotto_audit_curve *curve; /**< NULL: sotto_audit_test_curve() was not called */
    struct sotto_audit_slices *slices;
    struct sotto_audit_left_out *left_out; /**< leave-one-model-out: JSON "between_models" */
    size_t left_out_count;
    struct sotto_audit_vulnerable *vulnerable; /**< JSON "exposed" */
    struct sotto_audit_memorisation *memorisation;
    const char **warnings;
    size_t warning_count;
    struct sotto_attribute_result *attribute;
    struct sotto_encoder_facts *encoder;
    struct sotto_generator_facts *generator;
    struct sotto_audit_memory *memory; /**< internal: holds all of the above */
};
SOTTO_API void sotto_audit_result_free(struct sotto_audit_result *r);

/** Tests the curve of a certificate, or of any mechanism, by the guesses of an audit with one_run_guesses.
 *
 *  In:      profile  sotto_certificate_profile() or its relatives
 *           coins    what each coin decided; where that is not what the profile is about, curve->refused says so
 *  Out:     r->curve
 *  Returns: EINVAL  the profile has no points
 *           ENOMEM
 *  Source:  Mahloujifar, Melis and Chaudhuri 2024, theorem 9; docs/derivations/one-run.md */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_audit_test_curve(struct sotto_audit_result *r,
                                                               const struct sotto_privacy_profile *profile,
                                                               enum sotto_coins coins);

/** Out:     *json: the "sotto.audit/1" object of a result (docs/FORMATS.md), one line; free with sotto_text_free()
 *  Returns: ENOMEM */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_audit_encode(char **json, const struct sotto_audit_result *r);
/** In:      json: a "sotto.audit/1" object
 *  Out:     *out: the result that it holds; missing members are NAN, 0 or NULL
 *  Returns: EFORMAT  names the member
 *           ENOMEM */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_audit_decode(struct sotto_audit_result *out, const char *json);

/** Out:     *text: a table for the terminal, one line for each attack; free with sotto_text_free()
 *  Returns: ENOMEM */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_audit_summary(char **text, const struct sotto_audit_result *r);
/** Decides one gate.
 *  In:      rule: METRIC[.lower|.upper][@RATE], then > or <, then a number. METRIC is auc, tpr (needs @RATE),
 *                 balanced_accuracy, advantage or epsilon, each the largest over all attacks; claim (1 if contradicted); or
 *                 lint (number of warnings). .lower, .upper and epsilon are those that hold for all attacks at once
 *           r: NULL: only the rule is checked, and there is no output
 *  Out:     *failed: may be NULL without r. 1 when the rule holds, or when what it asks for was not measured. Gates on attacks also fail where the
 *                    verdict is `swapped`: then none of their numbers means what it says
 *           *line: one line that says so; without r it may be NULL. Free with sotto_text_free()
 *  Returns: EUSAGE   not a rule
 *           EDOMAIN  tpr.lower at a rate for which there are too few non-members: no result could make it pass or fail
 *           ENOMEM */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_audit_gate(int *failed, char **line,
                                                         const struct sotto_audit_result *r,
                                                         const char *rule);

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
    /** Instead of the four above: the same matrices in files, both sides of each, which are read in several
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
    /** [1] of the half split for thresholds, and of the bootstrap. */
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
    /** Number of the most vulnerable members that are listed [10]; attacks on models list none unless asked for. */
    size_t most_vulnerable;
    /** 1: with their row numbers. */
    int include_indices;
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

/** One input file of an audit. The report holds its role and SHA-256, not its name. */
struct sotto_report_input {
    const char *role; /**< "member logits", ... */
    const char *path;
};
/** What a report says of an audit besides its result. {0}: nothing. */
struct sotto_audit_facts {
    const char *title;                       /**< NULL: "Membership audit" */
    const struct sotto_report_input *inputs; /**< (inputs_count), or NULL */
    size_t inputs_count;
    /** Certificate of the audited model, or the released file beside it: it is verified, and what it proves or conditions
     * stands beside what was measured. That the audited answers are those of this file rests on the caller. NULL: none */
    const char *certificate;
    const char *ledger; /**< that was charged for it; NULL: not at hand, and the page says so */
    /** Command that repeats the audit, for the page; names of files do not belong in it. NULL: none */
    const char *command;
};
/** The page of an audit. If the environment has SOURCE_DATE_EPOCH, that is the time that the page shows.
 *  In:      audit: the result
 *           facts: NULL: nothing besides
 *  Out:     *html: the page that sotto_report_audit() writes
 *  Returns: EFORMAT      the result holds something that a report refuses
 *           ENOENT, EIO  an input file cannot be hashed
 *           EGATE        the certificate does not verify
 *           ENOMEM */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_report_audit_html(char **html,
                                                                const struct sotto_audit_result *audit,
                                                                const struct sotto_audit_facts *facts);
/** Writes result.json (the audit), report.json, report.html and the companions.
 *  In:      folder: made if it is not there
 *           audit: the result
 *           facts: NULL: nothing besides
 *  Returns: as above
 *           ECREATE, EIO */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_report_audit(const char *folder,
                                                           const struct sotto_audit_result *audit,
                                                           const struct sotto_audit_facts *facts);

#ifdef __cplusplus
}
#endif
#endif
