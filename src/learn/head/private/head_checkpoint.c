#include "head/private/head_checkpoint.h"

#include "io/array/safetensors.h"
#include "io/array/tensors.h"
#include "io/text/number.h"

#include <stdio.h>
#include <string.h>

static const char schema[] = "sotto.head-checkpoint/2";
static const char *const names[] = {"weights", "mean", "square", "average"};

static double *array_of(const struct head_checkpoint *c, int i)
{
    return i == 0 ? c->weights : i == 1 ? c->mean : i == 2 ? c->square : c->average;
}

static int count_of_arrays(const struct head_checkpoint *c)
{
    return c->average ? 4 : 3;
}

/* Hash of all state that a run continues from: a flipped bit would give another run, unnoticed. */
static void hash_of(char hex[SHA256_HEX], const struct head_checkpoint *c)
{
    struct sha256 sha;
    uint64_t step = c->step;
    sha256_init(&sha);
    sha256_update(&sha, c->recipe, strlen(c->recipe) + 1);
    sha256_update(&sha, c->data, strlen(c->data) + 1);
    sha256_update(&sha, c->run, strlen(c->run) + 1);
    sha256_update(&sha, &step, sizeof step);
    for (int i = 0; i < count_of_arrays(c); i++)
        sha256_update(&sha, array_of(c, i), c->count * sizeof(double));
    sha256_hex(&sha, hex);
}

sotto_status head_checkpoint_save(const char *path, const struct head_checkpoint *c)
{
    sotto_status status = SOTTO_OK;
    struct sotto_tensors t = {0};
    char step[32], hex[SHA256_HEX];
    snprintf(step, sizeof step, "%zu", c->step);
    hash_of(hex, c);
    TRY(tensors_set_metadata(&t, "schema", schema));
    TRY(tensors_set_metadata(&t, "recipe_hash", c->recipe));
    TRY(tensors_set_metadata(&t, "data_sha256", c->data));
    TRY(tensors_set_metadata(&t, "run", c->run));
    TRY(tensors_set_metadata(&t, "step", step));
    TRY(tensors_set_metadata(&t, "sha256", hex));
    for (int i = 0; i < count_of_arrays(c); i++)
        TRY(tensors_add(&t, names[i], SOTTO_F8, 1, &c->count, array_of(c, i)));
    TRY(safetensors_save(path, &t));
done:
    sotto_tensors_clear(&t);
    return status;
}

static sotto_status head_checkpoint_damaged(const char *path)
{
    return status_fail(SOTTO_EFORMAT,
                       "%s: is damaged; restore the checkpoint of the interrupted run, or give {fresh}",
                       path);
}

static bool take_text(char *to, size_t capacity, const struct sotto_tensors *t, const char *key)
{
    const char *found = tensors_metadata(t, key);
    return found && (size_t)snprintf(to, capacity, "%s", found) < capacity;
}

/* What the file says, with borrowed arrays, if it is what was saved. */
static sotto_status read_state(struct head_checkpoint *c, const struct sotto_tensors *t, const char *path)
{
    const struct sotto_array *a[4] = {NULL};
    char hex[SHA256_HEX], saved[SHA256_HEX], at[32];
    int64_t step;
    if (!take_text(c->recipe, sizeof c->recipe, t, "recipe_hash") ||
        !take_text(c->data, sizeof c->data, t, "data_sha256") ||
        !take_text(c->run, sizeof c->run, t, "run") || !take_text(at, sizeof at, t, "step") ||
        !take_text(saved, sizeof saved, t, "sha256") || !number_whole(&step, at, strlen(at)))
        return head_checkpoint_damaged(path);
    for (int i = 0; i < 4; i++) {
        a[i] = tensors_find(t, names[i]);
        if (i == 3 && !a[i]) /* a run without an average */
            break;
        if (!a[i] || a[i]->dtype != SOTTO_F8 || a[i]->count != a[0]->count)
            return head_checkpoint_damaged(path);
    }
    c->step = (size_t)step;
    c->count = a[0]->count;
    c->weights = a[0]->data, c->mean = a[1]->data, c->square = a[2]->data;
    c->average = a[3] ? a[3]->data : NULL;
    hash_of(hex, c);
    return strcmp(hex, saved) == 0 ? SOTTO_OK : head_checkpoint_damaged(path);
}

/* Equal to what the run is, or there is no going on. */
static sotto_status head_checkpoint_require(bool same, const char *path, const char *differs)
{
    return same ? SOTTO_OK
                : status_fail(
                      SOTTO_EINVAL,
                      "%s: was made with %s; give the options and records of the interrupted run, or {fresh}",
                      path, differs);
}

sotto_status head_checkpoint_load(struct head_checkpoint *c, const char *path)
{
    sotto_status status = SOTTO_OK;
    struct sotto_tensors t = {0};
    struct head_checkpoint saved = {0};
    TRY(safetensors_load(&t, path));
    const char *found = tensors_metadata(&t, "schema");
    if (!found || strcmp(found, schema) != 0)
        FAIL(SOTTO_EFORMAT,
             "%s: is not a checkpoint of a head; expected schema %s (give {fresh} to start again)", path,
             schema);
    TRY(read_state(&saved, &t, path));
    TRY(head_checkpoint_require(strcmp(saved.recipe, c->recipe) == 0 && saved.count == c->count &&
                                    !saved.average == !c->average,
                                path, "another recipe, noise or shape"));
    TRY(head_checkpoint_require(strcmp(saved.data, c->data) == 0, path, "other records"));
    for (int i = 0; i < count_of_arrays(c); i++)
        memcpy(array_of(c, i), array_of(&saved, i), c->count * sizeof(double));
    memcpy(c->run, saved.run, sizeof c->run);
    c->step = saved.step;
done:
    if (status == SOTTO_EFORMAT)
        status_hint("{fresh} starts again from step 0; what was charged stays charged");
    sotto_tensors_clear(&t);
    return status;
}
