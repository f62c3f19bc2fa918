/* Opening a set by name or by path. A name means, in this order: a set made up here, an imported set, a
 * registered set found on this machine. Anything that is none of these is tried as a path. */
#include "base/file.h"
#include "data/format/array_pair.h"
#include "data/format/format.h"
#include "data/store/store.h"

#include <stdio.h>
#include <string.h>

static sotto_status not_found(const char *name)
{
    const struct dataset_source *source = dataset_source_find(name);
    char meant[64];
    bool guessed = !source && dataset_guess(meant, name);
    sotto_status status =
        guessed ? status_fail(SOTTO_ENOENT, "data set '%s' not found; did you mean '%s'?", name, meant)
                : status_fail(SOTTO_ENOENT, "data set '%s' not found", name);
    if (source && source->obtain)
        status_hint("%s", source->obtain);
    else if (published_set(name))
        status_hint(
            "get its files, then: python -m sotto.datasets %s PATH -o OUT; sotto data import OUT --name %s",
            name, name);
    else if (dataset_name_is_valid(name))
        status_hint("run 'sotto data import PATH --name %s'", name);
    return status;
}

static sotto_status open_source(struct dataset *d, const struct dataset_source *source, const char *name,
                                const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    TRY(source->open(d, name, ctx));
    snprintf(d->set.name, sizeof d->set.name, "%s", name);
    snprintf(d->set.title, sizeof d->set.title, "%s", source->title);
    snprintf(d->licence, sizeof d->licence, "%s", source->licence);
    if (!d->set.origin[0])
        snprintf(d->set.origin, sizeof d->set.origin, "%s", source->origin);
    if (!d->set.dataset_id[0])
        snprintf(d->set.dataset_id, sizeof d->set.dataset_id, "%s", name);
    d->set.synthetic = source->synthetic;
    dataset_describe_classes(d, name);
done:
    return status;
}

/* "dir/images.npy:dir/labels.npy" and the like; a set of its own each time, named after the path's end. */
static sotto_status open_path(struct dataset *d, const char *path, const struct sotto_import_options *options,
                              const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    const struct dataset_format *format;
    struct bundle b = {0};
    char detail[sizeof d->set.origin];
    TRY(format_open_bundle(&b, path, ctx));
    TRY(format_read(d, &format, &b, options, ctx));
    if (!d->set.name[0]) {
        const char *base = path_base(b.origin);
        snprintf(d->set.name, sizeof d->set.name, "%.63s", base[0] ? base : path);
        snprintf(d->set.title, sizeof d->set.title, "%.127s", path);
        snprintf(detail, sizeof detail, "%s", d->set.origin);
        snprintf(d->set.origin, sizeof d->set.origin, "%.200s (%s%s%.200s)", path, format->name,
                 detail[0] ? ": " : "", detail);
    }
done:
    bundle_clear(&b);
    return status;
}

static bool could_be_path(const char *text)
{
    return file_exists(text) || strchr(text, '/') || array_pair_colon(text);
}

static sotto_status open_any(struct dataset *d, const char *name, const struct sotto_import_options *options,
                             const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    char folder[4096];
    const struct dataset_source *source = NULL;
    if (dataset_name_is_valid(name)) {
        source = dataset_source_find(name);
        if (source && source->synthetic)
            return open_source(d, source, name, ctx);
        if (store_find(folder, sizeof folder, name))
            return store_read(d, folder);
    }
    if (source && source->open)
        return open_source(d, source, name, ctx);
    if (!could_be_path(name))
        return not_found(name);
    TRY(open_path(d, name, options, ctx));
done:
    return status;
}

static sotto_status open_and_check(struct sotto_dataset **out, struct dataset **d, const char *name,
                                   const struct sotto_import_options *options,
                                   const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    (*d)->ctx = ctx;
    TRY(open_any(*d, name, options, ctx));
    if ((status = dataset_finish(*d)) != SOTTO_OK) {
        status_prefix(name);
        goto done;
    }
    (*d)->ctx = NULL;
    *out = &(*d)->set;
    *d = NULL;
done:
    return status;
}

int sotto_dataset_is_path(const char *name)
{
    GIVEN_OR(0, name);
    char path[4096];
    const struct dataset_source *source = dataset_name_is_valid(name) ? dataset_source_find(name) : NULL;
    if ((source && source->open) || store_find(path, sizeof path, name) || !could_be_path(name))
        return 0;
    return path_join(path, sizeof path, name, "dataset.json") != SOTTO_OK || !file_exists(path);
}

sotto_status sotto_dataset_open(struct sotto_dataset **out, const char *name_or_path,
                                const struct sotto_context *ctx)
{
    REQUIRE_GIVEN(out, name_or_path);
    return sotto_dataset_open_files(out, name_or_path, NULL, ctx);
}

sotto_status sotto_dataset_open_files(struct sotto_dataset **out, const char *name_or_path,
                                      const struct sotto_import_options *options,
                                      const struct sotto_context *ctx)
{
    REQUIRE_GIVEN(out, name_or_path);
    sotto_status status = SOTTO_OK;
    static const struct sotto_import_options none;
    struct dataset *d = NULL;
    REQUIRE(name_or_path && name_or_path[0], "data set: the name is empty");
    if (options && memcmp(options, &none, sizeof none) != 0) {
        if (!sotto_dataset_is_path(name_or_path))
            FAIL(SOTTO_EUSAGE, "data set '%s': options of files belong to its import; omit them",
                 name_or_path);
    }
    TRY(dataset_create(&d));
    d->asks_persons = true;
    TRY(open_and_check(out, &d, name_or_path, options, ctx));
done:
    dataset_discard(d);
    return status;
}

sotto_status dataset_open_like(struct sotto_dataset **out, const char *name_or_path,
                               const struct sotto_dataset *other, const char *encoding,
                               const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    struct dataset *d = NULL;
    const char *label = dataset_behind(other)->label_column;
    struct sotto_import_options options = {.label = !encoding && label[0] ? label : NULL};
    TRY(dataset_create(&d));
    if (encoding)
        NEW_TEXT(d->encoding, encoding);
    TRY(open_and_check(out, &d, name_or_path, &options, ctx));
done:
    dataset_discard(d);
    return status;
}
