/* The trainer "objective": two noisy vectors, one entry in the ledger before either. */
#include "canary/canaries.h"
#include "head/private/head_objective.h"
#include "head/private/private_recipe.h"

#include "base/file.h"
#include "dp/account/risk.h"
#include "dp/ledger/spend.h"
#include "dp/mechanism/require.h"
#include "dp/release/charge_hint.h"
#include "dp/release/release.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const char mechanism[] = "objective-perturbation";
static const char sampler[] =
    "exact: floors of Laplace noise on power-of-two lattices, which hide what is off in K-norm noise";

static sotto_status trainer_objective_check(struct sotto_head_recipe *r)
{
    sotto_status status = SOTTO_OK;
    REQUIRE(!r->noise || strcmp(r->noise, "gaussian") == 0, /* the option's default: not given */
            "noise '%s' cannot be given for trainer objective, which has noise of its own", r->noise);
    REQUIRE(r->hidden_count == 0, "trainer objective supports linear heads only (got %zu hidden layers)",
            r->hidden_count);
    TRY(head_recipe_check_ranges(r, "clip"));
    REQUIRE(r->noise_multiplier >= 0 && isfinite(r->noise_multiplier),
            "noise_multiplier must be finite and > 0 (got %g)", r->noise_multiplier);
    const struct sotto_head_recipe used = {
        .trainer = r->trainer, .clip = r->clip, .noise_multiplier = r->noise_multiplier};
    *r = used;
done:
    return status;
}

static void trainer_objective_text(char out[HEAD_RECIPE_TEXT], const struct sotto_head_recipe *r,
                                   size_t inputs, size_t classes)
{
    char clip[32], multiplier[32];
    head_recipe_shortest(clip, r->clip);
    head_recipe_shortest(multiplier, r->noise_multiplier);
    snprintf(out, HEAD_RECIPE_TEXT,
             "{\"classes\":%zu,\"clip\":%s,\"inputs\":%zu,\"noise_multiplier\":%s,\"recipe\":1,\"trainer\":"
             "\"%s\"}",
             classes, clip, inputs, multiplier, r->trainer);
}

static double trainer_objective_radius(const struct sotto_head_recipe *r)
{
    return r->clip;
}

static sotto_status check_request(const struct sotto_head_recipe *r, const struct sotto_head_privacy *privacy)
{
    sotto_status status = SOTTO_OK;
    TRY(canary_require_records(privacy->canaries, r->trainer));
    REQUIRE(privacy->adjacency == SOTTO_REPLACE_ONE,
            "adjacency %s: trainer %s is accounted for a replaced record only; expected replace-one",
            sotto_adjacency_name(privacy->adjacency), r->trainer);
done:
    return status;
}

/* Epsilon of a record is 1 / noise_multiplier. */
static sotto_status find_scale(struct sotto_head_recipe *r, const struct sotto_head_privacy *p,
                               const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    struct sotto_sensitivity of_unit = {.l1 = 1, .source = SOTTO_SENSITIVITY_PROVED};
    TRY(risk_require_alone(&p->risk, spend_given(p->target.epsilon) || spend_given(r->noise_multiplier)));
    REQUIRE(risk_or_epsilon(&p->risk, p->target.epsilon) || r->noise_multiplier > 0,
            "head: neither epsilon nor noise_multiplier is given; give one of them");
    unit_widen(&of_unit, spend_rows(&p->spend));
    if (risk_or_epsilon(&p->risk, p->target.epsilon))
        TRY(calibrate_for(&r->noise_multiplier, mechanism, &of_unit, p->target, &p->risk, ctx));
done:
    return status;
}

/* Everything of one training. */
struct training {
    const struct head_data *data;
    const struct objective_plan *plan;
    struct arena memory;
    struct head_descent centre;
    struct head_data z; /* centred records */
    struct objective objective;
    double *inside, *weights; /* noise in the objective; (classes, d), (classes) */
    size_t dimension;         /* of `inside`: of the larger noise */
};

static void trainer_objective_layout(struct training *t, const struct sotto_head_recipe *r)
{
    const size_t d = t->data->d;
    struct sotto_head_recipe one_step = {.clip = r->clip, .steps = 1};
    head_descent_layout(&t->centre, &t->memory, t->data, &one_step);
    t->dimension = t->plan->dimension > d + 1 ? t->plan->dimension : d + 1;
    t->inside = arena_take(&t->memory, t->dimension, sizeof *t->inside);
    t->weights = arena_take(&t->memory, (d + 1) * t->data->classes, sizeof *t->weights);
}

static sotto_status training_open(struct training *t, const struct sotto_head_recipe *r)
{
    sotto_status status = SOTTO_OK;
    trainer_objective_layout(t, r);
    TRY(arena_reserve(&t->memory, "head"));
    trainer_objective_layout(t, r);
    t->z = *t->data;
    t->z.x = t->centre.z;
    TRY(objective_open(&t->objective, t->plan, &t->z));
    head_descent_sum(&t->centre);
done:
    return status;
}

static void training_close(struct training *t)
{
    objective_close(&t->objective);
    if (t->inside)
        base_wipe(t->inside, t->dimension * sizeof *t->inside);
    if (t->centre.moments)
        base_wipe(t->centre.moments, (t->data->d + 1) * sizeof *t->centre.moments);
    arena_clear(&t->memory);
}

/* Centre and scale of the records, from their noisy moments. */
static sotto_status release_centre(struct training *t, struct noise *s)
{
    sotto_status status = SOTTO_OK;
    const struct objective_noise *noise = &t->plan->centre;
    const size_t width = t->data->d + 1;
    double *v = t->centre.moments;
    TRY(knorm_draw_discretised(t->inside, &noise->inside, s));
    for (size_t j = 0; j < width; j++)
        v[j] = fmin(noise->end, fmax(-noise->end, v[j] + t->inside[j]));
    TRY(knorm_blur(v, width, noise->blur, noise->end, s));
    head_descent_centre(&t->centre, v, 1, noise->inside.scale * sqrt((double)width + 1));
done:
    return status;
}

static sotto_status release_weights(struct training *t, struct noise *s, const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    const struct objective_noise *noise = &t->plan->weights;
    struct objective *o = &t->objective;
    TRY(knorm_draw_discretised(t->inside, &noise->inside, s));
    TRY(objective_load(o, t->inside, ctx));
    TRY(objective_minimise(o, ctx));
    TRY(knorm_blur(o->v, t->plan->dimension, noise->blur, noise->end, s));
    objective_export(t->weights, t->plan, o->v);
done:
    return status;
}

static struct sotto_release trainer_objective_request(const struct sotto_head_recipe *r, size_t records,
                                                      const struct sotto_head_privacy *p)
{
    return (struct sotto_release){.mechanism = mechanism,
                                  .scale = r->noise_multiplier,
                                  .target = {.delta = p->target.delta},
                                  .sensitivity = {.l1 = 1, .source = SOTTO_SENSITIVITY_PROVED},
                                  .spend =
                                      spend_complete(&p->spend, NULL, "head by objective perturbation", 0),
                                  .records = records};
}

/* Ledger entry, then noise. */
static sotto_status trainer_objective_release(struct sotto_certificate **certificate, struct training *t,
                                              const struct sotto_head_recipe *r,
                                              const struct sotto_head_privacy *p,
                                              const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    char input[SHA256_HEX];
    struct release_plan plan;
    struct noise *stream = NULL;
    struct sotto_release request = trainer_objective_request(r, t->data->n, p);
    head_data_sha256(input, t->data);
    request.input_sha256 = input;
    head_recipe_hash(request.sensitivity.evidence, r, t->data->d, t->data->classes);
    TRY(release_plan(&plan, &request, t->plan->dimension, 1u << RELEASE_MINIMUM, ctx));
    plan.sampler = sampler;
    plan.lattice_exponent = knorm_blur_exponent(t->plan->weights.blur);
    TRY(release_record(&stream, certificate, &plan, ctx));
    TRY(release_centre(t, stream));
    TRY(release_weights(t, stream, ctx));
done:
    noise_close(stream);
    return status;
}

static sotto_status export_head(struct sotto_head *h, const struct training *t)
{
    head_descent_export(h->parameters, &t->centre, t->weights);
    for (size_t i = 0; i < h->count; i++)
        if (!isfinite(h->parameters[i]))
            return status_fail(SOTTO_EDIVERGED, "head: a weight is infinite; give a larger epsilon");
    return SOTTO_OK;
}

/* The recipe and the spending as they will be charged, and for what. */
static sotto_status trainer_objective_complete(struct objective_plan *plan, struct sotto_head_recipe *r,
                                               struct sotto_head_privacy *p, const struct head_data *data,
                                               const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    TRY(check_request(r, p));
    TRY(head_recipe_check(r));
    p->target.delta = spend_delta(p->target.delta, 0);
    TRY(find_scale(r, p, ctx));
    TRY(objective_plan_find(plan, iv_div(iv(1), iv(r->noise_multiplier)).lo, data->n, data->d,
                            data->classes));
done:
    return status;
}

static sotto_status trainer_objective_event(struct planned_event *out, const struct head_data *data,
                                            const struct sotto_head_recipe *recipe,
                                            const struct sotto_head_privacy *privacy,
                                            const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    struct sotto_head_recipe r = *recipe;
    struct sotto_head_privacy own = *privacy;
    struct objective_plan plan;
    TRY(trainer_objective_complete(&plan, &r, &own, data, ctx));
    const struct sotto_release request = trainer_objective_request(&r, data->n, &own);
    TRY(release_as_event(out, &request, plan.dimension, 1u << RELEASE_MINIMUM, ctx));
done:
    return status;
}

static sotto_status train_private(struct sotto_head **out, struct sotto_certificate **certificate,
                                  const struct head_data *records, const struct sotto_head_recipe *recipe,
                                  const struct sotto_head_privacy *privacy, const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    struct sotto_head_recipe r = *recipe;
    struct sotto_head_privacy own = *privacy;
    struct head_data silent = *records;
    struct objective_plan plan;
    struct training t = {.data = &silent, .plan = &plan};
    struct sotto_head *h = NULL;
    struct sotto_certificate *made = NULL;
    struct held_file held = {0};
    int64_t *labels = NULL;
    const size_t width[2] = {silent.d, silent.classes};
    TRY(head_data_silence(&labels, &silent));
    TRY(trainer_objective_complete(&plan, &r, &own, &silent, ctx));
    TRY(head_create(&h, 1, width));
    TRY(training_open(&t, &r));
    if (own.output)
        TRY(file_hold(&held, own.output, (silent.d + 1) * silent.classes * sizeof(float) + (1 << 16)));
    TRY(trainer_objective_release(&made, &t, &r, &own, ctx));
    TRY(export_head(h, &t));
    certificate_add_classes(made, silent.classes, privacy->classes_by);
    head_describe(h, &silent, &r, cpu_isa_name(cpu_best_isa()));
    *certificate = made;
    *out = h;
    made = NULL;
    h = NULL;
done:
    file_release(&held);
    if (status != SOTTO_OK && made)
        charge_name_certificate(made, "the noisy weights are lost; a new run is charged again");
    training_close(&t);
    sotto_certificate_free(made);
    base_free(labels);
    sotto_head_free(h);
    return status;
}

const struct head_trainer head_trainer_objective = {.name = "objective",
                                                    .once = true,
                                                    .check = trainer_objective_check,
                                                    .text = trainer_objective_text,
                                                    .parse = head_objective_parse,
                                                    .radius = trainer_objective_radius,
                                                    .train_private = train_private,
                                                    .as_event = trainer_objective_event};
