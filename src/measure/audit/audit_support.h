/* audit_support.h - which records an attack finds again when the model is trained again: each reference
 * model was the target once, and flagged records by its own threshold.
 *
 * One flag may be luck. A record that is flagged in nearly every training that saw it, and in none that did
 * not, is vulnerable by itself (Revisiting LiRA: support in at least q runs and no false positive). */
#ifndef AUDIT_AUDIT_SUPPORT_H
#define AUDIT_AUDIT_SUPPORT_H

#include "base/memory.h"
#include "sotto/audit.h"

struct audit_support {
    double fpr; /* that the runs' thresholds were chosen for; NAN: there were no runs */
    size_t n;
    uint8_t *runs, *flagged;    /* (n): trainings that saw the record, and flagged it */
    uint8_t *others, *mistaken; /* (n): those that did not see it, and flagged it all the same */
    double jaccard; /* mean over pairs of runs: flagged by both of flagged by either, of those both saw */
    size_t pairs;
};
/* flags, trained (count, n): the records that run k flagged, and those that it was trained on; 255 runs at most.
 * ENOMEM. */
sotto_status audit_support_make(struct audit_support *out, const uint8_t *flags, const uint8_t *trained,
                                size_t count, size_t n, double fpr);
void audit_support_clear(struct audit_support *s);
/* How many records are flagged in four of five runs that saw them (of 4 or more) and in none that did not; fpr is NAN
 * without runs. */
struct sotto_audit_stability audit_stability(const struct audit_support *s);

#endif
