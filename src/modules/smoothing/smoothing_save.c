#include "base/file.h"
#include "io/table/csv.h"
#include "smoothing/smoothing_private.h"
#include "sotto/private/io.h"

#include <math.h>
#include <string.h>

static sotto_status save_json(const char *path, const struct sotto_smoothing_result *r)
{
    char *text = NULL;
    sotto_status status = sotto_smoothing_encode(&text, r);
    if (status == SOTTO_OK)
        status = file_write(path, text, strlen(text));
    sotto_text_free(text);
    return status;
}

static void csv_row(struct atomic_file *f, size_t i, const struct sotto_smoothing_row *row)
{
    fprintf(f->stream, "%zu,%lld,%d,%zu,", i, (long long)row->answer, row->abstained != 0, row->votes);
    csv_write_real(f, row->p_lower);
    fprintf(f->stream, ",");
    csv_write_real(f, row->radius);
    fprintf(f->stream, ",");
    csv_write_real(f, row->pixeldp);
    if (row->label >= 0)
        fprintf(f->stream, ",%d\n", !row->abstained && row->answer == row->label);
    else
        fprintf(f->stream, ",\n");
}

static sotto_status save_csv(const char *path, const struct sotto_smoothing_result *r)
{
    sotto_status status = SOTTO_OK;
    struct atomic_file f = {0};
    TRY(atomic_open(&f, path));
    fprintf(f.stream, "row,class,abstained,votes,p_lower,radius,pixeldp_radius,right\n");
    for (size_t i = 0; i < r->row_count; i++)
        csv_row(&f, i, &r->rows[i]);
    TRY(atomic_commit(&f));
done:
    atomic_discard(&f);
    return status;
}

static sotto_status save_npy(const char *path, const struct sotto_smoothing_result *r)
{
    sotto_status status = SOTTO_OK;
    struct sotto_array a = {0};
    double *x;
    TRY(sotto_array_make(&a, SOTTO_F8, 2, (const size_t[]){r->row_count, 4}));
    x = a.data;
    for (size_t i = 0; i < r->row_count; i++, x += 4) {
        x[0] = r->rows[i].abstained ? -1 : (double)r->rows[i].answer;
        x[1] = (double)r->rows[i].votes;
        x[2] = r->rows[i].p_lower;
        x[3] = r->rows[i].radius;
    }
    TRY(sotto_npy_save(path, &a));
done:
    sotto_array_clear(&a);
    return status;
}

sotto_status sotto_smoothing_save(const char *path, const struct sotto_smoothing_result *r)
{
    REQUIRE_GIVEN(path, r);
    static const struct {
        const char *ending;
        sotto_status (*save)(const char *path, const struct sotto_smoothing_result *r);
    } formats[] = {{".json", save_json}, {".csv", save_csv}, {".npy", save_npy}};
    size_t length = strlen(path);
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        size_t ending = strlen(formats[i].ending);
        if (length > ending && strcmp(path + length - ending, formats[i].ending) == 0)
            return formats[i].save(path, r);
    }
    return status_fail(SOTTO_EUSAGE, "%s: the ending is unknown; expected .json, .csv or .npy", path);
}
