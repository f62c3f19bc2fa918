/* Purchase-100 and Texas-100 as published, on files of a few bytes: right, cut, and wrong in every cell. */
#include "support/test.h"

#include "base/file.h"
#include "data/format/bit_table.h"
#include "support/temporary_folder.h"

#include <string.h>

static sotto_status parse(struct dataset **out, const char *rows, const char *labels)
{
    struct text_bytes a = {(const unsigned char *)rows, strlen(rows), "rows"},
                      b = {(const unsigned char *)labels, labels ? strlen(labels) : 0, "labels"};
    assert_int_equal(dataset_create(out), SOTTO_OK);
    return bit_table_from_memory(*out, &a, labels ? &b : NULL);
}

TEST(both_layouts_are_read)
{
    static const float bits[] = {0, 1, 1, 1, 0, 0};
    static const char *const rows[] = {"3,0,1,1\n1,1,0,0\n", "3,0,1,1\r\n1,1,0,0", "0,1,1\n1,0,0\n"},
                             *const labels[] = {NULL, NULL, "3\n1\n"};
    for (size_t i = 0; i < 3; i++) {
        struct dataset *d;
        assert_int_equal(parse(&d, rows[i], labels[i]), SOTTO_OK);
        assert_int_equal(d->set.n, 2);
        assert_int_equal(d->set.columns, 3);
        assert_int_equal(d->set.classes, 3);
        assert_memory_equal(d->features, bits, sizeof bits);
        assert_true(d->labels[0] == 2 && d->labels[1] == 0);
        dataset_discard(d);
    }
}

TEST(what_is_wrong_is_named_by_line)
{
    static const struct {
        const char *rows, *labels, *text;
    } bad[] = {
        {"", NULL, "rows: holds no line of bits"},
        {"5\n", NULL, "rows: holds no line of bits"},
        {"1,0,1\n2,0,2\n", NULL, "rows:2: bit 2 is missing or is not 0 or 1; expected 2 bits"},
        {"1,0,1\n2,0\n", NULL, "rows:2: bit 2 is missing or is not 0 or 1; expected 2 bits"},
        {"1,0,1\n2,0,1,1\n", NULL, "rows:2: expected the end of the line after the last bit"},
        {"0,0,1\n", NULL, "rows:1: expected a class, a whole number from 1 to 10000"},
        {"x,0,1\n", NULL, "rows:1: expected a class, a whole number from 1 to 10000"},
        {"99999999999,0,1\n", NULL, "rows:1: expected a class, a whole number from 1 to 10000"},
        {"1,0,1\n2;0,1\n", NULL, "rows:2: expected a comma after the class"},
        {"0,1\n1,1\n", "1\n", "labels: contains 1 classes but rows has 2 lines; expected one class per line"},
        {"0,1\n1,1\n", "1\n2 3\n", "labels:2: expected one class a line"},
        {"0,1\n1,1\n", "1\n\n", "labels:2: expected a class, a whole number from 1 to 10000"},
        {"1,1,1,1,1,1,1,1,1,1\n1\n1\n1\n", NULL,
         "rows: the first line has 9 bits, but the file is too short for as many in every line"}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct dataset *d;
        assert_int_equal(parse(&d, bad[i].rows, bad[i].labels), SOTTO_EFORMAT);
        assert_string_equal(sotto_error_text(), bad[i].text);
        dataset_discard(d);
    }
}

TEST(folders_are_recognised)
{
    static const char purchase[] = "1,0,1,0\n2,1,1,0\n", feats[] = "0,1,0\n1,1,0\n", labels[] = "1\n2\n";
    struct sotto_dataset *one, *two;
    const char *p = path_of("p"), *t = path_of("t");
    assert_int_equal(folder_make(p), SOTTO_OK);
    assert_int_equal(folder_make(t), SOTTO_OK);
    assert_int_equal(file_write(path_of("p/dataset_purchase"), purchase, strlen(purchase)), SOTTO_OK);
    assert_int_equal(file_write(path_of("t/feats"), feats, strlen(feats)), SOTTO_OK);
    assert_int_equal(file_write(path_of("t/labels"), labels, strlen(labels)), SOTTO_OK);
    assert_int_equal(sotto_dataset_open(&one, p, NULL), SOTTO_OK);
    assert_int_equal(sotto_dataset_open(&two, t, NULL), SOTTO_OK);
    assert_string_equal(one->sha256, two->sha256);
    sotto_dataset_free(one);
    sotto_dataset_free(two);
}

TEST_GROUP(.set_up = make_folder, .tear_down = remove_folder)
