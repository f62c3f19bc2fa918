/* charge_hint.h - what a failure after a charge has to say: privacy was spent, and where that is written. */
#ifndef DP_RELEASE_CHARGE_HINT_H
#define DP_RELEASE_CHARGE_HINT_H

#include "sotto/release.h"

/** Adds to the failure just recorded the hint that the reservation's epsilon was charged, with its entry. `next` says
 * what can be done about it, e.g. "the same command continues". Does nothing without a reservation. */
void charge_name_steps(const struct sotto_dpsgd_session *steps, const char *next);
/** The same from a certificate that was not saved. */
void charge_name_certificate(const struct sotto_certificate *c, const char *next);
/** What `next` is for a run that keeps its state in `checkpoint` (NULL: nowhere): it continues if that file is there. */
const char *charge_continues(const char *checkpoint);

#endif
