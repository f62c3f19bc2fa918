#include "ssl/pretrain_part.h"

#include "base/status.h"

#include <string.h>

#define ROW(name) extern const struct pretrain_part pretrain_part_##name;
#include "ssl/pretrain_part_list.h"
#undef ROW
static const struct pretrain_part *const parts[] = {
#define ROW(name) &pretrain_part_##name,
#include "ssl/pretrain_part_list.h"
#undef ROW
    NULL};

sotto_status pretrain_part_find(const struct pretrain_part **out, const char *name)
{
    size_t i = 0;
    while (name && parts[i] && strcmp(parts[i]->name, name) != 0)
        i++;
    *out = name ? parts[i] : NULL;
    return name && !*out
               ? status_fail(SOTTO_EINVAL,
                             "part '%s' is unknown; expected one that a module of this build adds", name)
               : SOTTO_OK;
}
