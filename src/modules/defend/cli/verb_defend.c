#include "defend_inputs.h"
#include "inputs/head_inputs.h"

#include <stdio.h>
#include <string.h>

static const struct option_row rows[] = {
    OPTION_GROUP("Defence"),
    {"input", OPTION_LIST, "X.npy[:SECRET]", NULL,
     "rows to defend (N, D), posteriors or embeddings; SECRET as in --known, to measure the leakage "
     "(repeatable)"},
    {"known", OPTION_LIST, "X.npy:SECRET", NULL,
     "rows of the same kind known to the defender; SECRET: their protected labels, a .npy or one whole "
     "number for all (1: members, 0: non-members, or the value of an attribute) (repeatable)"},
    {"known-labels", OPTION_LIST, "y.npy", NULL,
     "true classes of the --known rows, one file for each (repeatable)"},
    OPTION_LABELS_FROM_ROW,
    OPTION_TABLE("defence", NULL),
    OPTION_GROUP("Defence"),
    {"list", OPTION_FLAG, NULL, NULL, "table of all defences with their budgets and parameters"},
    OPTION_GROUP("Measurement"),
    {"labels", OPTION_LIST, "y.npy", NULL,
     "true classes of the --input rows, one file for each, for the accuracy (repeatable)"},
    {"head", OPTION_TEXT, "FILE", NULL,
     "head that measures the utility of embeddings (default with --labels and --known-labels: newly trained "
     "linear heads)"},
    {"attacker", OPTION_LIST, "X.npy:SECRET", NULL,
     "training rows of an attacker that infers the protected labels of the inputs (repeatable)"},
    {"adaptive", OPTION_FLAG, NULL, NULL, "second, adaptive attacker, trained on defended rows"},
    OPTION_GROUP("Output"),
    {"output", OPTION_TEXT, "PATH", NULL,
     "defended rows to write; for several inputs, a folder for files of the same names"},
    OPTION_END};

/* Everything that one call makes. */
struct result {
    struct sotto_defence *defence;
    struct sotto_array after, before_answers, after_answers;
    double *cost;
    struct sotto_defence_result measured;
    struct sotto_defence_record record;
};

static void result_clear(struct result *r)
{
    sotto_defence_free(r->defence);
    sotto_array_clear(&r->after);
    sotto_array_clear(&r->before_answers);
    sotto_array_clear(&r->after_answers);
    sotto_defence_record_free(&r->record);
    sotto_defence_result_free(&r->measured);
}

static sotto_status check_options(const struct options *o)
{
    const char *missing = !option_argument_count(o)   ? "a defence by name (sotto defend --list)"
                          : !option_list(o, "input")  ? "--input X.npy"
                          : !option_text(o, "output") ? "--output PATH"
                                                      : NULL;
    if (missing)
        return cli_fail(SOTTO_EUSAGE, "defend: %s is missing", missing);
    if (sotto_defence_of_posteriors(option_argument(o, 0)) == 1 && option_given(o, "head"))
        return cli_fail(SOTTO_EUSAGE,
                        "defend: --head needs embeddings, but %s defends posteriors; omit --head",
                        option_argument(o, 0));
    if (option_flag(o, "adaptive") && !option_given(o, "attacker"))
        return cli_fail(SOTTO_EUSAGE, "defend: --adaptive needs --attacker");
    return SOTTO_OK;
}

static sotto_status verb_defend_fit(struct result *r, const struct defend_inputs *in, const struct options *o,
                                    const struct sotto_context *ctx)
{
    struct sotto_defence_options options;
    struct sotto_defence_known known = defend_known(&in->known);
    sotto_defence_defaults(&options);
    options.name = option_argument(o, 0);
    TRY_OR_RETURN(option_members(&options, sotto_option_table("defence"), o));
    return sotto_defence_fit(&r->defence, &known, &options, ctx);
}

static sotto_status verb_defend_record(struct result *r, const struct defend_inputs *in,
                                       const struct options *o, const struct sotto_context *ctx)
{
    const struct defend_rows *rows_in = &in->rows;
    struct sotto_defence_outcome outcome = {.before = rows_in->x.data,
                                            .after = r->after.data,
                                            .cost = r->cost,
                                            .n = rows_in->n,
                                            .columns = rows_in->d,
                                            .label = rows_in->label.data,
                                            .measured = option_given(o, "attacker") ? &r->measured : NULL};
    if (sotto_defence_of_posteriors(option_argument(o, 0)) == 0)
        TRY_OR_RETURN(
            defend_utility(&r->before_answers, &r->after_answers, in, r->defence, &r->after, o, ctx));
    if (r->before_answers.count) {
        outcome.answers_before = r->before_answers.data;
        outcome.answers_after = r->after_answers.data;
        outcome.classes = r->before_answers.shape[1];
    }
    return sotto_defence_record(&r->record, r->defence, &outcome, in->files, in->file_count);
}

static sotto_status verb_defend_show(const struct sotto_defence_record *record, int json)
{
    char *text;
    TRY_OR_RETURN(json ? sotto_defence_encode(&text, record) : sotto_defence_summary(&text, record));
    printf(json ? "%s\n" : "%s", text);
    sotto_text_free(text);
    return SOTTO_OK;
}

static sotto_status verb_defend_list(void)
{
    char *text;
    TRY_OR_RETURN(sotto_defence_list(&text));
    fputs(text, stdout);
    sotto_text_free(text);
    return SOTTO_OK;
}

static sotto_status verb_defend_run(const struct options *o, const struct sotto_context *ctx, int json)
{
    struct defend_inputs in = {0};
    struct result r = {0};
    struct sotto_array cost = {0};
    if (option_flag(o, "list"))
        return verb_defend_list();
    sotto_status status = SOTTO_OK;
    TRY(check_options(o));
    TRY(defend_inputs_load(&in, o));
    TRY(verb_defend_fit(&r, &in, o, ctx));
    TRY(sotto_array_make(&r.after, SOTTO_F4, 2, in.rows.x.shape));
    TRY(sotto_array_make(&cost, SOTTO_F8, 1, &in.rows.n));
    r.cost = cost.data;
    TRY(sotto_defence_apply(r.after.data, r.cost, r.defence, in.rows.x.data, in.rows.n, in.rows.d, ctx));
    if (option_given(o, "attacker"))
        TRY(defend_measure(&r.measured, &in, r.defence, &r.after, o, ctx));
    TRY(verb_defend_record(&r, &in, o, ctx));
    TRY(defend_outputs_save(&in, &r.after, &r.record, o));
    TRY(verb_defend_show(&r.record, json));
done:
    sotto_array_clear(&cost);
    result_clear(&r);
    defend_inputs_clear(&in);
    return status;
}

static const struct subcommand subcommands[] = {
    {"memguard|uniform-confidence|temperature", "", "change posteriors",
     "input|known|budget|set|labels|attacker|adaptive|seed|key|output|json"},
    {"attriguard|attriguard-table|olympus", "", "change embeddings or the entries of a table",
     "input|known|known-labels|budget|set|labels|head|attacker|adaptive|seed|key|output|json"},
    {NULL}};

const struct verb verb_defend = {
    .name = "defend",
    .summary = "change posteriors or embeddings to leak less: measured, not guaranteed",
    .arguments = "NAME",
    .min_arguments = 0,
    .max_arguments = 1,
    .examples = "  sotto defend --list\n"
                "  sotto defend temperature --input p.npy --set temperature=4 -o q.npy\n"
                "  sotto defend memguard --input p.npy --known members.npy:1 --known others.npy:0 --budget "
                "0.5 -o q.npy\n"
                "  sotto defend memguard --input m.npy:1 --input n.npy:0 --known m.npy:1 --known k.npy:0 "
                "--attacker in.npy:1 --attacker out.npy:0 --adaptive -o defended\n"
                "  sotto defend uniform-confidence --input p.npy --labels y.npy -o q.npy\n"
                "  sotto defend attriguard --input e.npy --known k.npy:a.npy --budget 0.5 -o defended.npy",
    .floor = FLOOR_MODULES,
    .ranks = RANK_0,
    .own = "input|known|known-labels|list|labels|head|attacker|adaptive",
    .options = rows,
    .subcommands = subcommands,
    .run = verb_defend_run};
