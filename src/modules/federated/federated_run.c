/* Rounds with an attacker in them. Ascent takes candidates in turns, a few in each round: all at once would ruin the model,
 * and with it what it remembers. */
#include "federated/federated_run.h"

#include "federated/federated_score.h"
#include "base/file.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* What changes from round to round. */
struct rounds {
    const struct federated_attacker *a;
    const struct federated_plan *plan;
    struct federation *f;
    struct whitebox_features look; /* inside f->shape */
    float *now, *before, *sent;    /* (parameters): the model, that of the round before, what goes out */
    double *step;                  /* (parameters) */
};

void federated_run_clear(struct federated_run *r)
{
    base_free(r->common);
    base_free(r->upload);
    base_free(r->last);
    *r = (struct federated_run){0};
}

/* weights += a step, `strength` times as long as the last change of the model, along the sum of the gradients of the round's
 * candidates, each at length 1: the loss of members is near 0, and so is its gradient, which the others' would drown. */
static void federated_run_ascend(float *weights, struct rounds *r, size_t first, size_t count)
{
    const struct head_data *data = r->f->data;
    double squares = 0, change = 0;
    memset(r->step, 0, r->f->parameters * sizeof *r->step);
    memcpy(r->f->shape->parameters, weights, r->f->parameters * sizeof *weights);
    for (size_t c = first; c < first + count; c++) {
        size_t record = r->plan->candidates->record[c];
        whitebox_features_look(&r->look, data->x + record * data->d, data->y[record]);
        federated_add_gradient(r->step, &r->look, exp(-federated_log_gradient(&r->look)));
    }
    for (size_t j = 0; j < r->f->parameters; j++) {
        double moved = (double)r->now[j] - (double)r->before[j];
        squares += r->step[j] * r->step[j];
        change += moved * moved;
    }
    double rate = squares > 0 ? r->plan->options->strength * sqrt(change / squares) : 0;
    for (size_t j = 0; j < r->f->parameters; j++)
        weights[j] = (float)((double)weights[j] + rate * r->step[j]);
}

static sotto_status federated_run_save(const struct rounds *r, const float *weights, size_t round,
                                       const char *who)
{
    sotto_status status = SOTTO_OK;
    char name[64], path[4096];
    if (!r->plan->folder)
        goto done;
    snprintf(name, sizeof name, "round-%04zu%s.safetensors", round, who);
    TRY(path_join(path, sizeof path, r->plan->folder, name));
    memcpy(r->f->shape->parameters, weights, r->f->parameters * sizeof *weights);
    TRY(sotto_head_save(path, r->f->shape));
done:
    return status;
}

static sotto_status save_uploads(const struct rounds *r, size_t round)
{
    sotto_status status = SOTTO_OK;
    char who[48];
    for (size_t p = 0; r->plan->options->keep_uploads && p < r->f->participants; p++) {
        snprintf(who, sizeof who, "-participant-%zu", p);
        TRY(federated_run_save(r, r->f->upload + p * r->f->parameters, round, who));
    }
done:
    return status;
}

/* Rounds that give every candidate a turn; the last ones are the turns'. */
static size_t federated_run_turns(const struct federated_plan *plan)
{
    return (plan->candidates->n + plan->options->ascend - 1) / plan->options->ascend;
}

/* Candidates of a round: how many, and the first of them. */
static size_t federated_run_turn(size_t *first, const struct rounds *r, size_t round)
{
    size_t most = r->plan->options->ascend, n = r->plan->candidates->n;
    size_t left = r->plan->options->rounds - round; /* rounds behind this one */
    *first = r->a->ascend && left < federated_run_turns(r->plan)
                 ? (federated_run_turns(r->plan) - 1 - left) * most
                 : n;
    return n - *first < most ? n - *first : most;
}

static sotto_status one_round(struct federated_run *out, struct rounds *r, size_t round,
                              const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    const struct sotto_federated_options *o = r->plan->options;
    struct federation *f = r->f;
    size_t first, count = federated_run_turn(&first, r, round), bytes = f->parameters * sizeof *r->now;
    size_t attacker = (o->target + 1) % o->participants;
    bool seen = round + o->observed > o->rounds;
    bool alone = r->a->isolate && (seen || round + federated_run_turns(r->plan) > o->rounds);
    float *target = f->upload + o->target * f->parameters;
    memcpy(r->sent, r->now, bytes);
    if (count && r->a->server)
        federated_run_ascend(r->sent, r, first, count);
    TRY(federation_round(f, alone ? o->target : 0, alone ? o->target + 1 : f->participants, r->sent, round,
                         ctx));
    if (count && !r->a->server) {
        memcpy(f->upload + attacker * f->parameters, r->now, bytes);
        federated_run_ascend(f->upload + attacker * f->parameters, r, first, count);
    }
    memcpy(r->before, r->now, bytes);
    if (alone)
        memcpy(r->now, target, bytes);
    else
        federation_average(r->now, f);
    if (seen) {
        size_t t = round + o->observed - o->rounds - 1;
        memcpy(out->common + t * f->parameters, r->now, bytes);
        memcpy(out->upload + t * f->parameters, target, bytes);
    }
    TRY(federated_run_save(r, r->now, round, ""));
    TRY(save_uploads(r, round));
done:
    return status;
}

sotto_status federated_run(struct federated_run *out, struct federation *f,
                           const struct federated_attacker *a, const struct federated_plan *plan,
                           const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    const struct sotto_federated_options *o = plan->options;
    size_t count = f->parameters;
    float *start = NULL;
    struct federated_run run = {0};
    struct rounds r = {.a = a, .plan = plan, .f = f};
    NEW(start, count); /* the shape's own weights change when it is looked into */
    NEW(r.now, count);
    NEW(r.before, count);
    NEW(r.sent, count);
    NEW(r.step, count);
    NEW_ROWS(run.common, o->observed, count);
    NEW_ROWS(run.upload, o->observed, count);
    NEW(run.last, count);
    TRY(whitebox_features_make(&r.look, f->shape));
    memcpy(start, f->shape->parameters, count * sizeof *start);
    memcpy(r.now, start, count * sizeof *start);
    memcpy(r.before, start, count * sizeof *start);
    for (size_t round = 1; round <= o->rounds; round++) {
        TRY(one_round(&run, &r, round, ctx));
        context_progress(ctx, a->name, round, o->rounds, "rounds");
    }
    memcpy(run.last, r.now, count * sizeof *start);
    *out = run;
    run = (struct federated_run){0};
done:
    if (start)
        memcpy(f->shape->parameters, start, count * sizeof *start);
    whitebox_features_clear(&r.look);
    base_free(start);
    base_free(r.now);
    base_free(r.before);
    base_free(r.sent);
    base_free(r.step);
    federated_run_clear(&run);
    return status;
}
