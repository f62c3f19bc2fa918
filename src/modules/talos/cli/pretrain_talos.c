/* sotto pretrain --talos: an encoder against a classifier of the images' attribute. */
#include "verbs/pretrain_run.h"
#include "sotto/lab/talos.h"

/* The attribute of every row of the set; stays empty without --attribute. */
static sotto_status read_attribute(struct sotto_array *out, const struct sotto_dataset *data,
                                   const struct options *o)
{
    const char *path = option_text(o, "attribute");
    struct sotto_array a = {0};
    if (!path)
        return SOTTO_OK;
    sotto_status status = SOTTO_OK;
    TRY(sotto_array_load(&a, path, 0, cli_context()));
    if (a.ndim == 2 && a.shape[1] == 1)
        a.ndim = 1; /* of a table */
    if (a.ndim != 1 || a.count != data->n)
        TRY(cli_fail(
            SOTTO_EINVAL,
            "%s: %zu values in %d dimensions; data set '%s' has %zu rows, and one value for each is expected",
            path, a.count, a.ndim, data->name, data->n));
    if (sotto_array_convert(&a, SOTTO_I8) != SOTTO_OK)
        TRY(cli_fail(SOTTO_EINVAL, "%s: contains fractions; an attribute must be whole numbers", path));
    *out = a;
    a = (struct sotto_array){0};
done:
    sotto_array_clear(&a);
    return status;
}

static sotto_status pretrain_talos_train(const struct options *o, const struct sotto_dataset *data,
                                         const char *checkpoint, const struct sotto_context *ctx, int json)
{
    struct sotto_array attribute = {0};
    struct sotto_talos talos = {0};
    sotto_status status = SOTTO_OK;
    TRY(option_members(&talos, sotto_option_table("talos"), o));
    TRY(read_attribute(&attribute, data, o));
    talos.attribute = attribute.data;
    TRY(pretrain_train(o, data, checkpoint, "talos", &talos, ctx, json));
done:
    sotto_array_clear(&attribute);
    return status;
}

static sotto_status pretrain_talos(const struct options *o, const struct sotto_context *ctx, int json)
{
    return pretrain_run(o, ctx, json, pretrain_talos_train);
}

static const struct option_row rows[] = {
    OPTION_GROUP("Talos: training against a classifier of an attribute (no guarantee)"),
    {"talos", OPTION_FLAG, NULL, NULL, "adversarial training against a classifier of the images' attribute"},
    OPTION_TABLE("talos", NULL),
    OPTION_END};

const struct verb_part verb_part_pretrain_talos = {
    .verb = "pretrain",
    .when = "--talos",
    .options = rows,
    .own = "talos",
    .examples = "  sotto pretrain --data synthetic-faces --talos --bounded --lambda 2 --epochs 20 -o "
                "encoder.safetensors",
    .run = pretrain_talos};
