/* audit_private.h - the parts of one audit, shared by audit.c, audit_check.c and audit_measure.c. */
#ifndef ATTACK_AUDIT_PRIVATE_H
#define ATTACK_AUDIT_PRIVATE_H

#include "attack/attack_kind.h"
#include "attack/metrics.h"
#include "io/json.h"

/* Options with every default filled in. */
struct audit_settings {
    const double *fpr;
    size_t fpr_count;
    double confidence, delta;
    uint64_t seed;
};
sotto_status audit_settings_resolve(struct audit_settings *out, const struct sotto_audit_options *options);

/* All records as an attack sees them, members first, and what they hold (of enum attack_need); member and
 * nonmember are its two parts. EUSAGE: nothing to audit, or one side has what the other lacks; EINVAL: values
 * that are not finite, not probabilities, or labels out of range. */
struct audit_sides {
    struct attack_input all, member, nonmember;
    unsigned have;
    void *owned[6]; /* the arrays of `all` */
};
sotto_status audit_check(struct audit_sides *out, const struct sotto_audit_input *in);
void audit_sides_clear(struct audit_sides *s);

/* The random halves, the same for every attack: order[0 .. n/2) chooses thresholds, the rest is scored. */
struct audit_halves {
    int64_t *member, *nonmember;
};
sotto_status audit_halves_make(struct audit_halves *out, size_t n_member, size_t n_nonmember, uint64_t seed);
void audit_halves_clear(struct audit_halves *h);

/* One attack's entry of "attacks". */
sotto_status audit_measure(struct json **out, const struct attack *attack, const struct audit_sides *sides,
                           const struct audit_halves *halves, const struct audit_settings *settings);
/* {"estimate", "lower", "upper"}. */
struct json *audit_estimate(struct sotto_estimate e);

#endif
