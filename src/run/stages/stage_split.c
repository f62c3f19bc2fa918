/* Split: disjoint random parts of one pool, written as row indices; the public part may come from a set of
 * its own. */
#include "data/set/split.h"
#include "run/stages/run_stages.h"

#include "sotto/private/io.h"

#include <stdio.h>
#include <string.h>

/* Labels of the public set are not looked at. A copy of the same records under another name would make
 * private records public. */
static sotto_status open_public(struct run *r)
{
    sotto_status status = SOTTO_OK;
    struct sotto_dataset *p = NULL;
    const struct sotto_dataset *d = r->data;
    TRY(sotto_dataset_open(&p, r->config.public_set, r->ctx));
    r->public_data = p;
    if (!p->images)
        FAIL(SOTTO_EINVAL, "%s: has no images, which pre-training needs", p->name);
    if (p->channels != d->channels || p->height != d->height || p->width != d->width)
        FAIL(SOTTO_EINVAL,
             "data.public_set: images of %s are %zux%zux%zu, those of %s %zux%zux%zu; expected the same",
             p->name, p->channels, p->height, p->width, d->name, d->channels, d->height, d->width);
    if (strcmp(p->sha256, d->sha256) == 0 || strcmp(p->name, d->name) == 0)
        FAIL(SOTTO_EINVAL,
             "data.public_set: %s and %s contain the same records; expected other records than the private "
             "ones",
             p->name, d->name);
done:
    return status;
}

static sotto_status split_pools(struct run *r)
{
    sotto_status status = SOTTO_OK;
    struct data_split others = {0};
    size_t own[SPLIT_PARTS] = {[SPLIT_PUBLIC] = r->config.sizes[SPLIT_PUBLIC]}, rest[SPLIT_PARTS];
    if (!r->config.public_set[0]) {
        r->public_data = r->data;
        return split_make(&r->split, r->data->n, r->config.sizes, r->config.seed);
    }
    TRY(open_public(r));
    memcpy(rest, r->config.sizes, sizeof rest);
    rest[SPLIT_PUBLIC] = 0;
    TRY(split_make(&others, r->data->n, rest, r->config.seed));
    TRY(split_make(&r->split, r->public_data->n, own, r->config.seed));
    for (int part = SPLIT_PRIVATE; part < SPLIT_PARTS; part++) { /* each keeps the other's empty parts */
        int64_t *empty = r->split.rows[part];
        r->split.rows[part] = others.rows[part];
        r->split.n[part] = others.n[part];
        others.rows[part] = empty;
    }
done:
    split_clear(&others);
    return status;
}

sotto_status run_stage_split(struct run *r)
{
    sotto_status status = SOTTO_OK;
    struct run_stage stage;
    struct json *result = NULL;
    static const char *const outputs[] = {"splits/public.npy", "splits/private.npy", "splits/heldout.npy",
                                          "splits/shadow.npy", NULL};
    TRY(sotto_dataset_open(&r->data, r->config.data_set, r->ctx));
    r->classes = r->config.classes ? r->config.classes : r->data->classes;
    if (!r->data->images)
        FAIL(SOTTO_EINVAL, "%s: has no images, which pre-training needs", r->data->name);
    if (r->classes < 2)
        FAIL(SOTTO_EINVAL, "%s: has %zu classes; expected at least 2", r->data->name, r->classes);
    if (r->data->classes > r->classes)
        FAIL(SOTTO_EINVAL, "%s: has labels up to %zu, but data.classes is %zu; expected labels below it",
             r->data->name, r->data->classes - 1, r->classes);
    TRY(run_check_identity(r));
    TRY(split_pools(r));

    struct json *key = json_make_object();
    json_put_text(&key, "data", r->data->sha256);
    if (r->public_data != r->data)
        json_put_text(&key, "public_data", r->public_data->sha256);
    json_put_integer(&key, "seed", (int64_t)r->config.seed);
    json_put(&key, "sizes", json_make_counts(r->config.sizes, SPLIT_PARTS));
    TRY(run_stage_share(&stage, &r->folder, "split", key, true));
    if (stage.reused || stage.busy)
        goto done;
    for (int part = 0; part < SPLIT_PARTS; part++) {
        char path[RUN_PATH];
        struct sotto_array rows = {.dtype = SOTTO_I8,
                                   .ndim = 1,
                                   .shape = {r->split.n[part]},
                                   .count = r->split.n[part],
                                   .data = r->split.rows[part]}; /* borrowed */
        TRY(run_folder_path(path, &r->folder, outputs[part]));
        TRY(sotto_npy_save(path, &rows));
    }
    result = json_make_object();
    for (int part = 0; part < SPLIT_PARTS; part++)
        json_put_integer(&result, part_name((enum split_part)part), (int64_t)r->split.n[part]);
    TRY(run_stage_end(&stage, &r->folder, outputs, result));
done:
    return status;
}
