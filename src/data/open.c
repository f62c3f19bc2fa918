/* Opening a set by name or by path. A name means, in this order: a set made up here, an imported set, a
 * registered set found on this machine. Anything that is none of these is tried as a path. */
#include "data/bundle.h"
#include "data/dataset.h"

#include "base/file.h"

#include <stdio.h>
#include <string.h>

static sotto_status not_found(const char *name)
{
    const struct dataset_source *source = dataset_source_find(name);
    sotto_status status = status_fail(SOTTO_ENOENT, "data set '%s' not found", name);
    if (source && source->obtain)
        status_hint("%s", source->obtain);
    else if (dataset_name_is_valid(name))
        status_hint("sotto data import PATH --name %s", name);
    return status;
}

static sotto_status open_source(struct dataset **out, const struct dataset_source *source, const char *name,
                                const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    struct dataset *d = NULL;
    if (!source->open)
        return not_found(name);
    TRY(source->open(&d, name, ctx));
    snprintf(d->set.name, sizeof d->set.name, "%s", name);
    snprintf(d->set.title, sizeof d->set.title, "%s", source->title);
    snprintf(d->licence, sizeof d->licence, "%s", source->licence);
    if (!d->set.origin[0])
        snprintf(d->set.origin, sizeof d->set.origin, "%s", source->origin);
    d->set.synthetic = source->synthetic;
    *out = d;
done:
    return status;
}

sotto_status sotto_dataset_open(struct sotto_dataset **out, const char *name_or_path,
                                const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    struct dataset *d = NULL;
    const struct dataset_source *source = NULL;
    REQUIRE(name_or_path && name_or_path[0], "data set: the name is empty");
    if (dataset_name_is_valid(name_or_path))
        source = dataset_source_find(name_or_path);
    if (source)
        TRY(open_source(&d, source, name_or_path, ctx));
    else
        TRY(not_found(name_or_path));
    TRY(dataset_finish(d));
    *out = &d->set;
    d = NULL;
done:
    dataset_discard(d);
    return status;
}
