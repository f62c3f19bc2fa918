#include "inputs/audit_inputs.h"

#include "inputs/head_inputs.h"

#include <stdio.h>
#include <string.h>

/* "non-member logits" of nonmember-logits */
static void name_role(char out[AUDIT_ROLE], const char *option)
{
    const char *non = strstr(option, "nonmember");
    const size_t before = non ? (size_t)(non - option) + 3 : 0;
    snprintf(out, AUDIT_ROLE, "%.*s%s%s", (int)before, option, non ? "-" : "", option + before);
    for (char *at = out; *at; at++)
        if (*at == '-' && !(non && at == out + before))
            *at = ' ';
}

sotto_status audit_inputs_give(struct audit_inputs *in, const struct sotto_option *row,
                               const struct sotto_array *array, const struct options *o)
{
    const char *path = option_text(o, row->name);
    if (path && in->file_count < AUDIT_FILES) {
        name_role(in->roles[in->file_count], row->name);
        in->files[in->file_count] = (struct sotto_report_input){in->roles[in->file_count], path};
        in->file_count++;
    }
    return sotto_arrays_give(in->arrays, row, array, path ? path : "the coins");
}

static int is_given_by_coins(const struct options *o, const struct sotto_option *row)
{
    return option_given(o, "coin-file") && strcmp(row->name, "scores") == 0;
}

sotto_status audit_inputs_load(struct audit_inputs *in, const struct options *o)
{
    static const char *const tables[] = {"audit_input", "token_input", "generative_input", "attribute_input"};
    int64_t labels_from;
    sotto_status status = option_labels_from(&labels_from, o);
    if (status == SOTTO_OK)
        status = sotto_arrays_open(&in->arrays);
    if (status == SOTTO_OK && option_given(o, "coin-file"))
        status = audit_inputs_give_coins(in, o);
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
        for (const struct sotto_option *row = sotto_option_table(tables[i]); row->name; row++)
            if (status == SOTTO_OK && row->type == SOTTO_OPTION_INPUT && option_given(o, row->name) &&
                !is_given_by_coins(o, row))
                status = audit_inputs_give(in, row, NULL, o);
    if (status != SOTTO_OK)
        return status;
    if (in->file_count == 0)
        return cli_fail(SOTTO_EUSAGE, "audit: nothing to audit; see 'sotto audit --help'");
    return sotto_arrays_audit(
        &in->input, in->arrays, option_given(o, "labels-from") ? (int)labels_from : -1,
        option_given(o, "attribute-depth") ? (size_t)option_count(o, "attribute-depth") : 0, cli_context());
}

void audit_inputs_clear(struct audit_inputs *in)
{
    sotto_arrays_close(in->arrays);
    sotto_array_clear(&in->scores);
    sotto_array_clear(&in->heads);
    *in = (struct audit_inputs){0};
}
