/* Which attacks a call asks for: by part, and by name. */
#include "selftest/checks.h"

#include <string.h>

bool selftest_wants(const struct sotto_selftest_options *o, size_t number, const char *name)
{
    return number % o->shards == o->shard && (!o->only || strstr(name, o->only));
}
