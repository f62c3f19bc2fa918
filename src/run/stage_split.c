/* Split: disjoint random parts of one pool, written as row indices. */
#include "run/run_stages.h"

#include <stdio.h>

#include "sotto/io.h"

sotto_status run_stage_split(struct run *r)
{
    sotto_status status = SOTTO_OK;
    struct run_stage stage;
    struct json *result = NULL;
    static const char *const outputs[] = {"splits/public.npy", "splits/private.npy", "splits/heldout.npy",
                                          "splits/shadow.npy", NULL};
    TRY(sotto_dataset_open(&r->data, r->config.data_set, r->ctx));
    r->classes = r->data->classes;
    if (!r->data->images)
        FAIL(SOTTO_EINVAL, "%s: has no images; pre-training needs images", r->data->name);
    if (r->classes < 2)
        FAIL(SOTTO_EINVAL, "%s: has %zu classes; heads need labels of at least 2", r->data->name, r->classes);
    TRY(sotto_split_make(&r->split, r->data->n, r->config.sizes, r->config.seed));

    struct json *key = json_make_object();
    json_put_text(&key, "data", r->data->sha256);
    json_put_integer(&key, "seed", (int64_t)r->config.seed);
    json_put(&key, "sizes", json_make_counts(r->config.sizes, SOTTO_PARTS));
    TRY(run_stage_begin(&stage, &r->folder, "split", key));
    if (stage.reused)
        goto done;
    for (int part = 0; part < SOTTO_PARTS; part++) {
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
    for (int part = 0; part < SOTTO_PARTS; part++)
        json_put_integer(&result, sotto_part_name((enum sotto_part)part), (int64_t)r->split.n[part]);
    TRY(run_stage_end(&stage, &r->folder, outputs, result));
done:
    return status;
}
