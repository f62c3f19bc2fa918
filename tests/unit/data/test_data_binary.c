/* CIFAR-100 and STL-10 in their official layouts, imported from folders and archives; entries that stay in
 * their archive. */
#include "support/test.h"

#include "data/format/cifar.h"
#include "data/format/format.h"
#include "data/format/stl.h"
#include "support/data_files.h"
#include "sotto/lab/data.h"

#include <math.h>

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

static void expect_error(sotto_status status, sotto_status expected, const char *part)
{
    if (status != expected || !strstr(sotto_error_text(), part))
        fail_msg("status %s, text '%s'; expected %s with '%s'", sotto_status_name(status), sotto_error_text(),
                 sotto_status_name(expected), part);
}

static struct sotto_dataset *open_set(const char *name)
{
    struct sotto_dataset *d = NULL;
    if (sotto_dataset_open(&d, name, NULL) != SOTTO_OK)
        fail_msg("%s", sotto_error_text());
    return d;
}

static sotto_status import(const char *path, const char *name, struct sotto_import_options options)
{
    return sotto_data_import(in_folder(path), name, &options, NULL);
}

enum { RECORD_100 = 2 + CIFAR_PIXELS };

static void put_record(unsigned char *record, int coarse, int fine, int start)
{
    record[0] = (unsigned char)coarse;
    record[1] = (unsigned char)fine;
    for (int i = 0; i < CIFAR_PIXELS; i++)
        record[2 + i] = (unsigned char)(start + 7 * i);
}

static void write_cifar100(void)
{
    static unsigned char records[3 * RECORD_100];
    put_record(records, 4, 0, 1);
    put_record(records + RECORD_100, 19, 99, 2);
    put_record(records + 2 * RECORD_100, 0, 72, 3);
    files_write(folder, "cifar-100-binary/train.bin", records, 2 * RECORD_100);
    files_write(folder, "cifar-100-binary/test.bin", records + 2 * RECORD_100, RECORD_100);
    files_write_text(folder, "cifar-100-binary/fine_label_names.txt", "apple\n");
}

TEST(cifar100_has_fine_labels)
{
    const int64_t labels[] = {0, 99, 72};
    write_cifar100();
    struct sotto_dataset *d = open_set(in_folder("cifar-100-binary"));
    assert_int_equal(d->n, 3);
    assert_int_equal(d->n_train, 2);
    assert_int_equal(d->channels * d->height * d->width, CIFAR_PIXELS);
    assert_int_equal(d->classes, 100);
    assert_memory_equal(d->labels, labels, sizeof labels);
    assert_string_equal(d->class_names[0], "apple");
    assert_string_equal(d->class_names[72], "seal");
    assert_string_equal(d->class_names[99], "worm");
    for (int i = 0; i < 3; i++)
        for (int p = 0; p < CIFAR_PIXELS; p += 500)
            assert_int_equal(d->images[i * CIFAR_PIXELS + p], (unsigned char)(1 + i + 7 * p));
    sotto_dataset_free(d);
}

TEST(cifar100_has_coarse_labels)
{
    const int64_t labels[] = {4, 19, 0};
    write_cifar100();
    assert_int_equal(import("cifar-100-binary", "cifar100", (struct sotto_import_options){.label = "coarse"}),
                     SOTTO_OK);
    struct sotto_dataset *d = open_set("cifar100");
    assert_int_equal(d->classes, 20);
    assert_memory_equal(d->labels, labels, sizeof labels);
    assert_string_equal(d->class_names[4], "fruit_and_vegetables");
    sotto_dataset_free(d);
    expect_error(import("cifar-100-binary", "x", (struct sotto_import_options){.label = "medium"}),
                 SOTTO_EUSAGE,
                 "label 'medium' is unknown; expected fine (100 classes) or coarse (20 classes)");
    expect_error(import("cifar-100-binary", "x", (struct sotto_import_options){.part = "labelled"}),
                 SOTTO_EUSAGE, "a part cannot be given for the layout 'cifar100'");
}

TEST(cifar100_refuses_damage)
{
    struct sotto_dataset *d;
    static unsigned char record[2 * RECORD_100];
    put_record(record, 4, 5, 1);
    put_record(record + RECORD_100, 20, 5, 1);
    files_write(folder, "cut/train.bin", record, RECORD_100 - 1);
    expect_error(
        sotto_dataset_open(&d, in_folder("cut"), NULL), SOTTO_EFORMAT,
        "cut/train.bin: has 3073 bytes; expected a multiple of 3074 (two labels and 32x32x3 pixels each)");
    files_write(folder, "range/test.bin", record, sizeof record);
    expect_error(sotto_dataset_open(&d, in_folder("range"), NULL), SOTTO_EFORMAT,
                 "range/test.bin: record 1 has coarse label 20; expected 0 to 19");
    put_record(record + RECORD_100, 19, 100, 1);
    files_write(folder, "range/test.bin", record, sizeof record);
    expect_error(sotto_dataset_open(&d, in_folder("range"), NULL), SOTTO_EFORMAT,
                 "record 1 has fine label 100; expected 0 to 99");
    files_write(folder, "empty/train.bin", record, 0);
    expect_error(sotto_dataset_open(&d, in_folder("empty"), NULL), SOTTO_EFORMAT, "has 0 bytes");
    write_cifar100();
    files_write(folder, "cifar-100-binary/again/train.bin", record, RECORD_100);
    expect_error(sotto_dataset_open(&d, in_folder("cifar-100-binary"), NULL), SOTTO_EFORMAT,
                 "two files are called train.bin");
}

/* Byte of image i at (channel, row, column): all four differ. */
static unsigned char stl_byte(size_t i, size_t c, size_t y, size_t x)
{
    return (unsigned char)(40 * i + 80 * c + y + x / 8 * 3);
}

static unsigned char stl_records[4 * STL_PIXELS];

static void write_stl(size_t train, size_t test, size_t unlabelled)
{
    static const unsigned char labels[] = {1, 10, 3, 7};
    for (size_t i = 0; i < 4; i++)
        for (size_t c = 0; c < 3; c++)
            for (size_t y = 0; y < STL_SIDE; y++)
                for (size_t x = 0; x < STL_SIDE; x++) /* column by column */
                    stl_records[((i * 3 + c) * STL_SIDE + x) * STL_SIDE + y] = stl_byte(i, c, y, x);
    if (train) {
        files_write(folder, "stl10_binary/train_X.bin", stl_records, train * STL_PIXELS);
        files_write(folder, "stl10_binary/train_y.bin", labels, train);
    }
    if (test) { /* the images that follow those of training */
        files_write(folder, "stl10_binary/test_X.bin", stl_records + train * STL_PIXELS, test * STL_PIXELS);
        files_write(folder, "stl10_binary/test_y.bin", labels + train, test);
    }
    if (unlabelled)
        files_write(folder, "stl10_binary/unlabeled_X.bin", stl_records, unlabelled * STL_PIXELS);
    files_write_text(folder, "stl10_binary/fold_indices.txt", "0 1 2\n");
}

static void check_stl_images(const struct sotto_dataset *d, size_t n)
{
    assert_int_equal(d->n, n);
    assert_int_equal(d->height * 1000 + d->width, 96096);
    for (size_t i = 0; i < n; i++)
        for (size_t c = 0; c < 3; c++)
            for (size_t y = 0; y < STL_SIDE; y++)
                for (size_t x = 0; x < STL_SIDE; x++)
                    assert_int_equal(d->images[((i * 3 + c) * STL_SIDE + y) * STL_SIDE + x],
                                     stl_byte(i, c, y, x));
}

static void check_stl_labelled(const char *name)
{
    const int64_t labels[] = {0, 9, 2};
    struct sotto_dataset *d = open_set(name);
    check_stl_images(d, 3);
    assert_int_equal(d->n_train, 2);
    assert_int_equal(d->classes, 10);
    assert_memory_equal(d->labels, labels, sizeof labels);
    assert_string_equal(d->class_names[7], "monkey");
    sotto_dataset_free(d);
}

TEST(stl_columns_become_rows)
{
    write_stl(2, 1, 4);
    check_stl_labelled(in_folder("stl10_binary"));
    assert_int_equal(import("stl10_binary", "stl10", (struct sotto_import_options){0}), SOTTO_OK);
    check_stl_labelled("stl10");
}

TEST(stl_unlabelled_is_a_set_of_its_own)
{
    write_stl(2, 1, 4);
    assert_int_equal(import("stl10_binary", "pool", (struct sotto_import_options){.part = "unlabelled"}),
                     SOTTO_OK);
    assert_int_equal(import("stl10_binary", "stl10-unlabelled", (struct sotto_import_options){0}), SOTTO_OK);
    for (int k = 0; k < 2; k++) {
        struct sotto_dataset *d = open_set(k ? "pool" : "stl10-unlabelled");
        check_stl_images(d, 4);
        assert_int_equal(d->n_train, 4);
        assert_int_equal(d->classes, 0);
        assert_null(d->labels);
        sotto_dataset_free(d);
    }
    char *json; /* the hash made on the way is that of what was written */
    assert_int_equal(sotto_data_verify(&json, "pool", NULL), SOTTO_OK);
    sotto_text_free(json);
    expect_error(
        import("stl10_binary", "stl10", (struct sotto_import_options){.part = "unlabelled"}), SOTTO_EUSAGE,
        "data set name 'stl10' is the name of the labelled part (got 'unlabelled'); choose another name");
    expect_error(import("stl10_binary", "x", (struct sotto_import_options){.part = "folds"}), SOTTO_EUSAGE,
                 "part 'folds' of STL-10 is unknown; expected labelled (train and test) or unlabelled");
}

TEST(names_of_other_sets_are_refused)
{
    write_stl(2, 1, 1);
    expect_error(
        import("stl10_binary", "cifar10", (struct sotto_import_options){0}), SOTTO_EUSAGE,
        "stl10_binary: contains stl10, but 'cifar10' is the name of another set; choose another name");
    write_cifar100();
    expect_error(import("cifar-100-binary", "cifar10", (struct sotto_import_options){0}), SOTTO_EUSAGE,
                 "contains cifar100, but 'cifar10' is the name of another set; choose another name");
    assert_int_equal(import("cifar-100-binary", "my-cifar", (struct sotto_import_options){0}), SOTTO_OK);
}

TEST(near_names_are_suggested)
{
    struct sotto_dataset *d;
    static const char *const cases[][2] = {{"fashion-minst", "fashion-mnist"},
                                           {"cifar", "cifar10"},
                                           {"cifar-100", "cifar100"},
                                           {"sltl10", "stl10"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[200];
        snprintf(text, sizeof text, "data set '%s' not found; did you mean '%s'?", cases[i][0], cases[i][1]);
        expect_error(sotto_dataset_open(&d, cases[i][0], NULL), SOTTO_ENOENT, text);
    }
    write_cifar100();
    assert_int_equal(import("cifar-100-binary", "holiday", (struct sotto_import_options){0}), SOTTO_OK);
    expect_error(sotto_dataset_open(&d, "hollidays", NULL), SOTTO_ENOENT, "; did you mean 'holiday'?");
    static const char *const strangers[] = {"x", "ab", "imagenet", "mine"};
    for (size_t i = 0; i < sizeof strangers / sizeof *strangers; i++) {
        expect_error(sotto_dataset_open(&d, strangers[i], NULL), SOTTO_ENOENT, "not found");
        assert_null(strstr(sotto_error_text(), "did you mean"));
    }
}

/* A linear ramp keeps its values when it is averaged, away from the edges. */
TEST(stl_is_resized_on_the_way)
{
    static unsigned char record[STL_PIXELS];
    for (size_t c = 0; c < 3; c++)
        for (size_t x = 0; x < STL_SIDE; x++)
            for (size_t y = 0; y < STL_SIDE; y++)
                record[(c * STL_SIDE + x) * STL_SIDE + y] = (unsigned char)(40 * c + y + x / 2);
    files_write(folder, "s/unlabeled_X.bin", record, sizeof record);
    assert_int_equal(import("s", "small", (struct sotto_import_options){32, 32, .part = "unlabelled"}),
                     SOTTO_OK);
    struct sotto_dataset *d = open_set("small");
    assert_int_equal(d->n * 10000 + d->height * 100 + d->width, 13232);
    for (size_t c = 0; c < 3; c++)
        for (size_t y = 4; y < 28; y++)
            for (size_t x = 4; x < 28; x++) {
                double middle = 40.0 * (double)c + (3.0 * (double)y + 1) + (3.0 * (double)x + 1) / 2 - 0.25;
                double found = d->images[(c * 32 + y) * 32 + x];
                if (!(fabs(found - middle) <= 1))
                    fail_msg("channel %zu, row %zu, column %zu: %g, expected %g", c, y, x, found, middle);
            }
    sotto_dataset_free(d);
    assert_int_equal(import("s", "large", (struct sotto_import_options){100, 120, .part = "unlabelled"}),
                     SOTTO_OK);
    d = open_set("large");
    assert_int_equal(d->height * 1000 + d->width, 100120);
    sotto_dataset_free(d);
}

TEST(stl_refuses_damage)
{
    struct sotto_dataset *d;
    static const unsigned char labels[] = {1, 11, 0};
    write_stl(0, 0, 1);
    expect_error(sotto_dataset_open(&d, in_folder("stl10_binary"), NULL), SOTTO_EFORMAT,
                 "holds no labelled images");
    assert_string_equal(sotto_error_hint(), "give part=unlabelled for the unlabelled images");
    write_stl(2, 1, 0);
    files_write(folder, "stl10_binary/train_y.bin", labels, 2);
    expect_error(sotto_dataset_open(&d, in_folder("stl10_binary"), NULL), SOTTO_EFORMAT,
                 "stl10_binary/train_y.bin: record 1 has label 11; expected 1 to 10");
    files_write(folder, "stl10_binary/train_y.bin", labels + 2, 1);
    expect_error(sotto_dataset_open(&d, in_folder("stl10_binary"), NULL), SOTTO_EFORMAT,
                 "stl10_binary/train_y.bin: 1 labels for 2 images");
    files_write(folder, "stl10_binary/test_y.bin", labels + 2, 1);
    files_write(folder, "stl10_binary/train_y.bin", labels, 1);
    files_write(folder, "stl10_binary/train_X.bin", stl_records, STL_PIXELS);
    expect_error(sotto_dataset_open(&d, in_folder("stl10_binary"), NULL), SOTTO_EFORMAT,
                 "stl10_binary/test_y.bin: record 0 has label 0; expected 1 to 10");
    remove(in_folder("stl10_binary/test_y.bin"));
    expect_error(sotto_dataset_open(&d, in_folder("stl10_binary"), NULL), SOTTO_EFORMAT,
                 "test_X.bin has no matching test_y.bin");
    files_write(folder, "stl10_binary/test_y.bin", labels, 1);
    files_write(folder, "stl10_binary/train_X.bin", stl_records, STL_PIXELS + 1);
    expect_error(
        import("stl10_binary", "x", (struct sotto_import_options){0}), SOTTO_EFORMAT,
        "stl10_binary/train_X.bin: has 27649 bytes; expected a multiple of 27648 (96x96x3 pixels each)");
    remove(in_folder("stl10_binary/train_X.bin"));
    expect_error(import("stl10_binary", "x", (struct sotto_import_options){0}), SOTTO_EFORMAT,
                 "train_y.bin has no matching train_X.bin");
}

/* The official archive's order of files: test before training. */
static void pack_stl(struct archive_maker *m)
{
    static const unsigned char labels[] = {1, 10, 3};
    write_stl(2, 1, 4);
    maker_start(m, "ustar", "gzip", 1 << 20);
    maker_add(m, "stl10_binary/test_X.bin", stl_records + 2 * STL_PIXELS, STL_PIXELS);
    maker_add(m, "stl10_binary/test_y.bin", labels + 2, 1);
    maker_add(m, "stl10_binary/train_X.bin", stl_records, 2 * STL_PIXELS);
    maker_add(m, "stl10_binary/train_y.bin", labels, 2);
    maker_add(m, "./stl10_binary/unlabeled_X.bin", stl_records, 4 * STL_PIXELS);
    maker_finish(m);
    files_write(folder, "stl10_binary.tar.gz", m->data, m->used);
}

TEST(stl_comes_from_its_archive)
{
    struct archive_maker m;
    pack_stl(&m);
    assert_int_equal(import("stl10_binary.tar.gz", "stl10", (struct sotto_import_options){0}), SOTTO_OK);
    check_stl_labelled("stl10");
    assert_int_equal(import("stl10_binary.tar.gz", "u", (struct sotto_import_options){.part = "unlabelled"}),
                     SOTTO_OK);
    struct sotto_dataset *d = open_set("u");
    check_stl_images(d, 4);
    sotto_dataset_free(d);
    free(m.data);
}

/* With a small memory limit every file of images stays in the archive and is read from there, in any
 * order. */
TEST(large_entries_stay_in_the_archive)
{
    struct archive_maker m;
    struct bundle b;
    struct bundle_limits limits = bundle_default_limits;
    struct bytes bytes;
    limits.memory = 1000;
    pack_stl(&m);
    assert_int_equal(bundle_from_archive(&b, in_folder("stl10_binary.tar.gz"), &limits, NULL), SOTTO_OK);
    assert_int_equal(b.count, 5);
    assert_true(b.entries[0].left && b.entries[2].left && b.entries[4].left);
    assert_false(b.entries[1].left || b.entries[3].left);
    assert_null(b.entries[4].data);
    assert_int_equal(b.entries[4].size, 4 * STL_PIXELS);
    assert_int_equal(bundle_load(&bytes, &b, 2), SOTTO_OK);
    assert_int_equal(bytes.size, 2 * STL_PIXELS);
    assert_memory_equal(bytes.data, stl_records, bytes.size);
    bytes_clear(&bytes);
    for (int k = 0; k < 2; k++) {
        struct dataset *d;
        const struct dataset_format *used;
        struct sotto_import_options options = {.part = k ? "unlabelled" : "labelled"};
        assert_int_equal(dataset_create(&d), SOTTO_OK);
        assert_int_equal(format_read(d, &used, &b, &options, NULL), SOTTO_OK);
        check_stl_images(&d->set, k ? 4 : 3);
        dataset_discard(d);
    }
    struct entry_stream *s; /* an archive that goes away or changes is noticed */
    remove(in_folder("stl10_binary.tar.gz"));
    expect_error(entry_open(&s, &b, 4), SOTTO_EIO, "stl10_binary.tar.gz: changed while it was read");
    files_write(folder, "stl10_binary.tar.gz", m.data, m.used / 2);
    if (entry_open(&s, &b, 4) == SOTTO_OK) {
        static unsigned char all[4 * STL_PIXELS];
        assert_int_not_equal(entry_read(s, all, sizeof all), SOTTO_OK);
        entry_close(s);
    }
    bundle_clear(&b);
    free(m.data);
}

/* Bytes in memory cannot be read again, so nothing is left there. */
TEST(archives_in_memory_are_unpacked_whole)
{
    struct archive_maker m;
    struct bundle b;
    struct bundle_limits limits = bundle_default_limits;
    limits.memory = 10;
    pack_stl(&m);
    assert_int_equal(bundle_from_memory(&b, "x.tar", m.data, m.used, &limits), SOTTO_OK);
    for (size_t i = 0; i < b.count; i++)
        assert_true(!b.entries[i].left && b.entries[i].data);
    bundle_clear(&b);
    free(m.data);
}

TEST(running_out_of_memory_is_clean)
{
    static const struct sotto_context ctx = {.threads = 1};
    struct archive_maker m;
    pack_stl(&m);
    struct sotto_import_options options = {.part = "unlabelled"};
    for (long n = 0;; n++) {
        base_alloc_fail_after(n);
        sotto_status status = sotto_data_import(in_folder("stl10_binary.tar.gz"), "oom", &options, &ctx);
        base_alloc_fail_after(-1);
        if (status == SOTTO_OK)
            break;
        assert_int_equal(status, SOTTO_ENOMEM);
        assert_true(n < 1000);
    }
    struct sotto_dataset *d = open_set("oom");
    check_stl_images(d, 4);
    sotto_dataset_free(d);
    free(m.data);
}

TEST_GROUP(.before = set_up, .after = tear_down)
