/* Everything random in a run is a function of (seed, epoch or step, position), so a run is resumed by loading
 * the weights, the moments and the step number: the rest is drawn again. */
#include "nn/loop/training_loop.h"

#include "base/file.h"
#include "io/table/metric_log.h"
#include "nn/loop/resumes.h"
#include "nn/loop/straggler.h"
#include "nn/model/model.h"
#include "par/ranks.h"
#include "rng/rng.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

enum { CHECKPOINT_SECONDS = 60 };

static double training_loop_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

double training_loop_seconds(const struct training_loop *l)
{
    return training_loop_now() - l->started;
}

double training_loop_rate(const struct training_loop *l)
{
    double seconds = training_loop_seconds(l);
    uint64_t records = (l->progress.step - l->first_step) * l->batch;
    return seconds > 0 ? (double)records / seconds : 0;
}

static sotto_status resume_here(struct training_loop *l)
{
    sotto_status status = SOTTO_OK;
    if (!l->checkpoint || sotto_team_rank(l->team) > 0)
        goto done;
    TRY(checkpoint_lock_take(&l->lock, l->checkpoint));
    l->resumed = file_exists(l->checkpoint);
    if (!l->resumed) {
        TRY(resumes_forget(l->checkpoint));
        goto done;
    }
    TRY(checkpoint_load(l->checkpoint, &l->origin, l->model, l->optimizer, &l->progress, l->ctx));
    TRY(resumes_count(l->checkpoint));
done:
    return status;
}

static sotto_status share_model(const struct nn_model *m, const struct sotto_team *team)
{
    sotto_status status = SOTTO_OK;
    for (size_t i = 0; i < m->parameter_count; i++)
        TRY(team_broadcast(team, m->parameters[i].value, m->parameters[i].count * sizeof(float)));
done:
    return status;
}

static sotto_status share_private(struct checkpoint_private *p, const struct sotto_team *team)
{
    sotto_status status = SOTTO_OK;
    TRY(team_broadcast(team, p->run, sizeof p->run));
    TRY(team_broadcast(team, &p->clip, sizeof p->clip));
    if (p->average)
        TRY(share_model(p->average, team));
    if (p->labels) {
        TRY(team_broadcast(team, p->labels, p->label_count * sizeof *p->labels));
        TRY(team_broadcast(team, p->label_entry, sizeof p->label_entry));
    }
done:
    return status;
}

static sotto_status share_adversary(struct checkpoint_adversary *a, const struct sotto_team *team)
{
    sotto_status status = SOTTO_OK;
    double sums[5] = {a->loss_sum, a->accuracy_sum, a->steps, a->epoch_loss, a->epoch_accuracy};
    TRY(nn_optimizer_share(a->optimizer, team));
    TRY(team_broadcast(team, sums, sizeof sums));
    a->loss_sum = sums[0], a->accuracy_sum = sums[1], a->steps = sums[2];
    a->epoch_loss = sums[3], a->epoch_accuracy = sums[4];
done:
    return status;
}

/* Rank 0's state, to all. */
static sotto_status training_loop_share(struct training_loop *l)
{
    sotto_status status = SOTTO_OK;
    TRY(team_broadcast(l->team, &l->resumed, sizeof l->resumed));
    if (!l->resumed)
        goto done;
    TRY(team_broadcast(l->team, &l->progress, sizeof l->progress));
    TRY(share_model(l->model, l->team));
    TRY(nn_optimizer_share(l->optimizer, l->team));
    if (l->origin.secret)
        TRY(share_private(l->origin.secret, l->team));
    if (l->origin.adversary)
        TRY(share_adversary(l->origin.adversary, l->team));
done:
    return status;
}

sotto_status training_loop_resume(struct training_loop *l)
{
    sotto_status status = SOTTO_OK;
    TRY(team_agree(l->team, resume_here(l)));
    TRY(training_loop_share(l));
done:
    return status;
}

void training_loop_release(struct training_loop *l)
{
    checkpoint_lock_release(&l->lock);
}

/* Rank 0's question. */
static bool training_loop_save_due(const struct training_loop *l)
{
    return l->checkpoint && sotto_team_rank(l->team) == 0;
}

/* The run goes on while the file is written. */
static sotto_status save_here(struct training_loop *l)
{
    sotto_status status = SOTTO_OK;
    struct sotto_tensors copy = {0};
    TRY(checkpoint_copy(&copy, &l->origin, l->model, l->optimizer, &l->progress));
    TRY(checkpoint_writer_begin(&l->writer, l->checkpoint, &copy));
done:
    return status;
}

/* Ranks have just agreed on it: each has a segment of the optimizers' state, which rank 0 gathers, and within an epoch sums of
 * its leaves' moments. */
static sotto_status training_loop_save(struct training_loop *l)
{
    sotto_status status = SOTTO_OK;
    struct nn_optimizer *second = l->origin.adversary ? l->origin.adversary->optimizer : NULL;
    l->saved = training_loop_now();
    if (l->origin.moments && l->progress.step % l->steps_per_epoch != 0)
        TRY(epoch_moments_collect(l->origin.moments));
    TRY(nn_optimizer_gather(l->optimizer));
    if (second)
        TRY(nn_optimizer_gather(second));
    if (sotto_team_rank(l->team) == 0)
        status = save_here(l);
    TRY(team_agree(l->team, status));
done:
    nn_optimizer_drop(l->optimizer);
    if (second)
        nn_optimizer_drop(second);
    return status;
}

static sotto_status training_loop_step(struct training_loop *l)
{
    sotto_status status = SOTTO_OK;
    uint64_t at = l->progress.step;
    const int64_t *rows = NULL;
    size_t n = 0;
    struct training_batch found = {0};
    TRY(l->step.draw(&rows, &n, l->step.state, at));
    TRY(l->step.gradient(&found, l->step.state, rows, n, at));
    if (!isfinite(found.loss)) {
        status = status_fail(SOTTO_EDIVERGED, "%s: the loss became %s at step %llu (epoch %llu)", l->stage,
                             isnan(found.loss) ? "NaN" : "infinite", (unsigned long long)at + 1,
                             (unsigned long long)(at / l->steps_per_epoch) + 1);
        status_hint("%s", l->hint);
        goto done;
    }
    if (l->step.update)
        TRY(l->step.update(l->step.state, schedule_at(&l->schedule, at), at));
    else
        nn_optimizer_step(l->optimizer, l->model, schedule_at(&l->schedule, at));
    if (l->step.keep)
        l->step.keep(l->step.state);
    l->progress.loss_sum += found.loss;
    l->progress.accuracy_sum += found.accuracy;
    l->progress.step = at + 1;
done:
    return status;
}

static sotto_status end_epoch(struct training_loop *l, struct metric_log *log)
{
    sotto_status status = SOTTO_OK;
    struct training_progress *p = &l->progress;
    char rate[64];
    p->epoch_loss = p->loss_sum / (double)l->steps_per_epoch;
    p->epoch_accuracy = p->accuracy_sum / (double)l->steps_per_epoch;
    p->loss_sum = p->accuracy_sum = 0;
    context_log(l->ctx, SOTTO_LOG_DEBUG, "%s: epoch %llu, loss %.4f, accuracy %.4f", l->stage,
                (unsigned long long)(p->step / l->steps_per_epoch), p->epoch_loss, p->epoch_accuracy);
    double seconds = training_loop_seconds(l);
    snprintf(rate, sizeof rate, "%s_per_second", l->unit);
    TRY(metric_log_write(log, p->step, "train", "loss", p->epoch_loss, seconds));
    TRY(metric_log_write(log, p->step, "train", "accuracy", p->epoch_accuracy, seconds));
    TRY(metric_log_write(log, p->step, "train", "learning_rate", schedule_at(&l->schedule, p->step - 1),
                         seconds));
    TRY(metric_log_write(log, p->step, "train", rate, training_loop_rate(l), seconds));
    if (l->step.log)
        TRY(l->step.log(l->step.state, log, p->step, seconds));
    if (l->step.after_epoch)
        TRY(l->step.after_epoch(l->step.state, p->step / l->steps_per_epoch));
done:
    return status;
}

static sotto_status training_loop_stop(struct training_loop *l)
{
    sotto_status status = SOTTO_OK;
    bool wanted = training_loop_save_due(l);
    team_go_on(l->team);
    TRY(team_agree_on(l->team, SOTTO_OK, &wanted));
    if (wanted)
        TRY(training_loop_save(l));
    TRY(team_agree(l->team, checkpoint_writer_wait(&l->writer)));
    status = status_fail(SOTTO_ESTOPPED, "%s: stopped after step %llu of %llu", l->stage,
                         (unsigned long long)l->progress.step, (unsigned long long)l->origin.steps);
    if (l->checkpoint)
        status_hint("run the same command again to continue from %s", l->checkpoint);
done:
    return status;
}

/* A step that was stopped half-way leaves no trace: the run continues as if it had been stopped before it. Ranks stop within a
 * step only, where they agree on it. */
static sotto_status step_or_stop(struct training_loop *l)
{
    size_t bytes = l->model->statistic_count * sizeof *l->statistics;
    if (!l->team && context_stopped(l->ctx))
        return training_loop_stop(l);
    memcpy(l->statistics, l->model->statistics, bytes);
    const double before = team_worked(l->team);
    sotto_status status = training_loop_step(l);
    l->worked += team_worked(l->team) - before;
    if (status != SOTTO_ESTOPPED)
        return status;
    memcpy(l->model->statistics, l->statistics, bytes);
    return training_loop_stop(l);
}

static sotto_status forget_resumes(const struct training_loop *l)
{
    return training_loop_save_due(l) ? resumes_forget(l->checkpoint) : SOTTO_OK;
}

/* Out: *due  is it time for a checkpoint, by this process's clock? */
static sotto_status after_step(bool *due, struct training_loop *l, struct metric_log *log)
{
    sotto_status status = SOTTO_OK;
    const bool epoch_done = l->progress.step % l->steps_per_epoch == 0;
    TRY(checkpoint_writer_look(&l->writer));
    if (l->progress.step == l->first_step + 1)
        TRY(forget_resumes(l));
    context_progress(l->ctx, l->stage, l->progress.step * l->batch, l->origin.steps * l->batch, l->unit);
    *due = training_loop_save_due(l) && (epoch_done || training_loop_now() - l->saved >= CHECKPOINT_SECONDS);
    if (epoch_done)
        TRY(end_epoch(l, log));
done:
    return status;
}

/* How long this rank worked in the epoch goes with the agreement behind its last step. */
static void tell_seconds(struct training_loop *l)
{
    if (l->progress.step % l->steps_per_epoch != 0)
        return;
    team_tell(l->team, l->share > 0 ? (float)(l->worked / l->share) : 0);
    l->worked = 0;
}

static void name_straggler(const struct training_loop *l)
{
    const uint64_t epoch = l->progress.step / l->steps_per_epoch;
    struct straggler s;
    if (l->progress.step % l->steps_per_epoch == 0 && l->share > 0 && sotto_team_size(l->team) > 1 &&
        sotto_team_rank(l->team) == 0 && straggler_find(&s, team_told(l->team), sotto_team_size(l->team)))
        context_log(
            l->ctx, SOTTO_LOG_INFO,
            "%s: epoch %llu: the other ranks waited for rank %zu (%s), which worked %.1f times as long "
            "as the median rank",
            l->stage, (unsigned long long)epoch, s.rank, team_host_of(l->team, s.rank), s.times);
}

/* Running moments of norms by leaves, before anything reads the model. */
static sotto_status end_moments(struct training_loop *l)
{
    sotto_status status = SOTTO_OK;
    if (!l->origin.moments || l->progress.step % l->steps_per_epoch != 0)
        goto done;
    TRY(team_agree(l->team, SOTTO_OK));
    TRY(epoch_moments_finish(l->origin.moments));
done:
    return status;
}

static sotto_status training_loop_train(struct training_loop *l, struct metric_log *log)
{
    sotto_status status = SOTTO_OK;
    while (l->progress.step < l->origin.steps) {
        bool due = false;
        TRY(step_or_stop(l));
        TRY(end_moments(l));
        const sotto_status mine = after_step(&due, l, log);
        tell_seconds(l);
        TRY(team_agree_on(l->team, mine, &due));
        name_straggler(l);
        if (due)
            TRY(training_loop_save(l));
    }
done:
    return status;
}

static sotto_status before_steps(struct metric_log **log, struct training_loop *l)
{
    sotto_status status = SOTTO_OK;
    NEW(l->statistics, l->model->statistic_count);
    if (l->metrics && sotto_team_rank(l->team) == 0)
        TRY(metric_log_open(log, l->metrics));
    /* so that a folder that cannot be written to is noticed now, not after an epoch; optimizers have no state yet */
    if (training_loop_save_due(l) && !l->resumed) {
        TRY(save_here(l));
        TRY(checkpoint_writer_wait(&l->writer));
    }
done:
    return status;
}

static sotto_status after_steps(struct training_loop *l)
{
    sotto_status status = SOTTO_OK;
    TRY(checkpoint_writer_wait(&l->writer));
    if (l->first_step == l->origin.steps) /* there was none to finish */
        TRY(forget_resumes(l));
done:
    return status;
}

/* What a run that failed left open. The failure that counts is the run's. */
static void end_quietly(struct training_loop *l, struct metric_log *log)
{
    struct status_record failure;
    status_get(&failure);
    sotto_status ignored = checkpoint_writer_wait(&l->writer);
    if (log)
        ignored = metric_log_close(log);
    (void)ignored;
    status_set(&failure);
}

sotto_status training_loop_run(struct training_loop *l)
{
    sotto_status status = SOTTO_OK;
    struct metric_log *log = NULL;
    l->started = l->saved = training_loop_now();
    l->first_step = l->progress.step;
    TRY(team_agree(l->team, before_steps(&log, l)));
    TRY(training_loop_train(l, log));
    TRY(team_agree(l->team, after_steps(l)));
    struct metric_log *whole = log;
    log = NULL;
    TRY(metric_log_close(whole));
done:
    base_free(l->statistics);
    l->statistics = NULL;
    end_quietly(l, log);
    return status;
}

/* ---- batches ---- */

sotto_status epoch_order_make(struct epoch_order *out, const int64_t *rows, size_t n, size_t batch,
                              uint64_t seed)
{
    int64_t *order = base_alloc(n, sizeof *order);
    if (!order)
        return status_fail(SOTTO_ENOMEM, "training: out of memory for the order of %zu records", n);
    *out = (struct epoch_order){rows, order, n, batch, seed, UINT64_MAX};
    return SOTTO_OK;
}

const int64_t *epoch_order_batch(struct epoch_order *o, uint64_t step)
{
    size_t steps = o->n / o->batch;
    uint64_t epoch = step / steps;
    if (o->epoch != epoch) {
        struct rng random = rng_stream(o->seed, RNG_ORDER, epoch, 0);
        memcpy(o->order, o->rows, o->n * sizeof *o->order);
        rng_shuffle(&random, o->order, o->n);
        o->epoch = epoch;
    }
    return o->order + step % steps * o->batch;
}
