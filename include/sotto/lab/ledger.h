/* ledger.h - more of ledgers: overlap of records, columns of a budget, plans, pages, histories of Opacus. No promise: it may change with any
 * version. */
#ifndef SOTTO_LAB_LEDGER_H
#define SOTTO_LAB_LEDGER_H

#include "sotto/ledger.h"

#ifdef __cplusplus
extern "C" {
#endif

/** How many of these records a data set's ledger was charged for, for the owner of both.
 *
 *  In:      digests (n)  by sotto_dataset_digests()
 *  Out:     *shared
 *  Returns: EUSAGE  the data set has no ledger
 *           errors of reading it */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_ledger_overlap(size_t *shared, const char *dataset_id,
                                                             const unsigned char (*digests)[SOTTO_DIGEST],
                                                             size_t n);
/** A column of a budget: releases that add up to a pure epsilon, a failure with that probability, and as much Gaussian shift as its
 *  share of the budget's delta leaves room for. */
struct sotto_ledger_column {
    double pure;    /**< >= 0 */
    double failure; /**< in [0, 1) */
    double share;   /**< of the budget's delta, > 0; all shares together are at most 1 */
};
/** sotto_ledger_init() with columns in place of the default ones, which no release replaces. A column for pure releases alone, which
 *  costs no delta, is always beside them.
 *
 *  In:      ledger, source  as in struct sotto_spend; may be NULL
 *           budget          its delta is above 0
 *           columns         (n), n from 1 to 15
 *           contact         of the person who answers for it; NULL: none
 *  Out:     *path           where it is; free with sotto_text_free()
 *  Returns: EDOMAIN  a column that its share of delta has no room for
 *           EBUDGET  its columns were fixed before; what was charged before fits none of these */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_ledger_init_columns(char **path, const char *dataset_id,
                                                                  const char *ledger, struct sotto_dp budget,
                                                                  const struct sotto_ledger_column *columns,
                                                                  size_t n, const char *contact,
                                                                  const struct sotto_source_records *source,
                                                                  const struct sotto_context *ctx);
/** What a ledger says in words of the people behind it; certificates and registries name it. NULL: not said. */
struct sotto_ledger_card {
    const char *contact;   /**< of the person who answers for it */
    const char *curator;   /**< who holds the records and releases from them */
    const char *use;       /**< what the releases are for */
    const char *region;    /**< where the people live */
    const char *sector;    /**< such as health or education */
    const char *rationale; /**< why this epsilon and this delta */
};
/** sotto_ledger_init() or, for n > 0, sotto_ledger_init_columns(), with all that the budget's line may say in words.
 *
 *  In:      ledger, source  as in struct sotto_spend; may be NULL
 *           columns         (n); NULL for n 0
 *           card            NULL: nothing
 *  Returns: EINVAL  a text has more than 300 bytes */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_ledger_init_card(char **path, const char *dataset_id,
                                                               const char *ledger, struct sotto_dp budget,
                                                               const struct sotto_ledger_column *columns,
                                                               size_t n, const struct sotto_ledger_card *card,
                                                               const struct sotto_source_records *source,
                                                               const struct sotto_context *ctx);
/** Charges the releases of a file of events (docs/FORMATS.md, sotto.events/1) as one entry, accounted together, before any of them
 * is made. Whatever is released between them, each costs nothing more, once: `planned` of struct sotto_spend.
 *
 *  In:      events  noise of a scale under replace-one adjacency, with a pair of its own; a run of sampled steps is one release. No
 *                   stated guarantees, and no runs on persons
 *           delta   of the guarantee of all together; 0: pure epsilon-DP
 *           spend   provenance may be NULL; insecure 0
 *  Out:     json    may be NULL; *json: schema sotto.plan/1, with the plan's id and its slots; free with sotto_text_free()
 *           table   may be NULL; *table: the same in lines; free with sotto_text_free()
 *  Returns: EINVAL, EFORMAT  names the event
 *           EDOMAIN  no finite epsilon
 *           those of sotto_dp_release() */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_ledger_plan(char **json, char **table, const char *events,
                                                          double delta, const struct sotto_spend *spend,
                                                          const struct sotto_context *ctx);
/** A ledger as one page of HTML for a privacy officer: what is spent of the budget, the releases in time, and who may be told what. The
 * page is as private as the ledger.
 *
 *  Out:     *page  free with sotto_text_free()
 *  Returns: those of sotto_ledger_show() */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_ledger_page(char **page, const char *ledger,
                                                          const struct sotto_context *ctx);

/** Writes an Opacus history into a ledger. Nothing is written when the file is refused.
 *
 *  In:      history  the file, as for sotto_account_opacus_file()
 *           delta    at which entries are accounted, under add-remove (a group of two in the ledger's replace-one total)
 *  Out:     ledger   one more entry for each triple: "as stated by the caller", so in the conditional column
 *  Returns: those of the reader and of the ledger */
SOTTO_API SOTTO_MUST_CHECK sotto_status sotto_ledger_import_opacus(const char *ledger, const char *history,
                                                                   double delta,
                                                                   const struct sotto_context *ctx);

#ifdef __cplusplus
}
#endif
#endif
