/* Folders: every regular file below, links followed, hidden names skipped. The depth limit also ends link
 * loops. */
#include "data/files/bundle.h"

#include "base/file.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

enum { DEPTH_LIMIT = 8 };

static sotto_status bundle_folder_walk(struct bundle *b, const char *inside, int depth)
{
    sotto_status status = SOTTO_OK;
    char folder[4096], name[2048], path[4096];
    DIR *dir = NULL;
    if (inside[0])
        TRY(path_join(folder, sizeof folder, b->origin, inside));
    else
        snprintf(folder, sizeof folder, "%s", b->origin);
    if (depth > DEPTH_LIMIT)
        FAIL(SOTTO_EFORMAT, "%s: folders are nested deeper than %d", folder, DEPTH_LIMIT);
    dir = opendir(folder);
    if (!dir)
        FAIL(SOTTO_ENOENT, "%s: %s", folder, strerror(errno));
    for (struct dirent *e; (e = readdir(dir)) != NULL;) {
        struct stat info;
        if (e->d_name[0] == '.')
            continue;
        int length = snprintf(name, sizeof name, "%s%s%s", inside, inside[0] ? "/" : "", e->d_name);
        if (length < 0 || (size_t)length >= sizeof name)
            FAIL(SOTTO_EFORMAT, "%s: path is too long", folder);
        TRY(path_join(path, sizeof path, folder, e->d_name));
        if (stat(path, &info) != 0)
            FAIL(SOTTO_ENOENT, "%s: %s", path, strerror(errno));
        if (S_ISDIR(info.st_mode))
            TRY(bundle_folder_walk(b, name, depth + 1));
        else if (S_ISREG(info.st_mode) && (status = bundle_add(b, name, NULL, 0)) != SOTTO_OK) {
            status_prefix(folder);
            goto done;
        }
        if (b->count > bundle_default_limits.entries)
            FAIL(SOTTO_EFORMAT, "%s: holds more than %zu files", b->origin, bundle_default_limits.entries);
    }
done:
    if (dir)
        closedir(dir);
    return status;
}

static sotto_status open_folder(struct bundle *out, const char *path)
{
    sotto_status status = SOTTO_OK;
    struct bundle b = {0};
    NEW_TEXT(b.origin, path);
    for (size_t n = strlen(b.origin); n > 1 && b.origin[n - 1] == '/'; n--)
        b.origin[n - 1] = '\0';
    TRY(bundle_folder_walk(&b, "", 0));
    if (b.count == 0)
        FAIL(SOTTO_EFORMAT, "%s: the folder holds no files", path);
    bundle_sort(&b);
    *out = b;
done:
    if (status != SOTTO_OK)
        bundle_clear(&b);
    return status;
}

/* An array is read where it lies: it may be larger than memory. */
static sotto_status open_array(struct bundle *out, const char *path)
{
    sotto_status status = SOTTO_OK;
    struct bundle b = {.single = true};
    NEW_TEXT(b.origin, path);
    TRY(bundle_add(&b, path_base(path), NULL, 0));
    *out = b;
    b = (struct bundle){0};
done:
    bundle_clear(&b);
    return status;
}

sotto_status bundle_open(struct bundle *out, const char *path, const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    if (file_is_folder(path))
        TRY(open_folder(out, path));
    else if (!file_exists(path))
        FAIL(SOTTO_ENOENT, "%s: %s", path, strerror(errno));
    else if (name_ends(path, ".npy") && !file_is_pipe(path))
        TRY(open_array(out, path));
    else
        TRY(bundle_from_archive(out, path, &bundle_default_limits, ctx));
    out->ctx = ctx;
done:
    return status;
}

sotto_status bundle_of_pair(struct bundle *out, const char *origin, size_t colon,
                            const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    struct bundle b = {.colon = colon, .ctx = ctx};
    NEW_TEXT(b.origin, origin);
    NEW(b.entries, 2);
    b.capacity = 2;
    for (size_t i = 0; i < 2; i++) {
        NEW_TEXT(b.entries[i].name, i ? origin + colon + 1 : origin);
        b.count++;
    }
    b.entries[0].name[colon] = '\0';
    *out = b;
    b = (struct bundle){0};
done:
    bundle_clear(&b);
    return status;
}
