/* attack.h - attacks that query a model or train shadow models.
 *
 * Start at sotto_target_open() or sotto_target_open_function(), then sotto_attack(). Rows are (n, inputs) f4, answers (n, classes) f4. */
#ifndef SOTTO_ATTACK_H
#define SOTTO_ATTACK_H

#include "sotto/audit.h"
#include "sotto/head.h"

#ifdef __cplusplus
extern "C" {
#endif

struct sotto_train_options; /* sotto/lab/train.h */

/** A model behind a query function. Not for several threads at once. */
struct sotto_target;

/** In:  path  a head or a whole network (sotto.model/1), as the file says
 *       ctx   gives the threads that answer; need not outlive the call
 *  Out: *out  free with sotto_target_close()
 *  Returns: those of sotto_head_load() and sotto_network_load() */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_target_open(struct sotto_target **out, const char *path,
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
SOTTO_API void sotto_target_close(struct sotto_target *t);
/** In: rows: the most that may be asked in all. Without a call there is no limit. */
SOTTO_API void sotto_target_set_budget(struct sotto_target *t, uint64_t rows);

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
};
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
    /** fpr, confidence, delta, and most_vulnerable [none]; names and seed are not used. */
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
};
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
/** Out: *text: all attacks of this kind, lines for people; free with sotto_text_free(). Returns: ENOMEM. */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_attack_table(char **text);

#ifdef __cplusplus
}
#endif
#endif
