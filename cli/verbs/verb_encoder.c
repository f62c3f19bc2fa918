/* sotto encoder import: weights that another program trained, as an encoder of sotto. */
#include "inputs/image_inputs.h"

#include <stdio.h>
#include <string.h>

static const struct option_row rows[] = {
    OPTION_TABLE("encoder_import", NULL),
    OPTION_GROUP("Output"),
    {"output", OPTION_TEXT, "FILE", NULL, "encoder.safetensors to write"},
    OPTION_END};

static void print_result(const struct sotto_encoder_import_report *r, const struct sotto_encoder *e,
                         const char *path, const struct sotto_encoder_import_options *o, int json)
{
    if (json) {
        printf("{\"schema\": \"sotto.import/1\", \"model\": \"%s\", \"names\": \"%s\", \"width\": %zu, "
               "\"tensors\": %zu, "
               "\"ignored\": %zu, \"counters\": %zu, \"weights_sha256\": \"%s\"}\n",
               o->model, r->names, sotto_encoder_width(e), r->tensors, r->ignored, r->counters,
               sotto_encoder_sha256(e));
        return;
    }
    printf("%s: %s with embeddings of width %zu, from %zu tensors under the names of %s; stated by the user: "
           "%s\n",
           path, o->model, sotto_encoder_width(e), r->tensors, r->names, o->statement);
    if (r->ignored > 0)
        printf("ignored, as an encoder ends below its head: %s\n", r->ignored_names);
    if (r->counters > 0)
        printf("ignored, as inference does not read them: %zu counters num_batches_tracked\n", r->counters);
}

static sotto_status verb_encoder_import(const struct options *o, const struct sotto_context *ctx, int json)
{
    struct sotto_encoder_import_options options = {0};
    struct sotto_encoder_import_report report;
    struct sotto_encoder *encoder = NULL;
    const char *output = option_text(o, "output");
    sotto_status status = SOTTO_OK;
    TRY(option_members(&options, sotto_option_table("encoder_import"), o));
    TRY(image_size(&options.height, &options.width, o));
    TRY(sotto_encoder_import(&encoder, &report, option_argument(o, 1), &options, ctx));
    TRY(sotto_encoder_save(output, encoder));
    /* none is left of a file that was there before */
    TRY(sotto_provenance_save(output, &(struct sotto_provenance){0}));
    print_result(&report, encoder, output, &options, json);
done:
    sotto_encoder_free(encoder);
    return status;
}

static sotto_status verb_encoder_run(const struct options *o, const struct sotto_context *ctx, int json)
{
    static const char *const required[] = {"model", "statement", "output"};
    const char *action = option_argument(o, 0);
    if (strcmp(action, "import") != 0)
        return cli_unknown_action("encoder", action, "import");
    if (option_argument_count(o) < 2)
        return cli_fail(SOTTO_EUSAGE, "encoder import: no file; give the weights, a .safetensors file");
    for (size_t i = 0; i < sizeof required / sizeof *required; i++)
        TRY_OR_RETURN(option_require(o, required[i]));
    return verb_encoder_import(o, ctx, json);
}

static const struct subcommand subcommands[] = {{"import", "WEIGHTS.safetensors",
                                                 "import the weights of a public network as an encoder",
                                                 "model|statement|size|normalise|output|json"},
                                                {NULL}};

const struct verb verb_encoder = {
    .name = "encoder",
    .summary = "import a public network that another program trained, as an encoder",
    .arguments = "import WEIGHTS.safetensors",
    .min_arguments = 1,
    .max_arguments = 2,
    .examples =
        "  sotto encoder import resnet18.safetensors --model resnet18-imagenet --statement \"public, by the "
        "authors of torchvision\" -o encoder.safetensors\n"
        "  sotto encoder import cifar.safetensors --model resnet18 --normalise "
        "0.491,0.482,0.447/0.247,0.243,0.262 --statement \"public, by A. Person\" -o encoder.safetensors\n"
        "  sotto embed --encoder encoder.safetensors --data photos --split train -o X.npy --labels-out y.npy",
    .floor = FLOOR_LEARN,
    .ranks = RANK_0,
    .options = rows,
    .subcommands = subcommands,
    .run = verb_encoder_run};
