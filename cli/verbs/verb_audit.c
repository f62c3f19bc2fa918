#include "inputs/audit_inputs.h"
#include "inputs/head_inputs.h"
#include "verbs/audit_exposure.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct option_row rows[] = {
    OPTION_GROUP("Inputs (ARRAY: .npy, .npz[:MEMBER], .csv, or - for standard input)"),
    OPTION_ARRAYS_ROW,
    OPTION_LABELS_FROM_ROW,
    OPTION_TABLE("audit_input", NULL),
    OPTION_TABLE("generative_input", NULL),
    OPTION_TABLE("token_input", NULL),
    OPTION_TABLE("attribute_input", NULL),
    OPTION_TABLE("audit", "attack|set"),
    OPTION_GROUP("Attacks"),
    {"power", OPTION_TEXT, "SIZES", NULL,
     "no audit, but what tracing can find in a mean at the rates of --fpr, such as "
     "loci=30000,pool=1000,reference=1000 (without reference: frequencies known exactly; tpr=R instead of "
     "loci: the loci needed for that rate)"},
    {"canary-scores", OPTION_TEXT, "ARRAY", NULL,
     "no audit, but the exposure of canaries: scores of those that were inserted, higher = likelier (k)"},
    {"candidate-scores", OPTION_TEXT, "ARRAY", NULL,
     "scores of others of their kind that could as well have been inserted, and were not (r)"},
    OPTION_TABLE("audit", "fpr|confidence|delta|seed|bootstrap|one-run|group-size|odds-ratio|claim"),
    OPTION_GROUP("Verdict"),
    {"coin-file", OPTION_TEXT, "FILE", NULL,
     "sealed coins of --canaries, OUTPUT.coins.json, instead of --membership: opened once, for these "
     "--scores "
     "and this --one-run K, and checked against the commitment in --certificate"},
    {"certificate", OPTION_TEXT, "FILE", NULL,
     "certificate of the audited model, or its released file; it is verified, and the page shows it beside "
     "what was measured"},
    {"ledger", OPTION_TEXT, "FILE", NULL, "ledger that was charged for it"},
    {"coins", OPTION_TEXT, "KIND", NULL,
     "what an independent fair coin decided for each record: inclusion (member or not) or replacement (which "
     "of two records); tests the whole curve of --certificate in one run, by guesses about a tenth of the "
     "records unless --one-run says otherwise"},
    {"fail-if", OPTION_LIST, "RULE", NULL,
     "rule that makes the exit code 1, such as 'auc>0.6' or 'tpr@0.01>0.05' (repeatable); rules are on auc, "
     "advantage, balanced_accuracy, epsilon, tpr@RATE, lint, or the lower end of an interval, as in "
     "'auc.lower>0.55'"},
    OPTION_GROUP("Output"),
    OPTION_TABLE("audit", "most-vulnerable|memorisation|include-indices"),
    TITLE_ROW,
    {"p-values", OPTION_TEXT, "FILE", NULL,
     "CSV file for the p-values of every record (homer: normal and conformal)"},
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
    char *line;
    int failed = 0;
    TRY_OR_RETURN(sotto_audit_gate(&failed, &line, audit, rule));
    if (!json)
        printf("%s\n", line);
    if (failed && !first[0])
        snprintf(first, capacity, "%s", line);
    sotto_text_free(line);
    return SOTTO_OK;
}

static sotto_status verb_audit_print(const struct sotto_audit_result *result, const char *folder, int json)
{
    char *text;
    TRY_OR_RETURN(json ? sotto_audit_encode(&text, result) : sotto_audit_summary(&text, result));
    printf(json ? "%s\n" : "%s", text);
    if (!json && folder)
        printf("\nreport: %s/report.html\n", folder);
    sotto_text_free(text);
    return SOTTO_OK;
}

static sotto_status save_memorisation(const char *folder, const struct sotto_audit_result *result)
{
    char path[4096];
    if (snprintf(path, sizeof path, "%s/memorisation.npy", folder) >= (int)sizeof path)
        return cli_fail(SOTTO_ECREATE, "%s: the path is too long", folder);
    return sotto_audit_save_memorisation(path, result);
}

/* Sizes of --power; 0: not given. */
struct power_sizes {
    double loci, pool, reference, tpr;
};

static sotto_status read_power(struct power_sizes *out, const char *text)
{
    static const char *const names[] = {"loci", "pool", "reference", "tpr"};
    double *const values[] = {&out->loci, &out->pool, &out->reference, &out->tpr};
    for (const char *at = text; at;) {
        size_t k = 0, length = strcspn(at, "=");
        while (k < 4 && (strlen(names[k]) != length || strncmp(at, names[k], length) != 0))
            k++;
        char *end = NULL;
        double x = k < 4 && at[length] ? strtod(at + length + 1, &end) : 0;
        if (!end || end == at + length + 1 || (*end && *end != ',') || !(x > 0 && x <= 1e15))
            return cli_fail(SOTTO_EUSAGE,
                            "--power: '%s' is not a list of sizes; expected for example "
                            "loci=30000,pool=1000,reference=1000",
                            text);
        *values[k] = x;
        at = *end ? end + 1 : NULL;
    }
    if (!(out->pool > 0) || (out->loci > 0) == (out->tpr > 0))
        return cli_fail(SOTTO_EUSAGE, "--power: '%s': expected pool and either loci or tpr", text);
    return SOTTO_OK;
}

static sotto_status print_power_at(const struct power_sizes *s, double fpr, int first, int json)
{
    double loci = s->loci;
    struct sotto_tracing_power p;
    if (!(loci > 0))
        TRY_OR_RETURN(sotto_tracing_loci(&loci, s->pool, s->reference, fpr, s->tpr));
    TRY_OR_RETURN(sotto_tracing_power(&p, loci, s->pool, s->reference, fpr));
    if (json)
        printf("%s{\"fpr\": %.17g, \"loci\": %.17g, \"separation\": %.17g, \"auc\": %.17g, \"tpr\": %.17g, "
               "\"plain_auc\": %.17g}",
               first ? "" : ", ", fpr, loci, p.separation, p.auc, p.tpr, p.plain_auc);
    else
        printf("%-10.6g %-10.0f %-11.5g %-9.5f %-9.4f %.5f\n", fpr, loci, p.separation, p.auc, p.tpr,
               p.plain_auc);
    return SOTTO_OK;
}

/* Before any data are touched: by formula, for independent loci. */
static sotto_status print_power(const struct options *o, const double *fpr, size_t count, int json)
{
    const struct sotto_option *inputs[] = {
        sotto_option_table("audit_input"), sotto_option_table("generative_input"),
        sotto_option_table("token_input"), sotto_option_table("attribute_input")};
    struct power_sizes s = {0};
    for (size_t i = 0; i < sizeof inputs / sizeof *inputs; i++)
        for (const struct sotto_option *row = inputs[i]; row->name; row++)
            if (option_given(o, row->name))
                return cli_fail(SOTTO_EUSAGE, "audit: --power reads no arrays; omit --%s", row->name);
    if (option_given(o, "arrays"))
        return cli_fail(SOTTO_EUSAGE, "audit: --power reads no arrays; omit --arrays");
    sotto_status status = SOTTO_OK;
    TRY_OR_RETURN(read_power(&s, option_text(o, "power")));
    if (json)
        printf("{\"schema\": \"sotto.tracing-power/1\", \"pool\": %.17g, \"reference\": %.17g, \"rates\": [",
               s.pool, s.reference);
    else
        printf("by formula, for independent loci; auc and tpr: tracing-standardised\n"
               "fpr        loci       separation  auc       tpr       auc of tracing\n");
    for (size_t i = 0; i < count; i++)
        TRY(print_power_at(&s, fpr[i], i == 0, json));
done:
    if (json)
        printf("]}\n");
    return status;
}

/* inclusion: also where --one-run is given alone. */
static sotto_status read_coins(enum sotto_coins *out, const struct options *o)
{
    const char *text = option_text(o, "coins");
    *out = text && strcmp(text, "replacement") == 0 ? SOTTO_COINS_REPLACEMENT : SOTTO_COINS_INCLUSION;
    if (text && strcmp(text, "inclusion") != 0 && strcmp(text, "replacement") != 0)
        return cli_unknown("coins", text, "inclusion or replacement");
    return SOTTO_OK;
}

static int one_run(const struct options *o)
{
    return option_given(o, "coins") || option_given(o, "one-run");
}

/* Before the audit, which may take long. */
static sotto_status check_certificate(struct sotto_privacy_profile *profile, const struct options *o,
                                      const struct sotto_context *ctx)
{
    struct sotto_certificate *loaded = NULL;
    struct sotto_verification v = {0};
    const char *certificate = option_text(o, "certificate"), *ledger = option_text(o, "ledger");
    if (!certificate && ledger)
        return cli_fail(SOTTO_EUSAGE, "audit: --ledger needs --certificate");
    if (!certificate)
        return SOTTO_OK;
    if (!option_given(o, "output") && !one_run(o))
        return cli_fail(SOTTO_EUSAGE, "audit: --certificate is shown on the page, or tested by --coins; give "
                                      "--output FOLDER, or --coins inclusion");
    sotto_status status = sotto_verify(&v, certificate, NULL, ledger, ctx);
    if (status == SOTTO_OK && one_run(o))
        status = sotto_certificate_load(&loaded, v.certificate);
    if (status == SOTTO_OK && one_run(o))
        status = sotto_certificate_profile(profile, loaded, ctx);
    sotto_certificate_free(loaded);
    sotto_verification_clear(&v);
    return status;
}

/* Page, files and summary. */
static sotto_status verb_audit_show(const struct sotto_audit_result *result, const struct audit_inputs *in,
                                    const struct options *o, int json)
{
    const char *folder = option_text(o, "output");
    const struct sotto_audit_facts facts = {.title = option_text(o, "title"),
                                            .inputs = in->files,
                                            .inputs_count = in->file_count,
                                            .certificate = option_text(o, "certificate"),
                                            .ledger = option_text(o, "ledger"),
                                            .command = option_shown_command(o)};
    if (folder)
        TRY_OR_RETURN(sotto_report_audit(folder, result, &facts));
    if (folder && option_flag(o, "memorisation"))
        TRY_OR_RETURN(save_memorisation(folder, result));
    if (option_given(o, "p-values"))
        TRY_OR_RETURN(sotto_audit_save_p_values(option_text(o, "p-values"), result));
    return verb_audit_print(result, folder, json);
}

/* The claim, the rules of --fail-if and the certificate's curve: the first that failed decides. */
static sotto_status check_gates(const struct sotto_audit_result *result,
                                const struct sotto_audit_options *options, const char *const *rules, int json)
{
    char gate[512] = "";
    if (options->has_claim)
        TRY_OR_RETURN(check_gate(gate, sizeof gate, result, "claim>0", json));
    for (size_t i = 0; rules[i]; i++)
        TRY_OR_RETURN(check_gate(gate, sizeof gate, result, rules[i], json));
    if (result->curve && result->curve->contradicted && !gate[0])
        snprintf(gate, sizeof gate, "the curve of the certificate is contradicted at %g %%",
                 100 * result->curve->confidence);
    if (gate[0])
        return cli_fail(SOTTO_EGATE, "audit: %s", gate);
    return SOTTO_OK;
}

static sotto_status verb_audit_run(const struct options *o, const struct sotto_context *ctx, int json)
{
    struct audit_inputs in = {0};
    double rates[MAX_RATES];
    struct sotto_audit_result result = {0};
    const char *const *rules = option_list(o, "fail-if");
    struct sotto_audit_options options = {.fpr = rates};
    struct sotto_privacy_profile profile = {0};
    enum sotto_coins coins;
    sotto_status status = SOTTO_OK;
    TRY(option_check_report(o));
    TRY(option_reals(rates, MAX_RATES, &options.fpr_count, o, "fpr"));
    if (option_given(o, "power"))
        return print_power(o, rates, options.fpr_count, json);
    if (option_given(o, "canary-scores") || option_given(o, "candidate-scores"))
        return audit_exposure_print(o, json);
    TRY(read_claim(&options, o));
    for (size_t i = 0; rules[i]; i++)
        TRY(sotto_audit_gate(NULL, NULL, NULL, rules[i]));
    TRY(option_members_checked(&options, sotto_option_table("audit"), "confidence|delta", o));
    TRY(read_coins(&coins, o));
    TRY(check_certificate(&profile, o, ctx));
    TRY(audit_inputs_load(&in, o));
    if (option_given(o, "coins") && !option_given(o, "one-run"))
        options.one_run_guesses = (in.input->n_member + in.input->n_nonmember) / 20;
    TRY(sotto_audit(&result, in.input, &options, ctx));
    if (profile.count)
        TRY(sotto_audit_test_curve(&result, &profile, coins));
    TRY(verb_audit_show(&result, &in, o, json));
    TRY(check_gates(&result, &options, rules, json));
done:
    sotto_privacy_profile_clear(&profile);
    sotto_audit_result_free(&result);
    audit_inputs_clear(&in);
    return status;
}

const struct verb verb_audit = {
    .name = "audit",
    .summary =
        "test saved model outputs for leakage of members and attributes; results have intervals and a report",
    .arguments = "",
    .examples = "  sotto audit --member-logits m.npy --nonmember-logits n.npy --member-labels ym.npy "
                "--nonmember-labels yn.npy -o audit1\n"
                "  sotto audit --member-losses m.csv --nonmember-losses n.csv --fpr 0.01 --json\n"
                "  sotto audit --scores s.npz:scores --membership s.npz:member -o audit2\n"
                "  sotto audit --one-run 100 --coin-file head.safetensors.coins.json --scores "
                "head.safetensors.canaries.npz:white_box --delta 1e-5 --certificate "
                "head.safetensors.certificate.json -o audit3\n"
                "  sotto audit --token-logprobs lp.npy --membership m.npy --compressed-bytes bytes.npy\n"
                "  sotto audit --member-losses m.npy --nonmember-losses n.npy --member-reference mr.npy "
                "--nonmember-reference nr.npy --member-trained mt.npy --nonmember-trained nt.npy "
                "--memorisation -o audit4\n"
                "  sotto audit --canary-scores inserted.npy --candidate-scores others.npy\n"
                "  sotto audit --power loci=30000,pool=1000,reference=1000\n"
                "  sotto audit --member-features pool.npy --nonmember-features others.npy --released-mean "
                "frequencies.npy --reference-mean reference.npy --p-values p.csv",
    .floor = FLOOR_MEASURE,
    .ranks = RANK_0,
    .own = "power|canary-scores|candidate-scores|fail-if|p-values|certificate|ledger|coins|coin-file",
    .options = rows,
    .most_used = "member-logits|nonmember-logits|member-labels|nonmember-labels|member-losses|nonmember-"
                 "losses|scores|membership|ref-logits|ref-membership|attack|fpr|certificate|fail-if|output",
    .run = verb_audit_run};
