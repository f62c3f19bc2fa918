/* src/learn/data: the second label of a set, from reading to importing, and the two sets made for attribute
 * inference. */
#include "support/test.h"

#include "data/format/cifar.h"
#include "data/dataset.h"
#include "support/data_files.h"
#include "io/array/npy.h"
#include "sotto/private/io.h"

enum { RECORD_10 = 1 + CIFAR_PIXELS, RECORD_100 = 2 + CIFAR_PIXELS };

static char folder[64];

static int set_up(void **state)
{
    char data[128];
    (void)state;
    files_folder(folder);
    snprintf(data, sizeof data, "%s/data", folder);
    setenv("SOTTO_DATA_DIR", data, 1);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    base_alloc_fail_after(-1);
    files_remove(folder);
    return 0;
}

static const char *in_folder(const char *name)
{
    static char paths[4][200];
    static int next;
    char *path = paths[next++ % 4];
    snprintf(path, sizeof paths[0], "%s/%s", folder, name);
    return path;
}

static struct sotto_dataset *open_set(const char *name)
{
    struct sotto_dataset *d = NULL;
    if (sotto_dataset_open(&d, name, NULL) != SOTTO_OK)
        fail_msg("%s", sotto_error_text());
    return d;
}

static void expect_error(sotto_status status, sotto_status expected, const char *part)
{
    if (status != expected || !strstr(sotto_error_text(), part))
        fail_msg("status %s, text '%s'; expected %s with '%s'", sotto_status_name(status), sotto_error_text(),
                 sotto_status_name(expected), part);
}

static void save_array(const char *name, enum sotto_dtype dtype, int ndim, const size_t *shape,
                       const void *data)
{
    struct sotto_array a = {.dtype = dtype, .ndim = ndim, .count = 1, .data = (void *)(uintptr_t)data};
    for (int k = 0; k < ndim; k++) {
        a.shape[k] = shape[k];
        a.count *= shape[k];
    }
    assert_int_equal(sotto_npy_save(in_folder(name), &a), SOTTO_OK);
}

/* Two coarse and fine labels: CIFAR-100's form. */
static void write_cifar100(void)
{
    static unsigned char records[2 * RECORD_100];
    records[0] = 4, records[1] = 0, records[RECORD_100] = 19, records[RECORD_100 + 1] = 99;
    files_write(folder, "c/train.bin", records, sizeof records);
}

TEST(cifar100_keeps_the_other_label)
{
    const int64_t coarse[] = {4, 19}, fine[] = {0, 99};
    write_cifar100();
    struct sotto_dataset *d = open_set(in_folder("c"));
    assert_memory_equal(d->labels, fine, sizeof fine);
    assert_memory_equal(d->attribute, coarse, sizeof coarse);
    assert_int_equal(d->values, 20);
    assert_string_equal(d->attribute_name, "coarse label");
    assert_string_equal(d->value_names[4], "fruit_and_vegetables");
    sotto_dataset_free(d);
}

TEST(an_import_keeps_the_attribute)
{
    const int64_t coarse[] = {4, 19}, fine[] = {0, 99};
    const struct sotto_import_options options = {.label = "coarse"};
    char *text = NULL;
    write_cifar100();
    assert_int_equal(sotto_data_import(in_folder("c"), "cifar100", &options, NULL), SOTTO_OK);
    struct sotto_dataset *d = open_set("cifar100");
    assert_memory_equal(d->labels, coarse, sizeof coarse);
    assert_memory_equal(d->attribute, fine, sizeof fine);
    assert_int_equal(d->values, 100);
    assert_string_equal(d->attribute_name, "fine label");
    assert_string_equal(d->value_names[99], "worm");
    sotto_dataset_free(d);
    assert_int_equal(sotto_data_verify(&text, "cifar100", NULL), SOTTO_OK); /* the hash covers it */
    sotto_text_free(text);
    assert_int_equal(sotto_data_info(&text, "cifar100", NULL), SOTTO_OK);
    assert_non_null(strstr(text, "\"attribute\""));
    sotto_text_free(text);
}

TEST(damage_to_an_imported_attribute_is_noticed)
{
    struct sotto_dataset *d = NULL;
    char *text = NULL;
    const int64_t other[] = {5, 19}, beyond[] = {100, 0}, few[] = {1};
    write_cifar100();
    assert_int_equal(sotto_data_import(in_folder("c"), "x", NULL, NULL), SOTTO_OK);
    save_array("data/x/attribute.npy", SOTTO_I8, 1, (size_t[]){2}, other);
    expect_error(sotto_data_verify(&text, "x", NULL), SOTTO_EGATE, "x: contents have SHA-256 ");
    save_array("data/x/attribute.npy", SOTTO_I8, 1, (size_t[]){2}, beyond);
    expect_error(sotto_dataset_open(&d, "x", NULL), SOTTO_EFORMAT,
                 "record 0 has attribute 100; expected 0 to 19");
    save_array("data/x/attribute.npy", SOTTO_I8, 1, (size_t[]){1}, few);
    expect_error(sotto_dataset_open(&d, "x", NULL), SOTTO_EFORMAT,
                 "attribute.npy: shape or type differs from dataset.json");
    remove(in_folder("data/x/attribute.npy"));
    expect_error(sotto_dataset_open(&d, "x", NULL), SOTTO_ENOENT, "attribute.npy");
}

TEST(a_folder_of_arrays_may_hold_an_attribute)
{
    const float x[4] = {1, 2, 3, 4}, real[2] = {0, 1};
    const int64_t y[2] = {0, 1}, a[2] = {2, 0};
    struct sotto_dataset *d = NULL;
    files_write_text(folder, "n/readme", "");
    save_array("n/features.npy", SOTTO_F4, 2, (size_t[]){2, 2}, x);
    save_array("n/labels.npy", SOTTO_I8, 1, (size_t[]){2}, y);
    save_array("n/attribute.npy", SOTTO_I8, 1, (size_t[]){2}, a);
    d = open_set(in_folder("n"));
    assert_int_equal(d->values, 3);
    assert_memory_equal(d->attribute, a, sizeof a);
    assert_string_equal(d->attribute_name, "attribute");
    assert_null(d->value_names);
    sotto_dataset_free(d);
    save_array("n/attribute.npy", SOTTO_I8, 1, (size_t[]){1}, a);
    expect_error(sotto_dataset_open(&d, in_folder("n"), NULL), SOTTO_EFORMAT,
                 "attribute.npy: 1 attributes in 1 dimensions for 2 records; expected shape (2)");
    save_array("n/attribute.npy", SOTTO_F4, 1, (size_t[]){2}, real);
    expect_error(sotto_dataset_open(&d, in_folder("n"), NULL), SOTTO_EFORMAT,
                 "attribute.npy: attributes are f4; expected whole numbers");
}

TEST(parts_carry_the_attribute)
{
    const struct sotto_data_part parts[] = {{.name = "a", .share = 0.75}, {.name = "b", .n = 10}};
    struct sotto_array rows = {0}, column = {0};
    struct sotto_dataset *d = open_set("synthetic-faces-n40-s16");
    assert_int_equal(sotto_data_split(in_folder("p"), "synthetic-faces-n40-s16", parts, 2, NULL, NULL),
                     SOTTO_OK);
    assert_int_equal(npy_load(&rows, in_folder("p/b-rows.npy")), SOTTO_OK);
    assert_int_equal(npy_load(&column, in_folder("p/b-attribute.npy")), SOTTO_OK);
    assert_int_equal(column.count, 10);
    for (size_t i = 0; i < 10; i++)
        assert_int_equal(((int64_t *)column.data)[i], d->attribute[((int64_t *)rows.data)[i]]);
    sotto_array_clear(&rows);
    sotto_array_clear(&column);
    sotto_dataset_free(d);
}

/* Shares as documented, the same within either class of the task: within four standard deviations. */
TEST(faces_have_two_unrelated_labels)
{
    static const double share[] = {.421, .194, .155, .155, .075};
    struct sotto_dataset *d = open_set("synthetic-faces-n4000-s16"),
                         *longer = open_set("synthetic-faces-n4100-s16");
    assert_int_equal(d->classes * 10 + d->values, 25);
    assert_memory_equal(d->attribute, longer->attribute, 4000 * sizeof(int64_t));
    assert_memory_equal(d->images, longer->images, 4000 * 3 * 16 * 16);
    for (int64_t y = 0; y < 2; y++) {
        double n = 0, seen[5] = {0};
        for (size_t i = 0; i < d->n; i++)
            if (d->labels[i] == y)
                n++, seen[d->attribute[i]]++;
        for (int k = 0; k < 5; k++)
            assert_true((seen[k] / n - share[k]) * (seen[k] / n - share[k]) <
                        16 * share[k] * (1 - share[k]) / n);
    }
    sotto_dataset_free(d);
    sotto_dataset_free(longer);
}

TEST(cifar10_becomes_animals_and_vehicles)
{
    static unsigned char records[10 * RECORD_10];
    const int64_t kinds[10] = {1, 1, 0, 0, 0, 0, 0, 0, 1, 1};
    struct sotto_dataset *d = NULL;
    expect_error(sotto_dataset_open(&d, "cifar10-kinds", NULL), SOTTO_ENOENT,
                 "data set 'cifar10-kinds' is made from cifar10, which was not found");
    for (int i = 0; i < 10; i++)
        records[i * RECORD_10] = (unsigned char)i;
    files_write(folder, "b/data_batch_1.bin", records, sizeof records);
    assert_int_equal(sotto_data_import(in_folder("b"), "cifar10", NULL, NULL), SOTTO_OK);
    d = open_set("cifar10-kinds");
    assert_int_equal(d->classes * 100 + d->values, 210);
    assert_memory_equal(d->labels, kinds, sizeof kinds);
    for (int64_t i = 0; i < 10; i++)
        assert_int_equal(d->attribute[i], i);
    assert_string_equal(d->class_names[1], "vehicle");
    assert_string_equal(d->value_names[9], "truck");
    assert_string_equal(d->attribute_name, "class");
    sotto_dataset_free(d);
}

TEST(names_and_memory_are_checked)
{
    struct dataset *d = NULL;
    char name[65];
    memset(name, 'a', sizeof name - 1);
    name[64] = '\0';
    assert_int_equal(dataset_create(&d), SOTTO_OK);
    assert_int_equal(dataset_reserve_features(d, 2, 1, false), SOTTO_OK);
    expect_error(dataset_reserve_attribute(d, name, 2, NULL), SOTTO_EFORMAT, "expected 1 to 63 bytes");
    expect_error(dataset_reserve_attribute(d, "", 2, NULL), SOTTO_EFORMAT, "expected 1 to 63 bytes");
    assert_null(d->set.attribute);
    dataset_discard(d);
    static const char *const names[] = {"a", "b"};
    for (long k = 0; k < 4; k++) { /* column, list, two names */
        assert_int_equal(dataset_create(&d), SOTTO_OK);
        assert_int_equal(dataset_reserve_features(d, 2, 1, false), SOTTO_OK);
        base_alloc_fail_after(k);
        assert_int_equal(dataset_reserve_attribute(d, "kind", 2, names), SOTTO_ENOMEM);
        base_alloc_fail_after(-1);
        dataset_discard(d);
    }
}

TEST_GROUP(.before = set_up, .after = tear_down)
