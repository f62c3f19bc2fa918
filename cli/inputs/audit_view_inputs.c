/* Answers on several views of each record. */
#include "inputs/audit_inputs.h"

#include <stdio.h>

/* What an array of views must measure; 0: not known yet. */
struct measures {
    size_t models, n, *views, classes;
};

/* (n, views, classes), or (models, n, views, classes) where m->models > 0. */
static sotto_status audit_view_inputs_load(struct sotto_array **out, struct audit_inputs *in,
                                           const struct options *o, const char *option, const char *role,
                                           const struct measures *m)
{
    struct sotto_array *a = NULL;
    int axes = m->models ? 4 : 3;
    sotto_status status =
        audit_inputs_read(&a, in, o, option, role, "views", axes,
                          m->models ? "4 (models, records, views, classes)" : "3 (records, views, classes)");
    if (status != SOTTO_OK || !a)
        return status;
    const size_t *shape = a->shape + (m->models ? 1 : 0);
    if ((m->models && a->shape[0] != m->models) || shape[0] != m->n || (*m->views && shape[1] != *m->views) ||
        shape[2] != m->classes) {
        char views[32] = "views", models[32] = "";
        if (*m->views)
            snprintf(views, sizeof views, "%zu", *m->views);
        if (m->models)
            snprintf(models, sizeof models, "%zu, ", m->models);
        return cli_fail(
            SOTTO_EINVAL,
            "%s has the wrong shape; expected (%s%zu, %s, %zu), which is (%srecords, views, classes)",
            option_text(o, option), models, m->n, views, m->classes, m->models ? "models, " : "");
    }
    *m->views = shape[1];
    *out = a;
    return SOTTO_OK;
}

/* Of the target: in double precision. */
static sotto_status load_own(const double **out, struct audit_inputs *in, const struct options *o,
                             const char *option, const char *role, size_t n)
{
    struct sotto_array *a = NULL;
    struct measures m = {0, n, &in->input.views, in->input.classes};
    sotto_status status = audit_view_inputs_load(&a, in, o, option, role, &m);
    if (status != SOTTO_OK || !a)
        return status;
    status = sotto_array_convert(a, SOTTO_F8);
    *out = a->data;
    return status;
}

/* Of the reference models: as the file has them, for they are many. */
static sotto_status load_models(const float **f4, const double **f8, struct audit_inputs *in,
                                const struct options *o, const char *option, const char *role, size_t n)
{
    struct sotto_array *a = NULL;
    struct measures m = {in->input.reference_models, n, &in->input.views, in->input.classes};
    sotto_status status = audit_view_inputs_load(&a, in, o, option, role, &m);
    if (status != SOTTO_OK || !a)
        return status;
    status = sotto_array_convert(a, a->dtype == SOTTO_F8 ? SOTTO_F8 : SOTTO_F4);
    if (a->dtype == SOTTO_F8)
        *f8 = a->data;
    else
        *f4 = a->data;
    return status;
}

sotto_status audit_inputs_load_views(struct audit_inputs *in, const struct options *o)
{
    static const char *const names[] = {"member-views", "nonmember-views", "ref-views"},
                             *const more[] = {"population-views", "population-ref-views"};
    struct sotto_audit_input *to = &in->input;
    sotto_status status = SOTTO_OK;
    int given = 0;
    for (int i = 0; i < 3; i++)
        given += option_given(o, names[i]);
    if (given != 0 && given != 3)
        return cli_fail(SOTTO_EUSAGE,
                        "audit: --member-views, --nonmember-views and --ref-views must be given together");
    if (option_given(o, more[0]) != option_given(o, more[1]) || (option_given(o, more[0]) && !given))
        return cli_fail(
            SOTTO_EUSAGE,
            "audit: --population-views, --population-ref-views and --member-views must be given together");
    if (!given)
        return SOTTO_OK;
    if (!to->reference_models || !to->classes)
        return cli_fail(SOTTO_EUSAGE, "audit: views also need the target's logits or probabilities, and "
                                      "--ref-logits or --member-reference");
    if (option_given(o, more[0]) && !to->population)
        return cli_fail(SOTTO_EUSAGE,
                        "audit: --population-views needs --population-logits and --population-labels");
    status = load_own(&to->member_views, in, o, names[0], "views of members", to->n_member);
    if (status == SOTTO_OK)
        status = load_own(&to->nonmember_views, in, o, names[1], "views of non-members", to->n_nonmember);
    if (status == SOTTO_OK)
        status = load_models(&to->reference_views, &to->reference_views_f8, in, o, names[2],
                             "reference views", to->n_member + to->n_nonmember);
    if (status == SOTTO_OK)
        status = load_own(&to->population_views, in, o, more[0], "views of the population", to->n_population);
    if (status == SOTTO_OK)
        status = load_models(&to->population_reference_views, &to->population_reference_views_f8, in, o,
                             more[1], "reference views of the population", to->n_population);
    return status;
}
