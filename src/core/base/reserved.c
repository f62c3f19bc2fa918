#include "base/reserved.h"

sotto_status require_reserved(const uint64_t reserved[4], const char *what)
{
    return require_reserved_of(reserved, 4, what);
}

sotto_status require_reserved_of(const uint64_t *reserved, size_t count, const char *what)
{
    for (size_t i = 0; i < count; i++)
        if (reserved[i] != 0)
            return status_fail(
                SOTTO_EINVAL,
                "%s: a reserved member is not 0; start from {0}, with the header of this library's "
                "version",
                what);
    return SOTTO_OK;
}
