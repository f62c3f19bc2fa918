/* Small files that differ in their last record. */
#include "selftest/neighbours.h"

#include "base/file.h"
#include "selftest/program.h"
#include "sotto/private/io.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { RECORDS = 24, COLUMNS = 3, SIDE = 8, CELL = SIDE * SIDE, TEXT = 4096 };

static sotto_status write_array(const char *folder, const char *name, enum sotto_dtype dtype, int ndim,
                                const size_t *shape, const double *values)
{
    sotto_status status = SOTTO_OK;
    struct sotto_array a = {0};
    char path[PROGRAM_PATH];
    TRY(path_join(path, sizeof path, folder, name));
    TRY(sotto_array_make(&a, SOTTO_F8, ndim, shape));
    memcpy(a.data, values, a.count * sizeof *values);
    TRY(sotto_array_convert(&a, dtype));
    TRY(sotto_npy_save(path, &a));
done:
    sotto_array_clear(&a);
    return status;
}

/* Row numbers that name the last record 23 times. */
static sotto_status write_twice(const char *folder)
{
    double rows[RECORDS] = {0};
    for (int i = 1; i < RECORDS; i++)
        rows[i] = RECORDS - 1;
    return write_array(folder, "twice.npy", SOTTO_I8, 1, (size_t[]){RECORDS}, rows);
}

static sotto_status write_half(const char *folder, const char *name, int from)
{
    double rows[RECORDS / 2];
    for (int i = 0; i < RECORDS / 2; i++)
        rows[i] = from + i;
    return write_array(folder, name, SOTTO_I8, 1, (size_t[]){RECORDS / 2}, rows);
}

/* ---- records ---- */

/* The last of the records: its columns and its label. All others are the first. */
static const double last_record[][COLUMNS + 1] = {
    {1, 1, 1, 0},        {1, -1, -1, 1}, /* the pair: sums and products move */
    {1, 1, 1, 2},        {1, 1, 1, 9},    {1, 1, 1, -1},      {1, 1, 1, 1e15},
    {1, 1, 1, -1e15},    {1, 1, 1e30, 0}, {1, 1, -1e-300, 0}, {1, NAN, 1, 0},
    {INFINITY, 1, 1, 0}, {0, 0, 0, 0},    {9, -9, 1e-9, 2},
};

static sotto_status write_records(int variant, const char *folder)
{
    sotto_status status = SOTTO_OK;
    double x[2][RECORDS][COLUMNS], y[2][RECORDS];
    for (int i = 0; i < RECORDS; i++) {
        const double *record = last_record[i == RECORDS - 1 ? variant : 0];
        for (int backwards = 0; backwards < 2; backwards++) {
            int at = backwards ? RECORDS - 1 - i : i;
            memcpy(x[backwards][at], record, sizeof x[0][0]);
            y[backwards][at] = record[COLUMNS];
        }
    }
    const size_t both[] = {RECORDS, COLUMNS};
    TRY(write_array(folder, "X.npy", SOTTO_F8, 2, both, x[0][0]));
    TRY(write_array(folder, "y.npy", SOTTO_I8, 1, both, y[0]));
    TRY(write_array(folder, "Xr.npy", SOTTO_F8, 2, both, x[1][0]));
    TRY(write_array(folder, "yr.npy", SOTTO_I8, 1, both, y[1]));
    for (int i = 0; i < RECORDS; i++) {
        memcpy(x[0][i], last_record[0], sizeof x[0][0]);
        y[0][i] = last_record[0][COLUMNS];
    }
    TRY(write_array(folder, "X0.npy", SOTTO_F8, 2, both, x[0][0]));
    TRY(write_array(folder, "y0.npy", SOTTO_I8, 1, both, y[0]));
    TRY(write_twice(folder));
done:
    return status;
}

/* ---- vectors ---- */

enum { LONGEST = 4 };
struct vectors {
    enum sotto_dtype dtype;
    size_t length;
    int count;
    double variant[3][LONGEST];
};
/* What is stated of every pair: values of one record move by at most 2 in L1 and in L2. */
static const struct vectors vectors[] = {
    [NEIGHBOURS_VECTOR] = {SOTTO_F8, 3, 3, {{1e9 + 31, .1, -1e-9}, {1e9 + 33, .1, -1e-9}, {1e9 + 31, 2, 0}}},
    [NEIGHBOURS_FLOATS] = {SOTTO_F4, 3, 3, {{1000, .125, 0}, {1002, .125, 0}, {1000, .125, -2}}},
    [NEIGHBOURS_WHOLE] = {SOTTO_F8, 3, 3, {{40, 0, -7}, {42, 0, -7}, {40, 1, -6}}},
    [NEIGHBOURS_SCORES] = {SOTTO_F8, 4, 3, {{1, 2, 3, 4}, {1, 2, 3, 3}, {1, 2, 3, 5}}},
    [NEIGHBOURS_LABELS] = {SOTTO_I8, 4, 3, {{0, 1, 2, 0}, {0, 1, 2, 1}, {0, 1, 2, 2}}},
};

/* ---- images ---- */

static const int last_image[][2] = {{100, 0}, {255, 1}, {100, 2}, {0, 0}, {100, 9}}; /* all pixels, label */

static sotto_status write_images(int variant, const char *folder)
{
    sotto_status status = SOTTO_OK;
    char set[PROGRAM_PATH];
    double pixels[RECORDS][CELL], labels[RECORDS];
    for (int i = 0; i < RECORDS; i++) {
        const int *image = last_image[i == RECORDS - 1 ? variant : 0];
        for (int k = 0; k < CELL; k++)
            pixels[i][k] = image[0];
        labels[i] = i == 0 ? 1 : image[1]; /* an import needs two classes */
    }
    TRY(path_join(set, sizeof set, folder, "set"));
    TRY(folder_make(set));
    TRY(write_array(set, "images.npy", SOTTO_U1, 4, (size_t[]){RECORDS, 1, SIDE, SIDE}, pixels[0]));
    TRY(write_array(set, "labels.npy", SOTTO_U1, 1, (size_t[]){RECORDS}, labels));
    TRY(write_half(folder, "first.npy", 0));
    TRY(write_half(folder, "last.npy", RECORDS / 2));
    TRY(write_twice(folder));
done:
    return status;
}

/* ---- tables ---- */

static const char *const last_row[] = {"10,cook,no", "90,nurse,yes", "1e15,cook,no", "-3,pilot,no",
                                       "10,cook,maybe"};
static const char schema[] = "schema: sotto.schema/1\n"
                             "columns:\n"
                             "  - {name: age, type: number, bounds: [0, 100], fill: 50}\n"
                             "  - {name: job, type: category, categories: [cook, nurse]}\n"
                             "  - {name: ill, type: label, classes: ['no', 'yes'], other: 'no'}\n";

static sotto_status write_text(const char *folder, const char *name, const char *text)
{
    char path[PROGRAM_PATH];
    sotto_status status = path_join(path, sizeof path, folder, name);
    return status == SOTTO_OK ? file_write(path, text, strlen(text)) : status;
}

static sotto_status write_table(int variant, const char *folder)
{
    sotto_status status = SOTTO_OK;
    char text[TEXT];
    for (int before = 0; before < 2; before++) {
        strcpy(text, "age,job,ill\n30,nurse,yes\n");
        for (int i = 1; i < RECORDS; i++)
            strcat(strcat(text, last_row[i == RECORDS - 1 && !before ? variant : 0]), "\n");
        TRY(write_text(folder, before ? "people0.csv" : "people.csv", text));
    }
    TRY(write_text(folder, "schema.yaml", schema));
    TRY(write_text(folder, "public.csv", "age,job,ill\n20,cook,no\n70,nurse,yes\n45,cook,yes\n"));
    strcpy(text, "age,job,ill\n");
    for (int i = 1; i < RECORDS; i++)
        sprintf(text + strlen(text), "%d,cook,no\n", 40 + i);
    TRY(write_text(folder, "probe.csv", strcat(strcat(text, last_row[1]), "\n")));
done:
    return status;
}

/* ---- persons ---- */

enum { PERSONS = 12 };
/* The rows of the last person, of which the first two count; all others have two of the first kind. */
static const char *const last_person[] = {"z,10,cook,no\nz,10,cook,no\n", "z,90,nurse,yes\nz,90,nurse,yes\n",
                                          "z,1e15,cook,no\nz,-3,nurse,no\n",
                                          "z,10,pilot,no\nz,10,cook,maybe\nz,90,nurse,yes\nz,91,nurse,yes\n"};
static const char person_schema[] = "schema: sotto.schema/1\n"
                                    "columns:\n"
                                    "  - {name: who, type: person}\n"
                                    "  - {name: age, type: number, bounds: [0, 100], fill: 50}\n"
                                    "  - {name: job, type: category, categories: [cook, nurse]}\n"
                                    "  - {name: ill, type: label, classes: ['no', 'yes'], other: 'no'}\n";

static sotto_status write_persons(int variant, const char *folder)
{
    sotto_status status = SOTTO_OK;
    char text[TEXT] = "who,age,job,ill\n", row[64];
    for (int i = 0; i < 2 * (PERSONS - 1); i++) {
        snprintf(row, sizeof row, "%c,%s\n", 'a' + i / 2, i == 0 ? "30,nurse,yes" : last_row[0]);
        strcat(text, row);
    }
    TRY(write_text(folder, "people.csv", strcat(text, last_person[variant])));
    TRY(write_text(folder, "schema.yaml", person_schema));
done:
    return status;
}

/* ---- experiments ---- */

/* Images of the experiment, of which 24 are private; which, its seed decides: this one is. The last two variants have a class
 * that no other record has, and pixels that leave nothing of the image. */
enum { EXPERIMENT = 32, OF_EXPERIMENT = 10 };
static const int odd_image[][2] = {{100, 0}, {255, 1}, {100, 2}, {0, 0}};
static const char experiment[] =
    "name: x\n"
    "data: {set: toy, public_set: pub, classes: 3, public: 2, private: 24, heldout: 8}\n"
    "pretrain: {encoder: resnet8, epochs: 1, batch: 2, dtype: f32, backend: dnnl}\n"
    "encoder: {evaluate: false}\n"
    "head: {epochs: 1, batch: 24}\n"
    "protect:\n"
    "  - {trainer: dp-sgd, epsilon: 0.5, delta: 1.0e-3, batch: 24, epochs: 1, lr: 1}\n"
    "  - {trainer: dp-sgd, model: mlp, hidden: [4], epsilon: 0.5, delta: 1.0e-3, batch: 24, epochs: 1, lr: "
    "1}\n"
    "attack: {names: [loss]}\n"
    "report: {fpr: [0.25]}\n";

static sotto_status write_images_of(const char *folder, const char *name, size_t n, const int *one)
{
    sotto_status status = SOTTO_OK;
    char set[PROGRAM_PATH];
    double pixels[EXPERIMENT][CELL], labels[EXPERIMENT];
    for (size_t i = 0; i < n; i++) {
        const bool odd = one && i == OF_EXPERIMENT;
        for (int k = 0; k < CELL; k++) /* the public ones differ from all private ones */
            pixels[i][k] = odd ? one[0] : one ? 100 + (double)(i % 2) * (k % 8) : 10 + 7 * (double)i + k;
        labels[i] = odd ? one[1] : (double)(i % 2);
    }
    TRY(path_join(set, sizeof set, folder, name));
    TRY(folder_make(set));
    TRY(write_array(set, "images.npy", SOTTO_U1, 4, (size_t[]){n, 1, SIDE, SIDE}, pixels[0]));
    TRY(write_array(set, "labels.npy", SOTTO_U1, 1, &n, labels));
done:
    return status;
}

static sotto_status write_experiment(int variant, const char *folder)
{
    sotto_status status = SOTTO_OK;
    TRY(write_images_of(folder, "set", EXPERIMENT, odd_image[variant]));
    TRY(write_images_of(folder, "pub", 2, NULL));
    TRY(write_text(folder, "run.yaml", experiment));
done:
    return status;
}

int neighbours_count(enum neighbours kind)
{
    switch (kind) {
    case NEIGHBOURS_RECORDS:
        return sizeof last_record / sizeof *last_record;
    case NEIGHBOURS_IMAGES:
        return sizeof last_image / sizeof *last_image;
    case NEIGHBOURS_TABLE:
        return sizeof last_row / sizeof *last_row;
    case NEIGHBOURS_PERSONS:
        return sizeof last_person / sizeof *last_person;
    case NEIGHBOURS_EXPERIMENT:
        return sizeof odd_image / sizeof *odd_image;
    default:
        return vectors[kind].count;
    }
}

sotto_status neighbours_write(enum neighbours kind, int variant, const char *folder)
{
    sotto_status status = folder_make(folder);
    if (status != SOTTO_OK)
        return status;
    switch (kind) {
    case NEIGHBOURS_RECORDS:
        return write_records(variant, folder);
    case NEIGHBOURS_IMAGES:
        return write_images(variant, folder);
    case NEIGHBOURS_TABLE:
        return write_table(variant, folder);
    case NEIGHBOURS_PERSONS:
        return write_persons(variant, folder);
    case NEIGHBOURS_EXPERIMENT:
        return write_experiment(variant, folder);
    default:
        return write_array(folder, "v.npy", vectors[kind].dtype, 1, &vectors[kind].length,
                           vectors[kind].variant[variant]);
    }
}
