#include "inputs/audit_inputs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct option_row rows[] = {
    OPTION_ROWS(audit_input_rows),
    OPTION_GROUP("Attacks"),
    {"attack", OPTION_LIST, "NAME", NULL,
     "attack to run (repeatable; default: all attacks that the inputs allow)"},
    {"set", OPTION_LIST, "ATTACK.NAME=V", NULL,
     "parameter of an attack, such as lira.monotone=1 (repeatable)"},
    OPTION_GROUP("Statistics"),
    {"fpr", OPTION_TEXT, "RATES", "0.01,0.001", "false-positive rates to report, fractions"},
    OPTION_TABLE(sotto_audit_option_table, "confidence|delta|seed|bootstrap|one-run|group-size|odds-ratio"),
    OPTION_DEFAULT("seed", "1"),
    OPTION_GROUP("Verdict"),
    {"claim", OPTION_TEXT, "CLAIM", NULL, "claim to test, such as eps=3,delta=1e-5 (exit 1 if contradicted)"},
    {"fail-if", OPTION_LIST, "RULE", NULL,
     "condition on auc, advantage, balanced_accuracy, epsilon, tpr@RATE or lint that makes the exit code 1: "
     "'auc>0.6', 'auc.lower>0.55', 'tpr@0.01>0.05', 'lint>0' (repeatable)"},
    OPTION_GROUP("Output"),
    OPTION_TABLE(sotto_audit_option_table, "most-vulnerable|include-indices"),
    OPTION_DEFAULT("most-vulnerable", "10"),
    {"title", OPTION_TEXT, "TEXT", NULL, "headline of the report"},
    OPTION_FORCE_ROW,
    {"output", OPTION_TEXT, "DIR", NULL, "folder for result.json, report.json and report.html"},
    OPTION_END};

enum { MAX_RATES = 8 };

/* "eps=3,delta=1e-5", in any order; delta may be left out. */
static sotto_status read_claim(struct sotto_audit_options *out, const struct options *o)
{
    const char *text = option_text(o, "claim");
    int epsilon = 0;
    while (text && *text) {
        const char *equals = strchr(text, '=');
        size_t length = equals ? (size_t)(equals - text) : 0;
        char *end = NULL;
        double x = equals ? strtod(equals + 1, &end) : 0;
        int is_epsilon = (length == 3 && strncmp(text, "eps", 3) == 0) ||
                         (length == 7 && strncmp(text, "epsilon", 7) == 0);
        int is_delta = length == 5 && strncmp(text, "delta", 5) == 0;
        if (!equals || end == equals + 1 || (*end && (*end != ',' || !end[1])) || !(is_epsilon || is_delta) ||
            !(x >= 0) || (is_delta && x >= 1) || x > 1e6)
            return cli_fail(SOTTO_EUSAGE,
                            "--claim: '%s' is not a claim; expected for example eps=3,delta=1e-5",
                            option_text(o, "claim"));
        if (is_epsilon)
            out->claim_epsilon = x, epsilon = 1;
        else
            out->claim_delta = x;
        text = *end ? end + 1 : end;
    }
    if (option_given(o, "claim") && !epsilon)
        return cli_fail(SOTTO_EUSAGE, "--claim: '%s' has no eps; expected for example eps=3,delta=1e-5",
                        option_text(o, "claim"));
    out->has_claim = epsilon;
    return SOTTO_OK;
}

/* Says how one rule went, on the table's end; remembers the first that failed. */
static sotto_status check_gate(char *first, size_t capacity, const struct sotto_audit_result *audit,
                               const char *rule, int json)
{
    char *line = NULL;
    int failed = 0;
    sotto_status status = sotto_audit_gate(&failed, &line, audit, rule);
    if (status == SOTTO_OK && !json)
        printf("%s\n", line);
    if (status == SOTTO_OK && failed && !first[0])
        snprintf(first, capacity, "%s", line);
    sotto_text_free(line);
    return status;
}

static sotto_status print(const struct sotto_audit_result *result, const char *folder, int json)
{
    char *text = NULL;
    sotto_status status = json ? sotto_audit_encode(&text, result) : sotto_audit_summary(&text, result);
    if (status == SOTTO_OK)
        printf(json ? "%s\n" : "%s", text);
    if (status == SOTTO_OK && !json && folder)
        printf("\nreport: %s/report.html\n", folder);
    sotto_text_free(text);
    return status;
}

static sotto_status run(const struct options *o, const struct sotto_context *ctx, int json)
{
    struct audit_inputs in = {0};
    double rates[MAX_RATES];
    struct sotto_audit_result result = {0};
    const char *const *names = option_list(o, "attack"), *const *rules = option_list(o, "fail-if");
    char gate[512] = ""; /* the first that failed */
    struct sotto_audit_options options = {
        .names = names[0] ? names : NULL, .fpr = rates, .settings = option_list(o, "set")};
    sotto_status status = option_check_report(o);
    if (status == SOTTO_OK)
        status = option_fractions(rates, MAX_RATES, &options.fpr_count, o, "fpr");
    if (status == SOTTO_OK)
        status = read_claim(&options, o);
    for (size_t i = 0; status == SOTTO_OK && rules[i]; i++)
        status = sotto_audit_gate(NULL, NULL, NULL, rules[i]);
    if (status == SOTTO_OK)
        status = option_members_checked(&options, sotto_audit_option_table(), "confidence|delta", o);
    if (status == SOTTO_OK)
        status = audit_inputs_load(&in, o);
    if (status == SOTTO_OK)
        status = sotto_audit(&result, &in.input, &options, ctx);
    struct sotto_audit_facts facts = {option_text(o, "title"), in.files, in.file_count};
    const char *folder = option_text(o, "output");
    if (status == SOTTO_OK && folder)
        status = sotto_report_audit(folder, &result, &facts);
    if (status == SOTTO_OK)
        status = print(&result, folder, json);
    if (status == SOTTO_OK && options.has_claim)
        status = check_gate(gate, sizeof gate, &result, "claim>0", json);
    for (size_t i = 0; status == SOTTO_OK && rules[i]; i++)
        status = check_gate(gate, sizeof gate, &result, rules[i], json);
    if (status == SOTTO_OK && gate[0])
        status = cli_fail(SOTTO_EGATE, "audit: %s", gate);
    sotto_audit_result_free(&result);
    audit_inputs_clear(&in);
    return status;
}

const struct verb verb_audit = {
    .name = "audit",
    .summary = "run membership and attribute attacks on saved arrays, with intervals and a report",
    .arguments = "",
    .examples = "  sotto audit --member-logits m.npy --nonmember-logits n.npy --member-labels ym.npy "
                "--nonmember-labels yn.npy -o audit1\n"
                "  sotto audit --member-losses m.csv --nonmember-losses n.csv --fpr 0.01 --json\n"
                "  sotto audit --scores s.npz:scores --membership s.npz:member -o audit2",
    .options = rows,
    .run = run};
