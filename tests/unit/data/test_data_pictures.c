/* Images with labels.csv: right, and wrong in every way that its reader names; and sets as published, which are not read. */
#include "support/test.h"

#include "data/format/image_facts.h"
#include "support/data_files.h"
#include "sotto/lab/data.h"

static char folder[64];

static int set_up(void **state)
{
    (void)state;
    files_folder(folder);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    files_remove(folder);
    return 0;
}

/* An image with pixel values from `start` on, so that rows differ. */
static void add_image(const char *path, unsigned start)
{
    struct blob png;
    files_png(&png, 2, 2, 3, start);
    files_write(folder, path, png.data, png.size);
}

static struct sotto_dataset *open_set(void)
{
    struct sotto_dataset *d = NULL;
    if (sotto_dataset_open(&d, folder, NULL) != SOTTO_OK)
        fail_msg("%s", sotto_error_text());
    return d;
}

static void check_row(const struct sotto_dataset *d, size_t row, unsigned start, int64_t label,
                      int64_t attribute)
{
    assert_int_equal(d->images[row * 12], start);
    assert_int_equal(d->labels[row], label);
    assert_int_equal(d->attribute[row], attribute);
}

TEST(tables_of_images_are_read, .before = set_up, .after = tear_down)
{
    add_image("a.png", 10);
    add_image("b.png", 20);
    add_image("c.png", 30);
    files_write_text(
        folder, "labels.csv",
        "path,label,attribute,split\nc.png,dog,10,train\na.png,cat,9,test\nb.png,cat,10,train\n");
    struct sotto_dataset *d = open_set();
    assert_int_equal(d->n_train, 2);
    assert_string_equal(d->value_names[0], "9"); /* numbers by number */
    check_row(d, 0, 20, 0, 1);
    check_row(d, 1, 30, 1, 1);
    check_row(d, 2, 10, 0, 0);
    sotto_dataset_free(d);
}

TEST(an_attribute_may_be_missing, .before = set_up, .after = tear_down)
{
    add_image("a.png", 10);
    add_image("b.png", 20);
    files_write_text(folder, "labels.csv", "path,label,split\na.png,1,test\nb.png,0,train\n");
    struct sotto_dataset *d = open_set();
    assert_true(d->n == 2 && d->n_train == 1 && d->classes == 2 && d->values == 0);
    assert_null(d->attribute);
    assert_true(d->labels[0] == 0 && d->images[0] == 20 && d->images[12] == 10);
    sotto_dataset_free(d);
    struct sotto_import_options o = {.attribute = "race"};
    assert_int_equal(sotto_dataset_open_files(&d, folder, &o, NULL), SOTTO_EINVAL);
    assert_non_null(strstr(sotto_error_text(), "no column 'race'"));
}

TEST(a_value_that_loses_all_its_images_is_named, .before = set_up, .after = tear_down)
{
    static const struct sotto_import_options drop = {.drop_bad_images = 1};
    struct sotto_dataset *d = NULL;
    add_image("a.png", 10);
    add_image("b.png", 20);
    add_image("c.png", 30);
    files_write_text(folder, "d.jpg", "cut");
    files_write_text(folder, "labels.csv",
                     "path,label,attribute\na.png,1,x\nb.png,0,x\nc.png,0,y\nd.jpg,1,y\n");
    assert_int_equal(sotto_dataset_open_files(&d, folder, &drop, NULL), SOTTO_OK);
    assert_int_equal(d->n, 3);
    check_row(d, 0, 20, 0, 0);
    check_row(d, 1, 30, 0, 1);
    check_row(d, 2, 10, 1, 0);
    sotto_dataset_free(d);
    files_write_text(folder, "labels.csv",
                     "path,label,attribute\na.png,1,x\nb.png,0,x\nc.png,0,x\nd.jpg,1,y\n");
    assert_int_equal(sotto_dataset_open_files(&d, folder, &drop, NULL), SOTTO_EFORMAT);
    assert_non_null(strstr(sotto_error_text(), "no image of the attribute 'y' can be read"));
}

TEST(sets_as_published_are_not_read)
{
    static const struct {
        const char *file, *set;
    } sets[] = {{"list_attr_celeba.txt", "celeba"},
                {"Data_Entry_2017.csv", "chest-xray"},
                {"places20.json", "places"},
                {"x/8_idx5_x51_y1251_class1.png", "idc"},
                {"dataset_purchase", "purchase"},
                {"train_32x32.mat", "svhn"},
                {"feats", "texas"},
                {"26_1_3_20170104023102422.jpg.chip.jpg", "utkface"}};
    for (size_t i = 0; i < sizeof sets / sizeof *sets; i++) {
        struct sotto_dataset *d = NULL;
        char hint[64];
        snprintf(hint, sizeof hint, "python -m sotto.datasets %s ", sets[i].set);
        files_folder(folder);
        add_image("1.png", 10);
        files_write_text(folder, sets[i].file, "anything");
        assert_int_equal(sotto_dataset_open(&d, folder, NULL), SOTTO_EFORMAT);
        assert_non_null(strstr(sotto_error_text(), "as it is published, which is not read"));
        assert_non_null(strstr(sotto_error_hint(), hint));
        files_remove(folder);
        assert_int_equal(sotto_dataset_open(&d, sets[i].set, NULL), SOTTO_ENOENT);
        assert_non_null(strstr(sotto_error_hint(), hint));
    }
}

static void refused_table(const char *text, sotto_status expected, const char *said)
{
    struct sotto_dataset *d = NULL;
    files_write_text(folder, "labels.csv", text);
    assert_int_equal(sotto_dataset_open(&d, folder, NULL), expected);
    if (!strstr(sotto_error_text(), said))
        fail_msg("'%s' does not say '%s'", sotto_error_text(), said);
}

TEST(damaged_tables_are_refused, .before = set_up, .after = tear_down)
{
    add_image("x/a.png", 10);
    add_image("y/a.png", 20);
    add_image("b.png", 30);
    refused_table("path,attribute\nb.png,cat\n", SOTTO_EINVAL, "no column 'label'");
    refused_table("path,label\nb.png,\n", SOTTO_EFORMAT, "its label, attribute or path is empty");
    refused_table("path,label\nb.png,cat\nx/a.png,cat\n", SOTTO_EFORMAT, "all images have the label 'cat'");
    refused_table("path,label,attribute\nb.png,,1\n", SOTTO_EFORMAT, "its label, attribute or path is empty");
    refused_table("path,label,attribute,split\nb.png,cat,1,later\n", SOTTO_EFORMAT, "split 'later'");
    refused_table("path,label,attribute\na.png,cat,1\n", SOTTO_EFORMAT,
                  "matches 2 images; expected exactly one");
    refused_table("path,label,attribute\nb.png,cat,1\nb.png,dog,2\n", SOTTO_EFORMAT, "listed twice");
    refused_table("path,label,attribute\nz.png,cat,1\n", SOTTO_EFORMAT,
                  "none of 1 listed images is among the");
    refused_table("path,label,attribute\nb.png,cat,1\nx/a.png,cat,2\n", SOTTO_EFORMAT,
                  "all images have the label 'cat'; expected at least two values");
    refused_table("path,label,attribute\nb.png,cat,1\nx/a.png,dog,1\n", SOTTO_EFORMAT,
                  "all images have the attribute '1'; expected at least two values");
}

/* The end of a path says which image is meant; part of a component does not count. */
TEST(paths_fit_by_their_ends, .before = set_up, .after = tear_down)
{
    add_image("one/x/a.png", 10);
    add_image("two/x/a.png", 20);
    add_image("two/xx/a.png", 30);
    files_write_text(folder, "labels.csv",
                     "path,label,attribute\n/elsewhere/two/x/a.png,cat,1\ne/x/a.png,dog,2\n");
    struct sotto_dataset *d = NULL;
    assert_int_equal(sotto_dataset_open(&d, folder, NULL), SOTTO_EFORMAT); /* e/x/a.png: one or two? */
    files_write_text(
        folder, "labels.csv",
        "path,label,attribute\n/elsewhere/two/x/a.png,cat,1\none/x/a.png,dog,2\nxx/a.png,dog,1\n");
    d = open_set();
    check_row(d, 0, 20, 0, 0);
    check_row(d, 1, 10, 1, 1);
    check_row(d, 2, 30, 1, 0);
    sotto_dataset_free(d);
}

TEST(options_are_for_layouts_that_have_them, .before = set_up, .after = tear_down)
{
    add_image("train/a/x.png", 10);
    add_image("train/b/x.png", 10);
    struct sotto_import_options o = {.attribute = "race"};
    struct bundle b = {0};
    struct dataset *made;
    const struct dataset_format *used;
    assert_int_equal(bundle_open(&b, folder, NULL), SOTTO_OK);
    assert_int_equal(dataset_create(&made), SOTTO_OK);
    assert_int_equal(format_read(made, &used, &b, &o, NULL), SOTTO_EUSAGE);
    dataset_discard(made);
    bundle_clear(&b);
}

TEST(want_of_memory_is_an_error, .before = set_up, .after = tear_down)
{
    add_image("a.png", 10);
    add_image("b.png", 20);
    files_write_text(folder, "labels.csv", "path,label,attribute\na.png,cat,1\nb.png,dog,2\n");
    for (long n = 0;; n++) {
        struct sotto_dataset *d = NULL;
        base_alloc_fail_after(n);
        sotto_status status = sotto_dataset_open(&d, folder, NULL);
        base_alloc_fail_after(-1);
        if (status == SOTTO_OK) {
            sotto_dataset_free(d);
            break;
        }
        assert_int_equal(status, SOTTO_ENOMEM);
    }
}
