#include "options/options.h"

#include <string.h>

#define ROW(name) extern const struct verb_part verb_part_##name;
#include "verbs/verb_part_list.h"
#undef ROW
static const struct verb_part *const parts[] = {
#define ROW(name) &verb_part_##name,
#include "verbs/verb_part_list.h"
#undef ROW
};

const struct verb_part *verb_part_of(const char *verb, size_t i)
{
    for (size_t k = 0; k < sizeof parts / sizeof *parts; k++)
        if (strcmp(parts[k]->verb, verb) == 0 && i-- == 0)
            return parts[k];
    return NULL;
}
