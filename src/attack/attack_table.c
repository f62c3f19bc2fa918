/* The list, expanded twice: declarations, then the table. */
#include "attack/attack_kind.h"

#include <string.h>

#define ROW(name) extern const struct attack attack_##name;
#include "attack/attack_list.h"
#undef ROW

const struct attack *const attack_table[] = {
#define ROW(name) &attack_##name,
#include "attack/attack_list.h"
#undef ROW
    NULL};

const struct attack *attack_find(const char *name)
{
    for (size_t i = 0; attack_table[i]; i++)
        if (strcmp(attack_table[i]->name, name) == 0)
            return attack_table[i];
    return NULL;
}

bool attack_applies(const struct attack *a, unsigned have)
{
    return (a->needs & ~have) == 0;
}
