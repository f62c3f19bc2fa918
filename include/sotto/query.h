/* query.h - a model that is reached by queries, and the attacks that query a model or train shadow models.
 *
 * Start at sotto_target_open_head() and sotto_attack(). Rows are (n, inputs) f4, answers (n, classes) f4. */
#ifndef SOTTO_QUERY_H
#define SOTTO_QUERY_H

#include "sotto/attack.h"
#include "sotto/head.h"
#include "sotto/train.h"

#ifdef __cplusplus
extern "C" {
#endif

/** A model behind a query function. Not for several threads at once. */
struct sotto_target;
/** A head or MLP from a file (sotto's or PyTorch's). Errors as sotto_head_load(). */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_target_open_head(struct sotto_target **out, const char *path);

/** A head or a whole network (sotto.model/1), as its file says. ctx (may be NULL) gives the threads that answer. Errors as
 * sotto_head_load() and sotto_network_load(). */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_target_open(struct sotto_target **out, const char *path,
                                                          const struct sotto_context *ctx);

/** How a command is asked. {0} or NULL: all defaults. */
struct sotto_command_options {
    double
        timeout; /**< [60] seconds for one frame: to read it and to answer it; the first includes its start */
    size_t batch;         /**< [1024] rows in a frame, at most */
    uint64_t reserved[4]; /**< zeros: room for later members */
};
SOTTO_API void sotto_command_defaults(struct sotto_command_options *o);
/** Any model behind `/bin/sh -c COMMAND` (docs/FORMATS.md, "Target commands"): rows in on stdin, posteriors out on stdout, one
 *  .npy frame each way per batch; its stderr is ours. It runs in a process group of its own, which is killed on any failure
 *  and at the latest when the target is closed. classes 0: taken from its answer to one row of zeros, which counts as a
 *  query. ctx (may be NULL) must outlive the target.
 *
 *  EIO: it cannot be started, ended, was killed, or did not answer within the time; EFORMAT: an answer of another
 *  shape or type, text that is no frame, more than one answer; ESTOPPED; ENOMEM. Queries fail in the same ways, and
 *  all later ones with EIO. */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_target_open_command(struct sotto_target **out,
                                                                  const char *command, size_t inputs,
                                                                  size_t classes,
                                                                  const struct sotto_command_options *options,
                                                                  const struct sotto_context *ctx);

/** A model of the caller's program.
 *
 *  In:  rows        (n, inputs), finite, row-major
 *       user        as given to sotto_target_open_function()
 *  Out: posteriors  (n, classes): each row is not negative and sums to 1 within 1e-3
 *
 *  Returns: SOTTO_OK; any other status ends the query, and the call that asked, with this status. The error text is the
 *  function's own, if it called a function of sotto that failed; else it is that of the target. */
typedef sotto_status sotto_model_function(void *user, float *posteriors, const float *rows, size_t n);
/** A target that is a function of the caller's program. It is called from the thread that queries the target.
 *
 *  In:  name             for errors; copied
 *       answer, user     both must stay valid until the target is closed
 *       inputs, classes  of a row (at least 1) and of an answer (at least 2)
 *  Out: *out             free with sotto_target_close()
 *
 *  Returns: EINVAL  a NULL pointer or a number out of range
 *           ENOMEM */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_target_open_function(struct sotto_target **out,
                                                                   const char *name,
                                                                   sotto_model_function *answer, void *user,
                                                                   size_t inputs, size_t classes);
SOTTO_API void sotto_target_close(struct sotto_target *t);
/** Posteriors (n, classes) of n rows. EBUDGET: more rows than the budget still allows (nothing is asked);
 *  EINVAL: a row that is not finite; EFORMAT: an answer that is not finite, negative, or does not sum to 1 within 1e-3. */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_target_query(struct sotto_target *t, float *posteriors,
                                                           const float *rows, size_t n);
SOTTO_API size_t sotto_target_inputs(const struct sotto_target *t);
SOTTO_API size_t sotto_target_classes(const struct sotto_target *t);
/** Rows asked so far. */
SOTTO_API uint64_t sotto_target_used(const struct sotto_target *t);
/** At most `rows` rows in all; without it there is no limit. */
SOTTO_API void sotto_target_set_budget(struct sotto_target *t, uint64_t rows);
/** The weights, for attacks that look inside; NULL if the target only answers. Borrowed. */
SOTTO_API const struct sotto_head *sotto_target_head(const struct sotto_target *t);

/** The same of a whole network. */
SOTTO_API const struct sotto_network *sotto_target_network(const struct sotto_target *t);

/** Labelled records: x (n, d), y (n) in 0 .. classes - 1. n 0: none. */
struct sotto_records {
    const float *x;
    const int64_t *y;
    size_t n;
};
struct sotto_attack_input {
    struct sotto_target *target;
    struct sotto_records member,
        nonmember; /**< records to judge; who is who is known to the evaluation only */
    struct sotto_records
        attacker;               /**< what the attacker has: of the target's kind, none of it the target's */
    struct sotto_records other; /**< data transfer: records of another set */
    size_t other_inputs, other_classes;
    uint64_t reserved[4]; /**< zeros: room for later members */
};
/** Where the shadow models' records come from. */
enum sotto_shadow_data {
    SOTTO_SHADOW_REAL,
    SOTTO_SHADOW_SYNTHESIS, /**< hill climbing on the target's answers (Shokri et al. 2017, Algorithm 1) */
    SOTTO_SHADOW_MARGINALS, /**< every feature drawn from its marginal, labelled by the target */
    SOTTO_SHADOW_CLASS_MARGINALS, /**< from its marginal within a class, which is the label */
    SOTTO_SHADOW_NOISY            /**< the attacker's records with a share of the features redrawn */
};
/** {0} but for the name: all defaults. */
struct sotto_attack_options {
    const char *name;
    const struct sotto_head_recipe *recipe; /**< of the shadows; NULL: the target's own */
    /** Shadows are whole networks, trained like this (its files are not used); NULL: as the target, if that is a network */
    const struct sotto_train_options *network;
    int mismatch;                /**< allow shadows that are trained in another way than the target */
    size_t shadows;              /**< [the attack's own default] */
    size_t shadow_records;       /**< records that a shadow trains on [half of the attacker's] */
    int disjoint;                /**< shadow models share no records; [0] drawn anew for each */
    size_t shard, shards;        /**< [0 of 1] train only shadows with number % shards == shard */
    const char *cache;           /**< folder of finished shadows [NULL: none] */
    enum sotto_shadow_data data; /**< [SOTTO_SHADOW_REAL] */
    size_t synthetic_records;    /**< made by synthesis or marginals [10,000] */
    double flip;                 /**< share of features redrawn by SOTTO_SHADOW_NOISY [.1] */
    size_t queries; /**< label-only attacks: of the target, for one record [the attack's own default] */
    size_t channels, height,
        width;         /**< rows are images of this shape; 0: they are not, or as the network says */
    size_t views;      /**< lira, rmia and their offline forms: of each image [1], 2: mirrored, 18: also
                                                 shifted by 2 pixels */
    size_t repeats;    /**< [1] target and noisy shadows answer so often, and posteriors are averaged:
                                                 against models with noisy answers */
    int plain_shadows; /**< shadow networks without the target's residual perturbation (noise, members, lost
                                                 skips): an attacker that does not know of it */
    uint64_t seed;     /**< [1] */
    struct sotto_audit_options audit; /**< fpr, confidence, delta; names and seed are not used */
    uint64_t reserved[4];             /**< zeros: room for later members */
};
SOTTO_API void sotto_attack_defaults(struct sotto_attack_options *o);
/** Runs one attack. scores (n_member + n_nonmember), members first, HIGHER = MORE MEMBER-LIKE. out (free with
 *  sotto_audit_result_free()): its first attack is this one, then baselines that need nothing but the answers; its document
 *  has a member "model_attack" (docs/FORMATS.md). When `shards` > 1 and other shards are not done, out->pending is 1,
 *  *finished 0 and the scores are untouched. in->target stays as it was but for its count of queries.
 *  EUSAGE: no such attack, or it needs what was not given; EINVAL: shapes, labels, too few records; EBUDGET; what
 *  sotto_head_train() and the target fail with. */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_attack(struct sotto_audit_result *out, double *scores,
                                                     int *finished, const struct sotto_attack_input *in,
                                                     const struct sotto_attack_options *options,
                                                     const struct sotto_context *ctx);
/** All attacks of this kind: lines for people (free with sotto_text_free). */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_attack_table(char **text);

#ifdef __cplusplus
}
#endif
#endif
