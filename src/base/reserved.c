#include "base/reserved.h"

sotto_status require_reserved(const uint64_t reserved[4], const char *what)
{
    for (int i = 0; i < 4; i++)
        if (reserved[i] != 0)
            return status_fail(
                SOTTO_EINVAL,
                "%s: a reserved member is not 0; start from {0}, with the header of this library's "
                "version",
                what);
    return SOTTO_OK;
}
