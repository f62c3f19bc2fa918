/* spend.h - what a release, a reservation and a private training say alike: whose privacy is spent, and where it is
 * recorded. */
#ifndef DP_LEDGER_SPEND_H
#define DP_LEDGER_SPEND_H

#include "dp/account/person.h"
#include "dp/certificate/certificate.h"
#include "rng/noise.h"
#include "sotto/ledger.h"

/** A copy of `given` in which a trainer names the data set and the purpose that are not given. stream: added to the
 * seed of insecure noise, so that no two streams of a training are the same. */
struct sotto_spend spend_complete(const struct sotto_spend *given, const char *dataset_id,
                                  const char *purpose, uint64_t stream);
/** *dataset_id (borrowed): the identity that is charged, the one that is given or else that of the provenance;
 * condition: what epsilon rests on besides the sensitivity, "" for nothing; unit: of which the caller must make the account
 * (its persons are the caller's, and stay), or NULL: it knows only that of a record, and a person is refused.
 * EINVAL: no identity, or two that differ; a budget that is none; a record that is named twice, or that shaped the columns; a
 * condition that is too long. */
sotto_status spend_check(const char **dataset_id, char condition[CONDITION_TEXT], struct privacy_unit *unit,
                         const struct sotto_spend *s);
/** What shaped the columns meets the records that are charged to the data set. Identities decide: within this one, and those of the same
 * people, rows of one set are compared; of other identities nothing is compared, and what shaped the columns becomes a condition.
 *  In:      condition  what epsilon rests on so far
 *  Out:     condition  and now
 *  Returns: EINVAL  a charged row is among those that shaped the columns, or may be; the condition is too long */
sotto_status spend_meet_shapings(char condition[CONDITION_TEXT], const char *dataset_id,
                                 const struct sotto_spend *s);
/** What shaped the columns, for the certificate: "the encoder e.safetensors: other rows of the same data set; ..."; "": nothing is known of.
 * Only behind spend_check(). */
void spend_state_shapings(char out[SHAPED_TEXT], const char *dataset_id, const struct sotto_spend *s);
/** Nothing beside the slot of a plan: what a plan costs, and whom, was said when it was charged. EINVAL: a budget, the same people. */
sotto_status spend_require_slot_alone(const struct sotto_spend *s);
/** Rows of the unit of privacy, for a calibration; 0: one record. */
size_t spend_rows(const struct sotto_spend *s);
/** Whether a member of an input struct was given: neither 0 nor NAN. */
bool spend_given(double x);
/** The delta that is asked for, where 0 (or NAN) is `otherwise` and SOTTO_DELTA_PURE is 0. */
double spend_delta(double delta, double otherwise);
/** The budget as ledgers take it: delta NAN where none was given. */
struct sotto_dp spend_budget(const struct sotto_spend *s);
/** EINVAL: a trainer of records protects them under replace-one and zero-out adjacency only. */
sotto_status spend_require_adjacency(enum sotto_adjacency adjacency);
/** The stream that noise is drawn from. */
sotto_status spend_noise(struct noise **stream, const struct sotto_spend *s);
/** How a ledger entry tells of that stream. */
const char *spend_randomness(const struct sotto_spend *s);

#endif
