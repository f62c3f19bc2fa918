/* Which set was meant by a name that is not one. */
#include "base/name.h"
#include "data/dataset.h"
#include "data/store/store.h"

#include <string.h>

void dataset_guess(char best[SOTTO_NAME_GUESS], const char *wanted)
{
    struct status_record record; /* called while a failure is being worded */
    char **names = NULL;
    size_t count = 0;
    best[0] = '\0';
    for (const struct dataset_source *const *s = dataset_sources; *s; s++)
        name_consider(best, wanted, (*s)->name, strlen((*s)->name));
    status_get(&record);
    if (store_names(&names, &count) != SOTTO_OK)
        status_set(&record);
    for (size_t i = 0; i < count; i++)
        name_consider(best, wanted, names[i], strlen(names[i]));
    store_names_free(names, count);
}
