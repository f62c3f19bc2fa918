#include "base/reserved.h"

#include <string.h>

sotto_status reserved_check(const void *reserved)
{
    static const uint64_t zeros[4];
    if (memcmp(reserved, zeros, sizeof zeros) == 0)
        return SOTTO_OK;
    return status_fail(SOTTO_EINVAL,
                       "a reserved member of an options struct is not 0; expected {0} and members of this "
                       "version's header (was the program built with a later one?)");
}
