/* audit_reference_look.h - do the reference models look like what they are called? */
#ifndef AUDIT_AUDIT_REFERENCE_LOOK_H
#define AUDIT_AUDIT_REFERENCE_LOOK_H

#include "audit/audit_private.h"

struct reference_look {
    /* Records that a model was trained on against its others, by its own signal: the mean AUC of the first models. NAN: no
     * training mask. The interval holds however the models depend on each other. */
    struct sotto_estimate own;
    struct sotto_estimate target; /* likewise of the target's members and non-members */
    size_t records;               /* that were compared */
    size_t same, same_records;    /* 1 + a model that answers like the target; 0: none. On how many records */
    bool none_negative, target_negative; /* among the signals of the references, of the target */
};
/* Some records of both sides decide, all models. After audit_summarise_references(). ENOMEM, or what reading says. */
sotto_status audit_reference_look(struct reference_look *out, const struct audit_arrays *arrays,
                                  double confidence);

#endif
