/* A checkpoint is one .safetensors: every weight and running statistic, the optimizer's moments, where the
 * run stands (sums of the running epoch bit for bit, so that the epoch's mean comes out the same), and the
 * recipe as text. Order and augmentation need no state: they are functions of seed, epoch and step. */
#include "nn/loop/checkpoint.h"

#include "io/array/tensors.h"
#include "nn/loop/checkpoint_seal.h"
#include "nn/loop/checkpoint_writer.h"

#include <stdio.h>
#include <string.h>

static const char schema[] = "sotto.checkpoint/2", unsealed_schema[] = "sotto.checkpoint/1";

static sotto_status save_private(struct sotto_tensors *t, const struct checkpoint_private *p)
{
    sotto_status status = SOTTO_OK;
    if (!p)
        goto done;
    TRY(tensors_set_metadata(t, "run", p->run));
    TRY(tensors_add(t, "private.clip", SOTTO_F8, 1, (const size_t[]){1}, &p->clip));
    if (p->average)
        TRY(nn_model_export(t, p->average, "average.", 1));
    if (p->labels) {
        TRY(tensors_set_metadata(t, "label_entry", p->label_entry));
        TRY(tensors_add(t, "private.labels", SOTTO_I8, 1, &p->label_count, p->labels));
    }
done:
    return status;
}

/* A label outside the classes would be read beyond the end of an answer. */
static sotto_status load_labels(struct checkpoint_private *p, const struct sotto_tensors *t, const char *path)
{
    sotto_status status = SOTTO_OK;
    const char *entry = tensors_metadata(t, "label_entry");
    const struct sotto_array *labels = tensors_find(t, "private.labels");
    bool good = entry && strlen(entry) == sizeof p->label_entry - 1 && labels && labels->dtype == SOTTO_I8 &&
                labels->count == p->label_count;
    for (size_t i = 0; good && i < p->label_count; i++) {
        int64_t label = ((const int64_t *)labels->data)[i];
        good = label >= 0 && (uint64_t)label < p->classes;
    }
    if (!good)
        FAIL(SOTTO_EFORMAT, "%s: the labels of this run's charged release are missing or damaged", path);
    strcpy(p->label_entry, entry);
    memcpy(p->labels, labels->data, p->label_count * sizeof *p->labels);
done:
    return status;
}

static sotto_status load_private(struct checkpoint_private *p, const struct sotto_tensors *t,
                                 const char *path)
{
    sotto_status status = SOTTO_OK;
    if (!p)
        goto done;
    const char *run = tensors_metadata(t, "run");
    const struct sotto_array *clip = tensors_find(t, "private.clip");
    if (!run || strlen(run) >= sizeof p->run || !clip || clip->dtype != SOTTO_F8 || clip->count != 1 ||
        !(*(const double *)clip->data > 0))
        FAIL(SOTTO_EFORMAT,
             "%s: does not state its run in the ledger, so its privacy cost is unknown; expected a "
             "checkpoint of private training",
             path);
    strcpy(p->run, run);
    p->clip = *(const double *)clip->data;
    if (p->average)
        TRY(nn_model_import(p->average, t, "average.", 1));
    if (p->labels)
        TRY(load_labels(p, t, path));
done:
    return status;
}

static sotto_status save_adversary(struct sotto_tensors *t, const struct checkpoint_adversary *a)
{
    sotto_status status = SOTTO_OK;
    if (!a)
        goto done;
    const double sums[5] = {a->loss_sum, a->accuracy_sum, a->steps, a->epoch_loss, a->epoch_accuracy};
    TRY(nn_optimizer_export(t, a->optimizer, "adversary_optimizer."));
    TRY(tensors_add(t, "adversary.sums", SOTTO_F8, 1, (const size_t[]){5}, sums));
done:
    return status;
}

static sotto_status load_adversary(struct checkpoint_adversary *a, const struct sotto_tensors *t)
{
    sotto_status status = SOTTO_OK;
    if (!a)
        goto done;
    const struct sotto_array *sums = tensors_find(t, "adversary.sums");
    if (!sums || sums->dtype != SOTTO_F8 || sums->count != 5)
        FAIL(SOTTO_EFORMAT, "adversary.sums is missing or has another shape; expected 5 numbers");
    TRY(nn_optimizer_import(a->optimizer, t, "adversary_optimizer."));
    const double *x = sums->data;
    a->loss_sum = x[0], a->accuracy_sum = x[1], a->steps = x[2];
    a->epoch_loss = x[3], a->epoch_accuracy = x[4];
done:
    return status;
}

sotto_status checkpoint_copy(struct sotto_tensors *out, const struct checkpoint_origin *origin,
                             const struct nn_model *model, const struct nn_optimizer *optimizer,
                             const struct training_progress *progress)
{
    sotto_status status = SOTTO_OK;
    struct sotto_tensors t = {0};
    int64_t step = (int64_t)progress->step;
    double sums[4] = {progress->loss_sum, progress->accuracy_sum, progress->epoch_loss,
                      progress->epoch_accuracy};
    TRY(nn_model_export(&t, model, "model.", 1));
    TRY(nn_optimizer_export(&t, optimizer, "optimizer."));
    TRY(tensors_add(&t, "progress.step", SOTTO_I8, 1, (const size_t[]){1}, &step));
    TRY(tensors_add(&t, "progress.sums", SOTTO_F8, 1, (const size_t[]){4}, sums));
    TRY(save_private(&t, origin->secret));
    TRY(save_adversary(&t, origin->adversary));
    if (origin->moments)
        TRY(epoch_moments_export(&t, origin->moments));
    if (origin->second) {
        TRY(nn_model_export(&t, origin->second->model, "second.", 1));
        TRY(nn_optimizer_export(&t, origin->second->optimizer, "second_optimizer."));
    }
    TRY(tensors_set_metadata(&t, "schema", schema));
    TRY(tensors_set_metadata(&t, "recipe", origin->recipe));
    TRY(tensors_set_metadata(&t, "machine", origin->machine));
    *out = t;
    t = (struct sotto_tensors){0};
done:
    sotto_tensors_clear(&t);
    return status;
}

sotto_status checkpoint_save(const char *path, const struct checkpoint_origin *origin,
                             const struct nn_model *model, const struct nn_optimizer *optimizer,
                             const struct training_progress *progress)
{
    sotto_status status = SOTTO_OK;
    struct sotto_tensors t = {0};
    struct checkpoint_writer w = {0};
    TRY(checkpoint_copy(&t, origin, model, optimizer, progress));
    TRY(checkpoint_writer_begin(&w, path, &t));
    TRY(checkpoint_writer_wait(&w));
done:
    return status;
}

bool checkpoint_difference(char key[32], char was[128], char is[128], const char *saved, const char *wanted)
{
    while (*saved || *wanted) {
        size_t saved_length = strcspn(saved, "\n"), wanted_length = strcspn(wanted, "\n");
        if (saved_length != wanted_length || memcmp(saved, wanted, wanted_length) != 0) {
            const char *equals = memchr(wanted, '=', wanted_length),
                       *saved_equals = memchr(saved, '=', saved_length);
            size_t name = equals ? (size_t)(equals - wanted) : 0,
                   saved_name = saved_equals ? (size_t)(saved_equals - saved) : 0;
            int same_key = equals && saved_equals && name == saved_name && memcmp(saved, wanted, name) == 0;
            snprintf(key, 32, "%.*s", same_key ? (int)name : 6, same_key ? wanted : "recipe");
            snprintf(was, 128, "%.*s", same_key ? (int)(saved_length - name - 1) : 5,
                     same_key ? saved_equals + 1 : "other");
            snprintf(is, 128, "%.*s", same_key ? (int)(wanted_length - name - 1) : 4,
                     same_key ? equals + 1 : "this");
            return true;
        }
        saved += saved_length + (saved[saved_length] == '\n');
        wanted += wanted_length + (wanted[wanted_length] == '\n');
    }
    return false;
}

/* The whole file, if it is what was written. */
static sotto_status load_sealed(struct sotto_tensors *t, const char *path, const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    struct source s = {.fd = -1};
    TRY(source_open(&s, path, ctx));
    TRY(safetensors_read(t, &s));
    const char *found = tensors_metadata(t, "schema");
    if (found && strcmp(found, unsealed_schema) == 0 && !checkpoint_seal_is_there(t))
        FAIL(SOTTO_EFORMAT,
             "%s: is a checkpoint of an earlier version of sotto, which wrote no checksum (schema %s); "
             "expected "
             "%s. Finish the run with that version, or start it again",
             path, unsealed_schema, schema);
    if (!found || strcmp(found, schema) != 0)
        FAIL(SOTTO_EFORMAT, "%s: not a checkpoint of a training run; expected schema %s", path, schema);
    TRY(checkpoint_seal_check(&s));
done:
    source_close(&s);
    return status;
}

static sotto_status check_origin(const char *path, const struct sotto_tensors *t,
                                 const struct checkpoint_origin *origin, const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    const char *recipe = tensors_metadata(t, "recipe"), *machine = tensors_metadata(t, "machine");
    char key[32], was[128], is[128];
    if (!recipe || !machine)
        FAIL(SOTTO_EFORMAT, "%s: not a checkpoint of a training run; expected schema %s", path, schema);
    if (checkpoint_difference(key, was, is, recipe, origin->recipe)) {
        status = status_fail(
            SOTTO_EINVAL,
            "%s: this checkpoint cannot be continued, as it was made with %s %.70s but now %s is %.70s", path,
            key, was, key, is);
        status_hint("give the same options again, or delete the checkpoint to start again");
        goto done;
    }
    if (checkpoint_difference(key, was, is, machine, origin->machine))
        context_log(ctx, SOTTO_LOG_WARNING,
                    "%s: was made with %s %s but now %s is %s; the result will differ in the last bits from "
                    "an uninterrupted run",
                    path, key, was, key, is);
done:
    return status;
}

sotto_status checkpoint_load(const char *path, const struct checkpoint_origin *origin, struct nn_model *model,
                             struct nn_optimizer *optimizer, struct training_progress *progress,
                             const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    struct sotto_tensors t = {0};
    TRY(load_sealed(&t, path, ctx));
    TRY(check_origin(path, &t, origin, ctx));
    const struct sotto_array *step = tensors_find(&t, "progress.step"),
                             *sums = tensors_find(&t, "progress.sums");
    if (!step || step->dtype != SOTTO_I8 || step->count != 1 || !sums || sums->dtype != SOTTO_F8 ||
        sums->count != 4)
        FAIL(SOTTO_EFORMAT, "%s: progress.step or progress.sums is missing or has another shape", path);
    int64_t at = *(const int64_t *)step->data;
    if (at < 0 || (uint64_t)at > origin->steps)
        FAIL(SOTTO_EFORMAT, "%s: is at step %lld, but the run has only %llu steps", path, (long long)at,
             (unsigned long long)origin->steps);
    TRY(load_private(origin->secret, &t, path));
    status = nn_model_import(model, &t, "model.", 1);
    if (status == SOTTO_OK)
        status = nn_optimizer_import(optimizer, &t, "optimizer.");
    if (status == SOTTO_OK)
        status = load_adversary(origin->adversary, &t);
    if (status == SOTTO_OK && origin->moments)
        status = epoch_moments_import(origin->moments, &t);
    if (status == SOTTO_OK && origin->second)
        status = nn_model_import(origin->second->model, &t, "second.", 1);
    if (status == SOTTO_OK && origin->second)
        status = nn_optimizer_import(origin->second->optimizer, &t, "second_optimizer.");
    if (status != SOTTO_OK) {
        status_prefix(path);
        goto done;
    }
    const double *values = sums->data;
    *progress = (struct training_progress){(uint64_t)at, values[0], values[1], values[2], values[3]};
done:
    if (status == SOTTO_EFORMAT)
        status_hint(
            "put an undamaged copy back, or give {fresh} to start again at step 0; what was charged stays "
            "charged");
    sotto_tensors_clear(&t);
    return status;
}

/* The value of a line "key=value", "" if there is none. */
static void find_line(char *out, size_t capacity, const char *lines, const char *key)
{
    size_t own = strlen(key);
    out[0] = '\0';
    for (const char *at = lines; at && *at; at = strchr(at, '\n')) {
        at += *at == '\n';
        if (strncmp(at, key, own) == 0 && at[own] == '=')
            snprintf(out, capacity, "%.*s", (int)strcspn(at + own + 1, "\n"), at + own + 1);
    }
}

sotto_status checkpoint_computed_by(struct checkpoint_computed *out, const char *path,
                                    const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    struct sotto_tensors t = {0};
    char title[128];
    TRY(safetensors_load_asking(&t, path, ctx));
    const char *recipe = tensors_metadata(&t, "recipe"), *machine = tensors_metadata(&t, "machine");
    if (!recipe || !machine)
        FAIL(SOTTO_EFORMAT, "%s: not a checkpoint of a training run; expected schema %s", path, schema);
    find_line(out->dtype, sizeof out->dtype, recipe, "dtype");
    find_line(title, sizeof title, machine, "backend");
    snprintf(out->backend, sizeof out->backend, "%s", nn_backend_of_title(title));
done:
    sotto_tensors_clear(&t);
    return status;
}
