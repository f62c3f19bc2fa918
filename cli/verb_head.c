#include "head_inputs.h"

#include <stdio.h>

static const struct option_row rows[] = {
    HEAD_DATA_ROWS,
    HEAD_RECIPE_ROWS,
    {"encoder", OPTION_TEXT, "FILE", NULL, "encoder that made the features: its SHA-256 goes into the head",
     NULL},
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

static sotto_status run(const struct options *o, const struct sotto_context *ctx, int json)
{
    struct head_inputs in = {0};
    struct sotto_head *h = NULL;
    struct sotto_head_recipe recipe;
    const char *output = option_text(o, "output");
    size_t parameters = 0;
    double accuracy = 0;
    sotto_status status = option_require(o, "output");
    if (status == SOTTO_OK)
        status = head_recipe_read(&recipe, o);
    if (status == SOTTO_OK)
        status = head_inputs_load(&in, o);
    if (status == SOTTO_OK)
        status = sotto_head_train(&h, in.x.data, in.y.data, in.n, in.d, in.classes, &recipe, ctx);
    if (status == SOTTO_OK && option_given(o, "encoder"))
        status = sotto_head_set_encoder_file(h, option_text(o, "encoder"));
    if (status == SOTTO_OK)
        status = sotto_head_accuracy(&accuracy, h, in.x.data, in.y.data, in.n, in.d);
    if (status == SOTTO_OK)
        status = sotto_head_save(output, h);
    if (status == SOTTO_OK) {
        sotto_head_parameters(h, &parameters);
        print_result(h, &in, accuracy, parameters, output, json);
    }
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
        "  sotto head --features X.npy --labels y.npy --indices private.npy -o head.safetensors",
    .options = rows,
    .run = run};
