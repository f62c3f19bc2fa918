/* sotto federated: federated averaging on one machine, and the attackers who sit in it. */
#include "inputs/head_inputs.h"
#include "sotto/lab/federated.h"

#include <stdio.h>
#include <string.h>

static const struct option_row rows[] = {
    OPTION_ROWS(head_data_rows),
    {"owners", OPTION_TEXT, "FILE.npy", NULL,
     "participant of each record (N), from 0; -1: none (default: drawn, see --records)"},
    OPTION_TABLE("federated", "participants|rounds|records"),
    OPTION_TABLE("federated_recipe", "local-epochs"),
    OPTION_TABLE(
        "federated",
        "noise-multiplier|max-grad-norm|seed|target|outsiders|observed|ascend|strength|learnt|control"),
    OPTION_TABLE("federated_recipe", "trainer|hidden|batch|lr"),
    OPTION_GROUP("Statistics"),
    OPTION_TABLE("audit", "fpr|confidence|delta"),
    OPTION_TABLE("federated", "rounds-folder|keep-uploads"),
    OPTION_GROUP("Output"),
    TITLE_ROW,
    OPTION_FORCE_ROW,
    {"output", OPTION_TEXT, "DIR", NULL, "folder for result.json, report.json and report.html"},
    OPTION_END};

enum { MAX_RATES = 8 };

static sotto_status load_owners(struct sotto_array *owners, const struct head_inputs *in,
                                const struct options *o)
{
    const char *path = option_text(o, "owners");
    TRY_OR_RETURN(path ? head_labels_load(owners, path, 0) : SOTTO_OK);
    if (path && option_given(o, "records"))
        return cli_fail(SOTTO_EUSAGE, "federated: --records draws owners, --owners states them; give one of "
                                      "them");
    if (path && owners->count != in->n)
        return cli_fail(SOTTO_EINVAL,
                        "%s has %zu rows but %s has %zu records; expected one of each per record", path,
                        owners->count, option_text(o, "features"), in->n);
    return SOTTO_OK;
}

static sotto_status read_options(struct sotto_federated_options *out, struct sotto_head_recipe *recipe,
                                 double rates[MAX_RATES], const struct options *o)
{
    out->audit.fpr = rates;
    sotto_status status = SOTTO_OK;
    TRY(option_members(out, sotto_option_table("federated"), o));
    TRY(option_members_checked(recipe, sotto_option_table("federated_recipe"), "epochs", o));
    TRY(option_members_checked(&out->audit, sotto_option_table("audit"), "confidence|delta", o));
    TRY(option_reals(rates, MAX_RATES, &out->audit.fpr_count, o, "fpr"));
done:
    out->recipe = recipe;
    return status;
}

static sotto_status verb_federated_report(const struct sotto_audit_result *result, const struct options *o,
                                          int json)
{
    const char *folder = option_text(o, "output");
    struct sotto_report_input files[] = {{"features", option_text(o, "features")},
                                         {"labels", option_text(o, "labels")}};
    const struct sotto_audit_facts facts = {.title = option_text(o, "title"),
                                            .inputs = files,
                                            .inputs_count = sizeof files / sizeof *files,
                                            .command = option_shown_command(o)};
    char *text = NULL;
    sotto_status status = SOTTO_OK;
    TRY(folder ? sotto_report_audit(folder, result, &facts) : SOTTO_OK);
    TRY(json ? sotto_audit_encode(&text, result) : sotto_audit_summary(&text, result));
    printf(json ? "%s\n" : "%s", text);
    if (!json)
        printf("\nmeasured, on this split and these seeds, without secure aggregation; nothing is proved\n");
    if (!json && folder)
        printf("report: %s/report.html\n", folder);
done:
    sotto_text_free(text);
    return status;
}

static sotto_status verb_federated_run(const struct options *o, const struct sotto_context *ctx, int json)
{
    struct head_inputs in = {0};
    struct sotto_array owners = {0};
    struct sotto_head_recipe recipe = {0};
    struct sotto_federated_options options = {0};
    struct sotto_audit_result result = {0};
    double rates[MAX_RATES];
    sotto_status status = SOTTO_OK;
    TRY(option_check_report(o));
    TRY(read_options(&options, &recipe, rates, o));
    TRY(head_inputs_load(&in, o, 0));
    TRY(load_owners(&owners, &in, o));
    struct sotto_federated_input given = {
        .x = in.x.data, .y = in.y.data, .n = in.n, .d = in.d, .classes = in.classes, .owner = owners.data};
    TRY(sotto_federated(&result, &given, &options, ctx));
    TRY(verb_federated_report(&result, o, json));
done:
    sotto_audit_result_free(&result);
    sotto_array_clear(&owners);
    head_inputs_clear(&in);
    return status;
}

const struct verb verb_federated = {
    .name = "federated",
    .summary = "simulate federated averaging, and attack its participants",
    .arguments = "",
    .examples = "  sotto federated --features X.npy --labels y.npy --records 400 -o federated\n"
                "  sotto federated --features X.npy --labels y.npy --records 400 --control -o control\n"
                "  sotto federated --features X.npy --labels y.npy --owners owners.npy --learnt "
                "--rounds-folder rounds",
    .floor = FLOOR_MODULES,
    .ranks = REFUSED,
    .own = "features|labels|classes|owners",
    .options = rows,
    .most_used = "features|labels|owners|participants|rounds|records|trainer|hidden|target|observed|learnt|"
                 "control|fpr|seed|output",
    .run = verb_federated_run};
