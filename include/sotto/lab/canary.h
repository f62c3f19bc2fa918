/* canary.h - canaries: records made to be found again, which enter a training by coin flips that stay secret. What an
 * auditor guesses of the coins bounds epsilon from below, in one run (Steinke, Nasr and Jagielski 2023).
 *
 * sotto_canaries_make() before a training, the training on sotto_canaries_data(), sotto_canaries_save() after it, and
 * sotto_coins_open() at the audit. Canaries are records of the account: each takes one place among the n, so the guarantee of
 * every other record is what it is without them. */
#ifndef SOTTO_LAB_CANARY_H
#define SOTTO_LAB_CANARY_H

#include "sotto/lab/data.h"
#include "sotto/release.h"

#ifdef __cplusplus
extern "C" {
#endif

/** What the coin of a canary decides. */
enum sotto_canary_relation {
    SOTTO_CANARY_OR_NOTHING, /**< zero-out: heads: it counts; tails: its place counts as nothing. n is the same */
    SOTTO_CANARY_ONE_OF_TWO, /**< replace-one: heads: it; tails: another record (or the opposite gradient) in its place */
    SOTTO_CANARY_IN_OR_OUT /**< plain training: heads: it is in the set; tails: it is not */
};
struct sotto_canary_request {
    const struct sotto_dataset *data; /**< with labels; its records are copied */
    const int64_t *rows;              /**< (n) of `data`; NULL: all rows */
    size_t n;
    size_t classes; /**< public */
    struct sotto_canary_options options;
    enum sotto_canary_relation relation;
    /** (public_n, values of a record) SOTTO_CANARY_CLIPBKD: rows that no trained record had a part in, pixels in [0, 1]. */
    const float *public_rows;
    size_t public_n;
    /** The file that is trained. The coins go to OUTPUT.coins.json, mode 0600, before anything else; there they are found by the
     *  same call for a run that was interrupted. */
    const char *output;
    int insecure; /**< 1: coins of a seed, for tests; the coin file says so */
    uint64_t insecure_seed;
    /** [NULL: one process] All ranks of a team make the same set together (sotto/private/team.h). Rank 0 tosses the coins and has their file; the
     *  others know them too, and have to keep them secret likewise. With 0 canaries ranks only compare, and *out is NULL. */
    const struct sotto_team *team;
};
struct sotto_canaries;
/** Tosses the coins and makes the set to train on: the rows that no canary displaced, then the canaries' places. Coins
 *  come from the operating system.
 *
 *  Out:     *out: free with sotto_canaries_free()
 *  Returns: EINVAL   more canaries than the set has room for, a kind that needs what is not given; the coin file is of another
 *                    run, or was edited; another rank has other canaries
 *           ECREATE  the coins were tossed for a run that has finished
 *           EIO, ENOMEM */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_canaries_make(struct sotto_canaries **out,
                                                            const struct sotto_canary_request *request);
SOTTO_API void sotto_canaries_free(struct sotto_canaries *c);
/** Removes what a run with canaries left beside OUTPUT. Coins that were never opened are lost. */
SOTTO_API void sotto_canaries_forget(const char *output);
/** Returns: the set to train on, all rows of it; borrowed. A place that counts as nothing has label -1. */
SOTTO_API const struct sotto_dataset *sotto_canaries_data(const struct sotto_canaries *c);
/** Returns: the canaries as records, those of heads (1) or of tails (0); NULL: these are none. Borrowed. */
SOTTO_API const struct sotto_dataset *sotto_canaries_records(const struct sotto_canaries *c, int heads);
/** Out:     *text: `purpose` (NULL: none) and the commitment to the coins, for the ledger entry that is charged before the
 *           first step; free with sotto_text_free() */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_canaries_purpose(char **text, const struct sotto_canaries *c,
                                                               const char *purpose);
/** Takes what the trained model answers: the score of a canary is its loss of tails less that of heads, in nats (without
 *  tails: less the loss of heads).
 *  In:      heads, tails  (count, classes) logits on sotto_canaries_records(); tails may be NULL */
SOTTO_API void sotto_canaries_answers(struct sotto_canaries *c, const float *heads, const float *tails);
/** Answers of a trained model: logits (n, classes) on the n records of a set. */
typedef sotto_status sotto_canary_answers(float *logits, const void *model,
                                          const struct sotto_dataset *records,
                                          const struct sotto_context *ctx);
/** Asks the trained model about its canaries, and writes their scores: sotto_canaries_answers(), then sotto_canaries_save().
 *  Returns: those of `answers` and of sotto_canaries_save() */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_canaries_ask(struct sotto_canaries *c,
                                                           sotto_canary_answers *answers, const void *model,
                                                           const struct sotto_context *ctx);
/** Writes OUTPUT.canaries.npz (docs/FORMATS.md): the canaries, the commitment, and the scores
 *  black_box (of answers) and white_box (of all steps); not the coins.
 *  Returns: ECREATE, EIO, ENOMEM */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_canaries_save(const struct sotto_canaries *c);

/** Opens coins for one audit. */
struct sotto_coins_request {
    const char *coins;       /**< OUTPUT.coins.json */
    const char *certificate; /**< of the model, or its file; NULL: OUTPUT.canaries.npz holds the commitment */
    const double *scores;    /**< (n), higher = heads; fixed before the coins are seen */
    size_t n, guesses;
};
/** Checks the coins against the commitment that was made before the training, and notes in FILE.opened for which scores and
 *  number of guesses they were opened: a second choice would void the level.
 *
 *  Out:     heads   (n) 1: heads
 *           *seeded  1: the coins are of a seed, and prove nothing. May be NULL
 *  Returns: EINVAL   n is not the number of coins; the coins were edited, are of another model, or were opened for others
 *           EFORMAT  no coin file
 *           ENOENT   nothing holds a commitment
 *           ECREATE, EIO, ENOMEM */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_coins_open(int64_t *heads, int *seeded,
                                                         const struct sotto_coins_request *request);

#ifdef __cplusplus
}
#endif
#endif
