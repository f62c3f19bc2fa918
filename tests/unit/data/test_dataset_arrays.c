/* Arrays in memory as a set: the same records, classes and SHA-256 as an import of them as .npy files. */
#include "support/test.h"

#include "base/file.h"
#include "data/dataset.h"
#include "sotto/lab/data.h"
#include "sotto/private/io.h"
#include "support/temporary_folder.h"

#include <math.h>
#include <string.h>

enum { N = 6, SIDE = 4, D = 3 };
static uint8_t pixels[N * SIDE * SIDE];
static double numbers[N * D];
static int32_t classes[N] = {0, 2, 1, 1, 0, 2};
static uint8_t group[N] = {1, 0, 1, 1, 0, 0};

static struct sotto_array images(void)
{
    for (size_t i = 0; i < sizeof pixels; i++)
        pixels[i] = (uint8_t)(i * 37);
    return (struct sotto_array){SOTTO_U1, 3, {N, SIDE, SIDE}, sizeof pixels, pixels};
}

static struct sotto_array table(void)
{
    for (int i = 0; i < N * D; i++)
        numbers[i] = i * 0.1 - 0.5;
    return (struct sotto_array){SOTTO_F8, 2, {N, D}, N * D, numbers};
}

static struct sotto_array labels(void)
{
    return (struct sotto_array){SOTTO_I4, 1, {N}, N, classes};
}

static struct sotto_array attribute(void)
{
    return (struct sotto_array){SOTTO_U1, 1, {N}, N, group};
}

static struct sotto_dataset *made(const struct sotto_dataset_arrays *a)
{
    struct sotto_dataset *d = NULL;
    if (sotto_dataset_from_arrays(&d, a) != SOTTO_OK)
        fail_msg("%s", sotto_error_text());
    return d;
}

/* The set of a folder of .npy files, opened by its path and imported. */
static void equals_the_import(const struct sotto_dataset_arrays *a, const char *values)
{
    struct sotto_dataset *here = made(a), *opened, *imported;
    char name[16], in[64];
    static int count;
    snprintf(name, sizeof name, "set%d", count++);
    assert_int_equal(folder_make(path_of(name)), SOTTO_OK);
    snprintf(in, sizeof in, "%s/%s", name, values);
    assert_int_equal(sotto_npy_save(path_of(in), a->values), SOTTO_OK);
    snprintf(in, sizeof in, "%s/labels.npy", name);
    assert_int_equal(sotto_npy_save(path_of(in), a->labels), SOTTO_OK);
    snprintf(in, sizeof in, "%s/attribute.npy", name);
    assert_int_equal(sotto_npy_save(path_of(in), a->attribute), SOTTO_OK);
    assert_int_equal(sotto_dataset_open(&opened, path_of(name), NULL), SOTTO_OK);
    setenv("SOTTO_DATA_DIR", path_of("data"), 1);
    assert_int_equal(sotto_data_import(path_of(name), name, NULL, NULL), SOTTO_OK);
    assert_int_equal(sotto_dataset_open(&imported, name, NULL), SOTTO_OK);
    assert_string_equal(here->sha256, opened->sha256);
    assert_string_equal(here->sha256, imported->sha256);
    assert_int_equal(strlen(here->sha256), 64);
    assert_true(here->n == opened->n && here->n_train == N && here->classes == opened->classes &&
                here->values == opened->values && here->columns == opened->columns &&
                here->channels == opened->channels && here->height == opened->height &&
                here->width == opened->width);
    assert_memory_equal(here->labels, opened->labels, N * sizeof *here->labels);
    assert_memory_equal(here->attribute, opened->attribute, N * sizeof *here->attribute);
    unsigned char one[N][SOTTO_DIGEST], other[N][SOTTO_DIGEST];
    assert_int_equal(sotto_dataset_digests(one, here, NULL, N, NULL), SOTTO_OK);
    assert_int_equal(sotto_dataset_digests(other, imported, NULL, N, NULL), SOTTO_OK);
    assert_memory_equal(one, other, sizeof one); /* one private record is known as itself in both */
    sotto_dataset_free(here);
    sotto_dataset_free(opened);
    sotto_dataset_free(imported);
}

TEST(sets_equal_their_import)
{
    const struct sotto_array x = images(), t = table(), y = labels(), g = attribute();
    equals_the_import(&(struct sotto_dataset_arrays){.values = &x, .labels = &y, .attribute = &g},
                      "images.npy");
    equals_the_import(&(struct sotto_dataset_arrays){.values = &t, .labels = &y, .attribute = &g},
                      "features.npy");
}

TEST(a_set_does_not_depend_on_the_arrays)
{
    const struct sotto_array x = images(), y = labels();
    const char *const names[] = {"a", "b", "c", "d"};
    char dataset_id[] = "mine";
    const struct sotto_dataset_arrays a = {.values = &x,
                                           .labels = &y,
                                           .name = "pictures",
                                           .dataset_id = dataset_id,
                                           .classes = 4,
                                           .class_names = names};
    struct sotto_dataset *d = made(&a);
    dataset_id[0] = 'x';
    pixels[5] ^= 1;
    classes[0] = 1;
    char sum[65];
    assert_int_equal(dataset_hash(sum, d, NULL), SOTTO_OK);
    assert_string_equal(sum, d->sha256);
    assert_int_equal(d->labels[0], 0);
    classes[0] = 0;
    assert_string_equal(d->name, "pictures");
    assert_string_equal(d->dataset_id, "mine");
    assert_string_equal(d->classes_by, "the caller");
    assert_int_equal(d->classes, 4);
    assert_string_equal(d->class_names[3], "d");
    assert_true(d->channels == 1 && d->height == SIDE && d->features == NULL && d->attribute == NULL);
    sotto_dataset_free(d);
    const struct sotto_dataset_arrays bare = {.values = &x};
    d = made(&bare);
    assert_true(d->classes == 0 && d->labels == NULL);
    assert_string_equal(d->name, "arrays");
    assert_string_equal(d->dataset_id, "");
    assert_string_equal(d->classes_by, "");
    sotto_dataset_free(d);
}

static void refused(const struct sotto_dataset_arrays *a, sotto_status expected, const char *text)
{
    struct sotto_dataset *d = NULL;
    assert_int_equal(sotto_dataset_from_arrays(&d, a), expected);
    assert_null(d);
    if (!strstr(sotto_error_text(), text))
        fail_msg("expected '%s', got '%s'", text, sotto_error_text());
}

TEST(what_is_no_set_is_refused)
{
    struct sotto_array x = images(), t = table(), y = labels(), few = labels(), line = labels(),
                       lying = table();
    const char *const names[] = {"a", "b", "c"};
    float real[N] = {0};
    const struct sotto_array floats = {SOTTO_F4, 1, {N}, N, real};
    few.shape[0] = few.count = N - 1;
    lying.count = 5;
#define ARRAYS(...) &(struct sotto_dataset_arrays){__VA_ARGS__}
    refused(ARRAYS(.labels = &y), SOTTO_EINVAL, "values is NULL");
    refused(ARRAYS(.values = &line), SOTTO_EFORMAT,
            "arrays: the array is i4 in 1 dimensions; expected u1 images");
    refused(ARRAYS(.values = &lying), SOTTO_EINVAL,
            "values has count 5; expected 18, the product of its shape");
    refused(ARRAYS(.values = &x, .labels = &few), SOTTO_EFORMAT, "5 labels in 1 dimensions for 6 records");
    refused(ARRAYS(.values = &x, .labels = &floats), SOTTO_EFORMAT, "labels are f4; expected whole numbers");
    refused(ARRAYS(.values = &x, .labels = &y, .classes = 2), SOTTO_EFORMAT, "record 1 has label 2");
    refused(ARRAYS(.values = &x, .classes = 2), SOTTO_EINVAL, "classes without labels");
    refused(ARRAYS(.values = &x, .labels = &y, .class_names = names), SOTTO_EINVAL,
            "class_names without classes");
    refused(ARRAYS(.values = &x, .dataset_id = "fashion-mnist"), SOTTO_EUSAGE, "the name of a public set");
    classes[2] = -1;
    refused(ARRAYS(.values = &x, .labels = &y), SOTTO_EFORMAT, "record 2 has label -1");
    classes[2] = 1;
    numbers[4] = NAN;
    refused(ARRAYS(.values = &t, .name = "mine"), SOTTO_EFORMAT, "mine: record 1, feature 1 is not finite");
    numbers[4] = 0;
}

TEST(want_of_memory_is_reported)
{
    const struct sotto_array x = table(), y = labels(), g = attribute();
    const char *const names[] = {"a", "b", "c"};
    const struct sotto_dataset_arrays a = {
        .values = &x, .labels = &y, .attribute = &g, .classes = 3, .class_names = names};
    sotto_status status = SOTTO_ENOMEM;
    for (long n = 0; status != SOTTO_OK; n++) {
        struct sotto_dataset *d = NULL;
        base_alloc_fail_after(n);
        status = sotto_dataset_from_arrays(&d, &a);
        base_alloc_fail_after(-1);
        assert_true(status == SOTTO_OK ? d != NULL : status == SOTTO_ENOMEM && !d);
        sotto_dataset_free(d);
        assert_true(n < 100);
    }
}

TEST_GROUP(.set_up = make_folder, .tear_down = remove_folder)
