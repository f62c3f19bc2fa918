/* ledger.h - which data set a privacy loss is charged to, where that is recorded, and what it adds up to.
 *
 * Structs that go in start from {0}, where 0 stands for the default. */
#ifndef SOTTO_LEDGER_H
#define SOTTO_LEDGER_H

#include "sotto/account.h"

#ifdef __cplusplus
extern "C" {
#endif

struct sotto_provenance; /* sotto/lab/provenance.h */

enum {
    SOTTO_DATASET_ID = 128, /**< room for the identity of a data set, as in struct sotto_provenance */
    SOTTO_DIGEST = 16
};
/** The records of the imported set that a release is about, and which ledgers it is charged to. The ledger keeps
 * hashes of the digests under a random key of its own. */
struct sotto_source_records {
    /** (n) one of each record, by sotto_dataset_digests() or sotto_array_digests(); NULL: unknown. */
    const unsigned char (*digests)[SOTTO_DIGEST];
    size_t n;
    /** NULL, or other data sets that the same people are in (NULL-terminated): each of their ledgers is charged too. */
    const char *const *same_people;
    /** 1: the data set's ledger moves to the file that is named. */
    int move_ledger;
    /** 1: sotto generates this set or knows it as a public benchmark. That is an exercise, which may keep a ledger
     * anywhere. */
    int public_set;
};

/** Which data set a privacy loss is charged to, where that is recorded, and what it may cost: the same for a release, for
 * a reservation and for the private training of a head or of a network. */
struct sotto_spend {
    /** Identity of the private data set, the key of its ledger: 1 to 127 bytes of UTF-8 without control characters;
     * NULL: the one that the provenance or the data set names. */
    const char *dataset_id;
    /** File; NULL: where the ledger of the data set is (sotto_ledger_find()). The first use of a file registers it;
     * afterwards another one is refused (EUSAGE). */
    const char *ledger;
    const char *purpose; /**< recorded in the ledger; NULL: none, or the trainer's own */
    /** epsilon > 0: recorded in the ledger; a recorded budget can only be tightened.
     * delta: [0: the recorded one's, else the release's] */
    struct sotto_dp budget;
    /** Which records they are; NULL: unknown. */
    const struct sotto_provenance *provenance;
    /** The records of the imported set behind them; NULL: unknown. */
    const struct sotto_source_records *source;
    /** NULL, or what an epsilon rests on besides the sensitivity: the certificate then proves nothing and states
     * epsilon under this condition. */
    const char *condition;
    /** NULL, or the parameters that were read from the private data, such as "max_grad_norm" (NULL-terminated): each
     * is a condition too, in account, ledger and certificate. */
    const char *const *read_from_data;
    /** At most so many records are one person's, as stated by the caller: the account is that of a person, and
     * conditional on it. [0: what the provenance says, where an import has capped them, else the unit is one record] */
    size_t rows_per_person;
    int insecure; /**< 1: noise from insecure_seed; every output says so */
    uint64_t insecure_seed;
    /** NULL, or "ID:K": the release is number K of a plan that was charged by sotto_ledger_plan(), as planned, and nothing more is
     * charged. For sotto_dp_release() and the like, and for a new run of sotto_dp_reserve(), which spends the slot whole; others
     * refuse it. */
    const char *planned;
};

/** Where the ledger of a data set is: the file that was registered, else $XDG_DATA_HOME/sotto/ledger/ID.jsonl,
 * which need not exist.
 *
 *  Out:     *path   free with sotto_text_free()
 *  Returns: EUSAGE  the file that was registered is not there */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_ledger_find(char **path, const char *dataset_id);
/** Opens or continues the ledger of a data set and records its officer's budget. A release can tighten that
 * budget for itself and cannot widen it. The budget's columns are fixed with it: one for pure releases, one for Gaussian noise
 * with a tenth of delta for failures. A first release that they cannot hold may replace them; behind it they stay.
 *
 *  In:      ledger, source  as in struct sotto_spend; may be NULL
 *           budget          delta 0: pure epsilon-DP
 *           contact         of the person who answers for it; NULL: none
 *  Out:     *path           where it is; free with sotto_text_free()
 *  Returns: EBUDGET  the ledger holds a tighter one */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_ledger_init(char **path, const char *dataset_id,
                                                          const char *ledger, struct sotto_dp budget,
                                                          const char *contact,
                                                          const struct sotto_source_records *source,
                                                          const struct sotto_context *ctx);
/** The entries of a ledger. Checks the chain. A last line that was cut off while it was written does not count, and is warned of.
 *
 *  Out: *json  schema sotto.ledger_show/1: time, purpose, mechanism, epsilon and delta of each charge, and what all up
 *              to it add up to at the delta of the budget (without one: the largest of the entries); free with
 *              sotto_text_free() */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_ledger_show(char **json, const char *ledger,
                                                          const struct sotto_context *ctx);
/** Out: *text: the same as a table of lines; free with sotto_text_free() */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_ledger_table(char **text, const char *ledger,
                                                           const struct sotto_context *ctx);
/** What a ledger adds up to at `delta`. Checks the chain.
 *
 *  Out: *json  schema sotto.ledger_account/1: `together`, the one total that a budget counts ("none" as soon as a
 *              release used seeded noise); the proved column (or "none"), the conditional column, the budget; free
 *              with sotto_text_free() */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_ledger_account(char **json, const char *ledger, double delta,
                                                             const struct sotto_context *ctx);

#ifdef __cplusplus
}
#endif
#endif
