/* Building a model: the named builder adds the encoder, then the projector or the classifier follow, then the
 * parameters get their memory and their first values. */
#include "nn/model/model.h"

#include "nn/layer/layer_norm_parts.h"
#include "rng/rng.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static sotto_status add_projector(struct nn_model *m, const struct nn_model_config *config, int row)
{
    sotto_status status = SOTTO_OK;
    for (size_t i = 0; i < config->projector_count; i++) {
        struct layer_spec dense = {.layer = &layer_dense,
                                   .src = row,
                                   .residual = SOURCE_NONE,
                                   .relu = i + 1 < config->projector_count,
                                   .width = config->projector[i],
                                   .init = INIT_GLOROT_UNIFORM};
        snprintf(dense.path, sizeof dense.path, "projector.%zu", 2 * i);
        TRY(network_add(m, &dense, &row));
    }
    if (config->standardise) {
        struct nn_shape e = model_shape(m, row);
        REQUIRE(config->classes && e.height == 1 && e.width == 1,
                "model %s: its embedding of %zux%zux%zu cannot be standardised; expected a row of numbers",
                config->name, e.channels, e.height, e.width);
        TRY(network_add(m,
                        &(struct layer_spec){.layer = &layer_batch_norm,
                                             .path = "standardise",
                                             .src = row,
                                             .residual = SOURCE_NONE,
                                             .frozen = 1},
                        &row));
    }
    if (config->classes) {
        struct layer_spec dense = {.layer = &layer_dense,
                                   .path = "classifier",
                                   .src = row,
                                   .residual = SOURCE_NONE,
                                   .width = config->classes,
                                   .init = config->zero_classifier ? INIT_ZERO : INIT_GLOROT_UNIFORM};
        TRY(network_add(m, &dense, NULL));
    }
done:
    return status;
}

/* ---- ensembles and noise on inputs ---- */

static sotto_status check_residual(const struct model_kind *kind, const struct nn_model_config *c)
{
    sotto_status status = SOTTO_OK;
    bool asked = c->noise.kind != NN_NOISE_NONE || c->no_skip || c->members > 1;
    REQUIRE(!asked || kind->pre_activation,
            "model %s supports no noise in its blocks and no ensemble members; expected resnet8 or resnet20",
            kind->name);
    REQUIRE(c->noise.gamma >= 0 && isfinite(c->noise.gamma), "gamma must be finite and >= 0 (got %g)",
            c->noise.gamma);
    REQUIRE(c->noise.floor >= 0 && isfinite(c->noise.floor), "floor must be finite and >= 0 (got %g)",
            c->noise.floor);
    REQUIRE(c->input_noise >= 0 && isfinite(c->input_noise), "input noise must be finite and >= 0 (got %g)",
            c->input_noise);
    REQUIRE(c->radius >= 0 && isfinite(c->radius), "radius must be finite and >= 0 (got %g)", c->radius);
    REQUIRE(c->members <= 16, "%zu members are too many; expected at most 16", c->members);
    REQUIRE(!c->noise.relative || c->noise.kind == NN_NOISE_ADDITIVE,
            "relative noise must be additive; multiplicative noise is already relative");
    REQUIRE(!c->average_softmax || c->members > 1,
            "an average of probabilities needs an ensemble of more than one member");
    REQUIRE(c->members < 2 || c->classes, "an ensemble needs classes, as it averages logits");
done:
    return status;
}

/* What the members read: the input, clipped and with noise where requested; or normalised. */
static sotto_status add_input(struct nn_model *m, const struct nn_model_config *config)
{
    sotto_status status = SOTTO_OK;
    struct layer_spec clip = {.layer = &layer_clip,
                              .path = "input",
                              .src = SOURCE_INPUT,
                              .residual = SOURCE_NONE,
                              .rate = config->radius};
    if (config->input_noise > 0)
        clip.noise = (struct nn_noise){.kind = NN_NOISE_ADDITIVE, .gamma = config->input_noise};
    m->input_row = SOURCE_INPUT;
    if (config->input_noise > 0 || config->radius > 0)
        TRY(network_add(m, &clip, &m->input_row));
    struct layer_spec norm = {.layer = &layer_batch_norm,
                              .path = NN_INPUT_NORM,
                              .src = m->input_row,
                              .residual = SOURCE_NONE,
                              .frozen = 1};
    if (config->normalised)
        TRY(network_add(m, &norm, &m->input_row));
done:
    return status;
}

/* Logits (or probabilities) of member i, added to those of the members before it. */
static sotto_status add_member(int *sum, struct nn_model *m, const struct model_kind *kind,
                               const struct nn_model_config *config, size_t i)
{
    sotto_status status = SOTTO_OK;
    int embedding;
    snprintf(m->prefix, sizeof m->prefix, "member%zu.", i);
    if (config->separate_inputs)
        TRY(add_input(m, config));
    TRY(kind->build(&embedding, m, config));
    struct layer_spec dense = {.layer = &layer_dense,
                               .path = "classifier",
                               .src = embedding,
                               .residual = config->average_softmax ? SOURCE_NONE : *sum,
                               .width = config->classes,
                               .init = INIT_GLOROT_UNIFORM};
    struct layer_spec softmax = {.layer = &layer_softmax, .path = "softmax", .residual = *sum};
    TRY(network_add(m, &dense, config->average_softmax ? &softmax.src : sum));
    if (config->average_softmax)
        TRY(network_add(m, &softmax, sum));
done:
    return status;
}

static sotto_status add_ensemble(struct nn_model *m, const struct model_kind *kind,
                                 const struct nn_model_config *config)
{
    sotto_status status = SOTTO_OK;
    int sum = SOURCE_NONE;
    if (!config->separate_inputs)
        TRY(add_input(m, config));
    for (size_t i = 0; i < config->members; i++)
        TRY(add_member(&sum, m, kind, config, i));
    m->prefix[0] = '\0';
    struct layer_spec mean = {.layer = config->average_softmax ? &layer_log_mean : &layer_scale,
                              .path = "mean",
                              .src = sum,
                              .residual = SOURCE_NONE,
                              .rate = 1.0 / (double)config->members};
    TRY(network_add(m, &mean, NULL));
    m->embedding_row = SOURCE_INPUT;
done:
    return status;
}

/* ---- freezing ---- */

static sotto_status model_freeze(struct nn_model *m, const struct nn_model_config *config)
{
    sotto_status status = SOTTO_OK;
    const struct nn_freeze *f = &config->freeze;
    REQUIRE(f->encoder || f->blocks <= m->block_count,
            "model %s has %zu blocks, of which %zu cannot be frozen; expected at most %zu, or all",
            config->name, m->block_count, f->blocks, m->block_count);
    REQUIRE(!f->encoder || m->embedding_row >= 0, "model %s has no encoder that could be frozen",
            config->name);
    m->frozen_rows = f->encoder  ? (size_t)m->embedding_row + 1
                     : f->blocks ? m->block_end[f->blocks - 1]
                                 : f->rows;
    if (m->frozen_rows == 0 && m->rows[0].frozen)
        m->frozen_rows = 1; /* no gradient is needed below the first weights */
    for (size_t i = 0; i < m->row_count; i++)
        m->rows[i].frozen |= i < m->frozen_rows || (f->norms && m->rows[i].layer == &layer_batch_norm);
    for (size_t i = 0; i < m->parameter_count; i++)
        m->parameters[i].frozen = m->rows[m->parameters[i].row].frozen;
done:
    return status;
}

/* ---- parameters ---- */

static void place_values(struct nn_model *m, struct arena *a)
{
    size_t trainable = 0, statistics = 0;
    for (size_t i = 0; i < m->parameter_count; i++)
        *(m->parameters[i].statistic ? &statistics : &trainable) += model_padded(m->parameters[i].count);
    m->trainable = trainable;
    m->statistic_count = statistics;
    m->values = arena_take(a, trainable, sizeof *m->values);
    m->statistics = arena_take(a, statistics, sizeof *m->statistics);
    float *value = m->values, *statistic = m->statistics;
    for (size_t i = 0; a->base && i < m->parameter_count; i++) {
        float **next = m->parameters[i].statistic ? &statistic : &value;
        m->parameters[i].value = *next;
        *next += model_padded(m->parameters[i].count);
    }
}

static void list_tensors(struct nn_model *m)
{
    m->tensor_list = (struct tensor_list){.items = m->tensors};
    for (size_t i = 0; i < m->parameter_count; i++) {
        const struct nn_parameter *p = &m->parameters[i];
        if (!p->statistic && !p->frozen)
            m->tensors[m->tensor_list.count++] = (struct tensor){p->name, p->value, p->diff, p->count};
    }
}

sotto_status model_need_gradients(struct nn_model *m)
{
    sotto_status status = SOTTO_OK;
    if (m->diffs)
        return SOTTO_OK;
    arena_take(&m->gradient_memory, m->trainable, sizeof *m->diffs);
    TRY(arena_reserve(&m->gradient_memory, "gradients"));
    m->diffs = arena_take(&m->gradient_memory, m->trainable, sizeof *m->diffs);
    for (size_t i = 0; i < m->parameter_count; i++)
        if (!m->parameters[i].statistic)
            m->parameters[i].diff = m->diffs + (m->parameters[i].value - m->values);
    list_tensors(m);
done:
    return status;
}

/* Glorot & Bengio 2010, as in Keras: uniform on +-sqrt(6 / (fan_in + fan_out)). He et al. 2015: normal, fan
 * out. Radford et al. 2016 (DCGAN): normal of deviation .02. */
static void model_initialise(struct nn_parameter *p, struct rng random)
{
    float limit = sqrtf(6.0f / (float)(p->fan_in + p->fan_out));
    double deviation = sqrt(2.0 / (double)(p->fan_out ? p->fan_out : 1));
    for (size_t i = 0; i < p->count; i++)
        switch (p->init) {
        case INIT_ZERO:
            p->value[i] = 0;
            break;
        case INIT_ONE:
            p->value[i] = 1;
            break;
        case INIT_GLOROT_UNIFORM:
            p->value[i] = limit * (2 * rng_unit_f(&random) - 1);
            break;
        case INIT_HE_NORMAL:
            p->value[i] = (float)(deviation * rng_normal(&random));
            break;
        case INIT_NORMAL_002:
            p->value[i] = (float)(0.02 * rng_normal(&random));
            break;
        }
}

/* ---- public ---- */

sotto_status nn_model_find(const char **name, size_t *smallest_side, const char *asked)
{
    const struct model_kind *kind = NULL;
    sotto_status status = model_kind_find(&kind, asked);
    if (status == SOTTO_OK && name)
        *name = kind->name;
    if (status == SOTTO_OK && smallest_side)
        *smallest_side = kind->smallest_side;
    return status;
}

/* All rows, without memory for their parameters. */
static sotto_status build_rows(struct nn_model **out, const struct nn_model_config *config)
{
    sotto_status status = SOTTO_OK;
    const struct model_kind *kind = NULL;
    struct nn_model *m = NULL;
    if (config->kind)
        kind = config->kind;
    else
        TRY(model_kind_find(&kind, config->name));
    TRY(network_check_shape(config->input, "model input"));
    REQUIRE(config->hidden_count <= 8 && config->projector_count <= 4,
            "model %s: has too many layers; expected at most 8 hidden and 4 projector layers", kind->name);
    REQUIRE(config->projector_count == 0 || config->classes == 0,
            "model %s: has a projector and a classifier; expected only one of them", kind->name);
    NEW(m, 1);
    m->input = config->input;
    TRY(check_residual(kind, config));
    if (config->members > 1) {
        TRY(add_ensemble(m, kind, config));
    } else {
        TRY(add_input(m, config));
        TRY(kind->build(&m->embedding_row, m, config));
        TRY(add_projector(m, config, m->embedding_row));
    }
    if (config->adversary.values)
        TRY(model_add_adversary(m, &config->adversary));
    REQUIRE(m->row_count > 0,
            "model %s: has no hidden layer, no projector and no classes; expected at least one of them",
            kind->name);
    TRY(model_freeze(m, config));
    *out = m;
    m = NULL;
done:
    nn_model_free(m);
    return status;
}

double nn_model_work(const struct nn_model *m)
{
    double work = 0;
    for (size_t i = 0; i < m->parameter_count; i++) {
        const struct nn_parameter *p = &m->parameters[i];
        struct nn_shape s = m->rows[p->row].shape;
        work += p->statistic ? 0 : (double)p->count * (double)s.height * (double)s.width;
    }
    return work;
}

/* A core does some 3e10 multiplications a second; a pass has a barrier or two for each layer, some 10 us in
 * all. */
int nn_threads_worth(double work, int threads)
{
    const double enough = 3e6;
    return work < enough ? 1 : threads;
}

sotto_status nn_model_size(size_t *values, double *work, const struct nn_model_config *config)
{
    struct nn_model *m = NULL;
    sotto_status status = build_rows(&m, config);
    if (status != SOTTO_OK)
        return status;
    size_t count = 0;
    for (size_t i = 0; i < m->parameter_count; i++)
        count += m->parameters[i].count;
    *values = count;
    if (work)
        *work = nn_model_work(m);
    nn_model_free(m);
    return SOTTO_OK;
}

sotto_status nn_model_crosses(struct nn_crossing *out, const struct nn_model_config *config)
{
    struct nn_model *m = NULL;
    sotto_status status = build_rows(&m, config);
    *out = (struct nn_crossing){0};
    for (size_t i = 0; m && i < m->row_count; i++) {
        const struct layer_spec *row = &m->rows[i];
        out->norms |= row->layer->cross && !row->frozen;
        out->waits |= out->norms || row->noise.relative;
    }
    out->waits |= m && m->adversary_rows;
    nn_model_free(m);
    return status;
}

static sotto_status model_create(struct nn_model **out, const struct nn_model_config *config, bool blank,
                                 uint64_t seed)
{
    sotto_status status = SOTTO_OK;
    struct nn_model *m = NULL;
    TRY(build_rows(&m, config));
    place_values(m, &m->memory);
    TRY(arena_reserve_asking(&m->memory, "model parameters", config->ctx));
    place_values(m, &m->memory);
    list_tensors(m);
    for (size_t i = 0; i < m->parameter_count; i++) {
        struct nn_parameter *p = &m->parameters[i];
        TRY(context_check(config->ctx, "model %s: stopped while it was made", config->name));
        if (blank && p->init != INIT_ONE)
            p->init = INIT_ZERO;
        model_initialise(p, rng_stream(seed, RNG_INIT, 0, i));
    }
    *out = m;
    m = NULL;
done:
    nn_model_free(m);
    return status;
}

sotto_status nn_model_create(struct nn_model **out, const struct nn_model_config *config, uint64_t seed)
{
    return model_create(out, config, false, seed);
}

sotto_status nn_model_create_blank(struct nn_model **out, const struct nn_model_config *config)
{
    return model_create(out, config, true, 0);
}

void nn_model_free(struct nn_model *m)
{
    if (!m)
        return;
    arena_clear(&m->memory);
    arena_clear(&m->gradient_memory);
    base_free(m);
}

struct nn_shape nn_model_input(const struct nn_model *m)
{
    return m->input;
}

bool nn_model_normalised(const struct nn_model *m)
{
    return strcmp(m->rows[0].path, NN_INPUT_NORM) == 0;
}

size_t nn_model_embedding_width(const struct nn_model *m)
{
    return shape_count(model_shape(m, m->embedding_row));
}

size_t nn_model_output_width(const struct nn_model *m)
{
    return shape_count(model_shape(m, model_output_row(m)));
}

const struct tensor_list *nn_model_tensors(const struct nn_model *m)
{
    return &m->tensor_list;
}

size_t nn_model_parameter_count(const struct nn_model *m, int with_projector)
{
    size_t count = 0;
    for (size_t i = 0; i < m->parameter_count; i++)
        if (!m->parameters[i].statistic && (with_projector || m->parameters[i].row <= m->embedding_row))
            count += m->parameters[i].count;
    return count;
}

static size_t count_trained(const struct nn_model *m, int after_row)
{
    size_t count = 0;
    for (size_t i = 0; i < m->parameter_count; i++)
        if (!m->parameters[i].statistic && !m->parameters[i].frozen && m->parameters[i].row > after_row)
            count += m->parameters[i].count;
    return count;
}

size_t nn_model_trained_count(const struct nn_model *m)
{
    return count_trained(m, SOURCE_INPUT);
}

size_t nn_model_trained_tensors(const struct nn_model *m)
{
    return m->tensor_list.count;
}

size_t nn_model_top_count(const struct nn_model *m)
{
    return count_trained(m, m->embedding_row);
}

/* Its tensors: weight, bias, running mean and variance; NULL: the model has no such map. */
static const struct nn_parameter *standardise_of(const struct nn_model *m)
{
    for (size_t i = 0; i < m->parameter_count; i++)
        if (strcmp(m->parameters[i].name, "standardise.weight") == 0)
            return &m->parameters[i];
    return NULL;
}

void nn_model_set_standardise(struct nn_model *m, const double *mean, const double *factor)
{
    const struct nn_parameter *p = standardise_of(m);
    for (size_t c = 0; p && c < p->count; c++) {
        p[0].value[c] = (float)(factor[c] * sqrt(1 + NORM_EPSILON)); /* the running variance stays 1 */
        p[2].value[c] = (float)mean[c];
    }
}

void nn_model_get_standardise(double *scale, double *shift, const struct nn_model *m)
{
    const struct nn_parameter *p = standardise_of(m);
    for (size_t c = 0; c < nn_model_embedding_width(m); c++) {
        scale[c] = p ? (double)p[0].value[c] / sqrt((double)p[3].value[c] + NORM_EPSILON) : 1;
        shift[c] = p ? (double)p[1].value[c] - (double)p[2].value[c] * scale[c] : 0;
    }
}

size_t nn_model_blocks(const struct nn_model *m)
{
    return m->block_count;
}

struct nn_shape nn_model_block_shape(const struct nn_model *m, size_t block)
{
    return model_shape(m, (int)m->block_end[block] - 1);
}
