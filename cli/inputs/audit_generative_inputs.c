/* Samples of a generator, and what its discriminator says. */
#include "inputs/audit_inputs.h"

/* Logits of one side; *n: its records, 0: not known yet. */
static sotto_status load_logits(const double **out, size_t *n, struct audit_inputs *in,
                                const struct options *o, const char *option, const char *role)
{
    struct sotto_array *a = NULL;
    sotto_status status =
        audit_inputs_read(&a, in, o, option, role, "logits of a discriminator", 1, "1 (records)");
    if (status != SOTTO_OK || !a)
        return status;
    if (*n && a->shape[0] != *n)
        return cli_fail(SOTTO_EINVAL, "%s has %zu logits but there are %zu records; expected one per record",
                        option_text(o, option), a->shape[0], *n);
    *n = a->shape[0];
    status = sotto_array_convert(a, SOTTO_F8);
    *out = a->data;
    return status;
}

/* The shape of the samples, where the array says that they are images. */
static void take_shape(struct sotto_generative_input *g, const struct sotto_array *a)
{
    if (a->ndim != 4 || (a->shape[1] != 1 && a->shape[1] != 3) || a->shape[2] * a->shape[3] < 4)
        return;
    g->channels = a->shape[1], g->height = a->shape[2], g->width = a->shape[3];
}

sotto_status audit_inputs_load_generative(struct audit_inputs *in, const struct options *o)
{
    static const char *const sides[] = {"member-discriminator-scores", "nonmember-discriminator-scores"};
    struct sotto_generative_input *g = &in->generative;
    size_t *width = &in->input.feature_count;
    if (option_given(o, sides[0]) != option_given(o, sides[1]))
        return cli_fail(SOTTO_EUSAGE, "audit: --%s and --%s must be given together", sides[0], sides[1]);
    if (option_given(o, "generated") && !option_given(o, "member-features"))
        return cli_fail(SOTTO_EUSAGE, "audit: --generated needs --member-features and --nonmember-features");
    if ((option_given(o, "reference-generated") || option_given(o, "attacker-features")) &&
        !option_given(o, "generated"))
        return cli_fail(SOTTO_EUSAGE, "audit: --%s needs --generated",
                        option_given(o, "attacker-features") ? "attacker-features" : "reference-generated");
    sotto_status status = load_logits(&g->member_discriminator, &in->input.n_member, in, o, sides[0],
                                      "member discriminator logits");
    if (status == SOTTO_OK)
        status = load_logits(&g->nonmember_discriminator, &in->input.n_nonmember, in, o, sides[1],
                             "non-member discriminator logits");
    if (status == SOTTO_OK)
        status = audit_inputs_table(&g->generated, in, o, "generated", "samples", &g->generated_n, width);
    if (status == SOTTO_OK && g->generated)
        take_shape(g, &in->arrays[in->file_count - 1]);
    if (status == SOTTO_OK)
        status = audit_inputs_table(&g->reference_generated, in, o, "reference-generated",
                                    "samples of the reference generator", &g->reference_generated_n, width);
    if (status == SOTTO_OK)
        status = audit_inputs_table(&g->attacker, in, o, "attacker-features", "records of the attacker",
                                    &g->attacker_n, width);
    if (g->member_discriminator || g->generated)
        in->input.generative = g;
    return status;
}
