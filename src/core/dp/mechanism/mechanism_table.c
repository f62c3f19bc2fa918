/* Expands mechanism_list.h twice: declarations, then the table. */
#include "dp/mechanism/mechanism.h"
#include "sotto/account.h"
#include "sotto/private/print.h"
#include "base/choice.h"

#include <stdio.h>
#include <string.h>

#define ROW(name) extern const struct mechanism mechanism_##name;
#include "dp/mechanism/mechanism_list.h"
#undef ROW
static const struct mechanism *const table[] = {
#define ROW(name) &mechanism_##name,
#include "dp/mechanism/mechanism_list.h"
#undef ROW
};
enum { COUNT = sizeof table / sizeof *table };

const struct mechanism *mechanism_row(size_t i)
{
    return i < COUNT ? table[i] : NULL;
}

const struct mechanism *mechanism_at(size_t i)
{
    return i < COUNT && table[i]->kind == RELEASE_LATTICE ? table[i] : NULL;
}

const char *sotto_mechanism_name(size_t i)
{
    return i < COUNT ? table[i]->name : NULL;
}

const char *sotto_mechanism_title(size_t i)
{
    return i < COUNT ? table[i]->title : NULL;
}

bool mechanism_is_discretised(const struct mechanism *m)
{
    return m->kind == RELEASE_LATTICE || (m->integer && !m->integer->magnitude);
}

const struct mechanism *mechanism_find(const char *name)
{
    for (size_t i = 0; i < COUNT; i++)
        if (strcmp(table[i]->name, name) == 0)
            return table[i];
    return NULL;
}

static void list_names(char *text, size_t capacity)
{
    size_t used = 0;
    for (size_t i = 0; i < COUNT; i++)
        used += (size_t)snprintf(text + used, capacity - used, "%s%s",
                                 i == 0          ? ""
                                 : i + 1 < COUNT ? ", "
                                                 : " or ",
                                 table[i]->name);
}

static bool is_one_sided(const char *name)
{
    return strcmp(name, "exponential-noise") == 0 || strcmp(name, "one-sided-exponential") == 0;
}

sotto_status mechanism_require(const struct mechanism **out, const char *name)
{
    const struct mechanism *found = name ? mechanism_find(name) : NULL;
    char names[512];
    if (found) {
        *out = found;
        return SOTTO_OK;
    }
    if (name && is_one_sided(name))
        return status_fail(SOTTO_EINVAL,
                           "mechanism '%s': one-sided exponential noise has no finite epsilon, as a shift D "
                           "leaves outputs that only one input can produce (delta is at least 1 - exp(-D / "
                           "scale)); expected laplace, its symmetric form",
                           name);
    list_names(names, sizeof names);
    return choice_unknown(SOTTO_EINVAL, "mechanism", name ? name : "", names);
}
