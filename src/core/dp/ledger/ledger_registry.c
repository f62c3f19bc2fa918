#include "dp/ledger/ledger_registry.h"
#include "base/file.h"
#include "base/sha256.h"
#include "dp/ledger/ledger_fresh.h"
#include "dp/ledger/ledger_place.h"
#include "io/provenance/dataset_id.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char ledger_ending[] = ".jsonl", place_ending[] = ".where";

static bool plain_name(const char *name)
{
    size_t length = strlen(name);
    return length > 0 && length <= 100 && name[0] != '.' &&
           strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-") == length;
}

static sotto_status ledger_registry_join(char **out, const char *folder, const char *name, const char *ending)
{
    size_t capacity = strlen(folder) + strlen(name) + strlen(ending) + 2;
    char *path = base_alloc(capacity, 1);
    if (!path)
        return status_fail(SOTTO_ENOMEM, "ledger: out of memory");
    snprintf(path, capacity, "%s/%s%s", folder, name, ending);
    *out = path;
    return SOTTO_OK;
}

static sotto_status find_folder(char **out)
{
    sotto_status status = SOTTO_OK;
    const char *home = getenv("XDG_DATA_HOME"), *middle = "sotto/ledger";
    if (!home || home[0] != '/') {
        home = getenv("HOME");
        middle = ".local/share/sotto/ledger";
    }
    REQUIRE(home && home[0] == '/',
            "ledger: neither XDG_DATA_HOME nor HOME is set; set one of them to locate the folder of ledgers");
    TRY(ledger_registry_join(out, home, middle, ""));
done:
    return status;
}

static sotto_status path_of(char **out, const char *dataset_id, const char *ending)
{
    sotto_status status = SOTTO_OK;
    char hashed[SHA256_HEX], *folder = NULL;
    REQUIRE(dataset_id && dataset_id[0],
            "ledger: the private data set has no identity; give {dataset_id||dataset}, "
            "or import it with 'sotto data import'");
    TRY(dataset_id_check(dataset_id));
    TRY(find_folder(&folder));
    if (!plain_name(dataset_id)) {
        sha256_of(hashed, dataset_id, strlen(dataset_id));
        dataset_id = hashed;
    }
    TRY(ledger_registry_join(out, folder, dataset_id, ending));
done:
    base_free(folder);
    return status;
}

sotto_status ledger_default_path(char **out, const char *dataset_id)
{
    return path_of(out, dataset_id, ledger_ending);
}

sotto_status registry_lock(struct ledger_lock *lock)
{
    sotto_status status = SOTTO_OK;
    char *folder = NULL, *path = NULL;
    TRY(find_folder(&folder));
    TRY(folder_make(folder));
    TRY(ledger_registry_join(&path, folder, ".lock", ""));
    TRY(ledger_lock_open(lock, path, O_RDWR));
done:
    base_free(folder);
    base_free(path);
    return status;
}

bool registry_same_file(const char *a, const char *b)
{
    struct stat first, second;
    if (stat(a, &first) != 0 || stat(b, &second) != 0)
        return strcmp(a, b) == 0;
    return first.st_dev == second.st_dev && first.st_ino == second.st_ino;
}

/* What ID.where names. */
static sotto_status read_place(char **out, const char *place, const char *dataset_id)
{
    sotto_status status = SOTTO_OK;
    char *id = NULL, *ledger = NULL;
    TRY(ledger_place_load(&id, &ledger, place));
    if (dataset_id && strcmp(id, dataset_id) != 0)
        FAIL(SOTTO_EFORMAT, "%s: belongs to data set '%.80s'; expected '%.80s'", place, id, dataset_id);
    *out = ledger;
    ledger = NULL;
done:
    base_free(id);
    base_free(ledger);
    return status;
}

static bool has_entries(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 && info.st_size > 0;
}

sotto_status registry_find(char **path, const char *dataset_id)
{
    sotto_status status = SOTTO_OK;
    char *place = NULL, *found = NULL;
    *path = NULL;
    TRY(path_of(&place, dataset_id, place_ending));
    if (file_exists(place)) {
        TRY(read_place(&found, place, dataset_id));
        if (!file_exists(found))
            FAIL(SOTTO_EUSAGE,
                 "the ledger of data set '%.80s' is missing at %s, the path recorded in %s; put it back, as "
                 "privacy losses cannot be added up without it",
                 dataset_id, found, place);
    } else {
        TRY(ledger_default_path(&found, dataset_id));
        if (file_exists(found) && !has_entries(found))
            TRY(ledger_fresh_require(found, 0));
        if (!has_entries(found)) { /* empty: opened, and then refused */
            base_free(found);
            found = NULL;
        }
    }
    *path = found;
    found = NULL;
done:
    base_free(found);
    base_free(place);
    return status;
}

static sotto_status make_absolute(char **out, const char *path)
{
    char here[4096];
    if (path[0] == '/')
        return ledger_registry_join(out, "", path + 1, "");
    if (!getcwd(here, sizeof here))
        return status_fail(SOTTO_EIO, "%s: the path of the working folder cannot be found: %s", path,
                           strerror(errno));
    return ledger_registry_join(out, here, path, "");
}

sotto_status registry_put(const char *dataset_id, const char *path)
{
    sotto_status status = SOTTO_OK;
    char *place = NULL, *absolute = NULL;
    TRY(path_of(&place, dataset_id, place_ending));
    TRY(make_absolute(&absolute, path));
    TRY(ledger_place_save(place, dataset_id, absolute));
done:
    base_free(place);
    base_free(absolute);
    return status;
}

sotto_status registry_open(struct ledger *l, const char *dataset_id, const char *path,
                           const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    char *next = NULL;
    TRY(ledger_open(l, path, ctx));
    for (int moves = 0; l->moved; moves++) {
        base_free(next);
        next = l->moved;
        l->moved = NULL;
        ledger_close(l);
        if (moves == 100 || !file_exists(next))
            FAIL(SOTTO_EUSAGE, "%s: was moved to %s, which is missing; put it back", path, next);
        TRY(registry_put(dataset_id, next));
        TRY(ledger_open(l, next, ctx));
    }
done:
    base_free(next);
    if (status != SOTTO_OK)
        ledger_close(l);
    return status;
}

/* All lines of the ledger; `to` may hold the beginning of them. */
static sotto_status copy_lines(const struct ledger *l, const char *to)
{
    sotto_status status = SOTTO_OK;
    unsigned char *from_data = NULL, *to_data = NULL;
    size_t from_size, to_size = 0;
    TRY(file_read(&from_data, &from_size, l->path, LEDGER_LIMIT));
    if (file_exists(to))
        TRY(file_read(&to_data, &to_size, to, LEDGER_LIMIT));
    if (to_size > from_size || (to_size > 0 && memcmp(from_data, to_data, to_size) != 0))
        FAIL(SOTTO_EUSAGE, "%s: already has other contents; give a new file to move the ledger to", to);
    if (from_size > 0) /* else ledger_open() makes it */
        TRY(file_write(to, from_data, from_size));
done:
    base_free(from_data);
    base_free(to_data);
    return status;
}

sotto_status registry_move(struct ledger *l, const char *dataset_id, const char *to,
                           const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    struct ledger fresh = {.lock = {.fd = -1}};
    char *absolute = NULL, *line = NULL;
    TRY(make_absolute(&absolute, to));
    TRY(copy_lines(l, absolute));
    TRY(ledger_open(&fresh, absolute, ctx));
    TRY(ledger_move_encode(&line, absolute));
    TRY(ledger_append(l, line));
    TRY(registry_put(dataset_id, absolute));
    context_log(ctx, SOTTO_LOG_INFO, "moved the ledger of data set '%s' to %s", dataset_id, absolute);
    ledger_close(l);
    *l = fresh;
    fresh = (struct ledger){.lock = {.fd = -1}};
done:
    ledger_close(&fresh);
    base_free(line);
    base_free(absolute);
    return status;
}
