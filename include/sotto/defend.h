/* defend.h - defences on what a model shows: saved posteriors or embeddings in, rows of the same shape out.
 *
 * Start at sotto_defence_fit(). None of these is differentially private and none gives a certificate: what
 * they do against one attacker is measured (sotto_defence_measure()), what they do against the next is
 * unknown. */
#ifndef SOTTO_DEFEND_H
#define SOTTO_DEFEND_H

#include "sotto/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/** What somebody knows: rows of the kind to be defended, and the secret of each: 1 for a member and 0 for a
 * non-member, or the value 0 .. of an attribute. Borrowed. */
struct sotto_defence_known {
    const float *x;                 /**< (n, d); NULL with n 0: nothing is known */
    const int64_t *protected_label; /**< (n) */
    const int64_t *label;           /**< (n) classes 0 .. of the task; NULL: not known */
    size_t n, d;
};
/** {0} but for the name: all defaults. */
struct sotto_defence_options {
    const char *name; /**< a row of the list, e.g. "memguard" */
    double budget;    /**< [its usual one] in the defence's own unit, >= 0; none at all: SOTTO_ZERO */
    uint64_t seed;    /**< [1] of what the defender trains */
    uint64_t key; /**< [0] of the coins: to be kept secret. A row's coin is a function of key and row, so that
                       asking again shows nothing new */
    const char *const *settings; /**< "NAME=VALUE", NULL-terminated; NULL: the usual ones */
    uint64_t reserved[4];        /**< zeros: room for later members */
};
SOTTO_API void sotto_defence_defaults(struct sotto_defence_options *o);

/** i-th defence, NULL after the last; one line about it; what its budget limits; the usual budget (NAN:
 * unknown name). */
SOTTO_API const char *sotto_defence_name(size_t i);
SOTTO_API const char *sotto_defence_title(size_t i);
SOTTO_API const char *sotto_defence_unit(const char *name);
SOTTO_API double sotto_defence_usual_budget(const char *name);
/** 1: its rows are probabilities; 0: any numbers; -1: no such defence. */
SOTTO_API int sotto_defence_of_posteriors(const char *name);
/** All of them with their settings: lines for people (free with sotto_text_free). */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_defence_list(char **text);

/** Are these rows what the defence defends: finite, and probabilities where it defends posteriors? EINVAL:
 * "<what>: row 3 sums to 2.5, not to 1; ..."; EUSAGE: no such defence. */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_defence_check(const char *name, const float *x, size_t n,
                                                            size_t columns, const char *what);

struct sotto_defence;
/** Makes a defence ready, training what it needs from `known` (which may be empty for defences that need
 * nothing). Deterministic: same inputs and options, same bits.
 *
 *  Returns: EUSAGE  no such defence or setting, a setting out of range, or it needs rows, secrets or labels
 * that were not given EINVAL  budget negative; rows that are not what it defends (posteriors that are no
 * probabilities, not finite); a secret that has one value only what sotto_head_train() fails with; ENOMEM
 *  Out:  free with sotto_defence_free() */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_defence_fit(struct sotto_defence **out,
                                                          const struct sotto_defence_known *known,
                                                          const struct sotto_defence_options *options,
                                                          const struct sotto_context *ctx);
SOTTO_API void sotto_defence_free(struct sotto_defence *d);
/** Defends rows x (n, columns) into out (same shape). cost (n), may be NULL: what the budget limits of each
 * row, expected over its coin. Rows are independent of each other: the same row gets the same answer. EINVAL:
 * rows that it cannot defend, other columns than those it was fitted to; ENOMEM; ESTOPPED. */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_defence_apply(float *out, double *cost,
                                                            const struct sotto_defence *d, const float *x,
                                                            size_t n, size_t columns,
                                                            const struct sotto_context *ctx);

/** Rows whose secrets somebody would like to know, and his own rows to learn from. */
struct sotto_defence_trial {
    struct sotto_defence_known rows; /**< undefended, with their secrets; label: for the baseline that sees
                                          only whether the label was right */
    const float *after;              /**< (rows.n, rows.d): the same rows, defended */
    const struct sotto_defence_known *attacker; /**< undefended rows of his own, with secrets */
    const float *attacker_after; /**< the same rows, defended: he knows the defence; NULL: he does not */
    int posteriors;              /**< rows are posteriors and secrets memberships; 0: attributes */
    uint64_t seed;               /**< [0] */
    size_t epochs;               /**< [100] of the network that seeks members */
    uint64_t reserved[4];        /**< zeros: room for later members */
};
/** What the attackers learn of the secrets: from undefended rows, from defended ones, and from defended ones
 * by an attacker who has trained on defended rows himself. *json: the member "attack" of "sotto.defend/1"
 * (docs/FORMATS.md); free with sotto_text_free(). EINVAL: secrets with one value only, or shapes that do not
 * fit; ENOMEM. */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_defence_measure(char **json,
                                                              const struct sotto_defence_trial *trial,
                                                              const struct sotto_context *ctx);

/** What is said about one application: rows before and after, and what the task makes of them. */
struct sotto_defence_outcome {
    const float *before, *after; /**< (n, columns) */
    const double *cost;          /**< (n) */
    size_t n, columns;
    /** What the task's model answers to them (n, classes); NULL: the rows themselves, if they are posteriors.
     */
    const float *answers_before, *answers_after;
    size_t classes;
    const int64_t *label; /**< (n) true classes; NULL: unknown */
    const char *measured; /**< what sotto_defence_measure() gave, or NULL */
    uint64_t reserved[4]; /**< zeros: room for later members */
};
/** A file that took part. */
struct sotto_defence_file {
    const char *role, *path;
};
/** The record that stands beside the output: one "sotto.defend/1" object (docs/FORMATS.md), free with
 *  sotto_text_free(). ENOENT, EIO: a file cannot be hashed. */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_defence_record(char **json, const struct sotto_defence *d,
                                                             const struct sotto_defence_outcome *outcome,
                                                             const struct sotto_defence_file *files,
                                                             size_t file_count);
/** Atomic: one such object, for people to read. */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_defence_save_record(const char *path, const char *json);
/** Lines for people from such an object (free with sotto_text_free). EFORMAT. */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_defence_summary(char **text, const char *json);

#ifdef __cplusplus
}
#endif
#endif
