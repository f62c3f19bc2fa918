/* Rows of a network: a builder adds one at a time; its shape and its parameters are worked out here. */
#include "nn/model/model.h"

#include <stdio.h>
#include <string.h>

struct nn_shape model_shape(const struct nn_model *m, int row)
{
    return row == SOURCE_INPUT ? m->input : m->rows[row].shape;
}

/* Sizes are checked here, once: later products of these numbers cannot overflow. */
sotto_status network_check_shape(struct nn_shape s, const char *path)
{
    size_t count;
    if (s.channels == 0 || s.height == 0 || s.width == 0 || !size_multiply(&count, s.channels, s.height) ||
        !size_multiply(&count, count, s.width) || count > (size_t)1 << 31)
        return status_fail(SOTTO_EINVAL, "%s: a shape of %zu x %zu x %zu is empty or too large", path,
                           s.channels, s.height, s.width);
    return SOTTO_OK;
}

static sotto_status add_parameter(struct nn_model *m, const struct nn_parameter *declared, const char *path)
{
    sotto_status status = SOTTO_OK;
    struct nn_parameter *p = &m->parameters[m->parameter_count];
    REQUIRE(m->parameter_count < MODEL_PARAMETERS_MAX, "%s: the network has too many parameter tensors",
            path);
    *p = *declared;
    int length = snprintf(p->name, sizeof p->name, "%s.%s", path, declared->name);
    REQUIRE(length > 0 && (size_t)length < sizeof p->name, "%s: the name is too long", path);
    size_t inner;
    REQUIRE(size_multiply(&inner, p->in, p->height) && size_multiply(&inner, inner, p->width) &&
                size_multiply(&p->count, inner, p->out) && p->count <= (size_t)1 << 32,
            "%s: %zu x %zu x %zu x %zu values are too many", p->name, p->out, p->in, p->height, p->width);
    p->row = (int)m->row_count;
    m->parameter_count++;
done:
    return status;
}

void network_end_block(struct nn_model *m)
{
    if (m->block_count < MODEL_BLOCKS_MAX)
        m->block_end[m->block_count++] = m->row_count;
}

sotto_status network_add(struct nn_model *m, const struct layer_spec *spec, int *row)
{
    sotto_status status = SOTTO_OK;
    REQUIRE(m->row_count < MODEL_ROWS_MAX, "%s: the network has too many layers", spec->path);
    struct layer_spec *added = &m->rows[m->row_count];
    *added = *spec;
    char path[2 * sizeof added->path];
    snprintf(path, sizeof path, "%s%s", m->prefix, spec->path);
    REQUIRE(strlen(path) < sizeof added->path, "%s: the name is too long", path);
    strcpy(added->path, path);
    if (spec->noise.kind != NN_NOISE_NONE) {
        REQUIRE(spec->noise.kind != NN_NOISE_MULTIPLICATIVE || spec->residual != SOURCE_NONE,
                "%s: multiplicative noise needs a skip connection", spec->path);
        REQUIRE(!spec->noise.relative || (spec->noise.kind == NN_NOISE_ADDITIVE && !spec->relu),
                "%s: relative noise must be additive, without a ReLU in the same node", spec->path);
        added->noise.stream = m->noises++;
    }
    REQUIRE(spec->cap <= 0 ||
                (spec->relu && spec->residual == SOURCE_NONE && spec->layer->applies_own_relu_mask),
            "%s: a capped ReLU needs a normalisation layer without a residual sum", spec->path);
    struct nn_shape src = model_shape(m, spec->src);
    TRY(spec->layer->shape(&added->shape, spec, src));
    TRY(network_check_shape(added->shape, spec->path));
    if (spec->residual != SOURCE_NONE) {
        struct nn_shape other = model_shape(m, spec->residual);
        REQUIRE(memcmp(&other, &added->shape, sizeof other) == 0,
                "%s: the residual source is %zux%zux%zu, the result %zux%zux%zu", spec->path, other.channels,
                other.height, other.width, added->shape.channels, added->shape.height, added->shape.width);
    }
    struct nn_parameter declared[LAYER_PARAMETERS_MAX];
    size_t count = spec->layer->parameters ? spec->layer->parameters(declared, spec, src) : 0;
    for (size_t i = 0; i < count; i++)
        TRY(add_parameter(m, &declared[i], path));
    if (row)
        *row = (int)m->row_count;
    m->row_count++;
    m->first_parameter[m->row_count] = m->parameter_count;
done:
    return status;
}
