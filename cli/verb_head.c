#include "head_inputs.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static const struct option_row rows[] = {
    HEAD_DATA_ROWS,
    HEAD_RECIPE_ROWS,
    {"encoder", OPTION_TEXT, "FILE", NULL, "encoder that made the features: its SHA-256 goes into the head",
     NULL},
    {"noise", OPTION_TEXT, "NAME", "gaussian",
     "dp: gaussian or logistic; on second moments also laplace (the default of taylor)", NULL},
    {"noise-mode", OPTION_TEXT, "MODE", "exact",
     "dp: exact, or fast: a hundred times faster, without defence against floating-point attacks", NULL},
    {"max-grad-norm", OPTION_REAL, "C", "1", "dp: a record's gradient of a larger L2 norm is scaled to it",
     "clip-norm"},
    {"noise-multiplier", OPTION_REAL, "M", NULL, "dp: noise scale / C (sigma / C, s / C)", NULL},
    {"target-epsilon", OPTION_REAL, "E", NULL, "dp: instead: the smallest noise that keeps E", NULL},
    {"delta", OPTION_REAL, "D", "1e-05", "dp: delta of the guarantee", NULL},
    {"adjacency", OPTION_TEXT, "NAME", NULL,
     "dp-sgd, dp-adam: add-remove (their default) or replace-one; all others: replace-one", NULL},
    {"sampling", OPTION_TEXT, "NAME", "poisson",
     "dp-sgd, dp-adam: poisson: every record with probability batch / records; fixed: batch records every "
     "time, for replace-one",
     NULL},
    {"momentum", OPTION_REAL, "M", "0", "dp-sgd: momentum of the noisy gradient", NULL},
    {"cross-weight", OPTION_REAL, "W", "1", "covariance: weight of sums by class against products", NULL},
    {"dataset-id", OPTION_TEXT, "NAME", NULL,
     "dp: name of the private data set in the ledger (default: SHA-256 of features and labels)", NULL},
    {"ledger", OPTION_TEXT, "FILE", NULL, "dp: default: $XDG_DATA_HOME/sotto/ledger/FINGERPRINT.jsonl", NULL},
    {"budget-epsilon", OPTION_REAL, "E", NULL, "dp: refuse if the ledger would add up to more (exit 77)",
     NULL},
    {"budget-delta", OPTION_REAL, "D", "0", "delta of that budget", NULL},
    {"purpose", OPTION_TEXT, "TEXT", NULL, "dp: recorded in the ledger", NULL},
    {"insecure-noise-seed", OPTION_COUNT, "N", NULL,
     "dp: NO PRIVACY: seeded noise for tests and papers; stamps every output", NULL},
    {"output", OPTION_TEXT, "FILE", NULL, "head.safetensors to write (PyTorch's nn.Sequential names)", NULL},
    {NULL, OPTION_FLAG, NULL, NULL, NULL, NULL}};

static void print_result(const struct sotto_head *h, const struct head_inputs *in, double accuracy,
                         size_t parameters, const char *output, int json)
{
    if (json)
        printf(
            "{\"schema\": \"sotto.head-result/1\", \"records\": %zu, \"inputs\": %zu, \"classes\": %zu, "
            "\"parameters\": %zu, \"train_accuracy\": %.9g, \"recipe_hash\": \"%s\", \"data_fingerprint\": "
            "\"%s\"}\n",
            in->n, in->d, in->classes, parameters, accuracy, sotto_head_recipe_hash(h),
            sotto_head_fingerprint(h));
    else
        printf("%s: %zu parameters, trained on %zu records of %zu classes, training accuracy %.4f\n"
               "recipe %.16s..., data %.16s...\n",
               output, parameters, in->n, in->classes, accuracy, sotto_head_recipe_hash(h),
               sotto_head_fingerprint(h));
}

static const char *const private_options[] = {
    "noise",        "noise-mode", "max-grad-norm",       "noise-multiplier", "target-epsilon",
    "delta",        "momentum",   "dataset-id",          "ledger",           "budget-epsilon",
    "budget-delta", "purpose",    "insecure-noise-seed", "cross-weight",     "adjacency",
    "sampling"};

static sotto_status read_privacy(struct sotto_head_privacy *p, struct sotto_head_recipe *r,
                                 const struct options *o)
{
    if (option_given(o, "noise-multiplier") == option_given(o, "target-epsilon"))
        return cli_fail(SOTTO_EUSAGE, "head: give exactly one of --noise-multiplier and --target-epsilon");
    bool moments = sotto_head_trainer_private(r->trainer) == 2;
    if (moments && (option_given(o, "momentum") || option_given(o, "max-grad-norm") ||
                    option_given(o, "noise-mode") || option_given(o, "sampling")))
        return cli_fail(SOTTO_EUSAGE,
                        "head: --momentum, --max-grad-norm, --noise-mode and --sampling belong to --trainer "
                        "dp-sgd and dp-adam");
    r->noise = moments && !option_given(o, "noise") ? NULL : option_text(o, "noise");
    r->cross = option_real(o, "cross-weight");
    r->max_grad_norm = option_real(o, "max-grad-norm");
    r->noise_multiplier = option_given(o, "noise-multiplier") ? option_real(o, "noise-multiplier") : 0;
    r->momentum = option_real(o, "momentum");
    *p = (struct sotto_head_privacy){
        .target = {option_given(o, "target-epsilon") ? option_real(o, "target-epsilon") : NAN,
                   option_real(o, "delta")},
        .fingerprint = option_text(o, "dataset-id"),
        .ledger = option_text(o, "ledger"),
        .purpose = option_text(o, "purpose"),
        .insecure = option_given(o, "insecure-noise-seed"),
        .insecure_seed = option_count(o, "insecure-noise-seed")};
    const char *adjacency = option_given(o, "adjacency") ? option_text(o, "adjacency") : "";
    sotto_status status = sotto_sampling_find(&p->sampling, option_text(o, "sampling"));
    if (status != SOTTO_OK)
        return status;
    if (p->sampling == SOTTO_SAMPLING_FIXED && strcmp(adjacency, "add-remove") == 0)
        return cli_fail(
            SOTTO_EUSAGE,
            "head: --sampling fixed is accounted for a replaced record only; expected --adjacency "
            "replace-one, or --sampling poisson");
    p->replace_one = moments || p->sampling == SOTTO_SAMPLING_FIXED || strcmp(adjacency, "replace-one") == 0;
    if (adjacency[0] && strcmp(adjacency, p->replace_one ? "replace-one" : "add-remove") != 0)
        return cli_fail(SOTTO_EUSAGE,
                        "head: --adjacency %s is not known for trainer %s; expected %sreplace-one", adjacency,
                        r->trainer, moments ? "" : "add-remove or ");
    if (option_given(o, "budget-epsilon"))
        p->budget = (struct sotto_dp){option_real(o, "budget-epsilon"), option_real(o, "budget-delta")};
    return sotto_noise_mode_find(&p->noise_mode, option_text(o, "noise-mode"));
}

/* What a reader of the head has to know about its inputs. */
static sotto_status describe(struct sotto_head *h, const struct options *o)
{
    struct sotto_table_encoding *e = NULL;
    char *json = NULL;
    sotto_status status =
        option_given(o, "encoder") ? sotto_head_set_encoder_file(h, option_text(o, "encoder")) : SOTTO_OK;
    if (status == SOTTO_OK)
        status = sotto_table_encoding_beside(&e, option_text(o, "features"));
    if (status == SOTTO_OK && e && sotto_table_encoding_width(e) == sotto_head_inputs(h) &&
        sotto_table_encoding_classes(e) == sotto_head_classes(h)) {
        status = sotto_table_encoding_text(&json, e);
        if (status == SOTTO_OK)
            status = sotto_head_set_encoding(h, json);
    }
    sotto_text_free(json);
    sotto_table_encoding_free(e);
    return status;
}

/* The head is the release: nothing else that depends on the records is printed. */
static sotto_status train_private(struct sotto_head **h, const struct head_inputs *in,
                                  struct sotto_head_recipe *r, const struct options *o,
                                  const struct sotto_context *ctx, int json)
{
    const char *output = option_text(o, "output");
    struct sotto_head_privacy privacy;
    char *certificate = NULL, *line = NULL;
    sotto_status status = read_privacy(&privacy, r, o);
    if (status == SOTTO_OK)
        status = sotto_head_train_private(h, &certificate, in->x.data, in->y.data, in->n, in->d, in->classes,
                                          r, &privacy, ctx);
    if (status == SOTTO_OK)
        status = describe(*h, o);
    if (status == SOTTO_OK)
        status = sotto_head_save_private(output, *h, certificate);
    if (status == SOTTO_OK)
        status = sotto_certificate_summary(&line, certificate);
    if (status == SOTTO_OK && json)
        fputs(certificate, stdout);
    else if (status == SOTTO_OK)
        printf("%s: %s\ncertificate: %s.certificate.json\n", output, line, output);
    sotto_text_free(certificate);
    sotto_text_free(line);
    return status;
}

static sotto_status train_open(struct sotto_head **h, const struct head_inputs *in,
                               const struct sotto_head_recipe *r, const struct options *o,
                               const struct sotto_context *ctx, int json)
{
    const char *output = option_text(o, "output");
    size_t parameters = 0;
    double accuracy = 0;
    for (size_t i = 0; i < sizeof private_options / sizeof *private_options; i++)
        if (option_given(o, private_options[i]))
            return cli_fail(
                SOTTO_EUSAGE,
                "head: --%s belongs to trainers with noise (dp-sgd, covariance, ...); %s draws none",
                private_options[i], r->trainer);
    sotto_status status = sotto_head_train(h, in->x.data, in->y.data, in->n, in->d, in->classes, r, ctx);
    if (status == SOTTO_OK)
        status = describe(*h, o);
    if (status == SOTTO_OK)
        status = sotto_head_accuracy(&accuracy, *h, in->x.data, in->y.data, in->n, in->d);
    if (status == SOTTO_OK)
        status = sotto_head_save(output, *h);
    if (status == SOTTO_OK) {
        sotto_head_parameters(*h, &parameters);
        print_result(*h, in, accuracy, parameters, output, json);
    }
    return status;
}

static sotto_status run(const struct options *o, const struct sotto_context *ctx, int json)
{
    struct head_inputs in = {0};
    struct sotto_head *h = NULL;
    struct sotto_head_recipe recipe;
    sotto_status status = option_require(o, "output");
    if (status == SOTTO_OK)
        status = head_recipe_read(&recipe, o);
    if (status == SOTTO_OK)
        status = head_inputs_load(&in, o);
    if (status == SOTTO_OK)
        status = sotto_head_trainer_private(recipe.trainer) ? train_private(&h, &in, &recipe, o, ctx, json)
                                                            : train_open(&h, &in, &recipe, o, ctx, json);
    sotto_head_free(h);
    head_inputs_clear(&in);
    return status;
}

const struct verb verb_head = {
    .name = "head",
    .summary = "fit a softmax head (linear or MLP) on embeddings",
    .arguments = "",
    .examples =
        "  sotto head --features X.npy --labels y.npy -o head.safetensors\n"
        "  sotto head --features X.npy --labels y.npy --hidden 512 --epochs 300 -o head.safetensors\n"
        "  sotto head --features X.npy --labels y.npy --trainer convex --lambda 0.01 -o head.safetensors\n"
        "  sotto head --features X.npy --labels y.npy --trainer dp-adam --batch 256 --target-epsilon 3 -o "
        "head.safetensors\n"
        "  sotto head --features X.npy --labels y.npy --indices private.npy -o head.safetensors",
    .options = rows,
    .run = run};
