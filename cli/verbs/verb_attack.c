#include "verbs/attack_encoder.h"
#include "inputs/attack_inputs.h"
#include "inputs/attack_recipe.h"
#include "inputs/image_inputs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct option_row rows[] = {
    OPTION_GROUP("Target"),
    {"target", OPTION_TEXT, "FILE", NULL, "model under attack: a head, MLP or whole network (.safetensors)"},
    {"target-command", OPTION_TEXT, "COMMAND", NULL,
     "command that answers as the target: .npy frames on stdin and stdout (examples/serve_numpy.py)"},
    {"timeout", OPTION_REAL, "S", "60",
     "time limit for one frame of the command, including its start, in seconds"},
    {"query-batch", OPTION_COUNT, "ROWS", "1024", "maximum number of rows in a frame of the command"},
    {"classes", OPTION_COUNT, "K", NULL,
     "number of classes of the command (default: width of its first answer)"},
    {"budget", OPTION_COUNT, "ROWS", NULL, "maximum number of rows sent to the target (default: no limit)"},
    {"repeats", OPTION_COUNT, "N", "1",
     "answers averaged for each record, for models with noise (target and shadow models)"},
    OPTION_GROUP("Records (ARRAY: FILE.npy or FILE.npz:MEMBER)"),
    OPTION_ARRAYS_ROW,
    {"member-features", OPTION_TEXT, "ARRAY", NULL, "records that trained the target (n, D)"},
    {"member-labels", OPTION_TEXT, "ARRAY", NULL, "classes of the members, from 0 (n)"},
    {"nonmember-features", OPTION_TEXT, "ARRAY", NULL, "records that did not train the target (m, D)"},
    {"nonmember-labels", OPTION_TEXT, "ARRAY", NULL, "classes of the non-members, from 0 (m)"},
    {"attacker-features", OPTION_TEXT, "ARRAY", NULL, "records known to the attacker (a, D)"},
    {"attacker-labels", OPTION_TEXT, "ARRAY", NULL, "classes of the attacker's records, from 0 (a)"},
    {"other-features", OPTION_TEXT, "ARRAY", NULL, "records of another set (b, D'), for data transfer"},
    {"other-labels", OPTION_TEXT, "ARRAY", NULL, "classes of the other set, from 0 (b)"},
    {"image", OPTION_TEXT, "C,H,W", NULL,
     "image shape of a row, for augmentation, and for shadow networks of --target-command"},
    {"views", OPTION_COUNT, "N", "1",
     "views of each image in lira and rmia, online and offline: 1, 2 (and mirrored) or 18 (and shifted by 2 "
     "pixels)"},
    {"queries", OPTION_COUNT, "N", NULL,
     "queries for one record in label-only attacks (default: depends on the attack)"},
    OPTION_GROUP("Shadow models"),
    {"shadows", OPTION_COUNT, "K", NULL, "number of shadow models (default: depends on the attack)"},
    {"shadow-records", OPTION_COUNT, "N", NULL,
     "training records of a shadow model (default: half of the attacker's; lira, rmia: always half of all)"},
    {"disjoint", OPTION_FLAG, NULL, NULL,
     "disjoint training sets for the shadow models (default: independent draws)"},
    {"shadow-data", OPTION_TEXT, "KIND", "real",
     "source of the shadow models' records: real, synthesis, marginals, class-marginals or noisy"},
    {"synthetic-records", OPTION_COUNT, "N", "10000",
     "number of synthetic records (synthesis, marginals, class-marginals)"},
    {"flip", OPTION_REAL, "P", "0.1", "share of features redrawn in each record, in [0, 1] (noisy)"},
    {"model", OPTION_TEXT, "NAME", NULL,
     "whole networks as shadow models: cnn, mlp, resnet8, ... (default of --model to --lr: as in the "
     "target)"},
    {"trainer", OPTION_TEXT, "NAME", NULL,
     "heads as shadow models, with this trainer: adam, sgd, convex, ..."},
    {"hidden", OPTION_TEXT, "WIDTHS", NULL,
     "widths of the hidden ReLU layers, such as 128; 0: none (networks: their default widths)"},
    {"epochs", OPTION_COUNT, "N", NULL, "passes over the records"},
    {"batch", OPTION_COUNT, "N", NULL, "records per step"},
    {"lr", OPTION_REAL, "RATE", NULL, "learning rate"},
    {"mismatch", OPTION_FLAG, NULL, NULL, "permission for shadow models trained differently from the target"},
    {"plain-shadows", OPTION_FLAG, NULL, NULL,
     "shadow networks without the target's residual perturbation (an attacker unaware of it)"},
    {"cache", OPTION_TEXT, "DIR", NULL, "folder in which shadow models are kept and reused"},
    {"shard", OPTION_TEXT, "I/N", NULL, "part I of N of the shadow models to train (needs --cache)"},
    OPTION_GROUP("Attack on an encoder (sotto attack encoder)"),
    {"encoder", OPTION_TEXT, "FILE", NULL, "encoder under attack (.safetensors)"},
    {"shadow-encoder", OPTION_TEXT, "FILE", NULL, "encoder of the attacker, trained like the target"},
    {"data", OPTION_TEXT, "SET", NULL, "data set of all rows below: a registered name or a path"},
    {"member-indices", OPTION_TEXT, "rows.npy", NULL, "rows that pre-trained the encoder"},
    {"nonmember-indices", OPTION_TEXT, "rows.npy", NULL, "rows that did not pre-train the encoder"},
    {"shadow-member-indices", OPTION_TEXT, "rows.npy", NULL, "rows that pre-trained the shadow encoder"},
    {"shadow-nonmember-indices", OPTION_TEXT, "rows.npy", NULL,
     "rows that did not pre-train the shadow encoder"},
    {"bank-indices", OPTION_TEXT, "rows.npy", NULL,
     "rows in neither training set, used as negatives; without them the contrastive-loss attack is skipped"},
    {"temperature", OPTION_REAL, "T", "0.1", "temperature of the contrastive loss"},
    OPTION_GROUP("Statistics"),
    {"fpr", OPTION_TEXT, "RATES", "0.01,0.001", "false-positive rates to report, fractions"},
    {"confidence", OPTION_REAL, "C", "0.95", "confidence of every interval, a fraction"},
    {"delta", OPTION_REAL, "D", "0", "delta of the lower bound on epsilon"},
    {"seed", OPTION_COUNT, "N", "1", "seed of shadow models, attack networks and random splits"},
    OPTION_GROUP("Output"),
    {"title", OPTION_TEXT, "TEXT", NULL, "headline of the report"},
    OPTION_FORCE_ROW,
    {"output", OPTION_TEXT, "DIR", NULL,
     "folder for scores.npy, membership.npy, result.json, report.json and report.html"},
    OPTION_END};

enum { MAX_RATES = 8 };

static sotto_status read_shard(struct sotto_attack_options *out, const struct options *o)
{
    const char *text = option_text(o, "shard");
    unsigned long i, n;
    char rest;
    if (!text)
        return SOTTO_OK;
    if (sscanf(text, "%lu/%lu%c", &i, &n, &rest) != 2 || i < 1 || i > n || text[0] < '0' || text[0] > '9')
        return cli_fail(SOTTO_EUSAGE, "--shard: '%s' is not a part; expected I/N such as 2/4", text);
    if (n > 1 && !out->cache)
        return cli_fail(SOTTO_EUSAGE, "attack: --shard needs --cache, the folder that all parts share");
    out->shard = i - 1;
    out->shards = n;
    return SOTTO_OK;
}

static sotto_status read_kind(enum sotto_shadow_data *out, const struct options *o)
{
    static const char *const kinds[] = {"real", "synthesis", "marginals", "class-marginals", "noisy"};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (strcmp(option_text(o, "shadow-data"), kinds[i]) == 0) {
            *out = (enum sotto_shadow_data)i;
            return SOTTO_OK;
        }
    return cli_fail(
        SOTTO_EUSAGE,
        "--shadow-data: '%s' is unknown; expected real, synthesis, marginals, class-marginals or noisy",
        option_text(o, "shadow-data"));
}

static sotto_status read_image(struct sotto_attack_options *out, const struct options *o)
{
    size_t shape[3];
    sotto_status status = image_shape(shape, o);
    if (status == SOTTO_OK)
        out->channels = shape[0], out->height = shape[1], out->width = shape[2];
    return status;
}

static sotto_status read_options(struct sotto_attack_options *out, double rates[MAX_RATES],
                                 const struct options *o)
{
    sotto_attack_defaults(out);
    out->name = option_argument(o, 0);
    out->shadows = option_given(o, "shadows") ? (size_t)option_count(o, "shadows") : 0;
    out->shadow_records = option_given(o, "shadow-records") ? (size_t)option_count(o, "shadow-records") : 0;
    out->queries = option_given(o, "queries") ? (size_t)option_count(o, "queries") : 0;
    out->views = sotto_given_count(option_count(o, "views"));
    out->repeats = (size_t)option_count(o, "repeats");
    out->plain_shadows = option_flag(o, "plain-shadows");
    out->disjoint = option_flag(o, "disjoint");
    out->mismatch = option_flag(o, "mismatch");
    out->cache = option_text(o, "cache");
    out->synthetic_records = sotto_given_count(option_count(o, "synthetic-records"));
    out->flip = sotto_given_real(option_real(o, "flip"));
    out->seed = sotto_given_seed(option_count(o, "seed"));
    out->audit = (struct sotto_audit_options){
        .fpr = rates, .confidence = option_real(o, "confidence"), .delta = option_real(o, "delta")};
    if (out->repeats == 0)
        return cli_fail(SOTTO_EUSAGE, "attack: --repeats 0; expected at least 1");
    if (!(out->audit.confidence > 0 && out->audit.confidence < 1))
        return cli_fail(SOTTO_EUSAGE, "attack: confidence must be between 0 and 1 (got %s)",
                        option_text(o, "confidence"));
    if (!(out->audit.delta >= 0 && out->audit.delta < 1))
        return cli_fail(SOTTO_EUSAGE, "attack: delta must be >= 0 and < 1 (got %s)", option_text(o, "delta"));
    if (!(out->flip >= 0 && out->flip <= 1))
        return cli_fail(SOTTO_EUSAGE, "attack: flip must be between 0 and 1 (got %s)",
                        option_text(o, "flip"));
    sotto_status status = option_fractions(rates, MAX_RATES, &out->audit.fpr_count, o, "fpr");
    if (status == SOTTO_OK)
        status = read_kind(&out->data, o);
    if (status == SOTTO_OK)
        status = read_image(out, o);
    return status == SOTTO_OK ? read_shard(out, o) : status;
}

/* scores.npy and membership.npy, members first: what `sotto audit --scores --membership` reads. */
static sotto_status save_scores(const char *folder, const double *scores, size_t n_member, size_t n)
{
    struct sotto_array s = {0}, b = {0};
    char path[4096];
    sotto_status status = sotto_array_make(&s, SOTTO_F8, 1, &n);
    if (status == SOTTO_OK)
        status = sotto_array_make(&b, SOTTO_U1, 1, &n);
    if (status == SOTTO_OK) {
        memcpy(s.data, scores, n * sizeof *scores);
        memset(b.data, 1, n_member);
        snprintf(path, sizeof path, "%s/scores.npy", folder);
        status = sotto_npy_save(path, &s);
    }
    if (status == SOTTO_OK) {
        snprintf(path, sizeof path, "%s/membership.npy", folder);
        status = sotto_npy_save(path, &b);
    }
    sotto_array_clear(&s);
    sotto_array_clear(&b);
    return status;
}

static sotto_status print(const struct sotto_audit_result *result, int finished, const char *folder, int json)
{
    char *text = NULL;
    int table = !json && finished;
    sotto_status status = table ? sotto_audit_summary(&text, result) : sotto_audit_encode(&text, result);
    if (status == SOTTO_OK)
        printf(table ? "%s" : "%s\n", text);
    if (status == SOTTO_OK && table && folder)
        printf("\nreport: %s/report.html\n", folder);
    sotto_text_free(text);
    return status;
}

static sotto_status list(void)
{
    char *text = NULL;
    sotto_status status = sotto_attack_table(&text);
    if (status == SOTTO_OK)
        printf("%s%s", text, attack_encoder_line);
    sotto_text_free(text);
    return status;
}

static sotto_status run(const struct options *o, const struct sotto_context *ctx, int json)
{
    if (strcmp(option_argument(o, 0), "list") == 0)
        return list();
    struct attack_inputs in = {0};
    struct sotto_attack_options options;
    struct attack_recipe recipe;
    double rates[MAX_RATES], *scores = NULL;
    struct sotto_audit_result result = {0};
    int finished = 0;
    const char *folder = option_text(o, "output");
    sotto_status status = option_check_report(o);
    if (status == SOTTO_OK)
        status = read_options(&options, rates, o);
    if (status == SOTTO_OK && strcmp(options.name, "encoder") == 0) {
        options.audit.seed = option_count(o, "seed");
        return attack_encoder_run(o, &options.audit, ctx, json);
    }
    if (status == SOTTO_OK)
        status = attack_inputs_load(&in, o, ctx);
    if (status == SOTTO_OK)
        status = attack_recipe_read(&options, &recipe, o, in.input.target);
    size_t n_member = in.input.member.n, n = n_member + in.input.nonmember.n;
    if (status == SOTTO_OK && !(scores = calloc(n, sizeof *scores)))
        status = cli_fail(SOTTO_ENOMEM, "attack: out of memory for %zu scores", n);
    if (status == SOTTO_OK)
        status = sotto_attack(&result, scores, &finished, &in.input, &options, ctx);
    if (status == SOTTO_OK && finished && folder) {
        struct sotto_audit_facts facts = {option_text(o, "title"), in.files, in.file_count};
        status = sotto_report_audit(folder, &result, &facts);
        if (status == SOTTO_OK)
            status = save_scores(folder, scores, n_member, n);
    }
    if (status == SOTTO_OK)
        status = print(&result, finished, folder, json);
    sotto_audit_result_free(&result);
    free(scores);
    attack_inputs_clear(&in);
    return status;
}

const struct verb verb_attack = {
    .name = "attack",
    .summary = "run attacks that query a model or train shadow models",
    .arguments = "NAME|list",
    .min_arguments = 1,
    .max_arguments = 1,
    .examples =
        "  sotto attack ml-leaks-3 --target head.safetensors --member-features xm.npy --member-labels ym.npy "
        "--nonmember-features xn.npy --nonmember-labels yn.npy -o attack1\n"
        "  sotto attack ml-leaks-3 --target-command 'python3 examples/serve_torch.py model.pt' --budget "
        "20000 "
        "--member-features xm.npy ...\n"
        "  sotto attack encoder --encoder e.safetensors --shadow-encoder s.safetensors --data "
        "synthetic-faces "
        "--member-indices m.npy --nonmember-indices n.npy --shadow-member-indices sm.npy "
        "--shadow-nonmember-indices sn.npy -o attack2\n"
        "  sotto attack list",
    .options = rows,
    .run = run};
