/* All models, by name. */
#include "nn/model/model.h"
#include "base/choice.h"

#include <stdio.h>
#include <string.h>

#define ROW(name) extern const struct model_kind model_##name;
#include "nn/model/model_list.h"
#undef ROW
#define ROW(name) &model_##name,
static const struct model_kind *const kinds[] = {
#include "nn/model/model_list.h"
};
#undef ROW
enum { KIND_COUNT = sizeof kinds / sizeof kinds[0] };

sotto_status model_kind_find(const struct model_kind **out, const char *name)
{
    char known[256] = "";
    for (size_t i = 0; i < KIND_COUNT; i++) {
        if (name && strcmp(name, kinds[i]->name) == 0) {
            *out = kinds[i];
            return SOTTO_OK;
        }
        size_t used = strlen(known);
        snprintf(known + used, sizeof known - used, "%s%s", i ? ", " : "", kinds[i]->name);
    }
    return choice_unknown(SOTTO_EINVAL, "model", name ? name : "", known);
}
