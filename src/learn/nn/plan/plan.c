/* A plan binds a model to a batch size, a number type and a backend. Reading nn_plan_forward and
 * nn_plan_backward from top to bottom is reading one training step: between them the caller turns the output
 * into a loss and its gradient, after them an optimizer moves the model's parameters. */
#include "nn/plan/plan.h"

#include "nn/backend.h"
#include "nn/layer/residual_noise.h"
#include "nn/plan/plan_norms.h"
#include "par/par.h"

#include <assert.h>
#include <string.h>

/* ---- making a plan ---- */

static sotto_status describe_activation(struct activation *t, struct nn_shape shape, size_t batch,
                                        enum nn_dtype dtype)
{
    size_t bytes;
    t->shape = shape;
    t->dtype = dtype;
    if (!size_multiply(&t->count, shape_count(shape), batch) ||
        !size_multiply(&bytes, t->count, sizeof(float)))
        return status_fail(SOTTO_EINVAL, "a batch of %zu does not fit in memory", batch);
    return SOTTO_OK;
}

static sotto_status describe_activations(struct nn_plan *p)
{
    sotto_status status = SOTTO_OK;
    size_t batch = p->config.batch;
    TRY(describe_activation(plan_activation(p, SOURCE_INPUT), p->model->input, batch, p->config.dtype));
    for (int i = 0; i < (int)p->row_count; i++) {
        const struct layer_spec *spec = &p->model->rows[i];
        int f32 = plan_ends(p, i) && spec->layer->writes_f32 && spec->residual == SOURCE_NONE;
        TRY(describe_activation(plan_activation(p, i), spec->shape, batch, f32 ? NN_F32 : p->config.dtype));
        plan_activation(p, i)->relu =
            spec->relu && !(spec->layer->applies_own_relu_mask && spec->residual == SOURCE_NONE);
    }
done:
    return status;
}

/* Does anything below this row, or outside, read the gradient of its result? */
static int needs_gradient(const struct nn_plan *p, int row)
{
    return row >= 0 ? row >= (int)p->model->frozen_rows && !p->model->rows[row].layer->ends_gradient
                    : p->config.input_gradient;
}

static sotto_status plan_layers(struct nn_plan *p)
{
    sotto_status status = SOTTO_OK;
    for (int i = 0; i < (int)p->row_count; i++) {
        const struct layer_spec *spec = &p->model->rows[i];
        const bool sum = spec->residual != SOURCE_NONE, quiet = spec->noise.kind == NN_NOISE_NONE,
                   fuses = sum && quiet && spec->layer->fuses_residual;
        p->runs[i] = (struct layer_run){
            .spec = spec,
            .backend = p->config.backend,
            .kernels = p->kernels,
            .batch = p->config.batch,
            .threads = p->threads,
            .stop = &p->stop,
            .training = p->config.training && i >= (int)p->model->frozen_rows,
            .views = p->config.views,
            .gate = p->config.tangent_of ? &p->config.tangent_of->activations[i + 1] : NULL,
            .relu = spec->relu && (!sum || fuses) && quiet && spec->layer->fuses_relu,
            .residual = fuses ? plan_activation(p, spec->residual) : NULL,
            .need_diff_src = p->config.training && needs_gradient(p, spec->src),
            .can_add = spec->layer->adds,
            .src = plan_activation(p, spec->src),
            .dst = plan_activation(p, i),
            .parameters = &p->parameters[p->model->first_parameter[i]],
        };
    }
    plan_share_norms(p);
    for (size_t i = 0; i < p->row_count; i++) {
        const struct layer *layer = p->runs[i].spec->layer;
        TRY(par_check(&p->stop, "stopped while a network was planned"));
        if (layer->plan)
            TRY(layer->plan(&p->runs[i]));
    }
done:
    return status;
}

sotto_status nn_plan_check_examples(const struct nn_model *m)
{
    sotto_status status = SOTTO_OK;
    for (size_t i = 0; i < m->row_count; i++) {
        const struct layer *layer = m->rows[i].layer;
        if (layer == &layer_dropout || m->rows[i].noise.kind != NN_NOISE_NONE)
            FAIL(SOTTO_ENOTSUP,
                 "%s: has no gradient of a single example, as its random numbers depend on the place in the "
                 "batch",
                 m->rows[i].path);
        if (m->rows[i].frozen)
            continue;
        if (layer->cross_example_reason || (layer->parameters && !layer->example_norms))
            FAIL(SOTTO_ENOTSUP, "%s: has no gradient of a single example; %s", m->rows[i].path,
                 layer->cross_example_reason ? layer->cross_example_reason : layer->name);
    }
done:
    return status;
}

static sotto_status check_views(const struct nn_model *m, const struct nn_plan_config *config)
{
    sotto_status status = SOTTO_OK;
    if (!config->views)
        goto done;
    REQUIRE(config->training, "plan: gradients of single examples need training");
    REQUIRE(!m->adversary_rows, "plan: gradients of single examples cannot be combined with an adversary");
    REQUIRE(config->batch % config->views == 0, "plan: a batch of %zu rows is not a multiple of %zu views",
            config->batch, config->views);
    if (config->dtype != NN_F32)
        FAIL(SOTTO_ENOTSUP, "dtype bf16 is not supported for gradients of single examples; use dtype f32");
    TRY(nn_plan_check_examples(m));
done:
    return status;
}

static sotto_status check_input_gradient(const struct nn_model *m, const struct nn_plan_config *config)
{
    sotto_status status = SOTTO_OK;
    REQUIRE(!config->input_gradient || (config->training && !config->views),
            "plan: a gradient of the input needs training of whole batches");
    REQUIRE(!config->input_gradient || !m->frozen_rows,
            "plan: a gradient of the input needs a network without frozen layers");
    for (size_t i = 0; config->input_gradient && i < m->row_count; i++)
        if (m->rows[i].layer->ends_gradient)
            FAIL(SOTTO_ENOTSUP, "%s: this layer has no gradient by its input", m->rows[i].path);
done:
    return status;
}

static sotto_status check_tangent(const struct nn_model *m, const struct nn_plan_config *config)
{
    sotto_status status = SOTTO_OK;
    const struct nn_plan *from = config->tangent_of;
    if (!from)
        goto done;
    REQUIRE(from->model == m && from->config.batch == config->batch && from->config.dtype == config->dtype &&
                from->config.training && from->row_count == m->row_count && !config->embedding_only,
            "plan: tangents need a training plan of the same model, batch and dtype");
    for (size_t i = 0; i < m->row_count; i++)
        if (!m->rows[i].layer->tangent || m->rows[i].relu || m->rows[i].residual != SOURCE_NONE ||
            m->rows[i].noise.kind != NN_NOISE_NONE)
            FAIL(SOTTO_ENOTSUP, "%s: this layer has no tangent", m->rows[i].path);
done:
    return status;
}

static sotto_status check_config(const struct nn_model *m, const struct nn_plan_config *config)
{
    sotto_status status = SOTTO_OK;
    REQUIRE(config->batch > 0, "plan: batch must be > 0");
    REQUIRE(config->backend != NULL, "plan: backend is missing");
    TRY(check_views(m, config));
    TRY(check_input_gradient(m, config));
    TRY(check_tangent(m, config));
    REQUIRE(!config->embedding_only || m->embedding_row >= 0,
            "plan: this model has no encoder; its embedding is its input");
    if (config->dtype == NN_BF16 && !config->backend->supports_bf16())
        TRY(nn_refuse_bf16(config->backend));
done:
    return status;
}

sotto_status nn_plan_create(struct nn_plan **out, struct nn_model *m, const struct nn_plan_config *config)
{
    sotto_status status = SOTTO_OK;
    struct nn_plan *p = NULL;
    TRY(check_config(m, config));
    NEW(p, 1);
    p->model = m;
    p->config = *config;
    par_stop_set(&p->stop, config->ctx);
    p->kernels = kernels_best();
    p->threads = par_pool_threads();
    p->row_count = config->embedding_only ? (size_t)m->embedding_row + 1 : m->row_count;
    p->output_row = config->embedding_only ? m->embedding_row : model_output_row(m);
    p->first = m->frozen_rows;
    p->adversary_row = config->embedding_only || !m->adversary_rows ? SOURCE_NONE : (int)m->row_count - 1;
    NEW(p->runs, p->row_count);
    NEW(p->flow, p->row_count);
    NEW(p->activations, p->row_count + 1);
    p->norm_rounding = 1 + (double)(nn_model_parameter_count(m, 1) + 64) * 0x1p-52;
    if (config->training)
        TRY(model_need_gradients(m));
    p->parameters = m->parameters;
    if (config->leaves) {
        NEW(p->parameters, m->parameter_count);
        memcpy(p->parameters, m->parameters, m->parameter_count * sizeof *p->parameters);
    }
    TRY(describe_activations(p));
    TRY(plan_layers(p));
    TRY(plan_memory(p));
    *out = p;
    p = NULL;
done:
    nn_plan_free(p);
    return status;
}

void nn_plan_free(struct nn_plan *p)
{
    if (!p)
        return;
    for (size_t i = 0; p->runs && i < p->row_count; i++)
        if (p->runs[i].spec && p->runs[i].spec->layer->release)
            p->runs[i].spec->layer->release(&p->runs[i]);
    arena_clear(&p->keep);
    arena_clear(&p->scratch);
    base_free(p->assignment);
    if (p->config.leaves)
        base_free(p->parameters);
    base_free(p->runs);
    base_free(p->flow);
    base_free(p->activations);
    base_free(p);
}

/* ---- one step ---- */

/* The noise of row i is scaled by the size of this row, its residual source. */
static struct activation *noise_source(struct nn_plan *p, size_t i)
{
    int source = p->runs[i].spec->residual;
    return source == SOURCE_NONE ? NULL : plan_activation(p, source);
}

static bool is_noisy(const struct layer_run *run)
{
    return run->spec->noise.kind != NN_NOISE_NONE;
}

void plan_forward_sum(struct nn_plan *p, size_t i)
{
    struct layer_run *run = &p->runs[i];
    struct activation *dst = run->dst;
    run->spec->layer->forward(run, &p->pass);
    if (run->spec->residual != SOURCE_NONE && !run->residual && (!is_noisy(run) || run->spec->noise.relative))
        tensor_add(p->kernels, dst->dtype, dst->data, plan_activation(p, run->spec->residual)->data,
                   dst->count, p->threads, &p->stop);
}

void plan_forward_noise(struct nn_plan *p, size_t i)
{
    struct layer_run *run = &p->runs[i];
    struct activation *dst = run->dst;
    if (is_noisy(run))
        residual_noise_forward(run, noise_source(p, i), &p->pass);
    if (run->spec->relu && !run->relu)
        tensor_relu(p->kernels, dst->dtype, dst->data, dst->count, p->threads, &p->stop);
}

void plan_forward_row(struct nn_plan *p, size_t i)
{
    plan_forward_sum(p, i);
    plan_forward_noise(p, i);
}

sotto_status plan_go_on(struct nn_plan *p)
{
    return par_check(&p->stop, "stopped within a pass of a network");
}

/* If row i is the last one of a block. */
static void read_block(struct nn_plan *p, const struct nn_block_reader *reader, size_t i)
{
    for (size_t b = reader->first; b < p->model->block_count; b++)
        if (p->model->block_end[b] == i + 1)
            reader->read(reader->user, b, plan_activation(p, (int)i)->data);
}

void plan_forward_begin(struct nn_plan *p)
{
    struct activation *input = plan_activation(p, SOURCE_INPUT);
    if (input->dtype == NN_BF16)
        tensor_to_bf16(p->kernels, input->data, p->input, input->count, p->threads, &p->stop);
}

sotto_status plan_forward_rows(struct nn_plan *p, size_t from, size_t to)
{
    sotto_status status = SOTTO_OK;
    for (size_t i = from; i < to; i++) {
        TRY(plan_go_on(p));
        plan_forward_row(p, i);
    }
    TRY(plan_go_on(p));
done:
    return status;
}

void plan_forward_end(struct nn_plan *p)
{
    struct activation *output = plan_output(p);
    if (output->dtype == NN_BF16)
        tensor_to_f32(p->kernels, p->output, output->data, output->count, p->threads, &p->stop);
}

sotto_status nn_plan_forward(struct nn_plan *p, int training, uint64_t seed, uint64_t step)
{
    sotto_status status = SOTTO_OK;
    p->pass = (struct pass){.training = training, .seed = seed, .step = step, .leaf = p->pass.leaf};
    plan_forward_begin(p);
    TRY(plan_forward_rows(p, 0, p->row_count));
    plan_forward_end(p);
done:
    return status;
}

sotto_status nn_plan_forward_blocks(struct nn_plan *p, const struct nn_block_reader *reader)
{
    sotto_status status = SOTTO_OK;
    p->pass = (struct pass){.training = 0};
    plan_forward_begin(p);
    for (size_t i = 0; i < p->row_count; i++) {
        TRY(plan_forward_rows(p, i, i + 1));
        read_block(p, reader, i);
    }
    plan_forward_end(p);
done:
    return status;
}

void plan_bind(struct nn_plan *p, struct arena *keep, const struct pass *pass)
{
    assert(p->config.leaves && keep->capacity == p->keep.capacity);
    p->keep = *keep;
    plan_place_again(p);
    p->pass = *pass;
}

void plan_write_gradients(struct nn_plan *p, float *gradients, size_t first, size_t end)
{
    for (size_t i = 0; i < p->model->parameter_count; i++) {
        struct nn_parameter *parameter = &p->parameters[i];
        const size_t place = parameter->statistic ? end : (size_t)(parameter->value - p->model->values);
        if (place < first || place >= end)
            continue;
        const size_t written = parameter->frozen || (size_t)parameter->row < p->first ? 0 : parameter->count;
        parameter->diff = gradients + (place - first);
        memset(parameter->diff + written, 0, (model_padded(parameter->count) - written) * sizeof *gradients);
    }
}

/* The row's gradient also belongs to its residual source: the sum passes it on unchanged, in the same memory
 * unless another row has written a gradient there. Multiplicative noise changes it on the way; a gradient in
 * the same memory only after the layer has read it. */
static void backward_residual(struct nn_plan *p, size_t i)
{
    int source = p->runs[i].spec->residual;
    struct activation *dst = p->runs[i].dst;
    if (source != SOURCE_NONE && p->runs[i].spec->noise.kind == NN_NOISE_MULTIPLICATIVE) {
        if (p->flow[i].copy_residual || p->flow[i].add_residual)
            residual_noise_backward(&p->runs[i], plan_activation(p, source),
                                    p->flow[i].copy_residual ? RESIDUAL_COPY : RESIDUAL_ADD, &p->pass);
        return;
    }
    if (p->flow[i].copy_residual)
        memcpy(plan_activation(p, source)->diff, dst->diff, dst->count * dtype_size(dst->dtype));
    if (p->flow[i].add_residual)
        tensor_add(p->kernels, dst->dtype, plan_activation(p, source)->diff, dst->diff, dst->count,
                   p->threads, &p->stop);
}

/* A layer overwrites src->diff; when another reader of src has written there already, it gets the spare
 * buffer. */
static void backward_layer(struct nn_plan *p, size_t i)
{
    struct layer_run *run = &p->runs[i];
    struct activation *src = run->src;
    void *diff = src->diff;
    if (p->flow[i].add_src)
        src->diff = p->spare;
    run->spec->layer->backward(run, &p->pass);
    src->diff = diff;
    if (p->flow[i].add_src)
        tensor_add(p->kernels, src->dtype, src->diff, p->spare, src->count, p->threads, &p->stop);
}

void plan_backward_mask(struct nn_plan *p, size_t i)
{
    struct activation *dst = p->runs[i].dst;
    if (dst->relu && p->flow[i].mask)
        tensor_mask(p->kernels, dst->dtype, dst->diff, dst->data, dst->count, p->threads, &p->stop);
}

void plan_backward_noise(struct nn_plan *p, size_t i)
{
    if (p->runs[i].spec->noise.relative)
        residual_noise_backward_relative(&p->runs[i], &p->pass);
    backward_residual(p, i);
}

void plan_backward_result(struct nn_plan *p, size_t i)
{
    plan_backward_mask(p, i);
    plan_backward_noise(p, i);
}

void plan_backward_source(struct nn_plan *p, size_t i)
{
    struct activation *dst = p->runs[i].dst;
    backward_layer(p, i);
    struct activation *source = noise_source(p, i);
    if (p->runs[i].spec->noise.kind == NN_NOISE_MULTIPLICATIVE && p->runs[i].spec->residual >= 0 &&
        source->diff == dst->diff)
        residual_noise_backward(&p->runs[i], source, RESIDUAL_SHARED, &p->pass);
}

void plan_backward_row(struct nn_plan *p, size_t i)
{
    plan_backward_result(p, i);
    plan_backward_source(p, i);
}

void plan_backward_begin(struct nn_plan *p)
{
    struct activation *output = plan_output(p);
    assert(!p->config.views); /* nn_plan_clipped_sum() */
    p->pass.input_only = 0;
    if (output->dtype == NN_BF16)
        tensor_to_bf16(p->kernels, output->diff, p->diff_output, output->count, p->threads, &p->stop);
}

sotto_status plan_backward_rows(struct nn_plan *p, size_t from, size_t to)
{
    sotto_status status = SOTTO_OK;
    for (size_t i = to; i-- > from;) {
        TRY(plan_go_on(p));
        plan_backward_row(p, i);
    }
    TRY(plan_go_on(p));
done:
    return status;
}

static sotto_status plan_backward(struct nn_plan *p, int input_only)
{
    sotto_status status = SOTTO_OK;
    struct activation *input = plan_activation(p, SOURCE_INPUT);
    plan_backward_begin(p);
    p->pass.input_only = input_only;
    TRY(plan_backward_rows(p, p->first, p->row_count));
    if (p->diff_input && input->dtype == NN_BF16)
        tensor_to_f32(p->kernels, p->diff_input, input->diff, input->count, p->threads, &p->stop);
done:
    return status;
}

sotto_status nn_plan_backward(struct nn_plan *p)
{
    return plan_backward(p, 0);
}

sotto_status nn_plan_backward_input(struct nn_plan *p)
{
    assert(p->config.input_gradient);
    return plan_backward(p, 1);
}

/* All above the reversal. */
sotto_status nn_plan_backward_adversary(struct nn_plan *p)
{
    for (int i = p->adversary_row; i > p->output_row + 1; i--)
        plan_backward_row(p, (size_t)i);
    return plan_go_on(p);
}

sotto_status nn_plan_forward_adversary(struct nn_plan *p)
{
    for (int i = p->output_row + 2; i <= p->adversary_row; i++)
        plan_forward_row(p, (size_t)i);
    return plan_go_on(p);
}

/* ---- what the caller sees ---- */

void nn_plan_set_context(struct nn_plan *p, const struct sotto_context *ctx)
{
    par_stop_set(&p->stop, ctx);
}

void nn_plan_train_top(struct nn_plan *p, int top_only)
{
    p->first = top_only ? (size_t)(p->model->embedding_row + 1) : p->model->frozen_rows;
}

size_t nn_plan_bytes(const struct nn_plan *p)
{
    return p->keep.capacity + p->scratch.capacity;
}

float *nn_plan_input(struct nn_plan *p)
{
    return p->input;
}

const float *nn_plan_output(const struct nn_plan *p)
{
    return p->output;
}

float *nn_plan_diff_output(struct nn_plan *p)
{
    return p->diff_output;
}

const float *nn_plan_input_gradient(const struct nn_plan *p)
{
    return p->diff_input;
}

const float *nn_plan_adversary_output(const struct nn_plan *p)
{
    return p->adversary_row < 0 ? NULL : p->activations[p->adversary_row + 1].data;
}

float *nn_plan_adversary_diff(struct nn_plan *p)
{
    return p->adversary_row < 0 ? NULL : plan_activation(p, p->adversary_row)->diff;
}
