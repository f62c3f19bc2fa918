/* Import: read in whatever layout, write below a temporary name, rename. A killed import leaves a hidden
 * folder that no reader looks at; the next import of the same name sweeps it away. */
#include "data/store/import.h"

#include "base/file.h"
#include "base/sha256.h"
#include "data/format/format.h"
#include "data/store/store.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void remove_folder(const char *folder)
{
    static const char *const files[] = {"images.npy",    "features.npy", "labels.npy",
                                        "attribute.npy", "persons.npy",  "dataset.json"};
    DIR *dir = opendir(folder);
    char path[4600];
    for (struct dirent *e; dir && (e = readdir(dir)) != NULL;) {
        for (size_t i = 0; i < sizeof files / sizeof *files; i++) { /* and their ".tmp-XXXXXX" */
            if (strncmp(e->d_name, files[i], strlen(files[i])) != 0)
                continue;
            snprintf(path, sizeof path, "%.4000s/%s", folder, e->d_name);
            unlink(path);
        }
    }
    if (dir)
        closedir(dir);
    rmdir(folder);
}

/* Temporary folders are ".NAME.import-PID"; those of processes that are gone are dead imports. */
static void import_sweep(const char *root, const char *name)
{
    char start[128], path[4600];
    int length = snprintf(start, sizeof start, ".%s.import-", name);
    DIR *dir = opendir(root);
    for (struct dirent *e; dir && (e = readdir(dir)) != NULL;) {
        if (strncmp(e->d_name, start, (size_t)length) != 0)
            continue;
        long pid = strtol(e->d_name + length, NULL, 10);
        if (pid <= 0 || kill((pid_t)pid, 0) == 0 || errno != ESRCH)
            continue;
        snprintf(path, sizeof path, "%.4000s/%s", root, e->d_name);
        remove_folder(path);
    }
    if (dir)
        closedir(dir);
}

/* What is known about a registered name is written beside the data. */
static sotto_status name_set(struct dataset *d, const char *name, const char *file,
                             const struct dataset_format *format)
{
    sotto_status status = SOTTO_OK;
    const struct dataset_source *source = dataset_source_find(name);
    struct sotto_dataset *s = &d->set;
    char detail[sizeof s->origin];
    snprintf(detail, sizeof detail, "%s", s->origin);
    snprintf(s->name, sizeof s->name, "%s", name);
    snprintf(s->title, sizeof s->title, "%s", source ? source->title : name);
    snprintf(d->licence, sizeof d->licence, "%s", source ? source->licence : "");
    snprintf(s->origin, sizeof s->origin, "%.200s%simported from %.100s (%s%s%.100s)",
             source ? source->origin : "", source ? "; " : "", file, format->name, detail[0] ? ": " : "",
             detail);
    if (source && source->class_names && !s->class_names && s->classes == source->classes)
        TRY(dataset_set_classes(d, source->classes, source->class_names));
done:
    return status;
}

sotto_status import_check(char *folder, size_t capacity, const char *name)
{
    sotto_status status = SOTTO_OK;
    const struct dataset_source *source = dataset_source_find(name);
    char root[4096];
    if (!dataset_name_is_valid(name)) {
        status = status_fail(SOTTO_EUSAGE,
                             "data set name '%.80s': expected 1 to 63 of a-z 0-9 . _ -, starting with a "
                             "letter or digit",
                             name);
        goto done;
    }
    if (source && source->synthetic)
        FAIL(SOTTO_EUSAGE, "data set name '%s' belongs to a generated set; choose another", name);
    TRY(store_folder(root, sizeof root));
    TRY(path_join(folder, capacity, root, name));
    if (file_exists(folder)) {
        status = status_fail(SOTTO_ECREATE, "data set '%s' exists already in %s", name, folder);
        status_hint("remove that folder, or choose another {name}");
    }
done:
    return status;
}

/* A registered name may stand for one part of a layout. */
static sotto_status choose_part(struct sotto_import_options *options, const char *name)
{
    sotto_status status = SOTTO_OK;
    const struct dataset_source *source = dataset_source_find(name);
    if (!source || !source->part)
        goto done;
    if (options->part && strcmp(options->part, source->part) != 0)
        FAIL(SOTTO_EUSAGE,
             "data set name '%s' is the name of the %s part (got '%.40s'); choose another {name}", name,
             source->part, options->part);
    options->part = source->part;
done:
    return status;
}

/* Files of CIFAR-100 under the name cifar10 would carry its title and its classes. */
static sotto_status check_layout(const struct dataset_format *format, const char *name, const char *path)
{
    const struct dataset_source *source = dataset_source_find(name);
    if (!source || !format->set || strcmp(format->set, name) == 0 ||
        (source->part && strncmp(name, format->set, strlen(format->set)) == 0))
        return SOTTO_OK;
    return status_fail(SOTTO_EUSAGE,
                       "%s: contains %s, but '%s' is the name of another set; choose another {name}", path,
                       format->set, name);
}

/* The identity that was given, or that the records came with, or a new one. A file that was fetched from its
 * registered address, with its hash checked, is the public set. */
static sotto_status import_identify(struct sotto_dataset *s, const char *name, const char *given,
                                    bool registered)
{
    sotto_status status = SOTTO_OK;
    if (given)
        TRY(identity_check(given));
    if (given && s->dataset_id[0] && strcmp(given, s->dataset_id) != 0)
        FAIL(SOTTO_EUSAGE, "import: these records already have the identity '%s'; omit {dataset_id||dataset}",
             s->dataset_id);
    if (given)
        snprintf(s->dataset_id, sizeof s->dataset_id, "%s", given);
    else if (registered)
        snprintf(s->dataset_id, sizeof s->dataset_id, "%s", name);
    else if (!s->dataset_id[0])
        TRY(identity_draw(s->dataset_id, name));
done:
    return status;
}

static sotto_status read_set(struct dataset *d, struct bundle *b, struct store_source *source,
                             const char *path, const char *name, const struct sotto_import_options *options,
                             const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    const struct dataset_format *format = NULL;
    struct sotto_import_options chosen = options ? *options : (struct sotto_import_options){0};
    TRY(choose_part(&chosen, name));
    context_log(ctx, SOTTO_LOG_INFO, "reading %s", path);
    TRY(format_open_bundle(b, path, ctx));
    TRY(format_read(d, &format, b, &chosen, ctx));
    TRY(check_layout(format, name, path));
    const char *origin = path_base(b->origin);
    char file[128];
    snprintf(file, sizeof file, "%.127s", origin[0] ? origin : path);
    TRY(name_set(d, name, file, format));
    if ((status = dataset_finish(d)) != SOTTO_OK) {
        status_prefix(path);
        goto done;
    }
    source->format = format->name;
    TRY(import_identify(&d->set, name, chosen.dataset_id, source->registered));
done:
    return status;
}

static sotto_status import_check_person(const struct sotto_import_options *o)
{
    sotto_status status = SOTTO_OK;
    const bool none = o->person && strcmp(o->person, "none") == 0;
    if (o->rows_per_person > 0 && (!o->person || none))
        FAIL(SOTTO_EUSAGE,
             "import: rows per person need a column that names the person; give {person=COLUMN}");
    if (o->person && !none && o->rows_per_person == 0)
        FAIL(SOTTO_EUSAGE,
             "import: the unit of privacy is a person, but not how many rows of each are kept; give "
             "{rows_per_person=M}");
    if (o->person && strlen(o->person) >= SOTTO_PERSON)
        FAIL(SOTTO_EUSAGE, "import: the name of the person column '%.40s...' is longer than %d bytes",
             o->person, SOTTO_PERSON - 1);
done:
    return status;
}

sotto_status sotto_data_import(const char *path, const char *name, const struct sotto_import_options *options,
                               const struct sotto_context *ctx)
{
    REQUIRE_GIVEN(path, name);
    return import_set(path, name, options, NULL, false, ctx);
}

sotto_status import_set(const char *path, const char *name, const struct sotto_import_options *options,
                        const char *url, bool registered, const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    struct dataset *d = NULL;
    struct bundle b = {0}; /* a stream of images reads from it until the set is written */
    char folder[4096], root[4096], temporary[4096 + 128] = "", hex[SHA256_HEX];
    struct store_source source = {.url = url, .registered = registered};
    REQUIRE(path && path[0], "import: the path is empty");
    REQUIRE(name, "import: the name is missing");
    REQUIRE(!options || (options->height > 0) == (options->width > 0),
            "import: height and width must be given together");
    if (options)
        TRY(import_check_person(options));
    TRY(import_check(folder, sizeof folder, name));
    TRY(dataset_create(&d));
    d->may_stream = true;
    d->asks_persons = true;
    d->ctx = ctx;
    TRY(read_set(d, &b, &source, path, name, options, ctx));
    source.file = path_base(path);
    if (file_exists(path) && !file_is_folder(path)) {
        TRY(sha256_file_asking(hex, path, ctx));
        source.sha256 = hex;
    }
    TRY(store_folder(root, sizeof root));
    TRY(folder_make(root));
    import_sweep(root, name);
    snprintf(temporary, sizeof temporary, "%s/.%s.import-%ld", root, name, (long)getpid());
    TRY(folder_make(temporary));
    TRY(store_write(temporary, d, &source, ctx));
    if (context_stopped(ctx))
        FAIL(SOTTO_ESTOPPED, "import stopped; nothing was written");
    TRY(folder_sync(temporary));
    if (rename(temporary, folder) != 0)
        FAIL(SOTTO_ECREATE, "%s: cannot rename into place: %s", folder, strerror(errno));
    temporary[0] = '\0';
    TRY(folder_sync(root));
done:
    if (temporary[0]) {
        struct status_record record;
        status_get(&record);
        remove_folder(temporary);
        status_set(&record);
    }
    dataset_discard(d);
    bundle_clear(&b);
    return status;
}

static bool recognise_imported(const struct bundle *b)
{
    for (size_t i = 0; i < b->count; i++)
        if (strcmp(b->entries[i].name, "dataset.json") == 0 && !b->entries[i].data)
            return true;
    return false;
}

static sotto_status read_imported(struct dataset *d, const struct bundle *b,
                                  const struct sotto_import_options *options, const struct sotto_context *ctx)
{
    (void)options, (void)ctx;
    return store_read(d, b->origin);
}

const struct dataset_format format_imported = {.name = "imported",
                                               .layout =
                                                   "a folder written by 'sotto data import' (dataset.json)",
                                               .recognise = recognise_imported,
                                               .read = read_imported};
