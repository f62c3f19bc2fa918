/* Arrays of any origin: the file's ending says what it is. */
#include "base/file.h"
#include "io/table/csv.h"
#include "sotto/attack.h"

#include <stdio.h>
#include <string.h>

static bool ends_in(const char *path, const char *ending)
{
    size_t length = strlen(path), tail = strlen(ending);
    return length > tail && strcmp(path + length - tail, ending) == 0;
}

static sotto_status load_csv(struct sotto_array *out, const char *path)
{
    sotto_status status = SOTTO_OK;
    struct csv table = {0};
    TRY(csv_read_file(&table, path, NULL));
    TRY(csv_to_array(out, &table, csv_has_header(&table) ? 1 : 0));
done:
    csv_clear(&table);
    return status;
}

/* `name` NULL: the only array of the file. */
static sotto_status load_npz(struct sotto_array *out, const char *path, const char *name)
{
    sotto_status status = SOTTO_OK;
    struct sotto_tensors all = {0};
    struct sotto_array *found = NULL;
    TRY(sotto_npz_load(&all, path));
    if (name)
        found = sotto_tensors_find(&all, name);
    else if (all.count == 1)
        found = &all.items[0].array;
    if (!found) {
        char names[256] = "";
        for (size_t i = 0, used = 0; i < all.count && used < sizeof names; i++)
            used +=
                (size_t)snprintf(names + used, sizeof names - used, "%s%s", i ? ", " : "", all.items[i].name);
        if (name)
            FAIL(SOTTO_EFORMAT, "%s: has no array '%s'; it contains %s", path, name, names);
        FAIL(SOTTO_EFORMAT, "%s: contains %zu arrays (%s); choose one by %s:NAME", path, all.count, names,
             path);
    }
    *out = *found;
    *found = (struct sotto_array){0}; /* moved */
done:
    sotto_tensors_clear(&all);
    return status;
}

sotto_status sotto_audit_load(struct sotto_array *out, const char *path)
{
    sotto_status status = SOTTO_OK;
    const char *inside = strstr(path, ".npz:");
    if (ends_in(path, ".csv"))
        return load_csv(out, path);
    if (ends_in(path, ".npz"))
        return load_npz(out, path, NULL);
    if (!inside)
        return sotto_npy_load(out, path);
    size_t length = (size_t)(inside - path) + 4;
    char *file = NULL;
    NEW(file, length + 1);
    memcpy(file, path, length);
    status = load_npz(out, file, inside + 5);
    base_free(file);
done:
    return status;
}
