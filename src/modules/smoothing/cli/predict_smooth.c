/* sotto predict --smooth: answers by votes of noisy copies, and their radii. */
#include "inputs/head_inputs.h"
#include "inputs/image_inputs.h"
#include "sotto/lab/smoothing.h"

#include <stdio.h>
#include <string.h>

enum { RADII = 64 };

struct smooth_inputs {
    struct sotto_array x, y; /* f4 (n, inputs), i8 (n) or nothing */
    struct sotto_target *target;
};

/* Before hours of work. */
static sotto_status check_output(const char *path)
{
    static const char *const endings[] = {".json", ".csv", ".npy"};
    size_t length = path ? strlen(path) : 0;
    for (size_t i = 0; path && i < sizeof endings / sizeof *endings; i++)
        if (length > strlen(endings[i]) && strcmp(path + length - strlen(endings[i]), endings[i]) == 0)
            return SOTTO_OK;
    return !path ? SOTTO_OK
                 : cli_fail(SOTTO_EUSAGE,
                            "predict: --output of --smooth must end in .json, .csv or .npy (got '%s')", path);
}

static sotto_status check_options(const struct options *o)
{
    static const char *const others[] = {"encoder", "table",   "encoding", "answers",
                                         "logits",  "repeats", "average"};
    const int models = option_given(o, "head") + option_given(o, "model") + option_given(o, "target-command");
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (option_given(o, others[i]))
            return cli_fail(SOTTO_EUSAGE, "predict: --%s cannot be combined with --smooth", others[i]);
    if (models != 1)
        return cli_fail(SOTTO_EUSAGE,
                        "predict: --smooth needs exactly one of --model, --head and --target-command");
    if (option_given(o, "features") == option_given(o, "data"))
        return cli_fail(SOTTO_EUSAGE, "predict: give exactly one of --features X.npy and --data SET");
    if (option_given(o, "features") && (option_given(o, "indices") || option_given(o, "split")))
        return cli_fail(SOTTO_EUSAGE,
                        "predict: --indices and --split choose rows of --data; omit them with --features");
    return check_output(option_text(o, "output"));
}

/* Rows as networks take them: pixels in [0, 1], (C, H, W). */
static void copy_rows(float *out, const struct sotto_dataset *d, const int64_t *rows, size_t n,
                      size_t columns)
{
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < columns; j++, out++) {
            size_t at = (size_t)rows[i] * columns + j;
            *out = d->images ? (float)d->images[at] / 255 : d->features[at];
        }
}

static sotto_status read_data(struct smooth_inputs *in, const struct options *o,
                              const struct sotto_context *ctx)
{
    struct sotto_dataset *data = NULL;
    struct sotto_array chosen = {0};
    size_t columns = 0;
    sotto_status status = SOTTO_OK;
    TRY(sotto_dataset_open(&data, option_text(o, "data"), ctx));
    TRY(image_rows(&chosen, data, o));
    columns = data->images ? data->channels * data->height * data->width : data->columns;
    TRY(sotto_array_make(&in->x, SOTTO_F4, 2, (const size_t[]){chosen.count, columns}));
    copy_rows(in->x.data, data, chosen.data, chosen.count, columns);
    if (data->labels && !option_given(o, "labels")) {
        TRY(sotto_array_make(&in->y, SOTTO_I8, 1, (const size_t[]){chosen.count}));
        for (size_t i = 0; i < chosen.count; i++)
            ((int64_t *)in->y.data)[i] = data->labels[((int64_t *)chosen.data)[i]];
    }
done:
    sotto_array_clear(&chosen);
    sotto_dataset_free(data);
    return status;
}

static sotto_status open_model(struct smooth_inputs *in, const struct options *o,
                               const struct sotto_context *ctx)
{
    struct sotto_command_options how = {0};
    TRY_OR_RETURN(option_members(&how, sotto_option_table("command"), o));
    if (option_given(o, "target-command"))
        TRY_OR_RETURN(sotto_target_open_command(&in->target, option_text(o, "target-command"), in->x.shape[1],
                                                0, &how, ctx));
    else
        TRY_OR_RETURN(
            sotto_target_open(&in->target, option_text(o, option_given(o, "head") ? "head" : "model"), ctx));
    if (in->x.shape[1] != sotto_target_inputs(in->target))
        return cli_fail(SOTTO_EINVAL, "%s has %zu numbers in a row; the model expects %zu",
                        option_text(o, option_given(o, "features") ? "features" : "data"), in->x.shape[1],
                        sotto_target_inputs(in->target));
    return SOTTO_OK;
}

static sotto_status predict_smooth_load(struct smooth_inputs *in, const struct options *o,
                                        const struct sotto_context *ctx)
{
    TRY_OR_RETURN(option_given(o, "data") ? read_data(in, o, ctx)
                                          : head_features_load(&in->x, option_text(o, "features")));
    int64_t first = 0;
    TRY_OR_RETURN(option_labels_from(&first, o));
    if (option_given(o, "labels"))
        TRY_OR_RETURN(head_labels_load(&in->y, option_text(o, "labels"), first));
    if (in->y.data && in->y.count != in->x.shape[0])
        return cli_fail(SOTTO_EINVAL, "%s has %zu labels for %zu records; expected one label per record",
                        option_text(o, "labels"), in->y.count, in->x.shape[0]);
    return open_model(in, o, ctx);
}

static sotto_status predict_smooth_deliver(const struct options *o, const struct sotto_smoothing_result *r,
                                           int json)
{
    char *text = NULL;
    sotto_status status = SOTTO_OK;
    if (option_given(o, "output"))
        TRY(sotto_smoothing_save(option_text(o, "output"), r));
    TRY((json ? sotto_smoothing_encode : sotto_smoothing_summary)(&text, r));
    printf(json ? "%s\n" : "%s", text);
done:
    sotto_text_free(text);
    return status;
}

static sotto_status read_options(struct sotto_smoothing_options *s, double radii[RADII],
                                 const struct options *o)
{
    const struct sotto_option *table = sotto_option_table("smoothing");
    TRY_OR_RETURN(option_members_checked(s, table, "sigma|noise|certify|compare|n|n0|alpha", o));
    if (option_given(o, "seed")) /* a row of the answers' table */
        TRY_OR_RETURN(sotto_option_set(s, sotto_option_find(table, "seed"), option_text(o, "seed")));
    TRY_OR_RETURN(option_reals(radii, RADII, &s->radius_count, o, "radii"));
    s->radii = s->radius_count ? radii : NULL;
    if (s->radii && !s->certify)
        return cli_fail(SOTTO_EUSAGE, "predict: --radii needs --certify");
    return SOTTO_OK;
}

static sotto_status predict_smooth(const struct options *o, const struct sotto_context *ctx, int json)
{
    struct smooth_inputs in = {0};
    struct sotto_smoothing_options s = {0};
    struct sotto_smoothing_result r = {0};
    double radii[RADII];
    sotto_status status = SOTTO_OK;
    TRY(check_options(o));
    TRY(read_options(&s, radii, o));
    TRY(predict_smooth_load(&in, o, ctx));
    TRY(sotto_smoothing(&r, in.target, &(struct sotto_records){in.x.data, in.y.data, in.x.shape[0]}, &s,
                        ctx));
    TRY(predict_smooth_deliver(o, &r, json));
done:
    sotto_smoothing_result_free(&r);
    sotto_target_close(in.target);
    sotto_array_clear(&in.x);
    sotto_array_clear(&in.y);
    return status;
}

static const struct option_row rows[] = {
    OPTION_GROUP("Model"),
    {"target-command", OPTION_TEXT, "COMMAND", NULL,
     "shell command that answers rows with posteriors as .npy frames, instead of --model and --head"},
    OPTION_TABLE("command", NULL),
    OPTION_TABLE("smoothing", "smooth|noise|certify|compare|n|n0|alpha|radii"),
    OPTION_END};

const struct verb_part verb_part_predict_smooth = {
    .verb = "predict",
    .when = "--smooth",
    .options = rows,
    .own = "target-command",
    .examples =
        "  sotto predict --model model.safetensors --data cifar10 --indices rows.npy --smooth 0.25 --certify "
        "-o smooth.json",
    .run = predict_smooth};
