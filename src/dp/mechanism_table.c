/* Expands mechanism_list.h twice: declarations, then the table. */
#include "dp/mechanism.h"

#include <string.h>

#define ROW(name) extern const struct mechanism mechanism_##name;
#include "dp/mechanism_list.h"
#undef ROW
static const struct mechanism *const table[] = {
#define ROW(name) &mechanism_##name,
#include "dp/mechanism_list.h"
#undef ROW
};
enum { COUNT = sizeof table / sizeof *table };

const struct mechanism *mechanism_at(size_t i)
{
    return i < COUNT ? table[i] : NULL;
}

const struct mechanism *mechanism_find(const char *name)
{
    for (size_t i = 0; i < COUNT; i++)
        if (strcmp(table[i]->name, name) == 0)
            return table[i];
    return NULL;
}

sotto_status mechanism_require(const struct mechanism **out, const char *name)
{
    const struct mechanism *found = name ? mechanism_find(name) : NULL;
    if (found) {
        *out = found;
        return SOTTO_OK;
    }
    if (name && strcmp(name, "exponential") == 0)
        return status_fail(SOTTO_EINVAL,
                           "mechanism 'exponential': one-sided exponential noise is not private at any "
                           "epsilon (a shift leaves outputs that only one input can give); expected "
                           "logistic, laplace or gaussian");
    return status_fail(SOTTO_EINVAL, "mechanism '%s' is not known; expected logistic, laplace or gaussian",
                       name ? name : "");
}
