#include "inputs/image_inputs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

sotto_status image_rows_file(struct sotto_array *out, const struct sotto_dataset *data, const char *path)
{
    struct sotto_array a = {0};
    sotto_status status = SOTTO_OK;
    TRY(sotto_array_load(&a, path, 0, cli_context()));
    if (a.ndim == 2 && a.shape[1] == 1)
        a.ndim = 1; /* of a table */
    if (a.ndim != 1)
        TRY(cli_fail(SOTTO_EINVAL, "%s: has %d dimensions; expected a list of row numbers (1 dimension)",
                     path, a.ndim));
    if (a.count == 0)
        TRY(cli_fail(SOTTO_EINVAL, "%s: is empty; expected at least one row number", path));
    if (a.dtype == SOTTO_F2 || a.dtype == SOTTO_F4 || a.dtype == SOTTO_B1) /* f8: of a table */
        TRY(cli_fail(SOTTO_EINVAL, "%s: contains '%s' values; row numbers must be integers", path,
                     sotto_dtype_name(a.dtype)));
    if (sotto_array_convert(&a, SOTTO_I8) != SOTTO_OK)
        TRY(cli_fail(SOTTO_EINVAL, "%s: contains fractions; row numbers must be integers", path));
    for (size_t i = 0; i < a.count; i++) {
        int64_t row = ((const int64_t *)a.data)[i];
        if (row < 0 || (uint64_t)row >= data->n)
            TRY(cli_fail(SOTTO_EINVAL, "%s: entry %zu is %lld; data set '%s' has rows 0 to %zu", path, i,
                         (long long)row, data->name, data->n - 1));
    }
    *out = a;
    a = (struct sotto_array){0};
done:
    sotto_array_clear(&a);
    return status;
}

static sotto_status rows_from_split(struct sotto_array *out, const struct sotto_dataset *data,
                                    const char *split)
{
    size_t first = 0, end = data->n;
    if (strcmp(split, "train") == 0)
        end = data->n_train;
    else if (strcmp(split, "test") == 0)
        first = data->n_train;
    else if (strcmp(split, "all") != 0)
        return cli_unknown("split", split, "train, test or all");
    if (first >= end)
        return cli_fail(SOTTO_EINVAL, "data set '%s' has no %s part", data->name, split);
    TRY_OR_RETURN(sotto_array_make(out, SOTTO_I8, 1, (const size_t[]){end - first}));
    for (size_t i = 0; i < end - first; i++)
        ((int64_t *)out->data)[i] = (int64_t)(first + i);
    return SOTTO_OK;
}

sotto_status image_rows(struct sotto_array *out, const struct sotto_dataset *data, const struct options *o)
{
    if (option_given(o, "indices") && option_given(o, "split"))
        return cli_fail(SOTTO_EUSAGE, "--indices and --split both choose rows; give only one of them");
    if (option_given(o, "indices"))
        return image_rows_file(out, data, option_text(o, "indices"));
    return rows_from_split(out, data, option_text(o, "split"));
}

sotto_status image_shape(size_t shape[3], const struct options *o)
{
    size_t count = 0;
    memset(shape, 0, 3 * sizeof *shape);
    if (!option_given(o, "image"))
        return SOTTO_OK;
    TRY_OR_RETURN(option_sizes(shape, 3, &count, o, "image"));
    if (count != 3)
        return cli_fail(SOTTO_EUSAGE,
                        "--image: '%s' is not a shape; expected CHANNELS,HEIGHT,WIDTH such as 3,32,32",
                        option_text(o, "image"));
    return SOTTO_OK;
}

sotto_status image_size(size_t *height, size_t *width, const struct options *o)
{
    const char *text = option_text(o, "size");
    char *end;
    if (!text)
        return SOTTO_OK;
    unsigned long h = strtoul(text, &end, 10), w = 0;
    if (end != text && (*end == 'x' || *end == 'X') && end[1] >= '0' && end[1] <= '9')
        w = strtoul(end + 1, &end, 10);
    if (text[0] < '0' || text[0] > '9' || *end || h < 1 || w < 1 || h > 4096 || w > 4096)
        return cli_fail(SOTTO_EUSAGE,
                        "--size: '%s' is not a size; expected for example 32x32 (1 to 4096 each)", text);
    *height = h;
    *width = w;
    return SOTTO_OK;
}

sotto_status image_provenance_save(const char *output, const struct sotto_dataset *data,
                                   const struct sotto_array *chosen)
{
    struct sotto_provenance records = {0};
    sotto_status status = sotto_provenance_of_rows(&records, data, chosen->data, chosen->count);
    if (status == SOTTO_OK)
        status = sotto_provenance_save(output, &records);
    sotto_provenance_clear(&records);
    return status;
}

sotto_status image_training(const struct options *o, const struct sotto_import_options *files,
                            const struct sotto_context *ctx, int json, image_trainer *train)
{
    char standard[4096];
    struct sotto_dataset *data = NULL;
    TRY_OR_RETURN(option_require(o, "data"));
    if (!option_flag(o, "plan")) /* which writes nothing */
        TRY_OR_RETURN(option_require(o, "output"));
    const char *output = option_text(o, "output");
    int length = snprintf(standard, sizeof standard, "%s.checkpoint", output ? output : "");
    if (length < 0 || (size_t)length >= sizeof standard)
        return cli_fail(SOTTO_EUSAGE, "the path of --output is too long");
    struct stat found;
    if (output && cli_writes() && stat(output, &found) == 0 && S_ISDIR(found.st_mode))
        return cli_fail(SOTTO_ECREATE, "%s: is a folder; expected a file name to write", output);
    TRY_OR_RETURN(sotto_dataset_open_files(&data, option_text(o, "data"), files, ctx));
    const sotto_status status =
        train(o, data, option_given(o, "checkpoint") ? option_text(o, "checkpoint") : standard, ctx, json);
    sotto_dataset_free(data);
    return status;
}
