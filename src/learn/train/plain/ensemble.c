/* Members of an ensemble that are trained apart: one after the other by plain training, then put into one
 * network. Member k is what a single network of its seed would be, bit for bit. Each has a checkpoint of its
 * own; a stopped run goes through the finished ones at once. */
#include "train/plain/ensemble.h"

#include "base/checkpoint_lock.h"
#include "base/file.h"
#include "nn/loop/resumes.h"
#include "nn/model/model.h"
#include "par/par.h"
#include "rng/rng.h"
#include "train/network/network.h"
#include "train/plain/supervised.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { MEMBERS_MAX = 16, PATH_ROOM = 24 };

uint64_t members_seed(uint64_t seed, size_t k)
{
    struct rng r = rng_stream(seed, RNG_INIT, 1, k);
    return rng_u64(&r) >> 1;
}

/* FILE.memberK */
static sotto_status member_path(char **out, const char *file, size_t k)
{
    sotto_status status = SOTTO_OK;
    size_t capacity = strlen(file) + PATH_ROOM;
    NEW(*out, capacity);
    snprintf(*out, capacity, "%s.member%zu", file, k);
done:
    return status;
}

/* With the count of its resumes; what is not there, or cannot be removed, stays. */
static void remove_checkpoint(const char *path)
{
    unlink(path);
    const sotto_status ignored = resumes_forget(path);
    (void)ignored;
}

void sotto_train_forget(const char *checkpoint)
{
    GIVEN_OR(, checkpoint);
    char *path = NULL;
    remove_checkpoint(checkpoint);
    for (size_t k = 0; k < MEMBERS_MAX && member_path(&path, checkpoint, k) == SOTTO_OK; k++) {
        remove_checkpoint(path);
        base_free(path);
    }
}

/* A member that another run has just begun has a lock and no checkpoint yet. */
static sotto_status lock_if_used(struct checkpoint_lock *lock, const char *path)
{
    sotto_status status = SOTTO_OK;
    char *held = NULL;
    NEW(held, strlen(path) + sizeof ".lock");
    sprintf(held, "%s.lock", path);
    if (file_exists(path) || file_exists(held))
        TRY(checkpoint_lock_take(lock, path));
done:
    base_free(held);
    return status;
}

sotto_status sotto_train_discard(const char *checkpoint)
{
    REQUIRE_GIVEN(checkpoint);
    sotto_status status = SOTTO_OK;
    struct checkpoint_lock locks[MEMBERS_MAX + 1] = {{0}};
    char *path = NULL;
    TRY(checkpoint_lock_take(&locks[MEMBERS_MAX], checkpoint));
    for (size_t k = 0; k < MEMBERS_MAX; k++) { /* all, before the first is removed */
        TRY(member_path(&path, checkpoint, k));
        TRY(lock_if_used(&locks[k], path));
        base_free(path);
        path = NULL;
    }
    remove_checkpoint(checkpoint);
    for (size_t k = 0; k < MEMBERS_MAX; k++) {
        TRY(member_path(&path, checkpoint, k));
        if (locks[k].path)
            remove_checkpoint(path);
        base_free(path);
        path = NULL;
    }
done:
    base_free(path);
    for (size_t k = 0; k <= MEMBERS_MAX; k++)
        checkpoint_lock_release(&locks[k]);
    return status;
}

/* What member k is trained by. Free *path, its checkpoint, with base_free(). */
static sotto_status member_options(struct sotto_train_options *one, char **path,
                                   const struct sotto_train_options *all, size_t k)
{
    sotto_status status = SOTTO_OK;
    *one = *all;
    one->seed = members_seed(all->seed, k);
    one->residual.members = 0;
    one->residual.independent = one->residual.separate_inputs = one->residual.average_softmax = 0;
    if (one->checkpoint)
        TRY(member_path(path, one->checkpoint, k));
    one->checkpoint = *path;
done:
    return status;
}

static sotto_status train_member(struct sotto_network **out, struct sotto_train_result *result,
                                 const struct members_run *run, const struct sotto_train_options *all,
                                 size_t k)
{
    sotto_status status = SOTTO_OK;
    struct sotto_train_options one;
    char *path = NULL;
    TRY(member_options(&one, &path, all, k));
    TRY(supervised_train(out, result, run->data, run->rows, run->n, &one, NULL, run->ctx));
done:
    base_free(path);
    return status;
}

/* Order, dtype and backend of all members: the first one's. */
static sotto_status ensemble_choose(struct sotto_train_options *all, struct sotto_autotune *choice,
                                    const struct members_run *run)
{
    sotto_status status = SOTTO_OK;
    struct sotto_train_options one;
    struct supervised first = {0};
    char *path = NULL;
    TRY(member_options(&one, &path, all, 0));
    TRY(supervised_resolve(&first, run->data, run->rows, run->n, &one, run->ctx));
    TRY(supervised_choose(&first));
    all->dtype = first.options.dtype;
    all->backend = first.options.backend;
    all->order = first.options.order;
    all->leaf = first.options.leaf;
    *choice = first.choice;
done:
    supervised_clear(&first);
    base_free(path);
    return status;
}

/* The members' tensors under their names in the ensemble. */
static sotto_status ensemble_join(struct nn_model **out, struct sotto_network *const *members, size_t count,
                                  const struct nn_model_config *config)
{
    sotto_status status = SOTTO_OK;
    struct sotto_tensors tensors = {0};
    struct nn_model *model = NULL;
    char prefix[40];
    TRY(nn_model_create_blank(&model, config));
    for (size_t k = 0; k < count; k++) {
        snprintf(prefix, sizeof prefix, "member%zu.", k);
        TRY(nn_model_export(&tensors, members[k]->model, prefix, 1));
    }
    TRY(nn_model_import(model, &tensors, "", 1));
    *out = model;
    model = NULL;
done:
    nn_model_free(model);
    sotto_tensors_clear(&tensors);
    return status;
}

/* Means over members; the time is that of all. */
static void add_result(struct sotto_train_result *sum, const struct sotto_train_result *one, size_t count)
{
    sum->steps += one->steps;
    sum->loss += one->loss / (double)count;
    sum->accuracy += one->accuracy / (double)count;
    sum->seconds += one->seconds;
    memcpy(sum->dtype, one->dtype, sizeof sum->dtype);
    memcpy(sum->backend, one->backend, sizeof sum->backend);
}

sotto_status members_train(struct sotto_network **out, struct sotto_train_result *result,
                           const struct members_run *run)
{
    sotto_status status = SOTTO_OK;
    size_t count = run->options->residual.members;
    struct sotto_network *members[MEMBERS_MAX] = {0}, *whole = NULL;
    struct sotto_train_options all = *run->options;
    struct sotto_train_result sum = {0}, one;
    struct supervised t;
    struct nn_model *model = NULL;
    REQUIRE(!all.snapshot_every,
            "snapshot_every: members that are trained independently have no common models "
            "to keep; omit snapshot_every");
    TRY(ensemble_choose(&all, &sum.choice, run));
    TRY(supervised_resolve(&t, run->data, run->rows, run->n, &all, run->ctx));
    TRY(supervised_choose(&t));
    for (size_t k = 0; k < count; k++) {
        context_log(run->ctx, SOTTO_LOG_INFO, "train: member %zu of %zu", k + 1, count);
        TRY(train_member(&members[k], &one, run, &all, k));
        add_result(&sum, &one, count);
    }
    TRY(ensemble_join(&model, members, count, &t.config));
    t.model = model;
    snprintf(t.machine, sizeof t.machine, "%s", network_fact(members[0], "machine"));
    status = supervised_finish(&whole, &t, network_statement(members[0]));
    model = NULL; /* the network has it, or it is gone */
    TRY(status);
    sum.records_per_second = sum.seconds > 0 ? (double)(sum.steps * t.options.batch) / sum.seconds : 0;
    if (result)
        *result = sum;
    *out = whole;
done:
    nn_model_free(model);
    for (size_t k = 0; k < MEMBERS_MAX; k++)
        sotto_network_free(members[k]);
    return status;
}

sotto_status sotto_train(struct sotto_network **out, struct sotto_train_result *result,
                         const struct sotto_dataset *data, const int64_t *rows, size_t n,
                         const struct sotto_train_options *options, const struct sotto_context *ctx)
{
    REQUIRE_GIVEN(out, data);
    sotto_status status = SOTTO_OK;
    int pool = par_pool_threads();
    int64_t *all = NULL;
    if (!rows) {
        n = data->n;
        NEW(all, n);
        for (size_t i = 0; i < n; i++)
            all[i] = (int64_t)i;
        rows = all;
    }
    struct sotto_train_options o;
    struct sotto_context own = ctx ? *ctx : (struct sotto_context){0};
    own.team = NULL; /* other calls refuse one */
    TRY(train_options_resolve(&o, options));
    const struct sotto_team *team = ctx ? ctx->team : NULL;
    const bool apart = o.residual.independent && o.residual.members > 1;
    if (apart && team)
        FAIL(SOTTO_ENOTSUP,
             "members that are trained apart cannot be trained on several ranks yet; run it in one process");
    struct members_run run = {data, rows, n, &o, &own};
    status = apart ? members_train(out, result, &run)
                   : supervised_train(out, result, data, rows, n, &o, team, &own);
done:
    par_set_threads(pool);
    base_free(all);
    return status;
}
