#include "head_inputs.h"

#include <stdio.h>

static const struct option_row rows[] = {
    {"head", OPTION_TEXT, "FILE", NULL, "head, plain or protected (.safetensors)", NULL},
    {"features", OPTION_TEXT, "X.npy", NULL, "embeddings to classify (N, D)", NULL},
    {"logits", OPTION_FLAG, NULL, NULL, "write logits instead of probabilities", NULL},
    {"output", OPTION_TEXT, "FILE", NULL, "probabilities.npy to write (N, K) f4", NULL},
    {NULL, OPTION_FLAG, NULL, NULL, NULL, NULL}};

static sotto_status answer(const struct options *o, const struct sotto_head *h, const struct sotto_array *x,
                           int json)
{
    const char *output = option_text(o, "output");
    struct sotto_array out = {0};
    size_t shape[2] = {x->shape[0], sotto_head_classes(h)};
    if (x->shape[1] != sotto_head_inputs(h))
        return cli_fail(SOTTO_EINVAL, "%s has %zu columns but %s expects %zu", option_text(o, "features"),
                        x->shape[1], option_text(o, "head"), sotto_head_inputs(h));
    sotto_status status = sotto_array_make(&out, SOTTO_F4, 2, shape);
    if (status == SOTTO_OK)
        status = sotto_head_predict(out.data, h, x->data, shape[0], x->shape[1], option_flag(o, "logits"));
    if (status == SOTTO_OK)
        status = sotto_npy_save(output, &out);
    const char *kind = option_flag(o, "logits") ? "logits" : "probabilities";
    if (status == SOTTO_OK && json)
        printf("{\"schema\": \"sotto.predict/1\", \"kind\": \"%s\", \"records\": %zu, \"classes\": %zu}\n",
               kind, shape[0], shape[1]);
    else if (status == SOTTO_OK)
        printf("%s: %s of %zu records, %zu classes\n", output, kind, shape[0], shape[1]);
    sotto_array_clear(&out);
    return status;
}

static sotto_status run(const struct options *o, const struct sotto_context *ctx, int json)
{
    (void)ctx;
    struct sotto_head *h = NULL;
    struct sotto_array x = {0};
    sotto_status status = option_require(o, "head");
    if (status == SOTTO_OK)
        status = option_require(o, "features");
    if (status == SOTTO_OK)
        status = option_require(o, "output");
    if (status == SOTTO_OK)
        status = sotto_head_load(&h, option_text(o, "head"));
    if (status == SOTTO_OK)
        status = head_features_load(&x, option_text(o, "features"));
    if (status == SOTTO_OK)
        status = answer(o, h, &x, json);
    sotto_array_clear(&x);
    sotto_head_free(h);
    return status;
}

const struct verb verb_predict = {
    .name = "predict",
    .summary = "answer queries from a head: probabilities or logits",
    .arguments = "",
    .examples = "  sotto predict --head head.safetensors --features X.npy -o p.npy\n"
                "  sotto predict --head protected.safetensors --features X.npy --logits "
                "-o logits.npy",
    .options = rows,
    .run = run};
