/* dpsgd_json.h - JSON of the facts of a run and of its reservations. */
#ifndef DP_DPSGD_DPSGD_JSON_H
#define DP_DPSGD_DPSGD_JSON_H

#include "dp/dpsgd/dpsgd_reservations.h"

struct json;

/** Adds mechanism, scale, max_grad_norm, clipping, sampling, sample_rate, dimension, noise mode and the noise
 * multiplier. */
void dpsgd_facts_put(struct json **object, const struct dpsgd_facts *facts);
/** Reads them back; texts are borrowed. EFORMAT. */
sotto_status dpsgd_facts_get(struct dpsgd_facts *out, const struct json *object, const char *name);
/** The number of an entry, as a certificate has it: "charge", among the charges of the ledger; in early certificates "index",
 * among all its lines. A line that tells which records are new is written only where one is, so the latter follows the
 * history of records, which is private. */
const char *entry_number_name(bool by_line);
void entry_number_put(struct json **object, size_t entry, bool by_line);
/** 0: there is none, or no whole number. */
int64_t entry_number_of(const struct json *object);
/** *there: a whole number is. EFORMAT: both are. */
sotto_status entry_number_get(int64_t *entry, bool *by_line, bool *there, const struct json *object,
                              const char *name);
/** [{"charge", "hash", "first_step", "steps"}] */
struct json *dpsgd_reservations_json(const struct dpsgd_reservations *run);

/** "unit_of_privacy" in words, and of persons "person" {column, rows}, if it is not there yet; the column is null where the cap was stated. */
void unit_put(struct json **object, const struct privacy_unit *unit);
/** EFORMAT; no such member: one record. */
sotto_status unit_get(struct privacy_unit *out, const struct json *object, const char *name);

#endif
