/* Arrays that make an audit sharper: outputs of reference models, known non-members, the records
 * themselves. */
#include "inputs/audit_inputs.h"

#include <string.h>

/* Whatever was asked for: the option, or its other kind of output; EUSAGE if that is not the target's
 * kind. */
static sotto_status audit_more_inputs_pick(const char **out, const struct audit_inputs *in,
                                           const struct options *o, const char *logits,
                                           const char *probabilities)
{
    const char *fits = in->input.probabilities ? probabilities : logits,
               *other = in->input.probabilities ? logits : probabilities;
    *out = option_given(o, fits) ? fits : NULL;
    if (option_given(o, other))
        return cli_fail(SOTTO_EUSAGE, "audit: --%s cannot be combined with the target's arrays; give --%s",
                        other, fits);
    return SOTTO_OK;
}

static sotto_status audit_more_inputs_convert(struct sotto_array *a, const char *path, const char *what,
                                              enum sotto_dtype dtype)
{
    sotto_status status = sotto_array_convert(a, dtype);
    if (status == SOTTO_EINVAL)
        return cli_fail(SOTTO_EINVAL, "%s: contains fractions; %s must be whole numbers", path, what);
    return status;
}

sotto_status audit_inputs_load_references(struct audit_inputs *in, const struct options *o)
{
    struct sotto_array *x = NULL, *mask = NULL;
    const int raw = option_given(o, "ref-logits"), soft = option_given(o, "ref-probabilities");
    const char *option = raw ? "ref-logits" : soft ? "ref-probabilities" : NULL;
    size_t n = in->input.n_member + in->input.n_nonmember;
    sotto_status status;
    if (raw && soft)
        return cli_fail(SOTTO_EUSAGE, "audit: give either --ref-logits or --ref-probabilities, not both");
    if (!option)
        return option_given(o, "ref-membership")
                   ? cli_fail(SOTTO_EUSAGE,
                              "audit: --ref-membership needs --ref-logits or --ref-probabilities")
                   : SOTTO_OK;
    if (in->input.member_reference || in->input.member_reference_rows)
        return cli_fail(SOTTO_EUSAGE,
                        "audit: give either the reference models' outputs or their signals, not both");
    status = audit_inputs_read(&x, in, o, option, "reference outputs", "reference outputs", 3,
                               "3 (models, records, classes)");
    if (status != SOTTO_OK)
        return status;
    const char *path = option_text(o, option);
    if (x->shape[1] != n || x->shape[2] != in->input.classes)
        return cli_fail(
            SOTTO_EINVAL,
            "%s is (%zu, %zu, %zu); expected (models, %zu, %zu): every record of both sides, members first, "
            "with the target's classes",
            path, x->shape[0], x->shape[1], x->shape[2], n, in->input.classes);
    in->input.reference_models = x->shape[0];
    in->input.reference_kind = raw ? 1 : 2;
    status =
        audit_more_inputs_convert(x, path, "reference outputs", x->dtype == SOTTO_F8 ? SOTTO_F8 : SOTTO_F4);
    if (status != SOTTO_OK)
        return status;
    if (x->dtype == SOTTO_F8)
        in->input.reference_outputs_f8 = x->data;
    else
        in->input.reference_outputs = x->data;
    status = audit_inputs_read(&mask, in, o, "ref-membership", "reference membership", "membership values", 2,
                               "2 (models, records)");
    if (status != SOTTO_OK || !mask)
        return status;
    const char *mask_path = option_text(o, "ref-membership");
    if (mask->shape[0] != x->shape[0] || mask->shape[1] != n)
        return cli_fail(SOTTO_EINVAL,
                        "%s is (%zu, %zu); expected (%zu, %zu): one value for each model and record of %s",
                        mask_path, mask->shape[0], mask->shape[1], x->shape[0], n, path);
    status = audit_more_inputs_convert(mask, mask_path, "membership values", SOTTO_U1);
    in->input.reference_outputs_trained = mask->data;
    return status;
}

sotto_status audit_inputs_load_population(struct audit_inputs *in, const struct options *o)
{
    struct sotto_array *x = NULL, *y = NULL, *losses = NULL, *reference = NULL;
    const char *option;
    sotto_status status =
        audit_more_inputs_pick(&option, in, o, "population-logits", "population-probabilities");
    if (status == SOTTO_OK && option)
        status =
            audit_inputs_read(&x, in, o, option, "population outputs", "outputs", 2, "2 (records, classes)");
    if (status == SOTTO_OK)
        status = audit_inputs_read(&y, in, o, "population-labels", "population labels", "labels", 1,
                                   "1 (records)");
    if (status == SOTTO_OK)
        status = audit_inputs_read(&losses, in, o, "population-losses", "population losses", "losses", 1,
                                   "1 (records)");
    if (status == SOTTO_OK)
        status = audit_inputs_read(&reference, in, o, "population-reference", "population reference signals",
                                   "reference signals", 2, "2 (records, models)");
    if (status != SOTTO_OK || (!x && !y && !losses && !reference))
        return status;
    if (x && losses)
        return cli_fail(SOTTO_EUSAGE, "audit: give either the population's outputs or its losses, not both");
    if (!x && !losses)
        return cli_fail(SOTTO_EUSAGE, "audit: a population needs --population-logits or --population-losses");
    if (!x != !y)
        return cli_fail(SOTTO_EUSAGE,
                        "audit: --population-logits and --population-labels must be given together");
    size_t n = x ? x->shape[0] : losses->shape[0];
    if (x && x->shape[1] != in->input.classes)
        return cli_fail(SOTTO_EINVAL, "%s has %zu classes but the target's arrays have %zu",
                        option_text(o, option), x->shape[1], in->input.classes);
    if (y && y->shape[0] != n)
        return cli_fail(SOTTO_EINVAL, "%s has %zu labels but %s has %zu rows; expected one label per record",
                        option_text(o, "population-labels"), y->shape[0], option_text(o, option), n);
    if (reference && (reference->shape[0] != n || reference->shape[1] != in->input.reference_models))
        return cli_fail(SOTTO_EINVAL,
                        "%s is (%zu, %zu); expected (%zu, %zu): the population's records by reference models",
                        option_text(o, "population-reference"), reference->shape[0], reference->shape[1], n,
                        in->input.reference_models);
    if (x && (status = audit_more_inputs_convert(x, option_text(o, option), "outputs", SOTTO_F8)) != SOTTO_OK)
        return status;
    if (y && (status = audit_more_inputs_convert(y, option_text(o, "population-labels"), "labels",
                                                 SOTTO_I8)) != SOTTO_OK)
        return status;
    if (y && (status = audit_inputs_count_labels(y, "population-labels", o)) != SOTTO_OK)
        return status;
    if (losses && (status = audit_more_inputs_convert(losses, option_text(o, "population-losses"), "losses",
                                                      SOTTO_F8)) != SOTTO_OK)
        return status;
    if (reference)
        status = audit_more_inputs_convert(reference, option_text(o, "population-reference"),
                                           "reference signals", SOTTO_F8);
    in->input.population = x ? x->data : NULL;
    in->input.population_labels = y ? y->data : NULL;
    in->input.population_losses = losses ? losses->data : NULL;
    in->input.population_reference = reference ? reference->data : NULL;
    in->input.n_population = n;
    return status;
}

sotto_status audit_inputs_table(const float **out, struct audit_inputs *in, const struct options *o,
                                const char *option, const char *role, size_t *rows, size_t *width)
{
    const char *path = option_text(o, option);
    if (!path)
        return SOTTO_OK;
    struct sotto_array *a = &in->arrays[in->file_count];
    sotto_status status = sotto_array_load(a, path, 0, cli_context());
    if (status != SOTTO_OK)
        return status;
    in->files[in->file_count++] = (struct sotto_report_input){role, path};
    size_t n = a->ndim ? a->shape[0] : 0, columns = n ? a->count / n : 0;
    if (n == 0 || columns == 0 || (*rows && n != *rows))
        return cli_fail(
            SOTTO_EINVAL,
            "%s has %zu rows of %zu features but there are %zu records; expected one row per record", path, n,
            columns, *rows);
    if (*width && columns != *width)
        return cli_fail(SOTTO_EINVAL, "%s has %zu features per record; the other arrays have %zu", path,
                        columns, *width);
    if ((status = sotto_array_require_finite(a, path, "features")) != SOTTO_OK)
        return status;
    *rows = n;
    *width = columns;
    status = sotto_array_convert(a, SOTTO_F4);
    *out = a->data;
    return status;
}

/* With --loci a .csv holds frequencies by locus and allele, which are put into the order of the genotypes. */
static sotto_status load_frequencies(struct sotto_array *a, const struct options *o, const char *path,
                                     size_t width)
{
    const size_t length = strlen(path);
    if (length < 4 || strcmp(path + length - 4, ".csv") != 0)
        return sotto_array_load(a, path, 0, cli_context());
    sotto_status status = sotto_array_make(a, SOTTO_F8, 1, &width);
    return status == SOTTO_OK ? sotto_loci_frequencies(a->data, width, option_text(o, "loci"), path) : status;
}

/* A mean (features), or the people behind it (people, features): one array, of as many axes. */
static sotto_status load_mean(struct sotto_array **out, struct audit_inputs *in, const struct options *o,
                              const char *option, const char *role)
{
    const char *path = option_text(o, option);
    if (!path)
        return SOTTO_OK;
    struct sotto_array *a = &in->arrays[in->file_count];
    const size_t width = in->input.feature_count;
    sotto_status status = option_given(o, "loci") ? load_frequencies(a, o, path, width)
                                                  : sotto_array_load(a, path, 0, cli_context());
    if (status != SOTTO_OK)
        return status;
    in->files[in->file_count++] = (struct sotto_report_input){role, path};
    if (a->ndim == 2 && a->shape[1] == 1 && width != 1)
        a->ndim = 1;
    if (a->ndim != 1 && a->ndim != 2)
        return cli_fail(SOTTO_EINVAL,
                        "%s: has %d dimensions; means need 1 (features) or 2 (people, features)", path,
                        a->ndim);
    if (a->shape[a->ndim - 1] != width)
        return cli_fail(SOTTO_EINVAL, "%s has %zu means but the records have %zu features", path,
                        a->shape[a->ndim - 1], width);
    if (a->shape[0] == 0)
        return cli_fail(SOTTO_EINVAL, "%s: has no people; expected at least 1", path);
    *out = a;
    return sotto_array_require_finite(a, path, "means");
}

/* The attacker sees the mean and not the people behind it, so their origin does not matter. */
static sotto_status load_released_mean(struct audit_inputs *in, const struct options *o)
{
    struct sotto_array *a = NULL;
    sotto_status status = load_mean(&a, in, o, "released-mean", "released mean");
    if (status == SOTTO_OK && a)
        status = sotto_array_convert(a, SOTTO_F8);
    if (status != SOTTO_OK || !a)
        return status;
    double *mean = a->data;
    const size_t width = in->input.feature_count, people = a->ndim == 2 ? a->shape[0] : 1;
    for (size_t j = 0; j < width; j++) {
        for (size_t i = 1; i < people; i++)
            mean[j] += mean[i * width + j];
        mean[j] /= (double)people;
    }
    in->input.released_mean = mean;
    return SOTTO_OK;
}

/* Of the population it does: its people are no outsiders. */
static sotto_status load_reference_mean(struct audit_inputs *in, const struct options *o)
{
    struct sotto_array *a = NULL;
    sotto_status status = load_mean(&a, in, o, "reference-mean", "reference mean");
    if (status == SOTTO_OK && a)
        status = sotto_array_convert(a, a->ndim == 2 ? SOTTO_F4 : SOTTO_F8);
    if (status != SOTTO_OK || !a)
        return status;
    if (a->ndim == 2)
        in->input.reference_people = a->data, in->input.n_reference = a->shape[0];
    else
        in->input.reference_mean = a->data;
    return SOTTO_OK;
}

/* One number for each record of a side. */
static sotto_status load_dates(const double **out, struct audit_inputs *in, const struct options *o,
                               const char *option, const char *role, size_t n)
{
    struct sotto_array *a = NULL;
    sotto_status status = audit_inputs_read(&a, in, o, option, role, "dates", 1, "1 (records)");
    if (status != SOTTO_OK || !a)
        return status;
    if (a->count != n)
        return cli_fail(SOTTO_EINVAL, "%s has %zu dates; expected %zu, one for each record",
                        option_text(o, option), a->count, n);
    status = sotto_array_convert(a, SOTTO_F8);
    *out = a->data;
    return status;
}

sotto_status audit_inputs_load_dates(struct audit_inputs *in, const struct options *o)
{
    if (option_given(o, "member-dates") != option_given(o, "nonmember-dates"))
        return cli_fail(SOTTO_EUSAGE, "audit: --member-dates and --nonmember-dates must be given together");
    sotto_status status =
        load_dates(&in->input.member_dates, in, o, "member-dates", "member dates", in->input.n_member);
    return status == SOTTO_OK ? load_dates(&in->input.nonmember_dates, in, o, "nonmember-dates",
                                           "non-member dates", in->input.n_nonmember)
                              : status;
}

sotto_status audit_inputs_load_features(struct audit_inputs *in, const struct options *o)
{
    if (option_given(o, "member-features") != option_given(o, "nonmember-features"))
        return cli_fail(SOTTO_EUSAGE,
                        "audit: --member-features and --nonmember-features must be given together");
    if (option_given(o, "member-features") && !in->input.n_member && !option_given(o, "released-mean") &&
        !option_given(o, "generated"))
        return cli_fail(SOTTO_EUSAGE,
                        "audit: --member-features needs the logits, losses or scores of the members, "
                        "or --generated");
    if (option_given(o, "population-features") &&
        !(option_given(o, "member-features") && in->input.n_population))
        return cli_fail(SOTTO_EUSAGE,
                        "audit: --population-features needs the features of the records and a population");
    size_t *width = &in->input.feature_count;
    sotto_status status = audit_inputs_table(&in->input.member_features, in, o, "member-features",
                                             "member features", &in->input.n_member, width);
    if (status == SOTTO_OK)
        status = audit_inputs_table(&in->input.nonmember_features, in, o, "nonmember-features",
                                    "non-member features", &in->input.n_nonmember, width);
    if (status == SOTTO_OK)
        status = audit_inputs_table(&in->input.population_features, in, o, "population-features",
                                    "population features", &in->input.n_population, width);
    if (status == SOTTO_OK)
        status = load_released_mean(in, o);
    if (status == SOTTO_OK)
        status = load_reference_mean(in, o);
    if (status == SOTTO_OK && option_given(o, "loci") && !option_given(o, "released-mean"))
        status = cli_fail(SOTTO_EUSAGE, "audit: --loci needs --released-mean");
    if (status == SOTTO_OK && option_given(o, "released-mean") != option_given(o, "reference-mean"))
        status = cli_fail(SOTTO_EUSAGE, "audit: --released-mean and --reference-mean must be given together");
    return status;
}
