/* The folder of imported sets: where it is, and which sets it has. */
#include "data/store/store.h"

#include "base/file.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

sotto_status store_folder(char *path, size_t capacity)
{
    sotto_status status = SOTTO_OK;
    const char *own = getenv("SOTTO_DATA_DIR"), *data = getenv("XDG_DATA_HOME"), *home = getenv("HOME");
    int length;
    if (own && own[0])
        length = snprintf(path, capacity, "%s", own);
    else if (data && data[0] == '/')
        length = snprintf(path, capacity, "%s/sotto/data", data);
    else if (home && home[0])
        length = snprintf(path, capacity, "%s/.local/share/sotto/data", home);
    else
        FAIL(SOTTO_ENOENT, "data folder: none of SOTTO_DATA_DIR, XDG_DATA_HOME and HOME is set");
    if (length < 0 || (size_t)length >= capacity)
        FAIL(SOTTO_EINVAL, "data folder: path is too long");
done:
    return status;
}

bool store_find(char *path, size_t capacity, const char *name)
{
    char folder[4096], json[4096 + 16];
    if (store_folder(folder, sizeof folder) != SOTTO_OK ||
        path_join(path, capacity, folder, name) != SOTTO_OK)
        return false;
    snprintf(json, sizeof json, "%.4080s/dataset.json", path);
    return file_exists(json);
}

static int is_set(const struct dirent *entry)
{
    return dataset_name_is_valid(entry->d_name);
}

/* alphasort() depends on the locale. */
static int by_bytes(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

sotto_status store_names(char ***names, size_t *count)
{
    sotto_status status = SOTTO_OK;
    struct dirent **entries = NULL;
    char folder[4096], path[4096], **list = NULL;
    size_t kept = 0;
    int found = 0;
    TRY(store_folder(folder, sizeof folder));
    found = scandir(folder, &entries, is_set, by_bytes);
    NEW(list, found > 0 ? (size_t)found : 1);
    for (int i = 0; i < found; i++) {
        if (!store_find(path, sizeof path, entries[i]->d_name))
            continue;
        NEW_TEXT(list[kept], entries[i]->d_name);
        kept++;
    }
    *names = list;
    *count = kept;
    list = NULL;
done:
    for (int i = 0; i < found; i++)
        free(entries[i]);
    free(entries);
    store_names_free(list, kept);
    return status;
}

void store_names_free(char **names, size_t count)
{
    for (size_t i = 0; names && i < count; i++)
        base_free(names[i]);
    base_free(names);
}
