/* A head from second moments: sums, one release, equations. Nothing of the records goes around the
 * release. */
#include "canary/canaries.h"
#include "head/private/moments.h"

#include "base/file.h"
#include "base/sha256.h"
#include "dp/account/risk.h"
#include "dp/ledger/spend.h"
#include "dp/mechanism/mechanism.h"
#include "dp/mechanism/require.h"
#include "dp/release/charge_hint.h"
#include "dp/release/release.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static sotto_status find_scale(struct sotto_account *account, struct sotto_head_recipe *r,
                               const struct sotto_sensitivity *sensitivity,
                               const struct sotto_head_privacy *p, const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    double unit = strcmp(r->noise, "laplace") == 0 ? sensitivity->l1 : sensitivity->l2;
    double scale = r->noise_multiplier * unit;
    struct sotto_sensitivity of_unit = *sensitivity;
    unit_widen(&of_unit, spend_rows(&p->spend));
    TRY(risk_require_alone(&p->risk, spend_given(p->target.epsilon) || spend_given(r->noise_multiplier)));
    if (risk_or_epsilon(&p->risk, p->target.epsilon))
        TRY(calibrate_for(&scale, r->noise, &of_unit, p->target, &p->risk, ctx));
    TRY(sotto_account_release(account, r->noise, scale, &of_unit, p->target.delta, 1, ctx));
    r->noise_multiplier = scale / unit;
done:
    return status;
}

/* Everything that is decided before a record is looked at. */
struct moment_release {
    struct moment_shape shape;
    size_t dimension;
    struct sotto_sensitivity sensitivity;
    struct sotto_account account;
};

static struct sotto_release moment_train_request(const struct moment_release *m, size_t records,
                                                 const struct sotto_head_privacy *p)
{
    return (struct sotto_release){.mechanism = m->account.mechanism,
                                  .scale = m->account.scale,
                                  .target = {.delta = p->target.delta},
                                  .sensitivity = m->sensitivity,
                                  .spend = spend_complete(&p->spend, NULL, "head by second moments", 0),
                                  .records = records};
}

static sotto_status moment_train_release(struct sotto_certificate **certificate, float *vector,
                                         const struct moment_release *m, size_t records,
                                         const struct sotto_head_privacy *p, const struct sotto_context *ctx)
{
    char input[SHA256_HEX];
    struct sotto_release request = moment_train_request(m, records, p);
    sha256_of(input, vector, m->dimension * sizeof *vector);
    request.input_sha256 = input;
    return sotto_dp_release(certificate, vector, m->dimension, &request, ctx);
}

static void moment_train_unpack(struct noisy_moments *m, const float *vector, struct moment_weights from)
{
    for (size_t i = 0; i < m->q; i++)
        for (size_t j = i; j < m->q; j++) {
            double value = *vector++ / (from.square * (i == j ? 1 : sqrt(2)));
            m->products[i * m->q + j] = m->products[j * m->q + i] = value;
        }
    for (size_t i = 0; i < m->q * m->outputs; i++)
        m->cross[i] = *vector++ / from.cross;
}

/* Solutions estimate u_y, and p_k = 1/K + (z_k - mean z) / K near 0: logits are K times as large. */
static sotto_status write_head(struct sotto_head *h, const struct noisy_moments *m,
                               const struct moment_shape *s, double radius)
{
    size_t d = s->inputs;
    for (size_t k = 0; k < s->classes; k++) {
        double sign = s->outputs == 1 ? (k ? sqrt(0.5) : -sqrt(0.5)) : 1, factor = (double)s->classes * sign;
        size_t column = s->outputs == 1 ? 0 : k;
        for (size_t i = 0; i < d; i++)
            h->parameters[k * d + i] = (float)(factor * m->cross[i * s->outputs + column] / radius);
        if (s->q > d)
            h->parameters[s->classes * d + k] =
                (float)(factor * m->cross[d * s->outputs + column] * s->constant);
    }
    for (size_t i = 0; i < h->count; i++)
        if (!isfinite(h->parameters[i]))
            return status_fail(SOTTO_EDIVERGED, "head: a weight is infinite; give a larger {lambda}");
    return SOTTO_OK;
}

/* The head that the released sums give. */
static sotto_status moment_train_solve(struct sotto_head *h, struct noisy_moments *m, const float *released,
                                       const struct sotto_head_recipe *r, const struct moment_shape *shape,
                                       double deviation)
{
    sotto_status status = SOTTO_OK;
    const struct moment_trainer *t = head_recipe_moments(r);
    const struct moment_weights weights = t->weights(r, shape->classes);
    moment_train_unpack(m, released, weights);
    m->deviation = deviation / weights.square;
    TRY(t->solve(m, r));
    TRY(write_head(h, m, shape, r->clip));
done:
    return status;
}

/* Pure where the noise can be, so that no delta is spent that was not requested. */
static double default_delta(const struct sotto_head_recipe *r, size_t records)
{
    const struct mechanism *m = mechanism_find(r->noise);
    return m && m->pure ? 0 : sotto_default_delta(records);
}

static sotto_status check_request(const struct sotto_head_recipe *r, const struct sotto_head_privacy *privacy)
{
    sotto_status status = SOTTO_OK;
    TRY(canary_require_records(privacy->canaries, r->trainer));
    REQUIRE(privacy->adjacency == SOTTO_REPLACE_ONE,
            "adjacency %s: trainer %s is accounted for a replaced record only; expected replace-one",
            sotto_adjacency_name(privacy->adjacency), r->trainer);
    REQUIRE(!r->refuse_larger,
            "refuse_larger must be 0, as a refusal would reveal records; larger records are scaled to clip");
done:
    return status;
}

/* The recipe and the spending as they will be charged, and for what. */
static sotto_status moment_train_complete(struct moment_release *m, struct sotto_head_recipe *r,
                                          struct sotto_head_privacy *p, const struct head_data *data,
                                          const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    const struct moment_trainer *t = head_recipe_moments(r);
    struct moment_bound bound;
    TRY(check_request(r, p));
    TRY(head_recipe_check(r));
    p->target.delta = spend_delta(p->target.delta, default_delta(r, data->n));
    m->shape = moment_shape_of(r, data->d, data->classes);
    REQUIRE(moment_dimension(&m->dimension, &m->shape),
            "head: the products of %zu features do not fit in memory", data->d);
    moment_bound_find(&bound, t, r, data->n, data->d, data->classes);
    m->sensitivity = (struct sotto_sensitivity){
        .l1 = bound.l1, .l2 = bound.l2, .dimension = m->dimension, .source = SOTTO_SENSITIVITY_PROVED};
    TRY(find_scale(&m->account, r, &m->sensitivity, p, ctx));
    head_recipe_hash(m->sensitivity.evidence, r, data->d, data->classes);
done:
    return status;
}

sotto_status moment_event(struct planned_event *out, const struct head_data *data,
                          const struct sotto_head_recipe *recipe, const struct sotto_head_privacy *privacy,
                          const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    struct sotto_head_recipe r = *recipe;
    struct sotto_head_privacy own = *privacy;
    struct moment_release m;
    TRY(moment_train_complete(&m, &r, &own, data, ctx));
    const struct sotto_release request = moment_train_request(&m, data->n, &own);
    TRY(release_as_event(out, &request, m.dimension, RELEASE_OF_FLOATS, ctx));
done:
    return status;
}

sotto_status moment_train(struct sotto_head **out, struct sotto_certificate **certificate,
                          const struct head_data *records, const struct sotto_head_recipe *recipe,
                          const struct sotto_head_privacy *privacy, const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    const struct moment_trainer *t = head_recipe_moments(recipe);
    struct sotto_head_recipe r = *recipe;
    struct sotto_head_privacy own = *privacy;
    struct head_data silent = *records, *data = &silent;
    struct moment_release m;
    struct noisy_moments noisy = {0};
    struct sotto_head *h = NULL;
    struct sotto_certificate *text = NULL;
    float *vector = NULL;
    struct held_file held = {0};
    int64_t *labels = NULL;
    const size_t width[2] = {data->d, data->classes};
    TRY(head_data_silence(&labels, data));
    TRY(moment_train_complete(&m, &r, &own, data, ctx));
    TRY(head_create(&h, 1, width));
    noisy = (struct noisy_moments){.q = m.shape.q, .outputs = m.shape.outputs, .records = data->n};
    NEW(vector, m.dimension);
    NEW(noisy.products, m.shape.q * m.shape.q);
    NEW(noisy.cross, m.shape.q * m.shape.outputs);
    TRY(moment_sums(vector, t, &r, data, ctx));
    if (own.output)
        TRY(file_hold(&held, own.output, (data->d + 1) * data->classes * sizeof(float) + (1 << 16)));
    TRY(moment_train_release(&text, vector, &m, data->n, &own, ctx));
    TRY(moment_train_solve(h, &noisy, vector, &r, &m.shape, m.account.standard_deviation));
    certificate_add_classes(text, data->classes, privacy->classes_by);
    head_describe(h, data, &r, cpu_isa_name(cpu_best_isa()));
    *certificate = text;
    *out = h;
    text = NULL;
    h = NULL;
done:
    file_release(&held);
    if (status != SOTTO_OK && text)
        charge_name_certificate(text, "the noisy sums are lost; a new run is charged again");
    if (vector) /* exact sums, where the release failed */
        base_wipe(vector, m.dimension * sizeof *vector);
    sotto_certificate_free(text);
    base_free(vector);
    base_free(labels);
    base_free(noisy.products);
    base_free(noisy.cross);
    sotto_head_free(h);
    return status;
}
