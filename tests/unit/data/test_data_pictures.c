/* Images with two labels: UTKFace names, CelebA's table, Places' list, labels.csv, ChestX-ray8's table; each right, and wrong in
 * every way that its reader names. */
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

TEST(utkface_names_are_read)
{
    static const char *const wrong[] = {"61_1_20170109.jpg", "117_0_0_1.jpg", "1_2_0_1.jpg",
                                        "1_0_5_1.jpg",       "1_0_0_.jpg",    "1_0_0_1",
                                        "_0_0_1.jpg",        "1_0_0_1.txt",   "00001_0_0_1.jpg"};
    struct utkface_name n;
    assert_true(utkface_parse(&n, "26_1_3_20170104023102422.jpg.chip.jpg"));
    assert_true(n.age == 26 && n.gender == 1 && n.race == 3);
    assert_true(utkface_parse(&n, "116_0_4_1.png"));
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_false(utkface_parse(&n, wrong[i]));
}

TEST(utkface_becomes_gender_and_race, .before = set_up, .after = tear_down)
{
    add_image("UTKFace/26_1_3_20170104023102422.png", 10);
    add_image("UTKFace/80_0_0_20170104023102423.png", 20);
    add_image("UTKFace/1_0_3_20170104023102424.png", 30);
    add_image("UTKFace/61_1_20170109142408075.png", 40); /* a field is missing */
    struct sotto_dataset *d = open_set();
    assert_int_equal(d->n, 3);
    assert_string_equal(d->attribute_name, "race");
    assert_int_equal(d->classes, 2);
    assert_string_equal(d->class_names[0], "male");
    assert_string_equal(d->class_names[1], "female");
    assert_int_equal(d->values, 2);
    assert_string_equal(d->value_names[0], "White");
    assert_string_equal(d->value_names[1], "Indian");
    check_row(d, 0, 30, 0, 1);
    check_row(d, 1, 20, 0, 0);
    check_row(d, 2, 10, 1, 1);
    sotto_dataset_free(d);

    struct bundle b = {0};
    struct dataset *made;
    const struct dataset_format *used;
    struct sotto_import_options o = {.label = "race", .attribute = "age"};
    assert_int_equal(bundle_open(&b, folder, NULL), SOTTO_OK);
    assert_int_equal(dataset_create(&made), SOTTO_OK);
    assert_int_equal(format_read(made, &used, &b, &o, NULL), SOTTO_OK);
    assert_string_equal(made->set.attribute_name, "age");
    assert_int_equal(made->set.values, 3);
    assert_string_equal(made->set.value_names[1], "26"); /* by number: 1, 26, 80 */
    dataset_discard(made);
    assert_int_equal(dataset_create(&made), SOTTO_OK);
    o.label = "height";
    assert_int_equal(format_read(made, &used, &b, &o, NULL), SOTTO_EINVAL);
    dataset_discard(made);
    bundle_clear(&b);
}

static const char celeba[] = "3\n5_o_Clock_Shadow Attractive Male Smiling \n"
                             "000001.png -1  1 -1 1\n000002.png -1 -1  1  1\r\n000003.png 1 1 1 -1\n";

TEST(celeba_becomes_two_labels_with_its_partition, .before = set_up, .after = tear_down)
{
    files_write_text(folder, "celeba/Anno/list_attr_celeba.txt", celeba);
    files_write_text(folder, "celeba/Eval/list_eval_partition.txt",
                     "000001.png 2\n000002.png 0\n000003.png 0\n");
    for (unsigned i = 1; i <= 3; i++) {
        char name[64];
        snprintf(name, sizeof name, "celeba/img_align_celeba/00000%u.png", i);
        add_image(name, 10 * i);
    }
    struct sotto_dataset *d = open_set();
    assert_int_equal(d->n, 3);
    assert_int_equal(d->n_train, 2);
    assert_string_equal(d->class_names[0], "not Male");
    assert_string_equal(d->class_names[1], "Male");
    assert_string_equal(d->attribute_name, "Attractive+Smiling");
    assert_int_equal(d->values, 3);
    assert_string_equal(d->value_names[0], "not Attractive, Smiling");
    assert_string_equal(d->value_names[1], "Attractive, not Smiling");
    assert_string_equal(d->value_names[2], "Attractive, Smiling");
    check_row(d, 0, 20, 1, 0);
    check_row(d, 1, 30, 1, 1);
    check_row(d, 2, 10, 0, 2);
    sotto_dataset_free(d);
}

static void celeba_refused(const char *text, const char *partition, const char *label, sotto_status expected,
                           const char *said)
{
    struct image_facts facts = {0};
    assert_int_equal(celeba_from_memory(&facts, text, strlen(text), partition,
                                        partition ? strlen(partition) : 0, "list", label, "Smiling"),
                     expected);
    if (!strstr(sotto_error_text(), said))
        fail_msg("'%s' does not say '%s'", sotto_error_text(), said);
    image_facts_clear(&facts);
}

TEST(damaged_celeba_is_refused_by_line)
{
    celeba_refused("", NULL, "Male", SOTTO_EFORMAT, "list:1: expected only the number of images");
    celeba_refused("Male\n", NULL, "Male", SOTTO_EFORMAT,
                   ":1: 'Male' is not a number; expected the number of images");
    celeba_refused("1\n", NULL, "Male", SOTTO_EFORMAT, "list:2");
    celeba_refused("1\nMale Smiling\na.png 1\n", NULL, "Male", SOTTO_EFORMAT, "list:3: 2 words");
    celeba_refused("1\nMale Smiling\na.png 1 1 1\n", NULL, "Male", SOTTO_EFORMAT, "list:3: 4 words");
    celeba_refused("1\nMale Smiling\na.png 1 0\n", NULL, "Male", SOTTO_EFORMAT,
                   "list:3: '0'; expected 1 or -1");
    celeba_refused("2\nMale Smiling\na.png 1 1\n", NULL, "Male", SOTTO_EFORMAT,
                   "the first line states 2 images but the table has 1");
    celeba_refused("1\nMale Smiling\na.png 1 1\n", NULL, "Tall", SOTTO_EINVAL, "no column 'Tall'");
    celeba_refused("1\nMale Smiling\na.png 1 1\n", NULL, "Male+Male+Male+Male+Male", SOTTO_EINVAL,
                   "more than 4");
    celeba_refused("1\nMale Smiling\na.png 1 1\n", "b.png 0\n", "Male", SOTTO_EFORMAT, "'b.png', but");
    celeba_refused("1\nMale Smiling\na.png 1 1\n", "a.png 3\n", "Male", SOTTO_EFORMAT,
                   "expected an image name and 0, 1 or 2");
    celeba_refused("1\nMale Smiling\na.png 1 1\n", "", "Male", SOTTO_EFORMAT,
                   "expected an image name and 0, 1 or 2");
}

TEST(places_become_inside_and_category, .before = set_up, .after = tear_down)
{
    add_image("places/abbey/00000001.png", 10);
    add_image("places/attic/00000001.png", 20);
    add_image("places/attic/00000002.png", 30);
    add_image("places/attic/00000009.png", 90); /* not listed */
    files_write_text(
        folder, "places/list.json",
        "[[\"/data/places/attic/00000001.png\",\"attic\",0],[\"abbey/00000001.png\",\"abbey\",1],"
        "[\"attic/00000002.png\",\"attic\",0],[\"attic/00000003.png\",\"attic\",0]]");
    struct sotto_dataset *d = open_set();
    assert_int_equal(d->n, 3);
    assert_string_equal(d->attribute_name, "category");
    assert_string_equal(d->value_names[0], "abbey");
    check_row(d, 0, 20, 0, 1);
    check_row(d, 1, 30, 0, 1);
    check_row(d, 2, 10, 1, 0);
    sotto_dataset_free(d);
}

TEST(damaged_lists_are_refused)
{
    static const char *const wrong[] = {"{}",
                                        "[1]",
                                        "[[\"a.png\",\"x\"]]",
                                        "[[1,\"x\",\"y\"]]",
                                        "[[\"a.png\",-1,\"y\"]]",
                                        "[[\"a.png\",1.5,2]]",
                                        "[[\"a.png\",\"\",\"y\"]]",
                                        "[[\"\",\"x\",\"y\"]]",
                                        "["};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct image_facts facts = {0};
        assert_int_equal(places_from_memory(&facts, wrong[i], strlen(wrong[i]), "list.json"), SOTTO_EFORMAT);
        image_facts_clear(&facts);
    }
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
    refused_table("path,label\nb.png,cat\n", SOTTO_EINVAL, "no column 'attribute'");
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

/* As published: a comma within a name of the header, and one at the end of each row. */
static const char chest_table[] =
    "Image Index,Finding Labels,Follow-up #,Patient ID,Patient Age,Patient Gender,View "
    "Position,OriginalImage[Width,Height],"
    "OriginalImagePixelSpacing[x,y],\n"
    "00000001_000.png,Cardiomegaly,0,1,58,M,PA,2682,2749,0.143,0.143,\n"
    "00000001_001.png,Emphysema|Cardiomegaly,1,1,58,M,PA,2894,2729,0.143,0.143,\n"
    "00000002_000.png,No Finding,0,2,81,F,PA,2500,2048,0.171,0.171,\n";

TEST(chest_table_gives_the_first_finding, .before = set_up, .after = tear_down)
{
    add_image("images_001/images/00000001_000.png", 10);
    add_image("images_001/images/00000001_001.png", 20);
    add_image("images_002/images/00000002_000.png", 30);
    files_write_text(folder, "Data_Entry_2017.csv", chest_table);
    files_write_text(folder, "test_list.txt", "00000002_000.png\r\n00000001_000.png\n");
    struct sotto_dataset *d = open_set();
    assert_true(d->n == 3 && d->n_train == 1);
    assert_int_equal(d->classes, 3);
    assert_string_equal(d->class_names[0], "Cardiomegaly");
    assert_string_equal(d->class_names[1], "Emphysema");
    assert_string_equal(d->attribute_name, "Patient Gender");
    check_row(d, 0, 20, 1, 1);
    check_row(d, 1, 10, 0, 1);
    check_row(d, 2, 30, 2, 0);
    sotto_dataset_free(d);
}

TEST(wrong_chest_tables_are_named)
{
    struct image_facts f = {0};
    static const char no_finding[] = "Image Index,Finding Labels,Patient Gender\na.png,,M\n";
    assert_int_equal(
        chest_xray_from_memory(&f, no_finding, sizeof no_finding - 1, NULL, 0, "t.csv", NULL, NULL),
        SOTTO_EFORMAT);
    assert_non_null(strstr(sotto_error_text(), "t.csv: 'a.png': its label, attribute or path is empty"));
    image_facts_clear(&f);
    assert_int_equal(
        chest_xray_from_memory(&f, chest_table, sizeof chest_table - 1, NULL, 0, "t.csv", NULL, "Weight"),
        SOTTO_EINVAL);
    assert_non_null(strstr(sotto_error_text(), "t.csv has no column 'Weight'"));
    image_facts_clear(&f);
}
