/* audit_private.h - the parts of one audit, shared by the audit_*.c files.
 *
 * Scores of any origin become one of a result's attacks by audit_row(): that is the door for attacks that train
 * or query models. sotto_audit() is a loop around it. */
#ifndef AUDIT_AUDIT_PRIVATE_H
#define AUDIT_AUDIT_PRIVATE_H

#include "audit/score/score_attack.h"
#include "audit/audit_memory.h"
#include "audit/audit_references.h"
#include "audit/audit_support.h"
#include "audit/measure/metrics.h"

enum { AUDIT_LEAST_PER_SLICE = 30 };

/* Options with every default filled in. */
struct audit_settings {
    const double *fpr;
    double usual_fpr[2];
    size_t fpr_count;
    double confidence, delta;
    uint64_t seed;
    const char *const *params;
    size_t draws, one_run_guesses, group_size, most_vulnerable;
    bool has_claim, odds_ratio, include_indices, memorisation;
    const struct sotto_context *ctx; /* to ask whether to stop, from any thread */
    double claim_epsilon, claim_delta;
    double shared_confidence; /* of an interval that holds for all attacks at once (Bonferroni) */
};
sotto_status audit_settings_resolve(struct audit_settings *out, const struct sotto_audit_options *options);

/* All records as an attack sees them, members first, and what they hold (of enum attack_need); member and
 * nonmember are its two parts. EUSAGE: nothing to audit, or one side has what the other lacks; EINVAL: values
 * that are not finite, not probabilities, or labels out of range. */
enum audit_array {
    ARRAY_OUTPUTS,
    ARRAY_LABELS,
    ARRAY_LOSSES,
    ARRAY_SCORES,
    ARRAY_REFERENCE,
    ARRAY_TRAINED,
    ARRAY_FEATURES,
    ARRAY_REFERENCE_MEAN,
    ARRAY_POPULATION_REFERENCE,
    ARRAY_VIEW_SIGNALS,
    ARRAY_VIEW_REFERENCE,
    ARRAY_POPULATION_VIEW_SIGNALS,
    ARRAY_POPULATION_VIEW_REFERENCE,
    ARRAY_DISCRIMINATOR,
    ARRAY_SIGNALS,
    ARRAY_SUMMARY,
    ARRAY_COUNT
};
struct audit_arrays {
    struct attack_input all, member, nonmember, population;
    unsigned have;
    const float *reference_outputs; /* borrowed: (models, all.n, classes), or NULL; as the next */
    const double *reference_outputs_f8;
    bool reference_probabilities;       /* they are probabilities, not logits */
    const double *dates[2];             /* borrowed: of members and non-members; NULL: unknown */
    struct reference_matrix matrix;     /* borrowed: the references, if they are not in `all` */
    struct reference_source references; /* either; as many models as all.models */
    struct sotto_context quiet;         /* of the attacks */
    void *owned[ARRAY_COUNT];           /* the arrays of `all` */
};
sotto_status audit_check(struct audit_arrays *out, const struct sotto_audit_input *in,
                         const struct sotto_context *ctx);
void audit_arrays_clear(struct audit_arrays *s);
/* Fills s->owned and s->all from in; nothing is checked but sizes. ENOMEM. */
sotto_status audit_join(struct audit_arrays *s, const struct sotto_audit_input *in);
/* After the checks: reference models' outputs or losses become signals. */
sotto_status audit_join_references(struct audit_arrays *s, const struct sotto_audit_input *in,
                                   const struct sotto_context *ctx);
/* What the reference models say of all records: s->references and all.summary. `s` stays where it is. ENOMEM. */
sotto_status audit_summarise_references(struct audit_arrays *s, const struct sotto_context *ctx);
/* all.tuned_a: RMIA's a with which two reference models, each attacked with the help of the others, are told from their own
 * records best. After the references were summarised. ENOMEM, ESTOPPED. */
sotto_status audit_tune_rmia(struct audit_arrays *s, const struct sotto_context *ctx);
/* Views, checked and turned into signals, once the references are there. EUSAGE, EINVAL, ENOMEM. */
sotto_status audit_join_views(struct audit_arrays *s, const struct sotto_audit_input *in,
                              const struct sotto_context *ctx);

/* The random halves, the same for every attack: order[0 .. n/2) calibrates thresholds, the rest evaluates them. */
struct audit_halves {
    int64_t *member, *nonmember;
};
sotto_status audit_halves_make(struct audit_halves *out, size_t n_member, size_t n_nonmember, uint64_t seed);
void audit_halves_clear(struct audit_halves *h);

/* One attack's scores, whatever made them: all finite, both sides >= 2. */
struct audit_scored {
    const char *name, *title, *source; /* title, source: may be NULL */
    const double *member, *nonmember;
    size_t n_member, n_nonmember;
    const char *access;       /* of an attack on a generative model: what it sees; NULL: another attack */
    double radius;            /* of such an attack; NAN: none */
    const uint8_t *fallback;  /* (n_member + n_nonmember), members first; NULL: nowhere */
    double own_threshold;     /* the attack's own decision; NAN: none */
    const char *threshold_of; /* where it comes from */
};
/* One attack's result, in *memory. `index` tells its bootstrap stream from others'. */
sotto_status audit_row(struct sotto_audit_attack *out, struct sotto_audit_memory **memory,
                       const struct audit_scored *s, size_t index, const struct audit_halves *halves,
                       const struct audit_settings *settings);
/* Runs an attack of the table and measures it. scores, fallback (all.n; 0 before): its own, for what needs
 * them later. */
sotto_status audit_measure(struct sotto_audit_attack *out, struct sotto_audit_memory **memory, double *scores,
                           uint8_t *fallback, const struct score_attack *attack, size_t index,
                           const struct audit_arrays *arrays, const struct audit_halves *halves,
                           const struct audit_settings *settings);

struct audit_curves {
    struct roc all, calibration, evaluation; /* of all records; of the two halves */
};
/* Rates at low false-positive rates, each with its realised FPR, PPV at three priors and the least TPR that could have
 * been told from guessing: out->rates and out->at_zero. */
sotto_status audit_measure_rates(struct sotto_audit_attack *out, struct sotto_audit_memory **memory,
                                 const struct audit_curves *c, size_t index,
                                 const struct audit_settings *settings);
/* Records of `evaluation` above a threshold that was not chosen on it. */
struct sotto_audit_flagged audit_flagged(const struct roc *evaluation, double threshold, double confidence);
/* Lower bounds on epsilon: out->epsilon, and on demand claim, one_run and odds. */
sotto_status audit_measure_bounds(struct sotto_audit_attack *out, struct sotto_audit_memory **memory,
                                  const struct audit_curves *c, const struct audit_scored *s,
                                  const struct audit_settings *settings);

/* r->memorisation. EUSAGE: no reference models of both kinds. */
sotto_status audit_memorisation(struct sotto_audit_result *r, const struct audit_arrays *arrays,
                                const struct audit_settings *settings, const struct sotto_context *ctx);
/* Pictures of images that a generative model made: r->generator->sheet and, with settings->include_indices, nearest. */
sotto_status audit_draw_pictures(struct sotto_audit_result *r, const struct audit_arrays *arrays,
                                 const struct sotto_generative_input *in,
                                 const struct audit_settings *settings);
/* What is measured of attacks on generative models only: out->generative. */
sotto_status audit_measure_generative(struct sotto_audit_attack *out, struct sotto_audit_memory **memory,
                                      const struct audit_scored *s, const struct roc *all,
                                      const struct audit_settings *settings);
/* out->p_values, of scores that are standard normal for non-members with independent features. */
sotto_status audit_p_values(struct sotto_audit_attack *out, struct sotto_audit_memory **memory,
                            const struct audit_scored *s, double confidence);

/* What follows adds one part of the result each. */

/* "duplicates", "distribution", "classes", "generalisation": what would make every other number mean
 * something else. */
sotto_status audit_sanity(struct sotto_audit_result *r, const struct audit_arrays *arrays,
                          const struct audit_settings *settings, const struct sotto_context *ctx);
/* "direction", after the attacks: an AUC that lies wholly below .5. ENOMEM. */
sotto_status audit_sanity_direction(struct sotto_audit_result *r);
/* Per class and per correctness, for one attack chosen beforehand. */
sotto_status audit_slices(struct sotto_audit_result *r, const char *attack, const double *scores,
                          const struct audit_arrays *arrays, const struct audit_halves *halves,
                          const struct audit_settings *settings);
/* The members that an attack is surest of; fallback (all.n): which scores rest on others' statistics. */
sotto_status audit_most_vulnerable(struct sotto_audit_result *r, const char *attack, const double *scores,
                                   const uint8_t *fallback, const struct audit_support *support,
                                   const struct audit_arrays *arrays, const struct audit_settings *settings);
/* What a classifier learns about a hidden attribute, beside what it could guess without the model. */
sotto_status audit_attribute(struct sotto_audit_result *r, const struct sotto_attribute_input *in,
                             const struct audit_settings *settings, const struct sotto_context *ctx);
/* Every reference model plays the target once: what the same attack finds on the same recipe. scores_of gives
 * an attack's scores (all.n) of the real target, NULL if it did not run: the median threshold is tried on
 * those. */
typedef const double *(*audit_scores_of)(const void *arg, const char *attack);
/* support (clear it): how steadily `closer` flags each record, at the first rate. */
sotto_status leave_one_model_out(struct sotto_audit_result *r, struct audit_support *support,
                                 const char *closer, const struct audit_arrays *arrays,
                                 audit_scores_of scores_of, const void *arg,
                                 const struct audit_settings *settings, const struct sotto_context *ctx);

#endif
