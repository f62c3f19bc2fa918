/* audit_one_run.h - what one run's guesses say besides Steinke's bound. */
#ifndef AUDIT_AUDIT_ONE_RUN_H
#define AUDIT_AUDIT_ONE_RUN_H

#include "audit/audit_private.h"

/* out->one_run_bounds, from out->one_run and, for the Bayesian interval, a threshold chosen on the other half. ENOMEM. */
sotto_status audit_measure_one_run(struct sotto_audit_attack *out, struct sotto_audit_memory **memory,
                                   const struct audit_curves *c, const struct audit_settings *settings);
/* One line about the test of a curve. */
void audit_one_run_text(char *out, size_t capacity, const struct sotto_audit_curve *c);

#endif
