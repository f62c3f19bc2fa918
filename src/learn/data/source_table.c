#include "data/dataset.h"

#include <string.h>

#define ROW(name) extern const struct dataset_source source_##name;
#include "data/source_list.h"
#undef ROW
const struct dataset_source *const dataset_sources[] = {
#define ROW(name) &source_##name,
#include "data/source_list.h"
#undef ROW
    NULL};

const struct dataset_source *dataset_source_find(const char *name)
{
    for (const struct dataset_source *const *s = dataset_sources; *s; s++) {
        size_t length = strlen((*s)->name);
        if (strcmp(name, (*s)->name) == 0)
            return *s;
        if ((*s)->synthetic && strncmp(name, (*s)->name, length) == 0 && name[length] == '-')
            return *s;
    }
    return NULL;
}

bool dataset_name_is_valid(const char *name)
{
    size_t length = strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789._-");
    return length > 0 && length < sizeof((struct sotto_dataset *)0)->name && name[length] == '\0' &&
           name[0] != '.' && name[0] != '-' && name[0] != '_';
}

void dataset_describe_classes(struct dataset *d, const char *name)
{
    const struct dataset_source *source = dataset_source_find(name);
    bool known = source && (source->synthetic || source->classes == d->set.classes);
    strcpy(d->set.classes_by, known ? "the registered data set's description" : "");
}
