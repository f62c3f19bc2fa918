/* src/learn/data: tables and arrays as sets, imports that are whole or absent, verification, the list. */
#include "support/test.h"

#include "base/file.h"
#include "data/dataset.h"
#include "support/data_files.h"
#include "io/json/json.h"
#include "sotto/private/io.h"
#include "sotto/private/print.h"

#include <dirent.h>
#include <errno.h>

/* Every test has a folder with its files and, inside, its own data folder. */
static char folder[64];

static int set_up(void **state)
{
    char data[128];
    (void)state;
    files_folder(folder);
    snprintf(data, sizeof data, "%s/data", folder);
    setenv("SOTTO_DATA_DIR", data, 1);
    setenv("SOTTO_FASHION_MNIST", "/dev/null", 1);
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

static void refuse_table(const char *text, sotto_status expected, const char *part)
{
    struct sotto_dataset *d = NULL;
    files_write_text(folder, "t.csv", text);
    expect_error(sotto_dataset_open(&d, in_folder("t.csv"), NULL), expected, part);
    assert_null(d);
}

static sotto_status import(const char *file, const char *name, const char *label)
{
    struct sotto_import_options options = {.label = label};
    return sotto_data_import(in_folder(file), name, &options, NULL);
}

TEST(label_first_is_recognised)
{
    /* Location's form */
    files_write_text(folder, "t.csv", "\"2\",0,1\n\"10\",1,1\n\"2\",0,0\n");
    struct sotto_dataset *d = open_set(in_folder("t.csv"));
    assert_int_equal(d->n * 10 + d->columns, 32);
    assert_int_equal(d->classes, 2);
    assert_string_equal(d->class_names[0], "2"); /* as numbers, not as texts */
    const int64_t labels[3] = {0, 1, 0};
    const float features[6] = {0, 1, 1, 1, 0, 0};
    assert_memory_equal(d->labels, labels, sizeof labels);
    assert_memory_equal(d->features, features, sizeof features);
    sotto_dataset_free(d);
}

TEST(adult_form_is_read)
{
    files_write_text(folder, "a/adult.data",
                     "39, State-gov, 7, <=50K\n50, ?, 8, >50K\n38, Private, 9, <=50K\n\n");
    files_write_text(folder, "a/adult.test",
                     "|1x3 Cross validator\n25, Private, 1, <=50K.\n44, Without-pay, 2, >50K.\n");
    assert_int_equal(import("a", "adult", NULL), SOTTO_OK);
    struct sotto_dataset *d = open_set("adult");
    assert_int_equal(d->n, 5);
    assert_int_equal(d->n_train, 3);
    assert_int_equal(d->classes, 2);
    assert_string_equal(d->class_names[1], ">50K");
    const int64_t labels[5] = {0, 1, 0, 0, 1};
    const float features[15] = {39, 2,  7, 50, 0,  8, 38, 1,
                                9,  25, 1, 1,  44, 3, 2}; /* ? Private State-gov Without-pay */
    assert_memory_equal(d->labels, labels, sizeof labels);
    assert_memory_equal(d->features, features, sizeof features);
    sotto_dataset_free(d);
    struct json *doc;
    assert_int_equal(json_read_file(&doc, in_folder("data/adult/dataset.json")), SOTTO_OK);
    assert_string_equal(json_text(json_find(doc, "columns[1].kind")), "category");
    assert_string_equal(json_text(json_find(doc, "columns[1].codes[0]")), "?");
    assert_string_equal(json_text(json_find(doc, "columns[1].codes[3]")), "Without-pay");
    assert_string_equal(json_text(json_find(doc, "columns[0].kind")), "number");
    json_free(doc);
}

TEST(labels_can_be_named)
{
    files_write_text(folder, "t.csv", "x,kind,y\n1,3,5\n2,4,6\n");
    struct sotto_dataset *d = NULL;
    expect_error(sotto_dataset_open(&d, in_folder("t.csv"), NULL), SOTTO_EINVAL,
                 "the label among 3 columns is unknown");
    assert_string_equal(sotto_error_hint(), "give label=first, label=last or label=COLUMN");
    expect_error(import("t.csv", "t", "colour"), SOTTO_EINVAL, "has no column 'colour'");
    assert_int_equal(import("t.csv", "t", "kind"), SOTTO_OK);
    d = open_set("t");
    const float features[4] = {1, 5, 2, 6};
    assert_memory_equal(d->features, features, sizeof features);
    assert_string_equal(d->class_names[1], "4");
    sotto_dataset_free(d);
    assert_int_equal(import("t.csv", "t-last", "last"), SOTTO_OK);
    d = open_set("t-last");
    assert_string_equal(d->class_names[1], "6");
    sotto_dataset_free(d);
}

TEST(tables_refuse)
{
    refuse_table("", SOTTO_EFORMAT, "t.csv");
    refuse_table("1,0\n2,1,1\n", SOTTO_EFORMAT, "t.csv:2");
    refuse_table("5\n6\n", SOTTO_EFORMAT, "has one column");
    refuse_table("1,0\n1,1\n", SOTTO_EFORMAT, "every label is '1'");
    refuse_table("1,2,a\n3,4,?\n", SOTTO_EFORMAT, "column 'column 3' has no label in 1 row: line 2");
    refuse_table(
        "1;2,5;a\n3;4,5;b\n", SOTTO_EFORMAT,
        "column 'column 2' has decimal commas, such as '2,5'; expected decimal points (lines 1 and 2)");
    refuse_table("1,0\n\xff,1\n", SOTTO_EFORMAT, "t.csv:2");
    files_write_text(folder, "two/a.csv", "1,0\n2,1\n");
    files_write_text(folder, "two/b.csv", "1,0\n2,1\n");
    struct sotto_dataset *d = NULL;
    expect_error(sotto_dataset_open(&d, in_folder("two"), NULL), SOTTO_EFORMAT, "are both training tables");
}

static void save_array(const char *name, enum sotto_dtype dtype, int ndim, const size_t *shape,
                       const void *data)
{
    struct sotto_array a;
    assert_int_equal(sotto_array_make(&a, dtype, ndim, shape), SOTTO_OK);
    memcpy(a.data, data, a.count * sotto_dtype_size(dtype));
    assert_int_equal(sotto_npy_save(in_folder(name), &a), SOTTO_OK);
    sotto_array_clear(&a);
}

TEST(arrays_are_sets)
{
    const uint8_t pixels[24] = {1, 2, 3, [23] = 9};
    const int64_t labels[2] = {4, 0};
    const double matrix[4] = {1.5, 2, -3, 4};
    char pair[500];
    save_array("x.npy", SOTTO_U1, 4, (size_t[]){2, 3, 2, 2}, pixels);
    save_array("y.npy", SOTTO_I8, 1, (size_t[]){2}, labels);
    snprintf(pair, sizeof pair, "%s:%s", in_folder("x.npy"), in_folder("y.npy"));
    struct sotto_dataset *d = open_set(pair);
    assert_int_equal(d->channels * 100 + d->height * 10 + d->width, 322);
    assert_memory_equal(d->images, pixels, 24);
    assert_int_equal(d->classes, 5);
    assert_null(d->class_names);
    sotto_dataset_free(d);
    save_array("grey.npy", SOTTO_U1, 3, (size_t[]){6, 2, 2}, pixels);
    d = open_set(in_folder("grey.npy"));
    assert_int_equal(d->n, 6);
    assert_null(d->labels);
    sotto_dataset_free(d);
    save_array("f.npy", SOTTO_F8, 2, (size_t[]){2, 2}, matrix);
    snprintf(pair, sizeof pair, "%s:%s", in_folder("f.npy"), in_folder("y.npy"));
    d = open_set(pair);
    assert_true(d->features[0] == 1.5f && d->features[2] == -3.0f);
    sotto_dataset_free(d);
}

static void refuse_pair(const char *x, const char *y, const char *part)
{
    char pair[500];
    struct sotto_dataset *d = NULL;
    snprintf(pair, sizeof pair, "%s:%s", in_folder(x), in_folder(y));
    expect_error(sotto_dataset_open(&d, pair, NULL), SOTTO_EFORMAT, part);
}

TEST(arrays_refuse)
{
    const uint8_t pixels[24] = {0};
    const int64_t labels[2] = {-1, 0}, more[3] = {0, 1, 2}, huge[2] = {0, (int64_t)1 << 60};
    const float real[2] = {0, 1};
    save_array("hwc.npy", SOTTO_U1, 4, (size_t[]){2, 2, 2, 3}, pixels);
    save_array("x.npy", SOTTO_U1, 3, (size_t[]){2, 3, 4}, pixels);
    save_array("line.npy", SOTTO_U1, 1, (size_t[]){24}, pixels);
    save_array("negative.npy", SOTTO_I8, 1, (size_t[]){2}, labels);
    save_array("more.npy", SOTTO_I8, 1, (size_t[]){3}, more);
    save_array("huge.npy", SOTTO_I8, 1, (size_t[]){2}, huge);
    save_array("real.npy", SOTTO_F4, 1, (size_t[]){2}, real);
    refuse_pair("hwc.npy", "more.npy",
                "hwc.npy: images have shape (2, 2, 2, 3); expected (N, C, H, W) with 1 or 3 channels");
    refuse_pair("line.npy", "more.npy", "line.npy: the array is u1 in 1 dimensions; expected u1 images");
    refuse_pair("x.npy", "more.npy", "more.npy: 3 labels in 1 dimensions for 2 records; expected shape (2)");
    refuse_pair("x.npy", "real.npy", "real.npy: labels are f4; expected whole numbers");
    refuse_pair("x.npy", "negative.npy", "record 0 has label -1; expected 0 to 0");
    refuse_pair("x.npy", "huge.npy", "labels up to 1152921504606846976");
    files_write_text(folder, "cut.npy", "\x93NUMPY");
    refuse_pair("cut.npy", "more.npy", "cut.npy");
}

static size_t count_files(const char *path)
{
    size_t count = 0;
    DIR *dir = opendir(path);
    for (struct dirent *e; dir && (e = readdir(dir)) != NULL;)
        count += strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0;
    if (dir)
        closedir(dir);
    return count;
}

TEST(imports_are_whole_or_absent)
{
    struct sotto_dataset *before, *after;
    struct blob b;
    files_png(&b, 4, 4, 3, 7);
    files_write(folder, "p/train/a/1.png", b.data, b.size);
    files_png(&b, 4, 4, 3, 70);
    files_write(folder, "p/test/b/1.png", b.data, b.size);
    before = open_set(in_folder("p"));
    files_write_text(folder, "data/.mine.import-999999999/images.npy", "left by a killed import");
    assert_int_equal(import("p", "mine", NULL), SOTTO_OK);
    after = open_set("mine");
    assert_string_equal(before->sha256, after->sha256);
    assert_int_equal(after->n_train, 1);
    assert_string_equal(after->name, "mine");
    assert_string_equal(after->class_names[1], "b");
    assert_memory_equal(before->images, after->images, 2 * 48);
    assert_int_equal(count_files(in_folder("data")), 1);      /* the dead import is swept away */
    assert_int_equal(count_files(in_folder("data/mine")), 3); /* images, labels, dataset.json */
    sotto_dataset_free(before);
    sotto_dataset_free(after);
    after = open_set(in_folder("data/mine"));
    assert_string_equal(after->name, "mine");
    sotto_dataset_free(after);
    expect_error(import("p", "mine", NULL), SOTTO_ECREATE, "data set 'mine' exists already");
    files_write_text(folder, "p/test/b/2.png", "broken");
    expect_error(import("p", "other", NULL), SOTTO_EFORMAT,
                 "/p/test/b/2.png: is neither JPEG, PNG nor binary PGM");
    assert_int_equal(count_files(in_folder("data")), 1);
}

TEST(imports_can_resize_and_stop)
{
    struct blob b;
    struct sotto_import_options options = {.height = 6, .width = 5}, half = {.height = 6};
    volatile sig_atomic_t stop = 2;
    struct sotto_context stopping = {.stop = &stop};
    files_png(&b, 4, 4, 3, 7);
    files_write(folder, "p/a/1.png", b.data, b.size);
    assert_int_equal(sotto_data_import(in_folder("p"), "half", &half, NULL), SOTTO_EINVAL);
    assert_int_equal(sotto_data_import(in_folder("p"), "stopped", &options, &stopping), SOTTO_ESTOPPED);
    assert_int_equal(count_files(in_folder("data")), 0);
    assert_int_equal(sotto_data_import(in_folder("p"), "sized", &options, NULL), SOTTO_OK);
    files_write_text(folder, "t.csv", "1,0\n2,1\n");
    expect_error(sotto_data_import(in_folder("t.csv"), "t", &options, NULL), SOTTO_EUSAGE,
                 "a size cannot be given for the layout");
    expect_error(import("p", "labelled", "last"), SOTTO_EUSAGE,
                 "a label column cannot be given for the layout");
    struct sotto_dataset *d = open_set("sized");
    assert_int_equal(d->height * 10 + d->width, 65);
    sotto_dataset_free(d);
}

TEST(names_are_checked)
{
    static const char *const bad[] = {
        "",    "..", ".x", "a/b",      "A",
        "a b", "-x", "_x", "\xc3\xa9", "0123456789012345678901234567890123456789012345678901234567890123"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        expect_error(sotto_data_import(folder, bad[i], NULL, NULL), SOTTO_EUSAGE, "data set name");
    expect_error(sotto_data_import(folder, "synthetic-images", NULL, NULL), SOTTO_EUSAGE,
                 "belongs to a generated set");
    expect_error(sotto_data_import(in_folder("missing"), "fine", NULL, NULL), SOTTO_ENOENT, "missing");
}

static sotto_status verify(const char *name)
{
    char *text = NULL;
    sotto_status status = sotto_data_verify(&text, name, NULL);
    if (status == SOTTO_OK)
        sotto_text_free(text);
    return status;
}

/* The same bits on every machine; of blobs, about whose bits libm decides, there is no sum on record. */
TEST(made_up_images_and_tables_have_their_sums)
{
    assert_int_equal(verify("synthetic-images"), SOTTO_OK);
    assert_int_equal(verify("synthetic-purchase"), SOTTO_OK);
    assert_int_equal(verify("synthetic-blobs"), SOTTO_OK);
}

TEST(made_up_faces_have_their_sum)
{
    assert_int_equal(verify("synthetic-faces"), SOTTO_OK);
}

TEST(made_up_genotypes_have_their_sum)
{
    assert_int_equal(verify("synthetic-snps"), SOTTO_OK);
}

TEST(verification_notices_one_byte)
{
    struct blob b;
    files_png(&b, 4, 4, 1, 7);
    files_write(folder, "p/a/1.png", b.data, b.size);
    assert_int_equal(import("p", "mine", NULL), SOTTO_OK);
    assert_int_equal(verify("mine"), SOTTO_OK);
    expect_error(verify(in_folder("p")), SOTTO_EUSAGE, "no SHA-256 is recorded for this path");
    expect_error(verify("fashion-mnist"), SOTTO_ENOENT, "data set 'fashion-mnist' not found");
    FILE *f = fopen(in_folder("data/mine/images.npy"), "r+b");
    assert_non_null(f);
    fseek(f, -1, SEEK_END);
    fputc(99, f);
    fclose(f);
    expect_error(verify("mine"), SOTTO_EGATE, "mine: contents have SHA-256 ");
}

/* However many there are: nothing of them is read before it is used, and a set that is open outlives its removal. */
TEST(imported_images_stay_in_their_file)
{
    struct sotto_dataset *made = open_set("synthetic-images-n40"), *d = NULL;
    const size_t bytes = made->n * made->channels * made->height * made->width;
    const size_t shape[4] = {made->n, made->channels, made->height, made->width};
    const struct sotto_array a = {.dtype = SOTTO_U1,
                                  .ndim = 4,
                                  .shape = {shape[0], shape[1], shape[2], shape[3]},
                                  .count = bytes,
                                  .data = (void *)made->images};
    assert_int_equal(sotto_npy_save(in_folder("i.npy"), &a), SOTTO_OK);
    assert_int_equal(import("i.npy", "mine", NULL), SOTTO_OK);
    const char *path = in_folder("data/mine/images.npy");
    d = open_set("mine");
    const struct file_map *map = &dataset_behind(d)->map;
    assert_non_null(map->base);
    assert_ptr_equal(d->images, (const uint8_t *)map->base + map->bytes - bytes);
    assert_int_equal(unlink(path), 0);
    assert_memory_equal(d->images, made->images, bytes);
    sotto_dataset_free(d);
    d = NULL;
    expect_error(sotto_dataset_open(&d, "mine", NULL), SOTTO_ENOENT, "images.npy");
    files_write(folder, "data/mine/images.npy", "\x93NUMPY", 6);
    expect_error(sotto_dataset_open(&d, "mine", NULL), SOTTO_EFORMAT, "too short for a .npy file");
    const int64_t whole[40] = {0};
    const struct sotto_array other = {
        .dtype = SOTTO_I8, .ndim = 1, .shape = {40}, .count = 40, .data = (void *)whole};
    assert_int_equal(sotto_npy_save(path, &other), SOTTO_OK);
    expect_error(sotto_dataset_open(&d, "mine", NULL), SOTTO_EFORMAT, "expected u1");
    assert_null(d);
    sotto_dataset_free(made);
}

/* Debian's files with one changed byte: the sums of the unpacked contents must notice. */
TEST(fashion_mnist_with_other_contents_fails_verification)
{
    static const char *const names[] = {"train-images-idx3-ubyte", "train-labels-idx1-ubyte",
                                        "t10k-images-idx3-ubyte", "t10k-labels-idx1-ubyte"};
    const unsigned char images[] = {0, 0, 8, 3, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 5},
                        labels[] = {0, 0, 8, 1, 0, 0, 0, 1, 9};
    for (int i = 0; i < 4; i++)
        files_write(folder, names[i], i % 2 ? labels : images, i % 2 ? sizeof labels : sizeof images);
    setenv("SOTTO_FASHION_MNIST", folder, 1);
    expect_error(verify("fashion-mnist"), SOTTO_EGATE,
                 "train-images-idx3-ubyte: unpacked contents have SHA-256 ");
    struct sotto_dataset *d = open_set("fashion-mnist");
    assert_int_equal(d->n, 2);
    sotto_dataset_free(d);
    files_write(folder, names[0], images, sizeof images - 1);
    expect_error(sotto_dataset_open(&d, "fashion-mnist", NULL), SOTTO_EFORMAT,
                 "train-images-idx3-ubyte: header states 1x1x1, but the file has 0 images");
    files_write(folder, names[1], "\0\0\x8\1\0\0\0\2\1\2", 10);
    files_write(folder, names[0], images, sizeof images);
    expect_error(sotto_dataset_open(&d, "fashion-mnist", NULL), SOTTO_EFORMAT, "2 labels for 1 images");
}

TEST(damaged_records_of_an_import_are_refused)
{
    struct sotto_dataset *d = NULL;
    files_write_text(folder, "data/x/dataset.json", "{\"schema\": \"sotto.dataset/9\"}");
    expect_error(sotto_dataset_open(&d, "x", NULL), SOTTO_EFORMAT, "schema is 'sotto.dataset/9'");
    files_write_text(folder, "data/x/dataset.json", "{");
    expect_error(sotto_dataset_open(&d, "x", NULL), SOTTO_EFORMAT, "dataset.json");
    files_write_text(folder, "t.csv", "1,0\n2,1\n");
    assert_int_equal(import("t.csv", "t", NULL), SOTTO_OK);
    const int64_t short_labels[1] = {0};
    save_array("data/t/labels.npy", SOTTO_I8, 1, (size_t[]){1}, short_labels);
    expect_error(sotto_dataset_open(&d, "t", NULL), SOTTO_EFORMAT,
                 "labels.npy: shape or type differs from dataset.json");
}

TEST(the_list_shows_every_state)
{
    struct json *doc;
    char *text;
    files_write_text(folder, "t.csv", "1,0\n2,1\n");
    assert_int_equal(import("t.csv", "my-table", NULL), SOTTO_OK);
    files_write_text(folder, "data/location/dataset.json", "{}");
    assert_int_equal(sotto_data_list(&text), SOTTO_OK);
    assert_int_equal(json_parse(&doc, text, strlen(text), "list"), SOTTO_OK);
    sotto_text_free(text);
    const struct json *sets = json_find(doc, "sets");
    int seen = 0;
    for (size_t i = 0; i < json_count(sets); i++) {
        const char *name = json_text(json_find(json_at(sets, i), "name"));
        const char *is = json_text(json_find(json_at(sets, i), "state"));
        seen += strcmp(name, "fashion-mnist") == 0 && strcmp(is, "missing") == 0;
        seen += strcmp(name, "location") == 0 && strcmp(is, "damaged") == 0;
        seen += strcmp(name, "my-table") == 0 && strcmp(is, "imported") == 0;
        seen += strcmp(name, "synthetic-images") == 0 && strcmp(is, "generated") == 0;
    }
    assert_int_equal(seen, 4);
    json_free(doc);
    assert_int_equal(sotto_data_table(&text), SOTTO_OK);
    assert_non_null(strstr(text, "my-table"));
    sotto_text_free(text);
}

TEST(no_data_folder_is_no_obstacle_to_other_sets)
{
    struct sotto_dataset *d = NULL;
    const char *home = getenv("HOME");
    char kept[4096];
    snprintf(kept, sizeof kept, "%s", home ? home : "");
    unsetenv("SOTTO_DATA_DIR");
    unsetenv("XDG_DATA_HOME");
    unsetenv("HOME");
    files_write_text(folder, "t.csv", "1,0\n2,1\n");
    d = open_set(in_folder("t.csv"));
    sotto_dataset_free(d);
    expect_error(sotto_dataset_open(&d, "fashion-mnist", NULL), SOTTO_ENOENT,
                 "data set 'fashion-mnist' not found");
    expect_error(import("t.csv", "t", NULL), SOTTO_ENOENT,
                 "none of SOTTO_DATA_DIR, XDG_DATA_HOME and HOME is set");
    home ? setenv("HOME", kept, 1) : unsetenv("HOME");
}

/* Every registered set: unique valid name, and what is needed to show it. */
TEST(sources_are_complete)
{
    for (const struct dataset_source *const *s = dataset_sources; *s; s++) {
        assert_true(dataset_name_is_valid((*s)->name));
        assert_ptr_equal(dataset_source_find((*s)->name), *s);
        assert_non_null((*s)->title);
        assert_non_null((*s)->origin);
        assert_non_null((*s)->licence);
        assert_true((*s)->classes >= 2 || ((*s)->part && strcmp((*s)->part, "unlabelled") == 0) ||
                    strcmp((*s)->name, "synthetic-snps") == 0 /* people without classes */);
        assert_true((*s)->synthetic || (*s)->obtain);
        assert_true(!(*s)->synthetic || ((*s)->open && (*s)->options));
    }
}

/* Memory runs out at the k-th allocation, for every k: always ENOMEM, never a crash, nothing left behind. */
static void sweep(const char *file, const char *label)
{
    char path[200];
    snprintf(path, sizeof path, "%s/%s", folder, file);
    struct sotto_import_options options = {.label = label};
    struct sotto_context ctx = {.threads = 1};
    for (long k = 0;; k++) {
        assert_true(k < 5000);
        base_alloc_fail_after(k);
        sotto_status status = sotto_data_import(path, "swept", &options, &ctx);
        base_alloc_fail_after(-1);
        if (status == SOTTO_OK)
            break;
        if (status != SOTTO_ENOMEM)
            fail_msg("allocation %ld: %s: %s", k, sotto_status_name(status), sotto_error_text());
        assert_int_equal(count_files(in_folder("data")), 0);
    }
    files_remove(in_folder("data/swept"));
}

TEST(running_out_of_memory_is_clean)
{
    struct archive_maker m;
    struct blob b;
    maker_start(&m, "ustar", "gzip", 1 << 16);
    files_png(&b, 4, 4, 1, 7);
    maker_add(&m, "train/a/1.png", b.data, b.size);
    files_png(&b, 5, 5, 3, 7);
    maker_add(&m, "test/b/1.png", b.data, b.size);
    maker_finish(&m);
    files_write(folder, "pictures.tar.gz", m.data, m.used);
    free(m.data);
    sweep("pictures.tar.gz", NULL);
    files_write_text(folder, "t.csv", "1,x,a\n2,y,b\n");
    sweep("t.csv", "last");
    const unsigned char images[] = {0, 0, 8, 3, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 5},
                        labels[] = {0, 0, 8, 1, 0, 0, 0, 1, 9};
    files_write(folder, "idx/train-images-idx3-ubyte", images, sizeof images);
    files_write(folder, "idx/train-labels-idx1-ubyte", labels, sizeof labels);
    sweep("idx", NULL);
    for (long k = 0;; k++) {
        struct sotto_dataset *d;
        base_alloc_fail_after(k);
        sotto_status status = sotto_dataset_open(&d, "synthetic-blobs-n10", NULL);
        base_alloc_fail_after(-1);
        if (status == SOTTO_OK) {
            sotto_dataset_free(d);
            break;
        }
        assert_int_equal(status, SOTTO_ENOMEM);
    }
}

TEST_GROUP(.shards = 3, .before = set_up, .after = tear_down, .tags = "long")
