/* src/learn/data/identity.c: digests of records, which names are public, and what arrays say of themselves. */
#include "support/test.h"

#include "data/dataset.h"
#include "sotto/private/all.h"
#include "support/temporary_folder.h"

enum { N = 5, D = 3 };
static float x[N * D];
static int64_t y[N];

static int make_records(void **state)
{
    for (int i = 0; i < N * D; i++)
        x[i] = (float)(i * i % 7) / 8;
    for (int i = 0; i < N; i++)
        y[i] = i % 2;
    return make_folder(state);
}

static void digest(unsigned char (*out)[SOTTO_DIGEST], const struct sotto_dataset *d, const int64_t *rows,
                   size_t n)
{
    assert_int_equal(sotto_dataset_digests(out, d, rows, n, NULL), SOTTO_OK);
}

TEST(a_record_has_one_digest_wherever_it_lies)
{
    const struct sotto_dataset table = {.n = N, .columns = D, .features = x, .labels = y, .classes = 2};
    const int64_t order[N] = {4, 2, 0, 1, 3};
    unsigned char whole[N][SOTTO_DIGEST], arrays[N][SOTTO_DIGEST], turned[N][SOTTO_DIGEST];
    digest(whole, &table, NULL, N);
    digest(turned, &table, order, N);
    sotto_array_digests(arrays, x, y, N, D);
    assert_memory_equal(whole, arrays, sizeof whole);
    for (int i = 0; i < N; i++)
        assert_memory_equal(turned[i], whole[order[i]], SOTTO_DIGEST);
    for (int i = 0; i < N; i++)
        for (int k = 0; k < i; k++)
            assert_memory_not_equal(whole[i], whole[k], SOTTO_DIGEST);
}

/* Controls: what makes another record of it. */
TEST(a_cell_a_label_and_a_shape_are_seen)
{
    unsigned char before[1][SOTTO_DIGEST], after[1][SOTTO_DIGEST];
    uint8_t pixels[4] = {1, 2, 3, 4};
    sotto_array_digests(before, x, y, 1, D);
    x[1] += 0x1p-20f;
    sotto_array_digests(after, x, y, 1, D);
    assert_memory_not_equal(before, after, SOTTO_DIGEST);
    x[1] -= 0x1p-20f;
    y[0] = 1;
    sotto_array_digests(after, x, y, 1, D);
    assert_memory_not_equal(before, after, SOTTO_DIGEST);
    sotto_array_digests(after, x, NULL, 1, D);
    assert_memory_not_equal(before, after, SOTTO_DIGEST);
    const struct sotto_dataset wide = {.n = 1, .channels = 1, .height = 1, .width = 4, .images = pixels},
                               high = {.n = 1, .channels = 1, .height = 4, .width = 1, .images = pixels};
    digest(before, &wide, NULL, 1);
    digest(after, &high, NULL, 1);
    assert_memory_not_equal(before, after, SOTTO_DIGEST);
}

TEST(public_names_are_those_of_the_list)
{
    assert_true(sotto_dataset_is_public("fashion-mnist"));
    assert_true(sotto_dataset_is_public("synthetic-blobs-n100"));
    assert_false(sotto_dataset_is_public("fashion-mnist-0011223344556677"));
    assert_false(sotto_dataset_is_public("survey"));
    assert_false(sotto_dataset_is_public(""));
    assert_false(sotto_dataset_is_public(NULL));
    assert_int_equal(identity_check("survey 2026"), SOTTO_OK);
    assert_int_equal(identity_check("a\nb"), SOTTO_EUSAGE);
    char first[SOTTO_DATASET_ID], second[SOTTO_DATASET_ID];
    assert_int_equal(identity_draw(first, "adult"), SOTTO_OK);
    assert_int_equal(identity_draw(second, "adult"), SOTTO_OK);
    assert_int_equal(strlen(first), strlen("adult-") + 16);
    assert_string_not_equal(first, second);
}

static void save(const char *name, enum sotto_dtype dtype, int ndim, void *data,
                 const struct sotto_provenance *p)
{
    struct sotto_array a = {.dtype = dtype, .ndim = ndim, .shape = {N, D}, .data = data};
    a.count = ndim == 2 ? N * D : N;
    assert_int_equal(sotto_npy_save(path_of(name), &a), SOTTO_OK);
    assert_int_equal(sotto_provenance_save(path_of(name), p), SOTTO_OK);
}

static struct sotto_dataset *open_pair(const char *features, const char *labels)
{
    struct sotto_dataset *d;
    char pair[600];
    snprintf(pair, sizeof pair, "%s:", path_of(features));
    strcat(pair, path_of(labels));
    return sotto_dataset_open(&d, pair, NULL) == SOTTO_OK ? d : NULL;
}

TEST(arrays_that_are_opened_by_path_keep_their_identity)
{
    const int64_t some[2] = {3, 1};
    struct sotto_provenance p = {.dataset_id = "survey", .n = N, .encoding = SOTTO_ENCODING_FITTED}, q = {0};
    save("X.npy", SOTTO_F4, 2, x, &p);
    save("y.npy", SOTTO_I8, 1, y, &(struct sotto_provenance){0});
    struct sotto_dataset *d = open_pair("X.npy", "y.npy");
    assert_non_null(d);
    assert_string_equal(d->dataset_id, "survey");
    assert_int_equal(sotto_provenance_of_rows(&q, d, some, 2), SOTTO_OK);
    assert_string_equal(q.dataset_id, "survey");
    assert_string_equal(q.set, "");
    assert_int_equal(q.n, 2);
    assert_int_equal(q.encoding, SOTTO_ENCODING_FITTED);
    sotto_provenance_clear(&q);
    sotto_dataset_free(d);
}

TEST(labels_may_tell_what_features_do_not)
{
    struct sotto_provenance p = {.dataset_id = "survey", .n = N}, q = {0};
    save("X.npy", SOTTO_F4, 2, x, &q);
    save("y.npy", SOTTO_I8, 1, y, &p);
    struct sotto_dataset *d = open_pair("X.npy", "y.npy");
    assert_non_null(d);
    assert_string_equal(d->dataset_id, "survey");
    sotto_dataset_free(d);
    save("y.npy", SOTTO_I8, 1, y, &q); /* control: nothing is stated */
    d = open_pair("X.npy", "y.npy");
    assert_non_null(d);
    assert_string_equal(d->dataset_id, "");
    sotto_dataset_free(d);
}

TEST(arrays_of_other_records_are_refused)
{
    struct sotto_provenance p = {.dataset_id = "survey", .n = N + 1}, other = {.dataset_id = "other", .n = N};
    save("X.npy", SOTTO_F4, 2, x, &p);
    save("y.npy", SOTTO_I8, 1, y, &(struct sotto_provenance){0});
    assert_null(open_pair("X.npy", "y.npy"));
    assert_non_null(strstr(sotto_error_text(), ".provenance.json: describes 6 records but the array has 5"));
    p.n = N;
    save("X.npy", SOTTO_F4, 2, x, &p);
    save("y.npy", SOTTO_I8, 1, y, &other);
    assert_null(open_pair("X.npy", "y.npy"));
    assert_non_null(strstr(sotto_error_text(), "contain different records (see"));
}

/* A part of a set, made elsewhere from its rows and imported again under another name. */
TEST(an_import_of_arrays_keeps_source_and_stamp)
{
    static int64_t part_rows[N] = {4, 2, 0, 1, 3};
    struct sotto_import_options named = {.dataset_id = "survey"};
    struct sotto_provenance p = {.dataset_id = "survey",
                                 .set = "people",
                                 .n = N,
                                 .rows = part_rows,
                                 .encoding = SOTTO_ENCODING_FITTED};
    struct sotto_provenance q = {0};
    struct sotto_dataset *d;
    unsigned char source[N][SOTTO_DIGEST], part[2][SOTTO_DIGEST];
    const int64_t some[2] = {3, 1};
    char pair[600];
    assert_int_equal(setenv("SOTTO_DATA_DIR", path_of("data"), 1), 0);
    save("X.npy", SOTTO_F4, 2, x, &(struct sotto_provenance){0});
    save("y.npy", SOTTO_I8, 1, y, &(struct sotto_provenance){0});
    snprintf(pair, sizeof pair, "%s:", path_of("X.npy"));
    strcat(pair, path_of("y.npy"));
    assert_int_equal(sotto_data_import(pair, "people", &named, NULL), SOTTO_OK);
    sotto_array_digests(source, x, y, N, D);
    for (int i = 0; i < N * D; i++)
        x[i] *= 2; /* encoded: the bytes tell nothing of the source */
    save("X.npy", SOTTO_F4, 2, x, &p);
    named.dataset_id = "another";
    assert_int_equal(sotto_data_import(pair, "part", &named, NULL), SOTTO_EUSAGE);
    assert_non_null(strstr(sotto_error_text(),
                           "import: these records already have the identity 'survey'; omit dataset_id"));
    assert_int_equal(sotto_data_import(pair, "part", NULL, NULL), SOTTO_OK);
    assert_int_equal(sotto_dataset_open(&d, "part", NULL), SOTTO_OK);
    assert_string_equal(d->dataset_id, "survey");
    assert_int_equal(sotto_provenance_of_rows(&q, d, some, 2), SOTTO_OK);
    assert_string_equal(q.set, "people");
    assert_int_equal(q.rows[0], part_rows[3]);
    assert_int_equal(q.encoding, SOTTO_ENCODING_FITTED);
    digest(part, d, some, 2);
    for (int i = 0; i < 2; i++)
        assert_memory_equal(part[i], source[part_rows[some[i]]], SOTTO_DIGEST);
    sotto_provenance_clear(&q);
    sotto_dataset_free(d);
}

TEST_GROUP(.before = make_records, .after = remove_folder)
