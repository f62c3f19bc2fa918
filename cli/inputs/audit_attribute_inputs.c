/* Arrays of attribute inference. Records that the attacker is tested on may come in files of their own: they
 * are put behind those that he knows. */
#include "inputs/audit_inputs.h"

#include <stdio.h>
#include <string.h>

/* Whole numbers from 0, one for each of `rows` records of the file `of`. */
static sotto_status load_values(struct sotto_array **out, struct audit_inputs *in, const struct options *o,
                                const char *option, const char *role, size_t rows, const char *of)
{
    struct sotto_array *a = NULL;
    sotto_status status = audit_inputs_read(&a, in, o, option, role, "values", 1, "1 (records)");
    if (status != SOTTO_OK || !a)
        return status;
    const char *path = option_text(o, option);
    if (a->shape[0] != rows)
        return cli_fail(SOTTO_EINVAL, "%s has %zu values but %s has %zu rows; expected one value per record",
                        path, a->shape[0], option_text(o, of), rows);
    if (sotto_array_convert(a, SOTTO_I8) != SOTTO_OK)
        return cli_fail(SOTTO_EINVAL, "%s: contains fractions; expected whole numbers", path);
    const int64_t *value = a->data;
    for (size_t i = 0; i < a->count; i++)
        if (value[i] < 0 || value[i] >= 1000)
            return cli_fail(SOTTO_EINVAL, "%s: row %zu is %lld; expected 0 .. 999", path, i,
                            (long long)value[i]);
    *out = a;
    return SOTTO_OK;
}

/* Rows of b behind those of a, of the same width and type. */
static sotto_status audit_attribute_inputs_append(struct sotto_array *a, const struct sotto_array *b)
{
    struct sotto_array whole = {0};
    size_t shape[SOTTO_MAX_DIMS];
    memcpy(shape, a->shape, sizeof shape);
    shape[0] += b->shape[0];
    sotto_status status = sotto_array_make(&whole, a->dtype, a->ndim, shape);
    if (status != SOTTO_OK)
        return status;
    size_t each = sotto_dtype_size(a->dtype);
    memcpy(whole.data, a->data, a->count * each);
    memcpy((char *)whole.data + a->count * each, b->data, b->count * each);
    sotto_array_clear(a);
    *a = whole;
    return SOTTO_OK;
}

/* The features: of the known records, then of those tested. */
static sotto_status load_tables(struct audit_inputs *in, const struct options *o, size_t *tested)
{
    struct sotto_attribute_input *a = &in->attribute;
    const float *more = NULL;
    sotto_status status =
        audit_inputs_table(&a->features, in, o, "features", "features of the attribute attack", &a->n, &a->d);
    struct sotto_array *known = &in->arrays[in->file_count - 1];
    a->n_aux = a->n;
    if (status == SOTTO_OK)
        status = audit_inputs_table(&more, in, o, "attribute-test-features", "features of the tested records",
                                    tested, &a->d);
    if (status != SOTTO_OK || !more)
        return status;
    known->ndim = 2, known->shape[0] = a->n, known->shape[1] = a->d;
    status = audit_attribute_inputs_append(known, &in->arrays[in->file_count - 1]);
    a->features = known->data;
    return status;
}

/* A column of the known records, then that of the tested ones. */
static sotto_status load_column(const int64_t **out, struct audit_inputs *in, const struct options *o,
                                const char *const option[2], const char *role, size_t tested)
{
    struct sotto_array *known = NULL, *test = NULL;
    sotto_status status = load_values(&known, in, o, option[0], role, in->attribute.n_aux, "features");
    if (status == SOTTO_OK && tested)
        status = load_values(&test, in, o, option[1], role, tested, "attribute-test-features");
    if (status == SOTTO_OK && tested && !known != !test)
        return cli_fail(SOTTO_EUSAGE, "audit: --%s and --%s must be given together", option[0], option[1]);
    if (status == SOTTO_OK && known && test)
        status = audit_attribute_inputs_append(known, test);
    if (status == SOTTO_OK && known)
        *out = known->data;
    return status;
}

static sotto_status check_options(const struct options *o)
{
    static const char *const rest[] = {"attribute",       "attribute-labels",        "attribute-outputs",
                                       "attribute-known", "attribute-test-features", "attribute-test",
                                       "attribute-depth", "attribute-test-labels"};
    int given = 0;
    for (size_t i = 0; i < sizeof rest / sizeof *rest; i++)
        given |= option_given(o, rest[i]);
    if (given && (!option_given(o, "features") || !option_given(o, "attribute")))
        return cli_fail(SOTTO_EUSAGE, "audit: --features and --attribute must be given together");
    if (option_given(o, "features") && !option_given(o, "attribute"))
        return cli_fail(SOTTO_EUSAGE, "audit: --features and --attribute must be given together");
    if (option_given(o, "attribute-test-features") != option_given(o, "attribute-test"))
        return cli_fail(SOTTO_EUSAGE,
                        "audit: --attribute-test-features and --attribute-test must be given together");
    if (option_given(o, "attribute-test-labels") && !option_given(o, "attribute-test"))
        return cli_fail(SOTTO_EUSAGE, "audit: --attribute-test-labels needs --attribute-test-features");
    if (option_given(o, "attribute-test") &&
        (option_given(o, "attribute-outputs") || option_given(o, "attribute-known")))
        return cli_fail(SOTTO_EUSAGE,
                        "audit: --attribute-outputs and --attribute-known cannot be combined with "
                        "--attribute-test-features; they need a random split of --features");
    return SOTTO_OK;
}

sotto_status audit_inputs_load_attribute(struct audit_inputs *in, const struct options *o)
{
    static const char *const values[2] = {"attribute", "attribute-test"}, *const labels[2] = {
                                                                              "attribute-labels",
                                                                              "attribute-test-labels"};
    struct sotto_attribute_input *a = &in->attribute;
    size_t tested = 0;
    sotto_status status = check_options(o);
    if (status != SOTTO_OK || !option_given(o, "features"))
        return status;
    status = load_tables(in, o, &tested);
    if (status == SOTTO_OK)
        status = load_column(&a->attribute, in, o, values, "attribute", tested);
    if (status == SOTTO_OK)
        status = load_column(&a->labels, in, o, labels, "task labels", tested);
    a->n += tested;
    if (!tested)
        a->n_aux = 0;
    for (size_t i = 0; status == SOTTO_OK && a->labels && i < a->n; i++)
        if ((size_t)a->labels[i] >= a->classes)
            a->classes = (size_t)a->labels[i] + 1;
    if (status == SOTTO_OK)
        status = audit_inputs_table(&a->outputs, in, o, "attribute-outputs", "model's answers", &a->n,
                                    &a->output_count);
    if (status == SOTTO_OK)
        status =
            audit_inputs_table(&a->known, in, o, "attribute-known", "known values", &a->n, &a->known_count);
    a->deepest = option_given(o, "attribute-depth") ? (size_t)option_count(o, "attribute-depth") : 0;
    in->input.attribute = a;
    return status;
}
