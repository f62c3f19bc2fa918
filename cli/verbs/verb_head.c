#include "inputs/canary_inputs.h"
#include "inputs/head_inputs.h"
#include "inputs/private_set.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static const struct option_row rows[] = {
    OPTION_ROWS(head_data_rows),
    {"encoder", OPTION_TEXT, "FILE", NULL,
     "encoder that made the features; its SHA-256 is stored in the head"},
    {"persons", OPTION_TEXT, "FILE", NULL,
     "person of each row, whole numbers (N), public: for --unit person where no import named the persons; "
     "epsilon is "
     "then conditional on them"},
    OPTION_TABLE("head_recipe", NULL),
    OPTION_TABLE("head_privacy", NULL),
    OPTION_GROUP("Noise and guarantee"),
    OPTION_ROWS(private_set_rows),
    OPTION_ROWS(canary_rows),
    OPTION_GROUP("Output"),
    FRESH_ROW,
    {"output", OPTION_TEXT, "FILE", NULL,
     "head.safetensors to write, tensors named as in PyTorch's nn.Sequential"},
    OPTION_END};

static void print_result(const struct sotto_head *h, const struct head_inputs *in, double accuracy,
                         const struct majority *frequent, size_t parameters, const char *output, int json)
{
    if (json)
        printf(
            "{\"schema\": \"sotto.head-result/1\", \"records\": %zu, \"inputs\": %zu, \"classes\": %zu, "
            "\"parameters\": %zu, \"train_accuracy\": %.9g, \"recipe_hash\": \"%s\", \"data_fingerprint\": "
            "\"%s\"}\n",
            in->n, in->d, in->classes, parameters, accuracy, sotto_head_recipe_hash(h),
            sotto_head_data_sha256(h));
    else
        printf(
            "%s: %zu parameters, trained on %zu records of %zu classes, training accuracy %.4f (who always "
            "answers class %zu: %.4f)\n"
            "recipe %.16s..., data %.16s...\n",
            output, parameters, in->n, in->classes, accuracy, frequent->label, frequent->share,
            sotto_head_recipe_hash(h), sotto_head_data_sha256(h));
}

static const char *const private_options[] = {
    "noise",   "max-grad-norm",  "noise-multiplier",    "epsilon",        "max-tpr",        "max-advantage",
    "delta",   "momentum",       "dataset-id",          "ledger",         "budget-epsilon", "budget-delta",
    "purpose", "planned",        "insecure-noise-seed", "cross-weight",   "adjacency",      "sampling",
    "fresh",   "same-people-as", "ledger-move",         "read-from-data", "unit",           "persons"};

static sotto_status read_privacy(struct sotto_head_privacy *p, struct sotto_head_recipe *r,
                                 const struct head_inputs *in, const struct options *o)
{
    if (private_set_noise_once(o, "head", "noise-multiplier") != SOTTO_OK)
        return SOTTO_EUSAGE;
    const bool once = sotto_head_trainer_private(r->trainer) == 2;
    if (option_given(o, "sampling") && !sotto_head_trainer_reads(r->trainer, "batch"))
        return cli_fail(
            SOTTO_EUSAGE,
            "head: trainer %s uses all records at once; --sampling needs --trainer dp-sgd or dp-adam",
            r->trainer);
    if (once && !option_given(o, "noise"))
        r->noise = NULL; /* the trainer's own */
    *p = (struct sotto_head_privacy){.classes_by = in->classes_by, .persons = in->persons.data};
    TRY_OR_RETURN(option_members(p, sotto_option_table("head_privacy"), o));
    return option_adjacency(&p->adjacency, o, once || p->sampling == SOTTO_SAMPLING_FIXED);
}

/* The files that a reader of the head has to know of. */
static struct sotto_head_files verb_head_files(const struct options *o)
{
    return (struct sotto_head_files){.encoder = option_text(o, "encoder"),
                                     .features = option_text(o, "features"),
                                     .labels = option_text(o, "labels")};
}

/* What an open or convex training leaves: the head, and which records trained it. */
static sotto_status verb_head_save_open(struct sotto_head *h, const struct head_inputs *in,
                                        const struct options *o)
{
    const char *output = option_text(o, "output");
    const sotto_status status = sotto_head_save(output, h);
    return status == SOTTO_OK ? sotto_provenance_save(output, &in->provenance) : status;
}

/* The records with canaries among them, in arrays that *c owns; without --canaries as they are. */
static sotto_status add_canaries(struct sotto_canaries **c, struct head_inputs *trained,
                                 const struct head_inputs *in, const struct sotto_head_recipe *r,
                                 const struct options *o)
{
    const struct sotto_dataset set = {.name = "features",
                                      .n = in->n,
                                      .n_train = in->n,
                                      .columns = in->d,
                                      .features = in->x.data,
                                      .classes = in->classes,
                                      .labels = in->y.data};
    sotto_status status = canary_inputs_make(c, &set, NULL, in->n, r->seed, o);
    *trained = *in;
    if (status != SOTTO_OK || !*c)
        return status;
    const struct sotto_dataset *made = sotto_canaries_data(*c);
    trained->x.data = (void *)(uintptr_t)made->features;
    trained->y.data = (void *)(uintptr_t)made->labels;
    trained->n = made->n;
    return status;
}

static sotto_status verb_head_answers(float *logits, const void *head, const struct sotto_dataset *records,
                                      const struct sotto_context *ctx)
{
    return sotto_head_predict(logits, head, records->features, records->n, records->columns, 1, ctx);
}

/* The head is the release: nothing else that depends on the records is printed. */
static sotto_status train_private(struct sotto_head **h, const struct head_inputs *in,
                                  struct sotto_head_recipe *r, const struct options *o,
                                  const struct sotto_context *ctx, int json)
{
    struct sotto_head_release_request request = {.x = in->x.data,
                                                 .y = in->y.data,
                                                 .n = in->n,
                                                 .d = in->d,
                                                 .classes = in->classes,
                                                 .recipe = r,
                                                 .files = verb_head_files(o),
                                                 .fresh = option_flag(o, "fresh")};
    struct sotto_head_release_result made = {0};
    struct sotto_array public_rows = {0};
    struct private_set set = {0};
    sotto_status status = SOTTO_OK;
    TRY(read_privacy(&request.privacy, r, in, o));
    TRY(private_set_identify(&set, o, &in->provenance, "head", option_text(o, "features")));
    TRY(canary_inputs_read(&request.canaries, &public_rows, &(struct sotto_dataset){.columns = in->d}, o));
    request.privacy.spend = set.spend;
    request.privacy.output = option_text(o, "output");
    request.public_rows = public_rows.data;
    request.public_n = public_rows.data ? public_rows.shape[0] : 0;
    TRY(sotto_head_release(&made, &request, ctx));
    TRY(private_set_print(&set, made.certificate, request.privacy.output, json));
done:
    *h = made.head;
    sotto_certificate_free(made.certificate);
    sotto_array_clear(&public_rows);
    private_set_clear(&set);
    return status;
}

/* A head with a proved sensitivity, which is kept back until it is protected: what is printed must not depend
 * on the records. */
static sotto_status train_convex(struct sotto_head **h, const struct head_inputs *in,
                                 const struct sotto_head_recipe *r, const struct options *o,
                                 const struct sotto_context *ctx, int json)
{
    const char *output = option_text(o, "output");
    size_t parameters = 0;
    if (option_given(o, "canaries"))
        return cli_fail(
            SOTTO_EUSAGE,
            "head: --canaries cannot be combined with trainer %s, which charges no ledger that could "
            "hold the commitment to the coins; give --trainer dp-sgd, dp-adam or covariance",
            r->trainer);
    TRY_OR_RETURN(sotto_head_train(h, in->x.data, in->y.data, in->n, in->d, in->classes, r, ctx));
    const struct sotto_head_files files = verb_head_files(o);
    TRY_OR_RETURN(sotto_head_note_files(*h, &files, ctx));
    TRY_OR_RETURN(sotto_head_set_classes_by(*h, in->classes_by));
    TRY_OR_RETURN(verb_head_save_open(*h, in, o));
    sotto_head_parameters(*h, &parameters);
    if (json)
        printf("{\"schema\": \"sotto.head-result/1\", \"records\": %zu, \"inputs\": %zu, \"classes\": %zu, "
               "\"parameters\": %zu, \"train_accuracy\": null, \"recipe_hash\": \"%s\", "
               "\"data_fingerprint\": null}\n",
               in->n, in->d, in->classes, parameters, sotto_head_recipe_hash(*h));
    else
        printf("%s: %zu parameters, trained on %zu records of %zu classes; unprotected: 'sotto protect' adds "
               "the noise that the proved sensitivity requires\nrecipe %.16s...\n",
               output, parameters, in->n, in->classes, sotto_head_recipe_hash(*h));
    return SOTTO_OK;
}

static sotto_status refuse_private_options(const struct options *o, const char *trainer)
{
    if (option_given(o, "epsilon") && option_given(o, "delta") && option_real(o, "delta") == 0)
        return cli_fail(
            SOTTO_EUSAGE,
            "head: --epsilon at --delta 0 needs a trainer with pure epsilon; trainer %s adds no noise; "
            "give --trainer objective",
            trainer);
    for (size_t i = 0; i < sizeof private_options / sizeof *private_options; i++)
        if (option_given(o, private_options[i]))
            return cli_fail(
                SOTTO_EUSAGE,
                "head: --%s needs a trainer with noise (dp-sgd, covariance, ...); trainer %s adds none",
                private_options[i], trainer);
    return SOTTO_OK;
}

static sotto_status train_open(struct sotto_head **h, const struct head_inputs *in,
                               const struct sotto_head_recipe *r, const struct options *o,
                               const struct sotto_context *ctx, int json)
{
    const char *output = option_text(o, "output");
    size_t parameters = 0;
    double accuracy = 0;
    struct majority frequent;
    struct sotto_canaries *canaries = NULL;
    struct head_inputs trained;
    const struct sotto_head_files files = verb_head_files(o);
    sotto_status status = SOTTO_OK;
    TRY(add_canaries(&canaries, &trained, in, r, o));
    TRY(sotto_head_train(h, trained.x.data, trained.y.data, trained.n, in->d, in->classes, r, ctx));
    TRY(sotto_head_note_files(*h, &files, ctx));
    TRY(sotto_head_accuracy(&accuracy, *h, in->x.data, in->y.data, in->n, in->d, ctx));
    TRY(labels_majority(&frequent, in->y.data, NULL, in->n, in->classes));
    TRY(verb_head_save_open(*h, in, o));
    if (canaries)
        TRY(sotto_canaries_ask(canaries, verb_head_answers, *h, ctx));
    sotto_head_parameters(*h, &parameters);
    print_result(*h, in, accuracy, &frequent, parameters, output, json);
done:
    sotto_canaries_free(canaries);
    return status;
}

static sotto_status verb_head_run(const struct options *o, const struct sotto_context *ctx, int json)
{
    struct head_inputs in = {0};
    struct sotto_head *h = NULL;
    struct sotto_head_recipe recipe;
    sotto_status status = SOTTO_OK;
    TRY(option_require(o, "output"));
    TRY(head_recipe_read(&recipe, o));
    TRY(sotto_head_trainer_check(recipe.trainer));
    if (!sotto_head_trainer_private(recipe.trainer))
        TRY(refuse_private_options(o, recipe.trainer));
    TRY(head_recipe_refuse_unused(&recipe, o));
    TRY(head_inputs_load(&in, o, sotto_head_trainer_silent(recipe.trainer)));
    TRY(shape_by_encoder(&in.provenance, option_text(o, "encoder")));
    TRY(shape_by_rows(&in.provenance, "canaries", option_text(o, "canary-public")));
    if (in.persons.data && !sotto_head_trainer_reads(recipe.trainer, "rows_per_step"))
        TRY(cli_fail(
            SOTTO_EUSAGE,
            "head: --persons makes no difference to trainer %s; expected --trainer dp-sgd or dp-adam",
            recipe.trainer));
    if (!sotto_head_trainer_silent(recipe.trainer) && option_given(o, "batch") &&
        option_count(o, "batch") > in.n)
        TRY(cli_fail(SOTTO_EUSAGE, "--batch: %s is out of range; expected at most %zu, the number of records",
                     option_text(o, "batch"), in.n));
    TRY(sotto_head_trainer_private(recipe.trainer)  ? train_private(&h, &in, &recipe, o, ctx, json)
        : sotto_head_trainer_silent(recipe.trainer) ? train_convex(&h, &in, &recipe, o, ctx, json)
                                                    : train_open(&h, &in, &recipe, o, ctx, json));
done:
    sotto_head_free(h);
    head_inputs_clear(&in);
    return status;
}

const struct verb verb_head = {
    .name = "head",
    .summary = "train a classifier head (linear or MLP) on embeddings, plain or private",
    .arguments = "",
    .examples = "  sotto head --features X.npy --labels y.npy -o head.safetensors\n"
                "  sotto head --features X.npy --labels y.npy --classes 10 --trainer dp-adam --batch 256 "
                "--epsilon 3 -o head.safetensors\n"
                "  sotto head --features X.npy --labels y.npy --classes 10 --trainer convex --lambda 0.01 -o "
                "head.safetensors\n"
                "  sotto head --features X.npy --labels y.npy --hidden 512 --epochs 300 -o head.safetensors\n"
                "  sotto data check --features X.npy --labels y.npy --classes 10\n"
                "  sotto head --features X.npy --labels y.npy --classes 10 --trainer objective --epsilon 3 "
                "--delta 0 -o head.safetensors\n"
                "  sotto head --features X.npy --labels y.npy --indices private.npy -o head.safetensors\n"
                "  sotto head --features X.npy --labels y.npy --classes 10 --trainer dp-sgd --batch 500 "
                "--epsilon 8 --canaries 2000 --canary-kind dirac -o head.safetensors",
    .floor = FLOOR_LEARN,
    .ranks = REFUSED,
    .own = "features|labels|classes|encoder|persons|sign|canary-public",
    .options = rows,
    .most_used = "features|labels|classes|indices|trainer|hidden|epochs|batch|lr|epsilon|delta|max-grad-norm|"
                 "dataset-id|canaries|output",
    .run = verb_head_run};
