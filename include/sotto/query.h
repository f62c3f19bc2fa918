/* query.h - a model that is reached by queries, and the attacks that query a model or train shadow models.
 *
 * Start at sotto_target_open_head() and sotto_attack(). Rows are (n, inputs) f4, answers (n, classes) f4. */
#ifndef SOTTO_QUERY_H
#define SOTTO_QUERY_H

#include "sotto/attack.h"
#include "sotto/head.h"
#include "sotto/lab/train.h"

#ifdef __cplusplus
extern "C" {
#endif

/** A model behind a query function. Not for several threads at once. */
struct sotto_target;
/** In:  path  a head or MLP, of sotto or PyTorch
 *  Out: *out  free with sotto_target_close()
 *  Returns: those of sotto_head_load() */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_target_open_head(struct sotto_target **out, const char *path);

/** In:  path  a head or a whole network (sotto.model/1), as the file says
 *       ctx   gives the threads that answer; need not outlive the call
 *  Out: *out  free with sotto_target_close()
 *  Returns: those of sotto_head_load() and sotto_network_load() */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_target_open(struct sotto_target **out, const char *path,
                                                          const struct sotto_context *ctx);

/** {0} or NULL: all defaults. */
struct sotto_command_options {
    /** [60] seconds to read one frame and to answer it; for the first frame, the start of the command included. */
    double timeout;
    /** [1024] rows in a frame, at most. */
    size_t batch;
    /** Zeros: room for later members. */
    uint64_t reserved[4];
};
SOTTO_API void sotto_command_defaults(struct sotto_command_options *o);
/** A model behind `/bin/sh -c COMMAND` (docs/FORMATS.md, "Target commands"). The command reads rows from stdin and writes
 *  posteriors to stdout, one .npy frame each way for each batch. Its stderr is that of this process. It runs in a process
 *  group of its own, which is killed on any failure and at the latest when the target is closed.
 *
 *  In:  inputs   numbers of a row
 *       classes  numbers of an answer; 0: taken from the answer to one row of zeros, which counts as a query
 *       options  NULL: the defaults
 *       ctx      must outlive the target
 *  Out: *out     free with sotto_target_close()
 *
 *  Returns: EIO       the command cannot be started, ended, was killed, or did not answer in time
 *           EFORMAT   an answer of another shape or type, text that is no frame, more than one answer
 *           ESTOPPED, ENOMEM
 *  Queries fail in the same ways, and after a failure all later ones with EIO. */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_target_open_command(struct sotto_target **out,
                                                                  const char *command, size_t inputs,
                                                                  size_t classes,
                                                                  const struct sotto_command_options *options,
                                                                  const struct sotto_context *ctx);

/** A model of the caller's program.
 *
 *  In:  rows        (n, inputs), finite, row-major; n at most 1024: a query of more rows takes several calls
 *       user        as given to sotto_target_open_function()
 *  Out: posteriors  (n, classes): each row is not negative and sums to 1 within 1e-3
 *
 *  Returns: SOTTO_OK; any other status ends the query, and the call that asked, with this status. The error text is the
 *  function's own, if it called a function of sotto that failed; else it is that of the target. */
typedef sotto_status sotto_model_function(void *user, float *posteriors, const float *rows, size_t n);
/** A target that is a function of the caller's program. It is called from the thread that queries the target.
 *
 *  In:  name             for errors; copied
 *       answer           must stay valid until the target is closed
 *       user             its first argument, valid as long; may be NULL
 *       inputs, classes  of a row (at least 1) and of an answer (at least 2)
 *  Out: *out             free with sotto_target_close()
 *
 *  Returns: EINVAL  a number out of range
 *           ENOMEM */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_target_open_function(struct sotto_target **out,
                                                                   const char *name,
                                                                   sotto_model_function *answer, void *user,
                                                                   size_t inputs, size_t classes);

/** How an attacker hides queries from one who watches them. {0}: not at all. */
struct sotto_disguise_options {
    /** [1] clients that the queries are dealt to, in turn: "client NAME" lines before frames (docs/FORMATS.md, "Target
     *  commands"). More than 1 needs a target that is a command which reads such lines. */
    size_t spread;
    /** [1] share of the rows sent that are the attack's; the others are cover, at random places. */
    double dilute;
    /** [0] rows of cover sent after each row of the attack, so that rows which are near each other stand in different blocks. */
    size_t decoys;
    /** Zeros: room for later members. */
    uint64_t reserved[4];
};
/** Puts a disguise around a target. The answers stay what they are; those to cover are thrown away, and cover counts as
 *  queries, of the budget too.
 *
 *  In:      cover    (cover_rows, inputs) benign rows, sent in this order, again from the first one after the last; copied.
 *                    Needed exactly where dilute is below 1 or decoys above 0
 *           seed     of the places
 *  In/out:  *target  replaced by one that owns it; unchanged on failure
 *  Returns: EINVAL  an option out of range, a row of cover that is not finite
 *           EUSAGE  several clients of a target that is no command; no cover, or cover that no option uses
 *           ENOMEM */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_target_disguise(struct sotto_target **target,
                                                              const struct sotto_disguise_options *options,
                                                              const float *cover, size_t cover_rows,
                                                              uint64_t seed);
SOTTO_API void sotto_target_close(struct sotto_target *t);
/** In:  rows        (n, inputs)
 *  Out: posteriors  (n, classes)
 *
 *  Returns: EBUDGET  more rows than the budget still allows; no row is asked
 *           EINVAL   a row that is not finite
 *           EFORMAT  an answer that is not finite, is negative, or does not sum to 1 within 1e-3
 *           those of the model */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_target_query(struct sotto_target *t, float *posteriors,
                                                           const float *rows, size_t n);
SOTTO_API size_t sotto_target_inputs(const struct sotto_target *t);
SOTTO_API size_t sotto_target_classes(const struct sotto_target *t);
/** Returns: rows asked so far. */
SOTTO_API uint64_t sotto_target_used(const struct sotto_target *t);
/** In: rows: the most that may be asked in all. Without a call there is no limit. */
SOTTO_API void sotto_target_set_budget(struct sotto_target *t, uint64_t rows);
/** Returns: the weights, for attacks that look inside; NULL if the target only answers. Borrowed. */
SOTTO_API const struct sotto_head *sotto_target_head(const struct sotto_target *t);
/** Returns: the same of a whole network. */
SOTTO_API const struct sotto_network *sotto_target_network(const struct sotto_target *t);

/** Labelled records: x (n, d), y (n) in 0 .. classes - 1. n 0: there are none. */
struct sotto_records {
    const float *x;
    const int64_t *y;
    size_t n;
};
struct sotto_attack_input {
    struct sotto_target *target;
    /** Records to judge. Which are members is known to the evaluation only. */
    struct sotto_records member, nonmember;
    /** What the attacker has: records of the target's kind, none of them used to train the target. */
    struct sotto_records attacker;
    /** Data transfer: records of another set, of `other_inputs` numbers and `other_classes` classes. */
    struct sotto_records other;
    size_t other_inputs, other_classes;
    /** "white-box": records of which the attacker knows that they did, or did not, train the target. None of them is to be
     *  among the records to judge. Then no shadow is trained. Both or none. */
    struct sotto_records known_member, known_nonmember;
    /** Zeros: room for later members. */
    uint64_t reserved[4];
};
/** Where the shadow models' records come from. */
enum sotto_shadow_data {
    SOTTO_SHADOW_REAL,
    SOTTO_SHADOW_SYNTHESIS, /**< hill climbing on the target's answers (Shokri et al. 2017, Algorithm 1) */
    SOTTO_SHADOW_MARGINALS, /**< every feature drawn from its marginal, labelled by the target */
    SOTTO_SHADOW_CLASS_MARGINALS, /**< from its marginal within a class, which is the label */
    SOTTO_SHADOW_NOISY            /**< the attacker's records with a share of the features redrawn */
};
/** How shadow models are trained, where not as the target. {0}: as the target. */
struct sotto_shadow_recipe {
    /** Shadows are whole networks of this kind, as in struct sotto_train_options. */
    const char *model;
    /** Shadows are heads by this trainer, as in struct sotto_head_recipe; not together with `model`. */
    const char *trainer;
    /** Widths of hidden layers; a count of SOTTO_NONE: none (networks: their default widths). */
    size_t hidden[SOTTO_TRAIN_HIDDEN], hidden_count;
    size_t epochs, batch;
    double lr;
    /** Networks start from this encoder, as the target did (struct sotto_train_options): needed where the target was
     *  fine-tuned, as its file holds only the hash of its encoder. */
    const char *from;
    /** The public embeddings that the target standardises by; needed where it does. */
    const char *standardise;
    /** Zeros: room for later members. */
    uint64_t reserved[4];
};
/** Returns: the label of the copies that options.poison counts, of record `row` (members first, then non-members): another
 *  class, spread over the rows so that no general rule is taught. */
SOTTO_API int64_t sotto_poison_label(int64_t label, size_t row, size_t classes);
/** {0} but for the name: all defaults. */
struct sotto_attack_options {
    /** One of sotto_attack_table(). */
    const char *name;
    /** Of the shadows; NULL: the target's own. */
    const struct sotto_head_recipe *recipe;
    /** Shadows are whole networks, trained like this (its files are not used). NULL: as the target, if that is a
     *  network. */
    const struct sotto_train_options *network;
    /** Changes to that recipe. */
    struct sotto_shadow_recipe shadow;
    /** 1: allow shadows that are trained in another way than the target. */
    int mismatch;
    /** [the attack's own default] */
    size_t shadows;
    /** Records that a shadow trains on [half of the attacker's]. */
    size_t shadow_records;
    /** 1: shadows share no records; [0]: records are drawn anew for each. */
    int disjoint;
    /** Train only shadows with number % shards == shard [0 of 1]. */
    size_t shard, shards;
    /** Folder of finished shadows [NULL: none]. */
    const char *cache;
    /** [SOTTO_SHADOW_REAL] */
    enum sotto_shadow_data data;
    /** Records made by synthesis or marginals [10,000]. */
    size_t synthetic_records;
    /** Share of features redrawn by SOTTO_SHADOW_NOISY [.1]. */
    double flip;
    /** Label-only attacks: queries of the target for one record [the attack's own default]. */
    size_t queries;
    /** Rows are images of this shape; 0: they are not, or as the network says. */
    size_t channels, height, width;
    /** lira, rmia and their offline forms: views of each image. [1], 2: mirrored, 18: also shifted by 2 pixels. */
    size_t views;
    /** Target and noisy shadows answer so often, and posteriors are averaged: against models with noisy answers
     *  [1]. */
    size_t repeats;
    /** White box, stolen-memories-layers: how many of the last dense and convolution layers are read [3]. */
    size_t layers;
    /** stolen-memories-layers: so many records that it is surest of are explained, with pictures of images: which unit of which
     *  layer remembers them, and where [0]. */
    size_t explain;
    /** 1: shadow networks without the target's residual perturbation (noise, ensemble, lost skips): an attacker that
     *  does not know of it. */
    int plain_shadows;
    /** 1: the records to judge are asked about in a random order, not members first. If answers end early, what is left to the
     *  attack then does not depend on the order in which records were given. */
    int shuffle;
    /** lira, rmia: 1: shadows start from the target's own seed (initial weights and batch orders), which an attacker rarely
     *  knows: the worst case; [0]: each from a seed of its own. */
    int known_start;
    /** lira, rmia: the attacker put so many copies of each record to judge, with a wrong label, into the target's training set
     *  (sotto_poison_label()) and does so with its shadows: what the worst neighbours could do, which is what epsilon bounds
     *  (Tramer et al. 2022) [0]. */
    size_t poison;
    /** [1] */
    uint64_t seed;
    /** fpr, confidence, delta; names and seed are not used. */
    struct sotto_audit_options audit;
    /** loss-trajectory, metric-trajectory: folder of the target's own intermediate models (sotto_train_options.snapshots), as those
     *  have them who trained it or were sent every epoch. Shadows then keep theirs, in `cache`, and no student is
     *  trained [NULL: the target is distilled]. */
    const char *snapshots;
    /** 1: train the shadows in `cache` that no other process works on, until none is open; *finished is then 0. Any number of
     *  processes may do so at the same time, on machines that share the folder; a call without it merges [0]. */
    int worker;
    /** 1: a worker that trains one shadow at most, and only if no other one in `cache` tells how long it takes; the result's
     *  "shadows" then say hours and bytes of those that are missing [0]. */
    int plan;
    /** Zeros: room for later members. */
    uint64_t reserved[2];
};
/** Out: every member of *o gets the default in brackets. */
SOTTO_API void sotto_attack_defaults(struct sotto_attack_options *o);
/** Runs one attack. in->target stays as it was, but for its count of queries.
 *
 *  Out: scores     (n_member + n_nonmember), members first, HIGHER = MORE MEMBER-LIKE
 *       out        its first attack is this one; then baselines that need the answers alone. Its document has a member
 *                  "model_attack" (docs/FORMATS.md). Free with sotto_audit_result_free().
 *       *finished  0: `worker`, `plan`, or `shards` > 1 and other shards are not done; out->pending is 1 then and scores are untouched
 *
 *  Returns: EUSAGE   there is no such attack, or an input that it needs is missing
 *           EINVAL   shapes, labels, too few records
 *           EBUDGET  the target's budget of queries
 *           those of sotto_head_train() and of the target */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_attack(struct sotto_audit_result *out, double *scores,
                                                     int *finished, const struct sotto_attack_input *in,
                                                     const struct sotto_attack_options *options,
                                                     const struct sotto_context *ctx);
/** Reconstruction of a training record by an attacker who knows all others. */
struct sotto_reconstruction_input {
    struct sotto_records member; /**< that trained the head, all of them */
    struct sotto_records
        attacker;      /**< others of their kind: candidates, and what shadow models are trained with */
    double noise;      /**< standard deviation of the noise on each of the head's weights; 0: none */
    size_t targets;    /**< members that are attacked, one by one */
    size_t candidates; /**< among which the record is to be named: it and others of its class; at least 2 */
    uint64_t seed;
    uint64_t reserved[4]; /**< zeros: room for later members */
};
struct sotto_reconstruction {
    size_t targets, right, candidates; /**< targets: fewer where classes lack records of the attacker */
    struct sotto_estimate
        found;    /**< share of the targets that were named; 95 % Clopper-Pearson, for this head */
    double prior; /**< 1 / candidates: of a guess without the head */
    double
        error; /**< median of the squared error, relative to that of the candidates' mean; 1: the head tells nothing */
};
/** For each target, up to 64 heads are trained with records of the attacker in its place, and features are regressed on weights
 *  (Balle, Cherubin and Hayes 2022). The class of the target is taken as known.
 *
 *  In:      head  with its recipe, of a convex trainer; with noise, as it was released
 *  Returns: EUSAGE  another trainer, no recipe
 *           EINVAL  too few records of the attacker, labels, values that are not finite
 *           ENOMEM, ESTOPPED; those of sotto_head_train() */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_reconstruct(struct sotto_reconstruction *out,
                                                          const struct sotto_head *head,
                                                          const struct sotto_reconstruction_input *in,
                                                          const struct sotto_context *ctx);
/** Out: *text: all attacks of this kind, lines for people; free with sotto_text_free(). Returns: ENOMEM. */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_attack_table(char **text);

#ifdef __cplusplus
}
#endif
#endif
