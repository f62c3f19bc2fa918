/* What is asked for by name is taken; else the checkpoint's choice, else what was or is measured. */
#include "nn/loop/autotuner.h"

#include "nn/conv/conv_phases.h"
#include "nn/conv/conv_stride2.h"
#include "nn/conv/conv_winograd.h"
#include "nn/loop/checkpoint.h"
#include "nn/model/model.h"
#include "par/par.h"
#include "rng/rng.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

/* A candidate must be so many times as fast as the one that it replaces. */
static const double GAIN = 1.1;
/* Steps of a candidate that are timed, after one that is not: so many, or as many as fit in this time, of
 * which the fastest counts. */
enum { STEPS = 2 };
static const double ENOUGH = 0.03;

/* ---- candidates ---- */

/* From fine to coarse rounding; the first that there is is kept unless others beat it. */
static const struct candidate {
    struct autotune_candidate is;
    bool only_by_name; /* ref is for reading */
} candidates[] = {{{"dnnl", NN_F32}, false},
                  {{"winograd", NN_F32}, false},
                  {{"dnnl", NN_BF16}, false},
                  {{"winograd", NN_BF16}, false},
                  {{"ref", NN_F32}, true}};
enum { CANDIDATES = sizeof candidates / sizeof *candidates };

static bool is_auto(const char *asked)
{
    return !asked || strcmp(asked, "auto") == 0;
}

static const char *dtype_name(enum nn_dtype dtype)
{
    return dtype == NN_BF16 ? "bf16" : "f32";
}

/* Can this machine compute by it, and is it within what was asked for? */
static bool autotuner_allowed(const struct autotune_candidate *c, const struct autotune_request *r)
{
    const struct nn_backend *backend;
    if ((!is_auto(r->backend) && strcmp(r->backend, c->backend) != 0) ||
        (!is_auto(r->dtype) && strcmp(r->dtype, dtype_name(c->dtype)) != 0))
        return false;
    if (nn_backend_find(&backend, c->backend) != SOTTO_OK)
        return false;
    return c->dtype == NN_F32 || (nn_backend_supports_bf16(backend) && (!r->views || !is_auto(r->dtype)));
}

/* Never none: f32 works on every backend, and the names that were asked for have been checked. */
static void list_candidates(struct autotune_times *out, const struct autotune_request *r)
{
    *out = (struct autotune_times){0};
    for (size_t i = 0; i < CANDIDATES; i++) {
        const struct candidate *c = &candidates[i];
        bool wanted = !c->only_by_name || !is_auto(r->backend) || (out->count == 0 && i + 1 == CANDIDATES);
        if (wanted && autotuner_allowed(&c->is, r))
            out->candidate[out->count++] = c->is;
    }
}

static void autotuner_drop(struct autotune_times *t, size_t i)
{
    t->count--;
    memmove(&t->candidate[i], &t->candidate[i + 1], (t->count - i) * sizeof *t->candidate);
    memmove(&t->seconds[i], &t->seconds[i + 1], (t->count - i) * sizeof *t->seconds);
}

/* Does minimal filtering go another way than direct sums anywhere in this network? */
static bool has_winograd(const struct nn_model *m, enum nn_dtype dtype)
{
    for (size_t i = 0; i < m->row_count; i++) {
        const struct layer_spec *s = &m->rows[i];
        const struct conv_desc d = {.src = model_shape(m, s->src),
                                    .dst = s->shape,
                                    .kernel_height = s->kernel,
                                    .kernel_width = s->kernel,
                                    .stride = s->stride,
                                    .pad = s->pad,
                                    .src_dtype = dtype,
                                    .dst_dtype = dtype};
        if (s->layer == &layer_conv &&
            (conv_winograd_fits(&d) || conv_stride2_fits(&d) || conv_phases_fits(&d)))
            return true;
    }
    return false;
}

/* ---- measuring ---- */

static double real_seconds(void *state, const struct autotune_candidate *running)
{
    struct timespec t;
    (void)state, (void)running;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}
static const struct autotune_clock real_clock = {real_seconds, NULL};

static void autotuner_fill(float *out, size_t count, double scale)
{
    struct rng random = rng_stream(0, RNG_PROBE, 0, 0);
    for (size_t i = 0; out && i < count; i++)
        out[i] = (float)(scale * rng_unit(&random));
}

/* Forward and backward, as training does them. `sum`: of a plan with views. */
static sotto_status take_step(struct nn_plan *plan, const struct nn_model *m, double *sum,
                              const struct autotune_request *r, uint64_t step)
{
    sotto_status status = SOTTO_OK;
    const struct nn_clip clip = {.norm = 1, .bound = 0x1p30};
    const uint32_t examples = r->views ? (uint32_t)(r->batch / r->views) : 0;
    const struct nn_chains chains = {&examples, 1};
    size_t whole;
    TRY(nn_plan_forward(plan, 1, 0, step));
    autotuner_fill(nn_plan_diff_output(plan), r->batch * nn_model_output_width(m), 1e-3);
    autotuner_fill(nn_plan_adversary_diff(plan), r->batch * r->model->adversary.values, 1e-3);
    if (r->views)
        TRY(nn_plan_clipped_sum(plan, sum, &whole, examples, &chains, &clip));
    else
        TRY(nn_plan_backward(plan));
done:
    return status;
}

/* Seconds of the fastest step. */
static sotto_status time_plan(double *out, struct nn_plan *plan, const struct nn_model *m, double *sum,
                              const struct autotune_candidate *c, const struct autotune_request *r,
                              const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    const struct autotune_clock *clock = r->clock ? r->clock : &real_clock;
    double least = INFINITY, total = 0;
    for (uint64_t step = 0; step <= STEPS || total < ENOUGH; step++) {
        if (context_stopped(ctx))
            FAIL(SOTTO_ESTOPPED, "stopped while dtype and backend were measured, before the first step");
        double started = clock->seconds(clock->state, c);
        TRY(take_step(plan, m, sum, r, step));
        double seconds = clock->seconds(clock->state, c) - started;
        if (step == 0)
            continue; /* caches and pages are still cold */
        total += seconds;
        least = seconds < least ? seconds : least;
        if (!(seconds > 0))
            break; /* a clock that stands still must not keep us here */
    }
    *out = least;
done:
    return status;
}

static sotto_status time_candidate(double *out, struct nn_model *m, const struct autotune_candidate *c,
                                   const struct autotune_request *r, const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    struct nn_plan *plan = NULL;
    double *sum = NULL;
    struct nn_plan_config config = {
        .batch = r->batch, .dtype = c->dtype, .training = 1, .views = r->views, .ctx = ctx};
    size_t inputs = r->batch * r->model->input.channels * r->model->input.height * r->model->input.width;
    TRY(nn_backend_find(&config.backend, c->backend));
    TRY(nn_plan_create(&plan, m, &config));
    NEW(sum, r->views ? nn_model_trained_count(m) : 1);
    autotuner_fill(nn_plan_input(plan), inputs, 1);
    TRY(time_plan(out, plan, m, sum, c, r, ctx));
done:
    base_free(sum);
    nn_plan_free(plan);
    return status;
}

/* One plan at a time, each freed before the next. *whole: all of them were measured. */
static sotto_status autotuner_measure(struct autotune_times *t, bool *whole, const struct autotune_request *r,
                                      const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    struct nn_model *m = NULL;
    struct nn_model_config config = *r->model;
    *whole = false;
    config.ctx = ctx;
    status = nn_model_create(&m, &config, 0);
    if (status != SOTTO_OK) {
        t->count = 1; /* the run itself will say what is wrong */
        status = status == SOTTO_ESTOPPED ? status : SOTTO_OK;
        goto done;
    }
    for (size_t i = 1; i < t->count; i++)
        if (strcmp(t->candidate[i].backend, "winograd") == 0 && !has_winograd(m, t->candidate[i].dtype))
            autotuner_drop(t, i--);
    *whole = t->count > 1;
    for (size_t i = 0; t->count > 1 && i < t->count; i++) {
        status = time_candidate(&t->seconds[i], m, &t->candidate[i], r, ctx);
        if (status == SOTTO_ESTOPPED)
            goto done;
        if (status != SOTTO_OK || !(t->seconds[i] > 0)) {
            t->seconds[i] = INFINITY;
            *whole = false;
        }
        status = SOTTO_OK;
    }
done:
    nn_model_free(m);
    base_trim();
    return status;
}

/* From fine to coarse rounding: each must beat the one that it replaces by enough. */
static size_t best_of(const struct autotune_times *t)
{
    size_t best = 0;
    for (size_t i = 1; i < t->count; i++)
        if (isfinite(t->seconds[i]) && t->seconds[best] >= GAIN * t->seconds[i])
            best = i;
    return best;
}

/* ---- the choice ---- */

static void autotuner_take(struct sotto_autotune *out, const struct autotune_candidate *c, const char *how)
{
    *out = (struct sotto_autotune){0};
    snprintf(out->backend, sizeof out->backend, "%s", c->backend);
    snprintf(out->dtype, sizeof out->dtype, "%s", dtype_name(c->dtype));
    snprintf(out->how, sizeof out->how, "%s", how);
}

static void take_best(struct sotto_autotune *out, const struct autotune_times *t, const char *how,
                      const struct autotune_request *r)
{
    autotuner_take(out, &t->candidate[best_of(t)], t->count > 1 ? how : "only");
    for (size_t i = 0; t->count > 1 && i < t->count; i++) {
        struct sotto_autotune_rate *rate = &out->measured[out->count];
        if (!isfinite(t->seconds[i]))
            continue;
        snprintf(rate->backend, sizeof rate->backend, "%s", t->candidate[i].backend);
        snprintf(rate->dtype, sizeof rate->dtype, "%s", dtype_name(t->candidate[i].dtype));
        rate->per_second = (double)r->records / t->seconds[i];
        out->count++;
    }
}

/* What the checkpoint was made with, if it may be and this machine has it; a checkpoint that cannot be read
 * is refused where it is loaded. */
static bool take_checkpoint(struct sotto_autotune *out, const struct autotune_request *r,
                            const struct sotto_context *ctx)
{
    struct checkpoint_computed by;
    if (!r->checkpoint || checkpoint_computed_by(&by, r->checkpoint, ctx) != SOTTO_OK)
        return false;
    for (size_t i = 0; i < CANDIDATES; i++) {
        const struct autotune_candidate *c = &candidates[i].is;
        if (strcmp(by.backend, c->backend) == 0 && strcmp(by.dtype, dtype_name(c->dtype)) == 0 &&
            autotuner_allowed(c, r)) {
            autotuner_take(out, c, "checkpoint");
            return true;
        }
    }
    return false;
}

/* A rule without a clock, so that short runs never depend on one. */
static bool is_short(const struct autotune_request *r)
{
    size_t values;
    double work;
    return r->steps < AUTOTUNE_STEPS || nn_model_size(&values, &work, r->model) != SOTTO_OK ||
           work * (double)r->batch * (double)r->steps < AUTOTUNE_WORK;
}

static sotto_status check_names(const struct autotune_request *r)
{
    sotto_status status = SOTTO_OK;
    const struct nn_backend *backend;
    enum nn_dtype dtype;
    TRY(nn_backend_find(&backend, r->backend ? r->backend : "auto"));
    TRY(nn_dtype_find(&dtype, is_auto(r->dtype) ? "f32" : r->dtype, backend));
done:
    return status;
}

static sotto_status autotuner_resolve(struct sotto_autotune *out, const struct autotune_request *r,
                                      const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    struct autotune_times times;
    bool whole;
    list_candidates(&times, r);
    if (!is_auto(r->dtype) && !is_auto(r->backend)) {
        autotuner_take(out, &times.candidate[0], "stated");
    } else if (take_checkpoint(out, r, ctx)) {
        /* done */
    } else if (times.count == 1 || is_short(r)) {
        autotuner_take(out, &times.candidate[0], times.count == 1 ? "only" : "short");
    } else if (autotune_recall(&times, r)) {
        take_best(out, &times, "remembered", r);
    } else {
        TRY(autotuner_measure(&times, &whole, r, ctx));
        if (whole)
            autotune_remember(&times, r);
        take_best(out, &times, "measured", r);
    }
done:
    return status;
}

sotto_status autotune(struct sotto_autotune *out, const struct autotune_request *request,
                      const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    struct status_record before;
    struct sotto_autotune found;
    TRY(check_names(request));
    par_set_threads(request->threads);
    status_get(&before);
    TRY(autotuner_resolve(&found, request, ctx));
    status_set(&before); /* what a candidate or the cache failed at is no failure of the call */
    *out = found;
done:
    return status;
}

const struct nn_backend *autotune_backend(const struct sotto_autotune *a)
{
    const struct nn_backend *backend = NULL;
    sotto_status status = nn_backend_find(&backend, a->backend);
    (void)status; /* autotune() has found it */
    return backend;
}

enum nn_dtype autotune_dtype(const struct sotto_autotune *a)
{
    return strcmp(a->dtype, "bf16") == 0 ? NN_BF16 : NN_F32;
}

/* ---- words ---- */

void sotto_autotune_line(char out[SOTTO_AUTOTUNE_LINE], const struct sotto_autotune *a, const char *unit)
{
    GIVEN_OR(, out, a, unit);
    static const struct {
        const char *how, *text;
    } words[] = {{"stated", "as asked"},
                 {"only", "the only one here"},
                 {"short", "too short a run to measure"},
                 {"checkpoint", "as the checkpoint states"}};
    const char *text = a->how;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(words[i].how, a->how) == 0)
            text = words[i].text;
    size_t used = (size_t)snprintf(out, SOTTO_AUTOTUNE_LINE, "%s on %s (%s", a->dtype, a->backend, text);
    if (a->count > 0)
        used += (size_t)snprintf(out + used, SOTTO_AUTOTUNE_LINE - used, ", %s/s:", unit);
    for (size_t i = 0; i < a->count && used < SOTTO_AUTOTUNE_LINE; i++)
        used += (size_t)snprintf(out + used, SOTTO_AUTOTUNE_LINE - used, "%s %s %s %.0f", i ? "," : "",
                                 a->measured[i].backend, a->measured[i].dtype, a->measured[i].per_second);
    if (used < SOTTO_AUTOTUNE_LINE)
        snprintf(out + used, SOTTO_AUTOTUNE_LINE - used, ")");
}
