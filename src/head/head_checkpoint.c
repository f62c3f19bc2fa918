#include "head/head_checkpoint.h"

#include "io/number.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const char schema[] = "sotto.head-checkpoint/1";
static const char *const names[] = {"weights", "mean", "square"};

static double *array_of(const struct head_checkpoint *c, int i)
{
    return i == 0 ? c->weights : i == 1 ? c->mean : c->square;
}

sotto_status head_checkpoint_save(const char *path, const struct head_checkpoint *c)
{
    sotto_status status = SOTTO_OK;
    struct sotto_tensors t = {0};
    char step[32];
    snprintf(step, sizeof step, "%zu", c->step);
    TRY(sotto_tensors_set_metadata(&t, "schema", schema));
    TRY(sotto_tensors_set_metadata(&t, "recipe_hash", c->recipe));
    TRY(sotto_tensors_set_metadata(&t, "data_sha256", c->data));
    TRY(sotto_tensors_set_metadata(&t, "run", c->run));
    TRY(sotto_tensors_set_metadata(&t, "step", step));
    for (int i = 0; i < 3; i++)
        TRY(sotto_tensors_add(&t, names[i], SOTTO_F8, 1, &c->count, array_of(c, i)));
    TRY(sotto_safetensors_save(path, &t));
done:
    sotto_tensors_clear(&t);
    return status;
}

/* Equal to what the run is, or there is no going on. */
static sotto_status require(const struct sotto_tensors *t, const char *key, const char *wanted, const char *path,
                            const char *differs)
{
    const char *found = sotto_tensors_metadata(t, key);
    if (found && strcmp(found, wanted) == 0)
        return SOTTO_OK;
    return status_fail(SOTTO_EINVAL,
                       "%s: was made with %s; give the options and records that it was begun with, or --fresh", path,
                       differs);
}

static sotto_status take(double *to, const struct sotto_tensors *t, const char *name, size_t count, const char *path)
{
    const struct sotto_array *a = sotto_tensors_find(t, name);
    bool good = a && a->dtype == SOTTO_F8 && a->count == count;
    for (size_t i = 0; good && i < count; i++)
        good = isfinite(((const double *)a->data)[i]);
    if (!good)
        return status_fail(SOTTO_EFORMAT, "%s: tensor '%s' is missing or damaged; expected %zu finite numbers", path,
                           name, count);
    memcpy(to, a->data, count * sizeof *to);
    return SOTTO_OK;
}

sotto_status head_checkpoint_load(struct head_checkpoint *c, const char *path)
{
    sotto_status status = SOTTO_OK;
    struct sotto_tensors t = {0};
    int64_t step = -1;
    TRY(sotto_safetensors_load(&t, path));
    const char *found = sotto_tensors_metadata(&t, "schema"), *run = sotto_tensors_metadata(&t, "run"),
               *at = sotto_tensors_metadata(&t, "step");
    if (!found || strcmp(found, schema) != 0)
        FAIL(SOTTO_EFORMAT, "%s: is no checkpoint of a head; expected schema %s", path, schema);
    TRY(require(&t, "recipe_hash", c->recipe, path, "another recipe, noise or shape"));
    TRY(require(&t, "data_sha256", c->data, path, "other records"));
    if (!run || strlen(run) >= sizeof c->run || !at || !number_whole(&step, at, strlen(at)) || step < 0)
        FAIL(SOTTO_EFORMAT, "%s: does not say which run of the ledger it belongs to, so what it has cost is unknown",
             path);
    for (int i = 0; i < 3; i++)
        TRY(take(array_of(c, i), &t, names[i], c->count, path));
    strcpy(c->run, run);
    c->step = (size_t)step;
done:
    sotto_tensors_clear(&t);
    return status;
}
