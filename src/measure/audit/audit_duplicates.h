/* audit_duplicates.h - rows that occur on both sides. */
#ifndef AUDIT_AUDIT_DUPLICATES_H
#define AUDIT_AUDIT_DUPLICATES_H

#include "base/memory.h"

struct duplicates {
    size_t members, nonmembers; /* rows of this side that equal some row of the other, byte for byte */
    size_t within_members, within_nonmembers; /* rows that equal an earlier row of their own side */
};
/* rows (n_member + n_nonmember) of `bytes` bytes each, members first. ENOMEM. */
sotto_status duplicates_count(struct duplicates *out, const void *rows, size_t bytes, size_t n_member,
                              size_t n_nonmember);

#endif
