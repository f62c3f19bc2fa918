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
/** [{"index", "hash", "first_step", "steps"}] */
struct json *dpsgd_reservations_json(const struct dpsgd_reservations *run);

/** "unit_of_privacy" in words, and of persons "person" {column, rows}, if it is not there yet; the column is null where the cap was stated. */
void unit_put(struct json **object, const struct privacy_unit *unit);
/** EFORMAT; no such member: one record. */
sotto_status unit_get(struct privacy_unit *out, const struct json *object, const char *name);

#endif
