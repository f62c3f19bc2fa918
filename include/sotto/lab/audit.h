/* audit.h - more of audits: the verdict, exposure, tracing, attacks on encoders, values of single records. No promise: it may change with
 * any version. */
#ifndef SOTTO_LAB_AUDIT_H
#define SOTTO_LAB_AUDIT_H

#include "sotto/audit.h"

#ifdef __cplusplus
extern "C" {
#endif

/** What the numbers of an audit or of a row of a report say, the worst first (docs/FORMATS.md, sotto.report/1). */
enum sotto_verdict {
    SOTTO_VERDICT_CONTRADICTED, /**< an attack shows more than the proved or the claimed epsilon */
    SOTTO_VERDICT_DESTROYED,    /**< less than a fifth of the accuracy above chance is left */
    SOTTO_VERDICT_LEAKS,
    SOTTO_VERDICT_LEAKS_LITTLE,
    SOTTO_VERDICT_DAMAGED, /**< no attack was better than guessing, but most of the accuracy is lost */
    SOTTO_VERDICT_NOT_DETECTED,
    SOTTO_VERDICT_NOT_ATTACKED
};
/** Returns: the verdict as documents write it, "not-detected"; NULL for other numbers. */
SOTTO_API const char *sotto_verdict_name(enum sotto_verdict verdict);
/** The number that decides a verdict. */
enum sotto_finding {
    SOTTO_FINDING_NONE,
    SOTTO_FINDING_AUC,      /**< an AUC beyond .5 */
    SOTTO_FINDING_TPR,      /**< a true-positive rate above its false-positive rate */
    SOTTO_FINDING_EPSILON,  /**< a lower bound on epsilon above 0 */
    SOTTO_FINDING_ACCURACY, /**< accuracy that is lower on members than on non-members */
    SOTTO_FINDING_CLAIM     /**< a lower bound on epsilon above the claimed one */
};
/** The verdict on one audit.
 *
 *  An audit leaks if a corrected lower end says so, in either direction: of AUC over .5, of TPR over FPR at a rate of the
 *  options, or of epsilon over 0. The opposite direction takes a high score for a non-member's. The error probability
 *  1 - confidence is shared (Bonferroni). Each attack has an equal share: 80 % of it go to AUC, 8 % to the rates, 8 % to
 *  epsilon. The gap of accuracy has 4 % of the whole. So an audit of a model that leaks nothing is said to leak with a
 *  probability of at most 1 - confidence.
 *
 *  It leaks rather than "a little" if the corrected end of AUC is at least .05 from .5, that of TPR is above 2 FPR or .1 above
 *  FPR, that of epsilon above ln 2, or that of the gap of accuracy beyond .1. */
struct sotto_audit_verdict {
    /** CONTRADICTED (the claim), LEAKS, LEAKS_LITTLE, NOT_DETECTED or NOT_ATTACKED */
    enum sotto_verdict kind;
    enum sotto_finding by; /**< NONE: no number says that it leaks */
    int opposite;          /**< 1: the opposite guess found it */
    int swapped;    /**< 1: an AUC wholly below .5 decides, or the accuracy is wholly lower on members */
    size_t attack;  /**< index of the attack that decides, or of the largest AUC; 0 if no attack was run */
    double fpr;     /**< of TPR; else NAN */
    double lower;   /**< the corrected lower end, of the opposite guess if `opposite`; NAN if by NONE */
    char text[512]; /**< the same in a sentence or two */
};
/** Judges an audit by its numbers alone. Pages, gates, comparisons and documents all use this verdict. */
SOTTO_API void sotto_audit_judge(struct sotto_audit_verdict *out, const struct sotto_audit_result *r);

/** What a model betrays of a canary: its place among candidates of which any could have been inserted. */
struct sotto_exposure {
    double score;
    size_t rank,
        candidates; /**< rank 1: most likely, ties count against the canary's exposure; candidates: with the canary */
    double exposure, most; /**< bits: log2 candidates - log2 rank; most: at rank 1 */
    /** rank / candidates: of a canary that was never inserted, at most p with probability p */
    double p_value;
    /** bits, by a normal law fitted to the candidates: assumed, not measured. NAN: they are constant */
    double extrapolated;
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

/** How good a model's answers are. Accuracy says little where one class is frequent: the others say the rest. */
struct sotto_answer_quality {
    size_t records, classes;
    size_t majority;       /**< most frequent class of the records; of equals the first */
    double majority_share; /**< accuracy of whoever always answers with it */
    struct sotto_estimate accuracy,
        balanced; /**< balanced: mean share of right answers of the classes that occur */
    /** Area under the ROC curve of class 1; of more than two classes the mean of each against the rest, of those that occur, without
     *  an interval (NAN). NAN: only one class occurs. */
    struct sotto_estimate auc;
};
/** In:      answers  (n, classes), finite: probabilities, or logits, of which a record's differences count; ties go to the lower class
 *           labels   (n), 0 .. classes-1
 *  Out:     *out       confidence .95: Clopper and Pearson's of accuracy, percentiles of 1,000 bootstrap draws of balanced, DeLong's of auc
 *           confusion  (classes, classes), rows: labels, columns: answers; may be NULL
 *  Returns: EINVAL, ENOMEM */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_answer_quality(struct sotto_answer_quality *out,
                                                             int64_t *confusion, const float *answers,
                                                             int logits, const int64_t *labels, size_t n,
                                                             size_t classes);

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

#ifdef __cplusplus
}
#endif
#endif
