/* No private row changes how another one is encoded: one cell changes, all other rows keep their bytes.
 * With the encoding that all rows are fitted on as the control, which must fail this. */
#include "sotto/private/io.h"
#include "support/test.h"

#include "data/encoding/encoding.h"
#include "support/table_files.h"

#include <math.h>

static const struct sotto_data_part parts[] = {{.name = "public", .n = 5}, {.name = "private", .n = 3}};

/* A cell far out, a new category, a text among numbers, cells that are missing, a new label. */
static const char *const neighbours[] = {
    "1e15,n,cook,north,no",  "40,n,pilot,north,no", "40,n,cook,west,yes",
    "n/a,n,nurse,south,yes", "40,n,,north,no",      "40,n,1e9,south,no",
    "40,n,cook,north,maybe", "-1e15,n,3.0,x,0",     "inf,n,3.0,x,0"}; /* the last one only with a schema */
/* Only a schema takes all of these: an import without one refuses a label that is missing. */
static const char *const missing[] = {",n,cook,north,no", "nan,n,?,?,yes", "?,n,cook,north,", "nan,n,?,?,?"};
enum { WITH_LABELS = 2 };
enum { NEIGHBOURS = sizeof neighbours / sizeof *neighbours, MISSING = sizeof missing / sizeof *missing };

/* The first row of the private part under seed 3. */
static size_t private_row(void)
{
    const struct sotto_split_options options = {.seed = 3, .one_hot = 1};
    static int made;
    char name[32], file[64];
    snprintf(name, sizeof name, "order-%d", made++);
    snprintf(file, sizeof file, "%s/private-rows.npy", name);
    import_people(name, 0, NULL, NULL);
    succeed(sotto_data_split(in_folder(name), name, parts, 2, &options, NULL));
    struct sotto_array rows = load_array(file);
    size_t row = (size_t)((const int64_t *)rows.data)[0];
    sotto_array_clear(&rows);
    return row;
}

static bool same_array(const char *a, const char *b, size_t first)
{
    struct sotto_array x = load_array(a), y = load_array(b);
    size_t row = x.ndim == 2 ? x.shape[1] * sizeof(float) : sizeof(int64_t), bytes = x.shape[0] * row;
    bool same = x.ndim == y.ndim && x.shape[0] == y.shape[0] && (x.ndim == 1 || x.shape[1] == y.shape[1]) &&
                memcmp((const char *)x.data + first * row, (const char *)y.data + first * row,
                       bytes - first * row) == 0;
    sotto_array_clear(&x);
    sotto_array_clear(&y);
    return same;
}

/* Everything but the first record of the private part. */
static bool others_are_equal(const char *changed, size_t row, const char *schema,
                             struct sotto_split_options options)
{
    static int made;
    char set[2][32], name[2][96];
    for (int k = 0; k < 2; k++) {
        snprintf(set[k], sizeof set[k], "people-%d", made++);
        import_people(set[k], row, k ? changed : NULL, schema);
        succeed(sotto_data_split(in_folder(set[k]), set[k], parts, 2, &options, NULL));
    }
    bool same = true;
    static const char *const files[] = {"public-features.npy", "public-labels.npy", "private-features.npy",
                                        "private-labels.npy", "private-rows.npy"};
    for (size_t f = 0; f < sizeof files / sizeof *files; f++) {
        for (int k = 0; k < 2; k++)
            snprintf(name[k], sizeof name[k], "%s/%s", set[k], files[f]);
        same =
            same && same_array(name[0], name[1], strstr(files[f], "private-") && !strstr(files[f], "rows"));
    }
    return same;
}

/* Neighbours that change another row. `schema`: the import goes by it. */
static size_t count_changes(const char *const *cells, size_t count, bool schema,
                            struct sotto_split_options options)
{
    size_t changes = 0, row = private_row();
    char path[200];
    snprintf(path, sizeof path, "%s/schema.yaml", folder);
    options.one_hot = 1;
    options.seed = 3;
    for (size_t i = 0; i < count; i++)
        changes += !others_are_equal(cells[i], row, schema ? path : NULL, options);
    return changes;
}

TEST(declared_encodings_ignore_other_rows)
{
    char path[200];
    snprintf(path, sizeof path, "%s/schema.yaml", folder);
    const struct sotto_split_options none = {0}, at_split = {.schema = path};
    assert_int_equal(count_changes(neighbours, NEIGHBOURS, true, none), 0);
    assert_int_equal(count_changes(neighbours, NEIGHBOURS - 1, false, at_split), 0);
}

TEST(schemas_take_every_cell_in_silence)
{
    assert_int_equal(count_changes(missing, MISSING, true, (struct sotto_split_options){0}), 0);
}

TEST(encodings_of_public_rows_ignore_private_ones)
{
    char table[200];
    snprintf(table, sizeof table, "%s/public.csv", folder);
    const struct sotto_split_options by_part = {.fit_part = "public"}, by_table = {.fit_table = table};
    files_write_text(folder, "public.csv",
                     "age,note,job,town,ill\n10,a,cook,north,no\n30,n,nurse,south,yes\n20,b,cook,north,no\n");
    assert_int_equal(count_changes(neighbours, NEIGHBOURS - 1, false, by_part), 0);
    assert_int_equal(count_changes(neighbours, NEIGHBOURS - 1, false, by_table), 0);
    assert_int_equal(count_changes(missing, MISSING, true, by_part), 0);
    assert_int_equal(count_changes(missing, WITH_LABELS, false, by_part), 0);
    assert_int_equal(count_changes(missing, WITH_LABELS, false, by_table), 0);
}

TEST(an_encoding_of_all_rows_does_not)
{
    assert_true(count_changes(neighbours, NEIGHBOURS - 1, false, (struct sotto_split_options){0}) >= 5);
}

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The sensitivity that the private fit states as proved. */
TEST(replacing_one_value_changes_no_score_by_more_than_one)
{
    enum { N = 40, EDGES = 30 };
    double x[N], y[N], sorted[N], edges[EDGES], largest = 0;
    double a[EDGES], b[EDGES];
    uint64_t r = 7;
    for (size_t i = 0; i < EDGES; i++)
        edges[i] = (double)i;
    for (int trial = 0; trial < 2000; trial++) {
        for (size_t i = 0; i < N; i++)
            x[i] = y[i] = (double)((r = r * 6364136223846793005u + 1442695040888963407u) >> 59);
        y[r % N] = (double)(r >> 58) - 16;
        memcpy(sorted, x, sizeof x);
        qsort(sorted, N, sizeof *sorted, by_size);
        encoding_score_edges(a, edges, EDGES, sorted, N, (double)(trial % N));
        memcpy(sorted, y, sizeof y);
        qsort(sorted, N, sizeof *sorted, by_size);
        encoding_score_edges(b, edges, EDGES, sorted, N, (double)(trial % N));
        for (size_t i = 0; i < EDGES; i++)
            largest = fmax(largest, fabs((double)a[i] - (double)b[i]));
    }
    assert_float_equal(largest, 1, 0); /* reached, and not exceeded */
}

TEST_GROUP(.before = table_set_up, .after = table_tear_down)
