/* reserved.h - the end of every public options and input struct: zeros in which later members will stand. */
#ifndef BASE_RESERVED_H
#define BASE_RESERVED_H

#include "base/status.h"

/** EINVAL: another value than 0: a member of a later header. `what` starts the text. */
sotto_status require_reserved(const uint64_t reserved[4], const char *what);
/** The same where later members stand in some of the four places. */
sotto_status require_reserved_of(const uint64_t *reserved, size_t count, const char *what);

#endif
