/* reserved.h - the end of every public options and input struct: zeros in which later members will stand. */
#ifndef BASE_RESERVED_H
#define BASE_RESERVED_H

#include "base/status.h"

/** In: reserved: the struct's uint64_t reserved[4]. Returns: EINVAL: another value than 0, a member of a later header. */
sotto_status reserved_check(const void *reserved);

#endif
