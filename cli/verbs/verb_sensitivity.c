#include "inputs/head_inputs.h"
#include "inputs/shard.h"

#include <stdio.h>
#include <string.h>

static const struct option_row rows[] = {
    OPTION_ROWS(head_data_rows),
    OPTION_GROUP("Sampling"),
    {"head", OPTION_TEXT, "FILE", NULL, "head that states the recipe; without it, give the recipe's options"},
    {"pairs", OPTION_COUNT, "M", NULL, "number of pairs of heads to train"},
    {"local", OPTION_FLAG, NULL, NULL,
     "local sensitivity, of these very records, which is no privacy parameter; it is the largest change when "
     "one of them is left out or replaced, and 'sotto protect' refuses it"},
    OPTION_TABLE("sensitivity", "cache|worker|shard|plan"),
    OPTION_TABLE("local_sensitivity", "sample"),
    OPTION_TABLE("head_recipe",
                 "trainer|hidden|epochs|batch|lr|seed|clip|bias-constant|lambda|steps|step-size|tolerance"),
    OPTION_GROUP("Output"),
    {"output", OPTION_TEXT, "FILE", NULL, "sensitivity.json to write"},
    OPTION_END};

static sotto_status recipe_of(struct sotto_head_recipe *r, const struct sotto_head *h, struct head_inputs *in,
                              const struct options *o)
{
    static const char *const members[] = {"trainer", "hidden",    "epochs",   "batch",         "lr",
                                          "seed",    "classes",   "clip",     "bias-constant", "lambda",
                                          "steps",   "step-size", "tolerance"};
    const char *path = option_text(o, "head");
    if (!h) {
        TRY_OR_RETURN(head_recipe_read(r, o));
        return head_recipe_refuse_unused(r, o);
    }
    for (size_t i = 0; i < sizeof members / sizeof *members; i++)
        if (option_given(o, members[i]))
            return cli_fail(SOTTO_EUSAGE,
                            "--head cannot be combined with --%s, as the head contains its recipe",
                            members[i]);
    if (!sotto_head_get_recipe(h))
        return cli_fail(SOTTO_EINVAL,
                        "%s: the recipe of this head is unknown (it was not written by 'sotto head'); give "
                        "the recipe's options instead of --head",
                        path);
    if (in->d != sotto_head_inputs(h) || in->classes > sotto_head_classes(h))
        return cli_fail(SOTTO_EINVAL, "%s has %zu columns and %zu classes; %s expects %zu and %zu",
                        option_text(o, "features"), in->d, in->classes, path, sotto_head_inputs(h),
                        sotto_head_classes(h));
    in->classes = sotto_head_classes(h);
    *r = *sotto_head_get_recipe(h);
    return SOTTO_OK;
}

static void print_text(const struct sotto_sensitivity_sample *s, const char *output)
{
    printf("%s: empirical sensitivity over %zu replace-one pairs (evidence, not differential privacy)\n",
           output, s->pairs);
    printf("  L1 %.6g   L2 %.6g   Linf %.6g   (means: L1 %.6g, L2 %.6g)\n", s->l1, s->l2, s->linf, s->mean_l1,
           s->mean_l2);
    printf("  share of pairs with a larger change: at most %.4g (DKW, as published), %.4g (exchangeability, "
           "on average), %.4g (with %.0f %% confidence)\n",
           s->gamma_dkw, s->gamma_exchangeable, s->gamma_tolerance, 100 * s->confidence);
    printf("  possible meanings of the published 1-norm and 2-norm (no guarantee follows from these):\n");
    for (int i = 0; i < SOTTO_PAPER_NORMS; i++)
        printf("    %-52s %10.4g / %-10.4g ratio %.3g\n", sotto_paper_norm_title((enum sotto_paper_norm)i),
               s->paper[i].one, s->paper[i].two, s->paper[i].two > 0 ? s->paper[i].one / s->paper[i].two : 0);
    printf("    %-52s %10.4g / %-10.4g ratio %.3g\n", "entrywise (as the theorem requires)", s->l1, s->l2,
           s->l2 > 0 ? s->l1 / s->l2 : 0);
    if (s->on_private_data > 0)
        printf(
            "  sampled on the head's own private data: a noise scale derived from it depends on that data\n");
    else if (s->on_private_data < 0)
        printf("  sampled on other data than the head's training data: it proves nothing about the head's "
               "data\n");
}

static sotto_status verb_sensitivity_print_json(const struct sotto_sensitivity_sample *s)
{
    char *text;
    TRY_OR_RETURN(sotto_sensitivity_json(&text, s));
    printf("%s\n", text);
    sotto_text_free(text);
    return SOTTO_OK;
}

/* Without records to sample from: what is proved about the head. */
static sotto_status verb_sensitivity_prove(const struct options *o, const struct sotto_head *h, int json)
{
    struct sotto_sensitivity_sample s;
    const char *output = option_text(o, "output");
    TRY_OR_RETURN(sotto_sensitivity_prove(&s, h));
    TRY_OR_RETURN(sotto_sensitivity_save(output, &s));
    if (json)
        return verb_sensitivity_print_json(&s);
    printf("%s: proved sensitivity for replacing one of %zu records\n"
           "  L1 %.6g   L2 %.6g   (of which rounding: %.2g)\n",
           output, s.records, s.l1, s.l2, s.rounding);
    return SOTTO_OK;
}

static void print_local(const struct sotto_local_sensitivity *s, const char *output)
{
    printf("%s: local sensitivity of this head on these %zu records, %s\n", output, s->records,
           s->tried == s->records ? "all of them tried" : "a sample of them tried: at least");
    printf("  a record left out                L1 %.6g   L2 %.6g   Linf %.6g\n", s->left_out_l1,
           s->left_out_l2, s->left_out_linf);
    printf("  a record replaced by another     L1 %.6g   L2 %.6g   Linf %.6g\n", s->replaced_l1,
           s->replaced_l2, s->replaced_linf);
    printf("  not a privacy parameter: noise scaled to it is not differentially private\n");
}

/* What the records at hand can change: of interest beside a sensitivity, and no substitute for one. */
static sotto_status measure_local(const struct options *o, const struct sotto_head_recipe *recipe,
                                  const struct head_inputs *in, const struct sotto_context *ctx, int json)
{
    struct sotto_local_sensitivity s;
    const char *output = option_text(o, "output");
    char *text;
    if (option_given(o, "pairs"))
        return cli_fail(SOTTO_EUSAGE,
                        "sensitivity: --local tries records, not pairs; give --sample instead of --pairs");
    TRY_OR_RETURN(sotto_sensitivity_local(&s, in->x.data, in->y.data, in->n, in->d, in->classes, recipe,
                                          (size_t)option_count(o, "sample"), ctx));
    TRY_OR_RETURN(sotto_local_sensitivity_save(output, &s));
    if (!json) {
        print_local(&s, output);
        return SOTTO_OK;
    }
    TRY_OR_RETURN(sotto_local_sensitivity_json(&text, &s));
    printf("%s\n", text);
    sotto_text_free(text);
    return SOTTO_OK;
}

/* Each rank but the first, which merges, is a worker. */
static sotto_status check_ranks(struct sotto_sensitivity_options *out, const struct options *o)
{
    if (!out->plan && (!out->cache || !option_given(o, "pairs")))
        return cli_fail(SOTTO_EUSAGE,
                        "sensitivity: several ranks share blocks of pairs through a folder; give --pairs and "
                        "--cache, or start it without the launcher");
    out->worker |= !cli_writes();
    return SOTTO_OK;
}

static sotto_status read_share(struct sotto_sensitivity_options *out, const struct options *o)
{
    *out = (struct sotto_sensitivity_options){0};
    TRY_OR_RETURN(option_members(out, sotto_option_table("sensitivity"), o));
    TRY_OR_RETURN(shard_read(&out->shard, &out->shards, o));
    if (!out->cache && (out->worker || out->shards > 1))
        return cli_fail(
            SOTTO_EUSAGE,
            "sensitivity: --worker and --shard need --cache, the folder that all processes share");
    if (out->worker && option_given(o, "shard"))
        return cli_fail(SOTTO_EUSAGE, "sensitivity: --worker takes any open block; omit --shard");
    if (out->plan && (out->worker || option_given(o, "shard")))
        return cli_fail(SOTTO_EUSAGE, "sensitivity: --plan takes neither --worker nor --shard");
    if ((out->worker || out->plan) && option_given(o, "output"))
        return cli_fail(SOTTO_EUSAGE, "sensitivity: --worker and --plan write no output; omit --output");
    if ((out->cache || out->plan) && (option_flag(o, "local") || !option_given(o, "pairs")))
        return cli_fail(SOTTO_EUSAGE,
                        "sensitivity: --cache and --plan are for sampled pairs; give --pairs, without "
                        "--local");
    return cli_shares() ? check_ranks(out, o) : SOTTO_OK;
}

static sotto_status verb_sensitivity_plan(const struct head_inputs *in,
                                          const struct sotto_head_recipe *recipe, size_t pairs,
                                          const struct sotto_sensitivity_options *share,
                                          const struct sotto_context *ctx, int json)
{
    struct sotto_sensitivity_plan p;
    TRY_OR_RETURN(sotto_sensitivity_plan(&p, in->x.data, in->y.data, in->n, in->d, in->classes, recipe, pairs,
                                         share, ctx));
    if (json)
        printf("{\"schema\": \"sotto.pairs-plan/1\", \"pairs\": %zu, \"tasks\": %zu, \"missing\": %zu, "
               "\"seconds_each\": %.6g, \"bytes\": %.0f, "
               "\"hours\": {\"1\": %.4g, \"8\": %.4g, \"64\": %.4g}}\n",
               pairs, p.blocks, p.missing, p.seconds_each, p.bytes, sotto_sensitivity_plan_hours(&p, 1),
               sotto_sensitivity_plan_hours(&p, 8), sotto_sensitivity_plan_hours(&p, 64));
    else
        printf("%zu pairs in %zu blocks, of which %zu are missing; %.3g s each; nothing was written\n"
               "missing blocks: %.3g h with 1 worker, %.3g h with 8, %.3g h with 64 (predicted); all %.3g MB "
               "on disk\n",
               pairs, p.blocks, p.missing, p.seconds_each, sotto_sensitivity_plan_hours(&p, 1),
               sotto_sensitivity_plan_hours(&p, 8), sotto_sensitivity_plan_hours(&p, 64), p.bytes / 1e6);
    return SOTTO_OK;
}

/* missing: pairs that other processes have not tried yet; 0 without a folder that they share. */
static sotto_status try_pairs(struct sotto_sensitivity_sample *out, size_t *missing,
                              const struct head_inputs *in, const struct sotto_head_recipe *recipe,
                              const struct sotto_sensitivity_options *share, size_t pairs,
                              const struct sotto_context *ctx)
{
    *missing = 0;
    if (!share->cache)
        return sotto_sensitivity_run(out, in->x.data, in->y.data, in->n, in->d, in->classes, recipe, pairs,
                                     ctx);
    return sotto_sensitivity_share(out, missing, in->x.data, in->y.data, in->n, in->d, in->classes, recipe,
                                   pairs, share, ctx);
}

static void print_missing(size_t missing, const struct options *o, int json)
{
    printf(json ? "{\"schema\": \"sotto.pairs/1\", \"pairs\": %llu, \"missing\": %zu}\n"
                : "%llu pairs, of which %zu are missing; the same command without --worker and --shard "
                  "merges\n",
           (unsigned long long)option_count(o, "pairs"), missing);
}

/* The pairs' result: what a head says of it, and the files. */
static sotto_status verb_sensitivity_finish(struct sotto_sensitivity_sample *sample,
                                            const struct sotto_head *h, const struct head_inputs *in,
                                            const struct options *o, int json)
{
    const char *output = option_text(o, "output");
    if (h && sotto_head_data_sha256(h)[0])
        sample->on_private_data = strcmp(sotto_head_data_sha256(h), sample->data_sha256) == 0 ? 1 : -1;
    TRY_OR_RETURN(sotto_sensitivity_save(output, sample));
    TRY_OR_RETURN(sotto_provenance_save(output, &in->provenance));
    if (json)
        return verb_sensitivity_print_json(sample);
    print_text(sample, output);
    return SOTTO_OK;
}

/* By pairs of heads: all of them, a worker's share, or how long they will take. */
static sotto_status verb_sensitivity_sample(const struct sotto_head *h, const struct head_inputs *in,
                                            const struct sotto_head_recipe *recipe,
                                            const struct sotto_sensitivity_options *share,
                                            const struct options *o, const struct sotto_context *ctx,
                                            int json)
{
    struct sotto_sensitivity_sample found;
    const size_t pairs = (size_t)option_count(o, "pairs");
    size_t missing = 0;
    if (share->plan)
        return verb_sensitivity_plan(in, recipe, pairs, share, ctx, json);
    TRY_OR_RETURN(try_pairs(&found, &missing, in, recipe, share, pairs, ctx));
    if (!share->worker && missing == 0)
        return verb_sensitivity_finish(&found, h, in, o, json);
    if (cli_writes())
        print_missing(missing, o, json);
    return SOTTO_OK;
}

static sotto_status verb_sensitivity_run(const struct options *o, const struct sotto_context *ctx, int json)
{
    struct head_inputs in = {0};
    struct sotto_head *h = NULL;
    struct sotto_head_recipe recipe;
    struct sotto_sensitivity_options share;
    const int local = option_flag(o, "local");
    sotto_status status = SOTTO_OK;
    TRY(read_share(&share, o));
    if (share.plan && !cli_writes())
        return SOTTO_OK;
    if (!share.worker && !share.plan)
        TRY(option_require(o, "output"));
    if (option_given(o, "head"))
        TRY(sotto_head_load(&h, option_text(o, "head")));
    if (option_given(o, "sample") && !local)
        TRY(cli_fail(SOTTO_EUSAGE, "sensitivity: --sample needs --local"));
    if (h && sotto_head_records(h) > 0 && !option_given(o, "pairs") && !local) {
        status = verb_sensitivity_prove(o, h, json);
        goto done;
    }
    if (!local)
        TRY(option_require(o, "pairs"));
    TRY(head_inputs_load(&in, o, 0));
    TRY(recipe_of(&recipe, h, &in, o));
    TRY(local ? measure_local(o, &recipe, &in, ctx, json)
              : verb_sensitivity_sample(h, &in, &recipe, &share, o, ctx, json));
done:
    sotto_head_free(h);
    head_inputs_clear(&in);
    return status;
}

const struct verb verb_sensitivity = {
    .name = "sensitivity",
    .summary = "find how far one record moves the weights of a head, sampled or proved; only a proved value "
               "can prove privacy",
    .arguments = "",
    .examples =
        "  sotto sensitivity --head head.safetensors --features X.npy --labels y.npy --pairs 100 -o s.json\n"
        "  sotto sensitivity --head convex.safetensors -o proved.json\n"
        "  sotto sensitivity --head head.safetensors --features X.npy --labels y.npy --local -o local.json\n"
        "  sotto sensitivity --features X.npy --labels y.npy --epochs 20 --batch 500 --pairs 500 -o s.json",
    .floor = FLOOR_LEARN,
    .ranks = WORKERS,
    .own = "features|labels|classes|head|pairs|local",
    .options = rows,
    .most_used =
        "head|features|labels|indices|classes|pairs|local|trainer|epochs|batch|lr|seed|cache|worker|output",
    .run = verb_sensitivity_run};
