#include "inputs/image_inputs.h"
#include "inputs/private_set.h"

#include <stdio.h>
#include <string.h>

static const struct option_row rows[] = {
    OPTION_GROUP("Images"),
    DATA_ROW,
    INDICES_ROW,
    SPLIT_ROW,
    OPTION_GROUP("Encoder"),
    OPTION_TABLE("embedding", "encoder|random|seed"),
    {"standardise", OPTION_TEXT, "P.npy", NULL,
     "embeddings of PUBLIC images by the same encoder; their column means and deviations standardise the "
     "output"},
    {"join", OPTION_TEXT, "X.npy", NULL,
     "features of the same images, such as scattering; the embeddings follow as further columns"},
    {"weight", OPTION_REAL, "W", "1", "factor of the embeddings' columns beside those of --join, above 0"},
    OPTION_TABLE("block", "blocks"),
    OPTION_TABLE("scattering", NULL),
    OPTION_GROUP("Output"),
    {"output", OPTION_TEXT, "X.npy", NULL, "embeddings to write, (N, D) f4"},
    {"labels-out", OPTION_TEXT, "y.npy", NULL, "labels to write, (N) i8"},
    {"attribute-out", OPTION_TEXT, "a.npy", NULL, "attribute of the set to write, (N) i8"},
    {"evaluate", OPTION_FLAG, NULL, NULL,
     "accuracy of k-NN (k = 20, cosine) and of a linear head, fitted on the train part and tested on the "
     "test part"},
    OPTION_END};

static sotto_status open_encoder(struct sotto_encoder **out, const struct options *o,
                                 const struct sotto_dataset *data)
{
    if (option_given(o, "random"))
        return sotto_encoder_random(out, data, option_text(o, "random"), option_count(o, "seed"));
    return sotto_encoder_load(out, option_text(o, "encoder"));
}

static sotto_status verb_embed_save(const char *path, const struct sotto_array *a,
                                    const struct sotto_provenance *records)
{
    TRY_OR_RETURN(sotto_npy_save(path, a));
    return sotto_provenance_save(path, records);
}

static sotto_status save_column(const char *path, const int64_t *column, const struct sotto_array *chosen,
                                const struct sotto_provenance *records)
{
    struct sotto_array y = {0};
    sotto_status status = sotto_array_make(&y, SOTTO_I8, 1, (const size_t[]){chosen->count});
    for (size_t i = 0; status == SOTTO_OK && i < chosen->count; i++)
        ((int64_t *)y.data)[i] = column[((const int64_t *)chosen->data)[i]];
    if (status == SOTTO_OK)
        status = verb_embed_save(path, &y, records);
    sotto_array_clear(&y);
    return status;
}

static void print_result(const struct sotto_array *x, const struct encoder_quality *q, int json)
{
    if (json && q)
        printf("{\"schema\": \"sotto.embed/1\", \"rows\": %zu, \"width\": %zu, \"evaluation\": "
               "{\"train_rows\": %zu, "
               "\"test_rows\": %zu, \"knn_accuracy\": %.9g, \"linear_accuracy\": %.9g}}\n",
               x->shape[0], x->shape[1], q->train, q->test, q->knn, q->linear.accuracy.estimate);
    else if (json)
        printf("{\"schema\": \"sotto.embed/1\", \"rows\": %zu, \"width\": %zu, \"evaluation\": null}\n",
               x->shape[0], x->shape[1]);
    else
        printf("%zu embeddings of width %zu\n", x->shape[0], x->shape[1]);
    if (!json && q)
        printf("accuracy of k-NN (k = 20, cosine) %.4f, of a linear head %.4f (balanced %.4f); fitted on %zu "
               "rows, tested on %zu others, of which class %zu has a share of %.4f\n",
               q->knn, q->linear.accuracy.estimate, q->linear.balanced.estimate, q->train, q->test,
               q->linear.majority, q->linear.majority_share);
}

static int fixed_features(const struct options *o)
{
    return option_given(o, "encoder") && strcmp(option_text(o, "encoder"), "scattering") == 0;
}

static sotto_status make_rows(struct sotto_array *x, const struct sotto_array *chosen, size_t width)
{
    return sotto_array_make(x, SOTTO_F4, 2, (const size_t[]){chosen->count, width});
}

static sotto_status embed_fixed(struct sotto_array *x, const struct options *o,
                                const struct sotto_dataset *data, const struct sotto_array *chosen,
                                const struct sotto_context *ctx)
{
    struct sotto_scattering settings = {0};
    size_t shape[3];
    TRY_OR_RETURN(option_members(&settings, sotto_option_table("scattering"), o));
    TRY_OR_RETURN(sotto_scattering_shape(shape, data, &settings));
    TRY_OR_RETURN(make_rows(x, chosen, shape[0] * shape[1] * shape[2]));
    return sotto_scatter(x->data, data, chosen->data, chosen->count, &settings, ctx);
}

static sotto_status embed_learnt(struct sotto_array *x, const struct options *o,
                                 const struct sotto_dataset *data, const struct sotto_array *chosen,
                                 struct sotto_provenance *records, const struct sotto_context *ctx)
{
    struct sotto_encoder *encoder = NULL;
    const struct sotto_block_features features = {.blocks = option_count(o, "blocks"),
                                                  .grid = option_count(o, "grid"),
                                                  .mirror = option_flag(o, "mirror")};
    size_t width = 0;
    sotto_status status = SOTTO_OK;
    TRY(open_encoder(&encoder, o, data));
    if (sotto_encoder_statement(encoder)[0])
        fprintf(stderr, "sotto: warning: %s: %s\n", option_text(o, "encoder"),
                sotto_encoder_statement(encoder));
    TRY(sotto_block_width(&width, encoder, &features));
    TRY(make_rows(x, chosen, width));
    TRY(sotto_embed_blocks(x->data, encoder, data, chosen->data, chosen->count, &features, ctx));
    TRY(sotto_encoder_shape(records, encoder, option_text(o, "encoder")));
done:
    sotto_encoder_free(encoder);
    return status;
}

static sotto_status verb_embed_standardise(struct sotto_array *x, const char *path,
                                           struct sotto_provenance *records)
{
    struct sotto_array public_x = {0};
    size_t width = x->shape[1];
    sotto_status status = SOTTO_OK;
    TRY(sotto_array_load(&public_x, path, 0, cli_context()));
    TRY(sotto_array_convert(&public_x, SOTTO_F4));
    if (public_x.ndim != 2 || public_x.shape[1] != width)
        TRY(cli_fail(SOTTO_EINVAL,
                     "--standardise: %s does not have shape (N, %zu); expected embeddings by this encoder",
                     path, width));
    TRY(sotto_standardise(x->data, x->shape[0], width, public_x.data, public_x.shape[0]));
    TRY(shape_by_rows(records, "moments", path));
done:
    sotto_array_clear(&public_x);
    return status;
}

/* The same records, in the same order? What neither file says cannot differ. */
static int same_records(const struct sotto_provenance *a, const struct sotto_provenance *b)
{
    if (!a->rows || !b->rows)
        return 1;
    return a->n == b->n && strcmp(a->set, b->set) == 0 &&
           memcmp(a->rows, b->rows, a->n * sizeof *a->rows) == 0;
}

/* Columns of X.npy, then those of x times `weight`. */
static sotto_status verb_embed_join(struct sotto_array *x, const char *path, double weight,
                                    struct sotto_provenance *records)
{
    struct sotto_array left = {0}, both = {0};
    struct sotto_provenance theirs = {0};
    size_t n = x->shape[0], own = x->shape[1];
    sotto_status status = SOTTO_OK;
    TRY(sotto_array_load(&left, path, 0, cli_context()));
    TRY(sotto_array_convert(&left, SOTTO_F4));
    if (left.ndim != 2 || left.shape[0] != n)
        TRY(cli_fail(SOTTO_EINVAL,
                     "--join: %s does not have shape (%zu, N); expected features of "
                     "the same images",
                     path, n));
    TRY(sotto_provenance_load(&theirs, path));
    if (!same_records(&theirs, records))
        TRY(cli_fail(SOTTO_EINVAL,
                     "--join: %s has features of other records (see %s.provenance.json); expected "
                     "the same images in the same order",
                     path, path));
    const size_t width = left.shape[1];
    TRY(sotto_array_make(&both, SOTTO_F4, 2, (const size_t[]){n, width + own}));
    for (size_t i = 0; i < n; i++) {
        float *row = (float *)both.data + i * (width + own);
        memcpy(row, (const float *)left.data + i * width, width * sizeof *row);
        for (size_t c = 0; c < own; c++)
            row[width + c] = (float)(weight * (double)((const float *)x->data)[i * own + c]);
    }
    /* features that say nothing of themselves may have been made from anything */
    TRY(sotto_provenance_shape(records, theirs.dataset_id[0] ? NULL : "features", path, &theirs, 0));
    sotto_array_clear(x);
    *x = both;
    both = (struct sotto_array){0};
done:
    sotto_array_clear(&both);
    sotto_array_clear(&left);
    sotto_provenance_clear(&theirs);
    return status;
}

static sotto_status verb_embed_images(const struct options *o, const struct sotto_dataset *data,
                                      const struct sotto_array *chosen, const struct sotto_context *ctx,
                                      int json)
{
    struct sotto_array x = {0};
    struct sotto_provenance records = {0},
                            unshaped = {0}; /* labels are those of the set: no encoder shaped them */
    struct encoder_quality quality;
    int evaluate = option_flag(o, "evaluate");
    sotto_status status = SOTTO_OK;
    TRY(sotto_provenance_of_rows(&records, data, chosen->data, chosen->count));
    TRY(sotto_provenance_of_rows(&unshaped, data, chosen->data, chosen->count));
    TRY(fixed_features(o) ? embed_fixed(&x, o, data, chosen, ctx)
                          : embed_learnt(&x, o, data, chosen, &records, ctx));
    if (option_given(o, "standardise"))
        TRY(verb_embed_standardise(&x, option_text(o, "standardise"), &records));
    if (option_given(o, "join"))
        TRY(verb_embed_join(&x, option_text(o, "join"), option_real(o, "weight"), &records));
    if (evaluate)
        TRY(encoder_quality_measure(&quality, data, chosen, x.data, x.shape[1], option_count(o, "seed"),
                                    ctx));
    if (option_given(o, "output"))
        TRY(verb_embed_save(option_text(o, "output"), &x, &records));
    if (option_given(o, "labels-out"))
        TRY(save_column(option_text(o, "labels-out"), data->labels, chosen, &unshaped));
    if (option_given(o, "attribute-out"))
        TRY(save_column(option_text(o, "attribute-out"), data->attribute, chosen, &unshaped));
    print_result(&x, evaluate ? &quality : NULL, json);
done:
    sotto_provenance_clear(&records);
    sotto_provenance_clear(&unshaped);
    sotto_array_clear(&x);
    return status;
}

static sotto_status check_options(const struct options *o)
{
    if (option_given(o, "encoder") == option_given(o, "random"))
        return cli_fail(SOTTO_EUSAGE, "embed: give exactly one of --encoder FILE and --random NAME");
    if (!fixed_features(o) && option_given(o, "groups"))
        return cli_fail(SOTTO_EUSAGE, "embed: --groups needs --encoder scattering");
    if (fixed_features(o) && option_given(o, "blocks"))
        return cli_fail(SOTTO_EUSAGE,
                        "embed: --blocks is for an encoder that was trained, not for scattering");
    if (!fixed_features(o) && option_given(o, "grid") && !option_given(o, "blocks"))
        return cli_fail(SOTTO_EUSAGE, "embed: --grid needs --blocks or --encoder scattering");
    if (option_given(o, "weight") && !option_given(o, "join"))
        return cli_fail(SOTTO_EUSAGE, "embed: --weight needs --join");
    if (!(option_real(o, "weight") > 0 && option_real(o, "weight") <= 1e6))
        return cli_fail(SOTTO_EUSAGE, "embed: --weight must be above 0 and at most 1e6");
    if (!option_flag(o, "evaluate") && !option_given(o, "output"))
        return cli_fail(SOTTO_EUSAGE, "embed: --output is missing; see 'sotto embed --help'");
    return option_require(o, "data");
}

static sotto_status verb_embed_run(const struct options *o, const struct sotto_context *ctx, int json)
{
    struct sotto_dataset *data = NULL;
    struct sotto_array chosen = {0};
    sotto_status status = SOTTO_OK;
    TRY(check_options(o));
    TRY(sotto_dataset_open(&data, option_text(o, "data"), ctx));
    if (option_given(o, "labels-out") && !data->labels)
        TRY(cli_fail(SOTTO_EINVAL, "--labels-out: data set '%s' has no labels", data->name));
    if (option_given(o, "attribute-out") && !data->attribute)
        TRY(cli_fail(SOTTO_EINVAL, "--attribute-out: data set '%s' has no attribute", data->name));
    TRY(image_rows(&chosen, data, o));
    TRY(verb_embed_images(o, data, &chosen, ctx, json));
done:
    sotto_array_clear(&chosen);
    sotto_dataset_free(data);
    return status;
}

const struct verb verb_embed = {
    .name = "embed",
    .summary = "compute embeddings of images, and measure their quality",
    .arguments = "",
    .examples =
        "  sotto embed --encoder encoder.safetensors --data fashion-mnist --split test -o X.npy --labels-out "
        "y.npy\n"
        "  sotto embed --encoder encoder.safetensors --data fashion-mnist --evaluate\n"
        "  sotto embed --encoder scattering --data fashion-mnist -o X.npy --labels-out y.npy\n"
        "  sotto embed --encoder encoder.safetensors --data cifar10 --indices private.npy -o X.npy\n"
        "  sotto embed --encoder encoder.safetensors --blocks 3 --grid 3 --mirror --data cifar10 -o X.npy",
    .floor = FLOOR_LEARN,
    .ranks = REFUSED,
    .own = "standardise|join|weight|labels-out|attribute-out|evaluate",
    .options = rows,
    .most_used = "data|indices|split|encoder|random|standardise|blocks|grid|mirror|join|evaluate|labels-out|"
                 "attribute-out|output",
    .run = verb_embed_run};
