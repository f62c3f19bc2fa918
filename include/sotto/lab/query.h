/* query.h - more of attacks on a model: commands as targets, disguises, reconstruction. No promise: it may change with any version. */
#ifndef SOTTO_LAB_QUERY_H
#define SOTTO_LAB_QUERY_H

#include "sotto/attack.h"
#include "sotto/lab/train.h"

#ifdef __cplusplus
extern "C" {
#endif

/** {0} or NULL: all defaults. */
struct sotto_command_options {
    /** [60] seconds to read one frame and to answer it; for the first frame, the start of the command included. */
    double timeout;
    /** [1024] rows in a frame, at most. */
    size_t batch;
};
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

/** How an attacker hides queries from one who watches them. {0}: not at all. */
struct sotto_disguise_options {
    /** [1] clients that the queries are dealt to, in turn: "client NAME" lines before frames (docs/FORMATS.md, "Target
     *  commands"). More than 1 needs a target that is a command which reads such lines. */
    size_t spread;
    /** [1] share of the rows sent that are the attack's; the others are cover, at random places. */
    double dilute;
    /** [0] rows of cover sent after each row of the attack, so that rows which are near each other stand in different blocks. */
    size_t decoys;
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
SOTTO_API size_t sotto_target_inputs(const struct sotto_target *t);
SOTTO_API size_t sotto_target_classes(const struct sotto_target *t);
/** Returns: the label of the copies that options.poison counts, of record `row` (members first, then non-members): another
 *  class, spread over the rows so that no general rule is taught. */
SOTTO_API int64_t sotto_poison_label(int64_t label, size_t row, size_t classes);
/** Out: every member of *o gets the default in brackets. */
SOTTO_API void sotto_attack_defaults(struct sotto_attack_options *o);
/** Reconstruction of a training record by an attacker who knows all others. */
struct sotto_reconstruction_input {
    struct sotto_records member; /**< that trained the head, all of them */
    /** others of their kind: candidates, and what shadow models are trained with */
    struct sotto_records attacker;
    double noise;      /**< standard deviation of the noise on each of the head's weights; 0: none */
    size_t targets;    /**< members that are attacked, one by one */
    size_t candidates; /**< among which the record is to be named: it and others of its class; at least 2 */
    uint64_t seed;
};
struct sotto_reconstruction {
    size_t targets, right, candidates; /**< targets: fewer where classes lack records of the attacker */
    /** share of the targets that were named; 95 % Clopper-Pearson, for this head */
    struct sotto_estimate found;
    double prior; /**< 1 / candidates: of a guess without the head */
    /** median of the squared error, relative to that of the candidates' mean; 1: the head tells nothing */
    double error;
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

#ifdef __cplusplus
}
#endif
#endif
