/* sotto generate: train, sample, score, records. */
#include "inputs/image_inputs.h"
#include "sotto/lab/generate.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct option_row rows[] = {
    OPTION_GROUP("Data"),
    DATA_ROW,
    INDICES_ROW,
    {"split", OPTION_TEXT, "PART", "train", "without --indices: train, test or all rows"},
    OPTION_GROUP("Model"),
    {"generator", OPTION_TEXT, "FILE", NULL, "model to sample or to score with (.safetensors)"},
    {"count", OPTION_COUNT, "N", "20000", "number of samples"},
    {"latents", OPTION_TEXT, "FILE", NULL, "latents.npy to write beside the samples"},
    OPTION_TABLE("generator", NULL),
    {"dp-sgd", OPTION_FLAG, NULL, NULL,
     "refused: losses and metrics of this training would be releases that nothing pays for"},
    FRESH_ROW,
    {"output", OPTION_TEXT, "FILE", NULL,
     "file to write: model.safetensors (train), or .npy of samples, scores or records"},
    OPTION_END};

static sotto_status verb_generate_train(const struct options *o, const struct sotto_dataset *data,
                                        const char *checkpoint, const struct sotto_context *ctx, int json)
{
    struct sotto_generator_options options = {0};
    struct sotto_generator_result r;
    struct sotto_generator *g = NULL;
    struct sotto_array chosen = {0};
    const char *output = option_text(o, "output"), *model = NULL;
    size_t shape[3];
    sotto_status status = SOTTO_OK;
    TRY(option_members(&options, sotto_option_table("generator"), o));
    TRY(image_rows(&chosen, data, o));
    options.checkpoint = checkpoint;
    if (option_flag(o, "fresh"))
        TRY(sotto_train_discard(checkpoint));
    TRY(sotto_generator_train(&g, &r, data, chosen.data, chosen.count, &options, ctx));
    TRY(sotto_generator_save(output, g));
    if (!option_given(o, "checkpoint"))
        unlink(checkpoint);
    sotto_generator_shape(shape, NULL, &model, g);
    printf(json ? "{\"schema\": \"sotto.generate/1\", \"model\": \"%s\", \"steps\": %llu, \"loss\": %.9g, "
                  "\"seconds\": %.3f, \"images_per_second\": %.1f, \"backend\": \"%s\"}\n"
                : "%s: %llu steps, loss %.4f, %.1f s, %.0f images/s, %s\n",
           model, (unsigned long long)r.steps, r.loss, r.seconds, r.images_per_second, r.backend);
    if (!json)
        printf("no privacy statement is made: the model tells of its training records, its discriminator "
               "or encoder most "
               "of all\n");
done:
    sotto_generator_free(g);
    sotto_array_clear(&chosen);
    return status;
}

static sotto_status verb_generate_load(struct sotto_generator **out, const struct options *o)
{
    TRY_OR_RETURN(option_require(o, "generator"));
    TRY_OR_RETURN(option_require(o, "output"));
    return sotto_generator_load(out, option_text(o, "generator"));
}

static void verb_generate_say(const char *path, size_t n, const char *what, int json)
{
    if (json)
        printf("{\"schema\": \"sotto.generate/1\", \"%s\": %zu}\n", what, n);
    else
        printf("%s: %zu %s\n", path, n, what);
}

static sotto_status verb_generate_sample(const struct options *o, const struct sotto_context *ctx, int json)
{
    struct sotto_generator *g = NULL;
    struct sotto_array x = {0}, z = {0};
    size_t shape[4] = {option_count(o, "count")}, latent = 0;
    const char *latents = option_text(o, "latents");
    struct sotto_generator_options options = {0};
    sotto_status status = SOTTO_OK;
    TRY(verb_generate_load(&g, o));
    if (shape[0] == 0)
        TRY(cli_fail(SOTTO_EINVAL, "count: 0 samples; expected at least 1"));
    TRY(option_members(&options, sotto_option_table("generator"), o));
    sotto_generator_shape(shape + 1, &latent, NULL, g);
    TRY(sotto_array_make(&x, SOTTO_F4, 4, shape));
    if (latents)
        TRY(sotto_array_make(&z, SOTTO_F4, 2, (const size_t[]){shape[0], latent}));
    TRY(sotto_generator_sample(x.data, z.data, g, shape[0], option_count(o, "seed"), ctx));
    TRY(sotto_npy_save(option_text(o, "output"), &x));
    if (latents)
        TRY(sotto_npy_save(latents, &z));
    verb_generate_say(option_text(o, "output"), shape[0], "samples", json);
done:
    sotto_generator_free(g);
    sotto_array_clear(&x);
    sotto_array_clear(&z);
    return status;
}

/* Records as the model sees them, or the discriminator's logits of them. */
static sotto_status of_records(const struct options *o, const struct sotto_context *ctx, int scores, int json)
{
    struct sotto_generator *g = NULL;
    struct sotto_dataset *data = NULL;
    struct sotto_array chosen = {0}, out = {0};
    size_t shape[4] = {0};
    sotto_status status = SOTTO_OK;
    TRY(option_require(o, "data"));
    TRY(verb_generate_load(&g, o));
    TRY(sotto_dataset_open(&data, option_text(o, "data"), ctx));
    TRY(image_rows(&chosen, data, o));
    sotto_generator_shape(shape + 1, NULL, NULL, g);
    shape[0] = chosen.count;
    TRY(sotto_array_make(&out, scores ? SOTTO_F8 : SOTTO_F4, scores ? 1 : 4, shape));
    if (scores)
        TRY(sotto_generator_score(out.data, NULL, "logan", g, data, chosen.data, chosen.count, NULL, ctx));
    else
        TRY(sotto_generator_records(out.data, g, data, chosen.data, chosen.count));
    TRY(sotto_npy_save(option_text(o, "output"), &out));
    verb_generate_say(option_text(o, "output"), shape[0], scores ? "logits of the discriminator" : "records",
                      json);
done:
    sotto_generator_free(g);
    sotto_dataset_free(data);
    sotto_array_clear(&chosen);
    sotto_array_clear(&out);
    return status;
}

static sotto_status verb_generate_run(const struct options *o, const struct sotto_context *ctx, int json)
{
    const char *action = option_argument(o, 0);
    if (option_flag(o, "dp-sgd"))
        return cli_fail(SOTTO_EUSAGE,
                        "generate: --dp-sgd is not supported: losses and metrics of this training would be "
                        "releases that nothing pays for; expected training without privacy");
    if (strcmp(action, "train") == 0)
        return image_training(o, NULL, ctx, json, verb_generate_train);
    if (strcmp(action, "sample") == 0)
        return verb_generate_sample(o, ctx, json);
    if (strcmp(action, "score") == 0 || strcmp(action, "records") == 0)
        return of_records(o, ctx, action[0] == 's', json);
    return cli_unknown_action("generate", action, "train, sample, score or records");
}

static const struct subcommand subcommands[] = {
    {"train", "", "train a generative model of images",
     "data|indices|split|model|steps|batch|width|lr|seed|fresh|metrics|output"},
    {"sample", "", "draw samples of a generative model", "generator|count|seed|latents|output"},
    {"score", "", "score records by the discriminator of a generative model",
     "generator|data|indices|split|output"},
    {"records", "", "write records of a data set in the form of the samples",
     "generator|data|indices|split|output"},
    {NULL}};

const struct verb verb_generate = {
    .name = "generate",
    .summary = "train generative models of images WITHOUT privacy, so that they can be attacked",
    .arguments = "train|sample|score|records",
    .min_arguments = 1,
    .max_arguments = 1,
    .examples = "  sotto generate train --data fashion-mnist --indices members.npy --model dcgan --steps "
                "6000 -o g.safetensors\n"
                "  sotto generate sample --generator g.safetensors --count 20000 --seed 1 -o G.npy\n"
                "  sotto generate records --generator g.safetensors --data fashion-mnist --indices "
                "members.npy -o M.npy\n"
                "  sotto generate score --generator g.safetensors --data fashion-mnist --indices members.npy "
                "-o d.npy",
    .floor = FLOOR_MODULES,
    .ranks = REFUSED,
    .own = "generator|count|latents|dp-sgd",
    .options = rows,
    .subcommands = subcommands,
    .run = verb_generate_run};
