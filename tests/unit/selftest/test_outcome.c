/* What the end-to-end attack sees of a run: every fact that can differ is found, and nothing that may differ
 * is taken for one. */
#include "support/test.h"

#include "base/file.h"
#include "selftest/program.h"
#include "sotto/private/io.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char folder[64], one[80], two[80];

static int make_folders(void **state)
{
    (void)state;
    assert_int_equal(folder_temporary(folder, sizeof folder, "sotto-test"), SOTTO_OK);
    snprintf(one, sizeof one, "%s/one", folder);
    snprintf(two, sizeof two, "%s/two", folder);
    assert_int_equal(folder_make(one), SOTTO_OK);
    assert_int_equal(folder_make(two), SOTTO_OK);
    return 0;
}

static int remove_folders(void **state)
{
    (void)state;
    folder_remove(folder);
    assert_false(file_exists(folder));
    return 0;
}

static void put(const char *in, const char *name, const void *data, size_t size)
{
    char path[160];
    snprintf(path, sizeof path, "%s/%s", in, name);
    assert_int_equal(file_write(path, data, size), SOTTO_OK);
}

static void put_text(const char *in, const char *name, const char *text)
{
    put(in, name, text, strlen(text));
}

static bool differ(int code_one, int code_two, const char *noisy)
{
    struct outcome a, b;
    char text[200];
    assert_int_equal(outcome_read(&a, one, code_one, noisy, false), SOTTO_OK);
    assert_int_equal(outcome_read(&b, two, code_two, noisy, false), SOTTO_OK);
    bool found = outcome_differs(text, sizeof text, &a, &b);
    outcome_clear(&a);
    outcome_clear(&b);
    return found;
}

TEST(what_differs_is_found)
{
    assert_false(differ(0, 0, NULL));
    assert_true(differ(0, 1, NULL));
    put_text(one, "stdout", "3 classes\n");
    assert_true(differ(0, 0, NULL)); /* a file more */
    put_text(two, "stdout", "4 classes\n");
    assert_true(differ(0, 0, NULL));
    put_text(two, "stdout", "3 classes\n");
    assert_false(differ(0, 0, NULL));
    put(one, "a.bin", "\0\1\0x", 4); /* a zero does not hide what comes after it */
    put(two, "a.bin", "\0\1\0y", 4);
    assert_true(differ(0, 0, NULL));
}

TEST(times_hashes_and_folders_do_not_count)
{
    char text[200];
    const char *folders[] = {one, two};
    for (int i = 0; i < 2; i++) {
        snprintf(text, sizeof text, "%s 2026-11-2%dT10:00:00Z %032d", folders[i], i, i);
        put_text(folders[i], "stderr", text);
    }
    assert_false(differ(0, 0, NULL));
    put_text(one, "stderr", "0123456789abcdef0123456789abcde"); /* 31 digits are none */
    put_text(two, "stderr", "0123456789abcdef0123456789abcd0");
    assert_true(differ(0, 0, NULL));
}

static void save_values(const char *in, size_t n, double first)
{
    struct sotto_array a = {0};
    char path[160];
    snprintf(path, sizeof path, "%s/v.npy", in);
    assert_int_equal(sotto_array_make(&a, SOTTO_F8, 1, &n), SOTTO_OK);
    ((double *)a.data)[0] = first;
    assert_int_equal(sotto_npy_save(path, &a), SOTTO_OK);
    sotto_array_clear(&a);
}

TEST(only_noisy_values_may_differ)
{
    struct outcome o;
    save_values(one, 3, 1.5);
    save_values(two, 3, -2);
    assert_false(differ(0, 0, "v.npy"));
    assert_int_equal(outcome_read(&o, one, 0, "v.npy", false), SOTTO_OK);
    assert_int_equal(o.width, 3);
    assert_true(o.values[0] == 1.5 && o.values[1] == 0);
    outcome_clear(&o);
    save_values(two, 4, 1.5); /* shape */
    assert_true(differ(0, 0, "v.npy"));
    save_values(one, OUTCOME_VALUES + 2, 1.5);
    assert_int_equal(outcome_read(&o, one, 0, "v.npy", false), SOTTO_OK);
    assert_int_equal(o.width, OUTCOME_VALUES);
    assert_true(o.values[0] == 0); /* the last values are kept */
    outcome_clear(&o);
}

TEST(numbers_of_a_noisy_json_may_differ)
{
    struct outcome o;
    put_text(one, "e.json", "{\"bounds\":[1.5,-2e3],\"name\":\"a1\"}");
    put_text(two, "e.json", "{\"bounds\":[0.123,7],\"name\":\"a2\"}");
    assert_false(differ(0, 0, "e.json"));
    assert_true(differ(0, 0, NULL));
    assert_int_equal(outcome_read(&o, one, 0, "e.json", false), SOTTO_OK);
    assert_int_equal(o.width, 2);
    assert_true(o.values[0] == 1.5 && o.values[1] == -2000);
    outcome_clear(&o);
    put_text(two, "e.json", "{\"bounds\":[0.123],\"name\":\"a2\"}");
    assert_true(differ(0, 0, "e.json"));
}

TEST(a_ledger_with_a_history_is_not_seen)
{
    struct outcome a, b;
    char text[80], home[160];
    const char *folders[] = {one, two};
    for (int i = 0; i < 2; i++) {
        snprintf(home, sizeof home, "%s/home", folders[i]);
        assert_int_equal(folder_make(home), SOTTO_OK);
        put_text(home, "toy.jsonl", i ? "a line more" : "a line");
    }
    for (int has_history = 0; has_history < 2; has_history++) {
        assert_int_equal(outcome_read(&a, one, 0, NULL, has_history), SOTTO_OK);
        assert_int_equal(outcome_read(&b, two, 0, NULL, has_history), SOTTO_OK);
        assert_int_equal(outcome_differs(text, sizeof text, &a, &b), !has_history);
        outcome_clear(&a);
        outcome_clear(&b);
    }
}

TEST(what_is_private_is_not_seen)
{
    char path[160];
    const char *folders[] = {one, two};
    for (int i = 0; i < 2; i++) {
        snprintf(path, sizeof path, "%s/private", folders[i]);
        assert_int_equal(folder_make(path), SOTTO_OK);
        put_text(folders[i], "private/rows", i ? "one" : "two");
    }
    assert_false(differ(0, 0, NULL));
}

TEST_GROUP(.before = make_folders, .after = remove_folders)
