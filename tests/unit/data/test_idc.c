/* The reader of breast tissue patches: names, folders made up here and imported, what is left out, what is
 * refused. */
#include "support/test.h"

#include "data/format/idc.h"
#include "support/data_files.h"
#include "sotto/lab/data.h"

TEST(names_say_patient_place_and_class)
{
    struct idc_name n;
    assert_true(idc_name_read(&n, "8863/1/8863_idx5_x51_y1251_class1.png"));
    assert_int_equal(n.patient, 8863);
    assert_int_equal(n.x, 51);
    assert_int_equal(n.y, 1251);
    assert_int_equal(n.label, 1);
    assert_true(idc_name_read(&n, "9_idx5_x0_y0_class0.PNG"));
    static const char *const others[] = {"",
                                         "8863_idx5_x51_y1251_class2.png",
                                         "8863_idx5_x51_y1251_class1.jpg",
                                         "8863_idx5_x51_y1251_class1.png.png",
                                         "8863_idx5_x51_y1251.png",
                                         "8863_idx5_x_y1251_class1.png",
                                         "8863_idx5_x-1_y1251_class1.png",
                                         "_idx5_x51_y1251_class1.png",
                                         "1234567890_idx5_x51_y1251_class1.png",
                                         "8863_idx5_x51_y1251_class01.pn",
                                         "8863_idx5_x51_y1251_class1.png/folder"};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (idc_name_read(&n, others[i]))
            fail_msg("'%s' passed for a patch", others[i]);
}

/* Patients 1 .. 7 with ten patches each, of which the first is small; grey level 10 patient + patch. */
static void make_patches(const char *folder)
{
    struct blob png;
    char name[128];
    for (unsigned patient = 1; patient <= 7; patient++)
        for (unsigned k = 0; k < 10; k++) {
            unsigned label = k % 3 == 0;
            files_png(&png, k ? 50 : 20, 50, 3, 10 * patient + k);
            snprintf(name, sizeof name, "set/%u/%u/%u_idx5_x%u_y%u_class%u.png", patient, label, patient,
                     50 * k + 1, 101, label);
            files_write(folder, name, png.data, png.size);
        }
    files_write_text(folder, "set/readme.txt", "not a picture");
}

TEST(a_folder_becomes_a_set)
{
    char folder[64];
    struct sotto_dataset *d = NULL;
    files_folder(folder);
    make_patches(folder);
    if (sotto_dataset_open(&d, folder, NULL) != SOTTO_OK)
        fail_msg("%s", sotto_error_text());
    assert_int_equal(d->n, 63); /* seven are small */
    assert_int_equal(d->channels * 10000 + d->height * 100 + d->width, 35050);
    assert_int_equal(d->classes, 2);
    assert_string_equal(d->class_names[1], "IDC");
    assert_non_null(strstr(d->origin, "7 that are not 50x50"));
    /* A seventh of the records would do for training: with whole patients, two of seven. */
    assert_int_equal(d->n_train, 18);
    unsigned positive = 0;
    for (size_t i = 0; i < d->n; i++) {
        unsigned first = d->images[i * 7500], patient = first / 10, k = first % 10;
        assert_int_equal(d->labels[i], k % 3 == 0);
        assert_int_equal(d->images[(i / 9 * 9) * 7500] / 10, patient); /* nine in a row are one patient's */
        positive += d->labels[i] == 1;
    }
    assert_int_equal(positive, 21);
    sotto_dataset_free(d);
    files_remove(folder);
}

TEST(copies_count_once)
{
    char folder[64];
    struct blob png;
    struct sotto_dataset *d = NULL;
    files_folder(folder);
    make_patches(folder);
    files_png(&png, 50, 50, 3, 14);
    files_write(folder, "again/1/0/1_idx5_x201_y101_class0.png", png.data, png.size);
    assert_int_equal(sotto_dataset_open(&d, folder, NULL), SOTTO_OK);
    assert_int_equal(d->n, 63);
    assert_non_null(strstr(d->origin, "1 twice"));
    sotto_dataset_free(d);
    files_remove(folder);
}

static void refused(const char *name, size_t side, const char *expected)
{
    char folder[64];
    struct blob png;
    struct sotto_dataset *d = NULL;
    files_folder(folder);
    files_png(&png, (unsigned)side, 50, 3, 1);
    files_write(folder, "1/0/1_idx5_x1_y1_class0.png", png.data, png.size);
    if (name)
        files_write(folder, name, png.data, png.size);
    assert_int_equal(sotto_dataset_open(&d, folder, NULL), SOTTO_EFORMAT);
    if (!strstr(sotto_error_text(), expected))
        fail_msg("'%s' does not say '%s'", sotto_error_text(), expected);
    files_remove(folder);
}

TEST(what_contradicts_itself_is_refused)
{
    refused("1/1/1_idx5_x51_y1_class0.png", 50, "is named class 0 but is in folder 1");
    refused("1/1/cat.png", 50,
            "is not the file name of a patch; expected PATIENT_idx5_xX_yY_class0.png or _class1.png");
    refused(NULL, 49, "none of 1 images has 50x50");
}

TEST(memory_runs_out_politely)
{
    char folder[64];
    files_folder(folder);
    make_patches(folder);
    for (long at = 0;; at += 1 + at / 8) {
        struct sotto_dataset *d = NULL;
        base_alloc_fail_after(at);
        sotto_status status = sotto_dataset_open(&d, folder, &(struct sotto_context){.threads = 1});
        base_alloc_fail_after(-1);
        sotto_dataset_free(d);
        if (status == SOTTO_OK)
            break;
        assert_int_equal(status, SOTTO_ENOMEM);
    }
    files_remove(folder);
}
