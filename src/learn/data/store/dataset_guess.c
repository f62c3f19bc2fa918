/* Which set was meant by a name that is not one: the nearest by edit distance, or one that it begins. */
#include "data/dataset.h"
#include "base/choice.h"
#include "data/store/store.h"
#include "io/text/utf8.h"

#include <stdio.h>
#include <string.h>

enum { NEAR = 2, NONE = 100, BEGINNING = 3 /* "cifar" is no typing error, but "cifar10" is likely */ };

static void dataset_guess_consider(char best[64], size_t *distance, const char *wanted, const char *name)
{
    size_t d = name_distance(wanted, name), n = strlen(wanted);
    if (n >= BEGINNING && strncmp(wanted, name, n) == 0)
        d = NEAR;
    if (d < *distance && d <= NEAR && d < n) {
        *distance = d;
        snprintf(best, 64, "%s", name);
    }
}

bool dataset_guess(char best[64], const char *wanted)
{
    struct status_record record; /* called while a failure is being worded */
    char **names = NULL;
    size_t count = 0, distance = NONE;
    best[0] = '\0';
    if (strlen(wanted) >= 64)
        return false;
    for (const struct dataset_source *const *s = dataset_sources; *s; s++)
        dataset_guess_consider(best, &distance, wanted, (*s)->name);
    status_get(&record);
    if (store_names(&names, &count) != SOTTO_OK)
        status_set(&record);
    for (size_t i = 0; i < count; i++)
        dataset_guess_consider(best, &distance, wanted, names[i]);
    store_names_free(names, count);
    return best[0] != '\0';
}
