#include "inputs/attack_inputs.h"
#include "inputs/head_inputs.h"
#include "inputs/image_inputs.h"
#include "inputs/shard.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct option_row rows[] = {
    OPTION_TABLE("attack_input", "target|target-command"),
    OPTION_TABLE("command", NULL),
    OPTION_GROUP("Target"),
    {"classes", OPTION_COUNT, "K", NULL, "number of classes (default: width of the command's first answer)"},
    {"budget", OPTION_COUNT, "ROWS", NULL, "maximum number of rows sent to the target (default: no limit)"},
    OPTION_TABLE("attack", "repeats|snapshots"),
    OPTION_GROUP("Inputs (ARRAY: .npy, .npz[:MEMBER], .csv, or - for standard input)"),
    OPTION_ARRAYS_ROW,
    OPTION_LABELS_FROM_ROW,
    OPTION_TABLE("attack_input",
                 "member-features|member-labels|nonmember-features|nonmember-labels|attacker-features|"
                 "attacker-labels|other-features|other-labels|known-member-features|known-member-labels|"
                 "known-nonmember-features|known-nonmember-labels"),
    OPTION_TABLE("attack", "image|views|layers|explain|queries|shadows|shadow-records|"
                           "disjoint|shadow-data|synthetic-records|flip"),
    OPTION_TABLE("shadow", NULL),
    OPTION_TABLE("attack", "mismatch|plain-shadows|known-start|poison|cache|shard|worker|plan"),
    OPTION_TABLE("disguise", NULL),
    {"cover", OPTION_TEXT, "ARRAY", NULL,
     "benign rows that --dilute and --decoys send, in this order, again from the first one after the last"},
    OPTION_TABLE("attack", "shuffle"),
    OPTION_GROUP("Statistics"),
    OPTION_TABLE("audit", "fpr|confidence|delta"),
    OPTION_TABLE("attack", "seed"),
    OPTION_GROUP("Output"),
    OPTION_TABLE("audit", "memorisation|include-indices"),
    TITLE_ROW,
    OPTION_FORCE_ROW,
    {"output", OPTION_TEXT, "DIR", NULL,
     "folder for scores.npy, membership.npy, result.json, report.json and report.html"},
    OPTION_END};

/* What several ranks can do together is train shadow models. */
static sotto_status check_ranks(const char *cache, const struct options *o)
{
    if (!cache)
        return cli_fail(SOTTO_EUSAGE, "attack: several ranks share shadow models through a folder; give "
                                      "--cache, or start it without the launcher");
    if (option_given(o, "budget"))
        return cli_fail(SOTTO_EUSAGE,
                        "attack: --budget counts the queries of one process, but each rank asks the target; "
                        "omit it, or start it without the launcher");
    return SOTTO_OK;
}

static sotto_status read_shard(struct sotto_attack_options *out, const struct options *o)
{
    TRY_OR_RETURN(shard_read(&out->shard, &out->shards, o));
    if (cli_shares())
        TRY_OR_RETURN(check_ranks(out->cache, o));
    if (out->worker && option_given(o, "shard"))
        return cli_fail(SOTTO_EUSAGE, "attack: --worker takes any open shadow model; omit --shard");
    if (out->shards > 1 && !out->cache)
        return cli_fail(SOTTO_EUSAGE, "attack: --shard needs --cache, the folder that all parts share");
    if (out->worker && !out->cache)
        return cli_fail(SOTTO_EUSAGE, "attack: --worker needs --cache, the folder that all workers share");
    if (out->plan && (!out->cache || out->worker || option_given(o, "shard")))
        return cli_fail(SOTTO_EUSAGE, "attack: --plan needs --cache, and takes neither --worker nor --shard");
    if (out->plan && option_given(o, "output"))
        return cli_fail(SOTTO_EUSAGE, "attack: --plan writes no report; omit --output");
    if (out->worker && option_given(o, "output"))
        return cli_fail(SOTTO_EUSAGE,
                        "attack: --worker trains shadow models and writes no report; omit --output");
    return SOTTO_OK;
}

static sotto_status read_image(struct sotto_attack_options *out, const struct options *o)
{
    size_t shape[3];
    TRY_OR_RETURN(image_shape(shape, o));
    out->channels = shape[0], out->height = shape[1], out->width = shape[2];
    return SOTTO_OK;
}

/* The shape of records that are images stands for --image. */
static sotto_status take_image(struct sotto_attack_options *out, const size_t shape[3])
{
    if (!shape[0])
        return SOTTO_OK;
    if (out->channels && (out->channels != shape[0] || out->height != shape[1] || out->width != shape[2]))
        return cli_fail(SOTTO_EUSAGE,
                        "attack: --image states another shape than the records have, %zu,%zu,%zu; omit it",
                        shape[0], shape[1], shape[2]);
    out->channels = shape[0], out->height = shape[1], out->width = shape[2];
    return SOTTO_OK;
}

static sotto_status read_options(struct sotto_attack_options *out, double rates[ATTACK_RATES],
                                 const struct options *o)
{
    sotto_attack_defaults(out);
    out->name = option_argument(o, 0);
    TRY_OR_RETURN(option_members_checked(out, sotto_option_table("attack"), "repeats|flip", o));
    TRY_OR_RETURN(option_members(&out->shadow, sotto_option_table("shadow"), o));
    TRY_OR_RETURN(attack_statistics(&out->audit, rates, o));
    TRY_OR_RETURN(read_image(out, o));
    return read_shard(out, o);
}

/* scores.npy and membership.npy, members first: what `sotto audit --scores --membership` reads. */
static sotto_status save_scores(const char *folder, const double *scores, size_t n_member, size_t n)
{
    struct sotto_array s = {0}, b = {0};
    char path[4096];
    sotto_status status = SOTTO_OK;
    TRY(sotto_array_make(&s, SOTTO_F8, 1, &n));
    TRY(sotto_array_make(&b, SOTTO_U1, 1, &n));
    memcpy(s.data, scores, n * sizeof *scores);
    memset(b.data, 1, n_member);
    snprintf(path, sizeof path, "%s/scores.npy", folder);
    TRY(sotto_npy_save(path, &s));
    snprintf(path, sizeof path, "%s/membership.npy", folder);
    TRY(sotto_npy_save(path, &b));
done:
    sotto_array_clear(&s);
    sotto_array_clear(&b);
    return status;
}

static sotto_status save_memorisation(const char *folder, const struct sotto_audit_result *result)
{
    char path[4096];
    if (snprintf(path, sizeof path, "%s/memorisation.npy", folder) >= (int)sizeof path)
        return cli_fail(SOTTO_ECREATE, "%s: the path is too long", folder);
    return sotto_audit_save_memorisation(path, result);
}

static sotto_status verb_attack_print(const struct sotto_audit_result *result, int finished,
                                      const char *folder, int json)
{
    char *text;
    int table = !json && finished;
    TRY_OR_RETURN(table ? sotto_audit_summary(&text, result) : sotto_audit_encode(&text, result));
    printf(table ? "%s" : "%s\n", text);
    if (table && folder)
        printf("\nreport: %s/report.html\n", folder);
    sotto_text_free(text);
    return SOTTO_OK;
}

/* Lines "  name   summary" as members of a JSON list. */
static void print_json_lines(const char *lines, const char **between)
{
    for (const char *at = lines; *at;) {
        const size_t length = strcspn(at, "\n"), blank = strspn(at, " "), name = strcspn(at + blank, " \n");
        const char *summary = at + blank + name + strspn(at + blank + name, " ");
        if (name)
            printf("%s\n  {\"name\": \"%.*s\", \"summary\": \"%.*s\"}", *between, (int)name, at + blank,
                   (int)(at + length - summary), summary);
        *between = ",";
        at += length + (at[length] == '\n');
    }
}

/* Rows of the library, then those of parts. */
static sotto_status verb_attack_list(int json)
{
    char *text;
    const char *between = "";
    const struct verb_part *part;
    TRY_OR_RETURN(sotto_attack_table(&text));
    if (json) {
        printf("{\"attacks\": [");
        print_json_lines(text, &between);
    } else
        printf("%s", text);
    for (size_t i = 0; (part = verb_part_of("attack", i)); i++)
        if (part->lines && json)
            print_json_lines(part->lines, &between);
        else if (part->lines)
            printf("%s", part->lines);
    if (json)
        printf("\n]}\n");
    sotto_text_free(text);
    return SOTTO_OK;
}

/* On several ranks each is a worker, also rank 0 before it merges: so it fails by what the others fail by, before it writes. Its
 * queries are not those of the report, as they are not with other workers. */
static sotto_status train_shadows(const struct sotto_attack_options *options, const struct options *o,
                                  const struct sotto_context *ctx)
{
    struct attack_inputs in = {0};
    struct sotto_attack_options worker = *options;
    struct sotto_audit_result result = {0};
    double *scores = NULL;
    int finished;
    worker.worker = 1;
    sotto_status status = SOTTO_OK;
    TRY(attack_inputs_load(&in, o, ctx));
    TRY(take_image(&worker, in.image));
    if (!(scores = calloc(in.input.member.n + in.input.nonmember.n, sizeof *scores)))
        TRY(cli_fail(SOTTO_ENOMEM, "attack: out of memory for scores"));
    TRY(sotto_attack(&result, scores, &finished, &in.input, &worker, ctx));
done:
    sotto_audit_result_free(&result);
    free(scores);
    attack_inputs_clear(&in);
    return status;
}

static sotto_status verb_attack_run(const struct options *o, const struct sotto_context *ctx, int json)
{
    if (!cli_writes() && (strcmp(option_argument(o, 0), "list") == 0 || option_flag(o, "plan")))
        return SOTTO_OK;
    if (strcmp(option_argument(o, 0), "list") == 0)
        return verb_attack_list(json);
    struct attack_inputs in = {0};
    struct sotto_attack_options options;
    double rates[ATTACK_RATES], *scores = NULL;
    struct sotto_audit_result result = {0};
    int finished = 0;
    const char *folder = option_text(o, "output");
    sotto_status status = SOTTO_OK;
    if (cli_writes())
        TRY(option_check_report(o));
    TRY(read_options(&options, rates, o));
    if (cli_shares() && !options.plan)
        TRY(train_shadows(&options, o, ctx));
    if (!cli_writes())
        goto done;
    TRY(attack_inputs_load(&in, o, ctx));
    TRY(take_image(&options, in.image));
    size_t n_member = in.input.member.n, n = n_member + in.input.nonmember.n;
    if (!(scores = calloc(n, sizeof *scores)))
        TRY(cli_fail(SOTTO_ENOMEM, "attack: out of memory for %zu scores", n));
    TRY(sotto_attack(&result, scores, &finished, &in.input, &options, ctx));
    if (finished && folder) {
        const struct sotto_audit_facts facts = {.title = option_text(o, "title"),
                                                .inputs = in.files,
                                                .inputs_count = in.file_count,
                                                .command = option_shown_command(o)};
        TRY(sotto_report_audit(folder, &result, &facts));
        TRY(save_scores(folder, scores, n_member, n));
        if (options.audit.memorisation)
            TRY(save_memorisation(folder, &result));
    }
    TRY(verb_attack_print(&result, finished, folder, json));
done:
    sotto_audit_result_free(&result);
    free(scores);
    attack_inputs_clear(&in);
    return status;
}

/* Records to judge, and records of the attacker. */
#define RECORDS "member-features|member-labels|nonmember-features|nonmember-labels"
#define ATTACKERS "attacker-features|attacker-labels"
static const struct subcommand subcommands[] = {
    {"list", "", "list all attacks with what each needs", "json"},
    {"lira|rmia|lira-offline|rmia-offline", "",
     "compare the target with many shadow models, record by record",
     "target|target-command|" RECORDS "|" ATTACKERS "|shadows|views|cache|worker|fpr|seed|output"},
    {"shokri|shokri-log|ml-leaks-1|ml-leaks-2|ml-leaks-combined|long", "",
     "train shadow models on the attacker's records, and an attack model on their answers",
     "target|target-command|" RECORDS "|" ATTACKERS "|shadows|shadow-data|cache|worker|fpr|seed|output"},
    {"ml-leaks-3", "", "compare the answers with those to random inputs; needs no shadow model",
     "target|target-command|" RECORDS "|budget|arrays|fpr|seed|output"},
    {"loss-trajectory|metric-trajectory", "",
     "follow the loss of each record while students learn from the target",
     "target|" RECORDS "|" ATTACKERS "|snapshots|cache|fpr|seed|output"},
    {"boundary|noise|augmentation|transfer|label-combined", "", "use only the class that the target answers",
     "target|target-command|classes|budget|" RECORDS "|" ATTACKERS "|queries|image|cache|seed|output"},
    {"gradient-norm|white-box|stolen-memories|stolen-memories-layers", "",
     "read gradients, activations or weights of the target",
     "target|" RECORDS "|" ATTACKERS "|known-member-features|known-member-labels|known-nonmember-features|"
     "known-nonmember-labels|layers|explain|shadows|output"},
    {NULL}};

const struct verb verb_attack = {
    .name = "attack",
    .summary =
        "attack a model by queries, shadow models or its weights; needs the model, not only saved outputs",
    .arguments = "NAME|list",
    .min_arguments = 1,
    .max_arguments = 1,
    .examples = "  sotto attack ml-leaks-3 --target head.safetensors --member-features xm.npy "
                "--member-labels ym.npy --nonmember-features xn.npy --nonmember-labels yn.npy -o attack1\n"
                "  sotto attack lira --target head.safetensors --member-features xm.npy --member-labels "
                "ym.npy --nonmember-features xn.npy --nonmember-labels yn.npy --cache shadows -o lira\n"
                "  sotto attack lira --target head.safetensors --member-features xm.npy ... --cache shadows "
                "--worker\n"
                "  sotto attack shokri --target head.safetensors --member-features xm.npy ... "
                "--attacker-features xa.npy --attacker-labels ya.npy --cache shadows -o shokri\n"
                "  sotto attack loss-trajectory --target model.safetensors --member-features xm.npy ... "
                "--attacker-features xa.npy --attacker-labels ya.npy -o trajectory\n"
                "  sotto attack ml-leaks-3 --target-command 'sotto-serve-torch model.pt' --budget 20000 "
                "--member-features xm.npy ...\n"
                "  sotto attack boundary --target-command 'sotto-serve-torch model.pt' --budget 200000 "
                "--member-features xm.npy ... -o boundary\n"
                "  sotto attack noise --shuffle --target-command 'monitored-service model.pt' "
                "--spread 20 --dilute 0.2 --cover more.npy --member-features xm.npy ...\n"
                "  sotto attack white-box --target model.safetensors --known-member-features kx.npy "
                "--known-member-labels ky.npy --known-nonmember-features lx.npy --known-nonmember-labels "
                "ly.npy --member-features xm.npy ... -o attack2\n"
                "  sotto attack stolen-memories-layers --target model.safetensors --attacker-features xa.npy "
                "--attacker-labels ya.npy --member-features xm.npy ... --explain 5 -o attack4\n"
                "  sotto attack list",
    .floor = FLOOR_MEASURE,
    .ranks = WORKERS,
    .own = "classes|budget|cover",
    .options = rows,
    .subcommands = subcommands,
    .run = verb_attack_run};
