#include "ssl/objective.h"
#include "base/choice.h"

#include <stdio.h>
#include <string.h>

#define ROW(name) extern const struct objective objective_##name;
#include "ssl/objective_list.h"
#undef ROW
#define ROW(name) &objective_##name,
static const struct objective *const objectives[] = {
#include "ssl/objective_list.h"
};
#undef ROW

sotto_status objective_find(const struct objective **out, const char *name)
{
    char known[256] = "";
    for (size_t i = 0; i < sizeof objectives / sizeof *objectives; i++) {
        if (strcmp(objectives[i]->name, name) == 0) {
            *out = objectives[i];
            return SOTTO_OK;
        }
        size_t used = strlen(known);
        snprintf(known + used, sizeof known - used, "%s%s", i ? ", " : "", objectives[i]->name);
    }
    return choice_unknown(SOTTO_EINVAL, "method", name, known);
}
