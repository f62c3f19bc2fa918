/* Between a model and named tensors. Inside, weights are (out, height, width, in); in files PyTorch's (out,
 * in, height, width), and (out, in * height * width) for a dense layer. */
#include "io/array/tensors.h"
#include "nn/model/model.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static int file_shape(size_t shape[4], const struct nn_parameter *p)
{
    shape[0] = p->out;
    shape[1] = p->file_ndim == 2 ? p->in * p->height * p->width : p->in;
    shape[2] = p->height;
    shape[3] = p->width;
    return p->file_ndim;
}

/* Position inside the file of the value at (o, h, w, i) here. */
static size_t file_index(const struct nn_parameter *p, size_t o, size_t h, size_t w, size_t i)
{
    return ((o * p->in + i) * p->height + h) * p->width + w;
}

static void copy_values(float *file, struct nn_parameter const *p, float *values, int to_file)
{
    size_t here = 0;
    for (size_t o = 0; o < p->out; o++)
        for (size_t h = 0; h < p->height; h++)
            for (size_t w = 0; w < p->width; w++)
                for (size_t i = 0; i < p->in; i++, here++) {
                    size_t there = file_index(p, o, h, w, i);
                    if (to_file)
                        file[there] = values[here];
                    else
                        values[here] = file[there];
                }
}

static int model_files_selected(const struct nn_model *m, const struct nn_parameter *p, int with_projector)
{
    return with_projector || p->row <= m->embedding_row;
}

static sotto_status full_name(char name[160], const struct nn_parameter *p, const char *prefix)
{
    int length = snprintf(name, 160, "%s%s", prefix, p->name);
    return length > 0 && length < 160 ? SOTTO_OK
                                      : status_fail(SOTTO_EINVAL, "tensor prefix '%s' is too long", prefix);
}

sotto_status nn_model_export(struct sotto_tensors *out, const struct nn_model *m, const char *prefix,
                             int with_projector)
{
    sotto_status status = SOTTO_OK;
    char name[160];
    float *file = NULL;
    for (size_t i = 0; i < m->parameter_count; i++) {
        const struct nn_parameter *p = &m->parameters[i];
        if (!model_files_selected(m, p, with_projector))
            continue;
        TRY(full_name(name, p, prefix));
        base_free(file);
        NEW(file, p->count);
        copy_values(file, p, p->value, 1);
        size_t shape[4];
        int ndim = file_shape(shape, p);
        TRY(tensors_add(out, name, SOTTO_F4, ndim, shape, file));
    }
done:
    base_free(file);
    return status;
}

static void print_shape(char *text, size_t size, int ndim, const size_t *shape)
{
    size_t used = 0;
    text[0] = 0;
    for (int i = 0; i < ndim && used < size; i++)
        used += (size_t)snprintf(text + used, size - used, "%s%zu", i ? ", " : "", shape[i]);
}

static sotto_status check_tensor(const struct sotto_tensors *in, const char *name,
                                 const struct nn_parameter *p)
{
    sotto_status status = SOTTO_OK;
    const struct sotto_array *a = tensors_find(in, name);
    size_t shape[4];
    int ndim = file_shape(shape, p);
    if (!a)
        FAIL(SOTTO_EFORMAT, "tensor '%s' is missing", name);
    if (a->dtype != SOTTO_F4)
        FAIL(SOTTO_EFORMAT, "tensor '%s' has dtype %s; expected f4", name, sotto_dtype_name(a->dtype));
    if (a->ndim != ndim || memcmp(a->shape, shape, (size_t)ndim * sizeof *shape) != 0) {
        char found[128], expected[128];
        print_shape(found, sizeof found, a->ndim, a->shape);
        print_shape(expected, sizeof expected, ndim, shape);
        FAIL(SOTTO_EFORMAT, "tensor '%s' has shape (%s); expected (%s)", name, found, expected);
    }
    const float *values = a->data;
    for (size_t i = 0; i < a->count; i++)
        if (!isfinite(values[i]))
            FAIL(SOTTO_EFORMAT, "tensor '%s' has the value %g at position %zu; weights must be finite", name,
                 (double)values[i], i);
done:
    return status;
}

sotto_status nn_model_import(struct nn_model *m, const struct sotto_tensors *in, const char *prefix,
                             int with_projector)
{
    sotto_status status = SOTTO_OK;
    char name[160];
    for (int copy = 0; copy <= 1; copy++) /* first look at everything, so that a bad file changes nothing */
        for (size_t i = 0; i < m->parameter_count; i++) {
            struct nn_parameter *p = &m->parameters[i];
            if (!model_files_selected(m, p, with_projector))
                continue;
            TRY(full_name(name, p, prefix));
            if (copy)
                copy_values(tensors_find(in, name)->data, p, p->value, 0);
            else
                TRY(check_tensor(in, name, p));
        }
done:
    return status;
}

bool nn_tensors_normalised(const struct sotto_tensors *tensors)
{
    return tensors_find(tensors, NN_INPUT_NORM ".weight") != NULL;
}

sotto_status nn_tensors_sha256(char hex[SHA256_HEX], const struct sotto_tensors *tensors, const char *what)
{
    sotto_status status = SOTTO_OK;
    struct sha256 s;
    sha256_init(&s);
    for (size_t i = 0; i < tensors->count; i++) {
        const struct sotto_tensor *t = tensors->items + i;
        const float *values = t->array.data;
        sha256_update(&s, t->name, strlen(t->name) + 1);
        sha256_update(&s, values, t->array.count * sotto_dtype_size(t->array.dtype));
        for (size_t k = 0; t->array.dtype == SOTTO_F4 && k < t->array.count; k++)
            if (!isfinite(values[k]))
                FAIL(SOTTO_EDIVERGED, "%s: tensor %s contains NaN or infinity; weights must be finite", what,
                     t->name);
    }
    sha256_hex(&s, hex);
done:
    return status;
}
