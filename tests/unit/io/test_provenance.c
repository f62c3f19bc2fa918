/* src/core/io/provenance: what an array's side file keeps, and what it refuses. */
#include "support/test.h"

#include "base/file.h"
#include "io/provenance/shaping.h"
#include "support/temporary_folder.h"

static struct sotto_provenance example(void)
{
    static int64_t rows[] = {7, 0, 3};
    static char *names[] = {"no", "yes"};
    return (struct sotto_provenance){.dataset_id = "survey-2026",
                                     .set = "survey",
                                     .n = 3,
                                     .rows = rows,
                                     .encoding = SOTTO_ENCODING_DECLARED,
                                     .classes = 2,
                                     .class_names = names,
                                     .classes_by = "schema.yaml"};
}

TEST(what_is_saved_comes_back)
{
    struct sotto_provenance saved = example(), p;
    const char *path = path_of("x.npy");
    assert_int_equal(file_write(path, "abc", 3), SOTTO_OK);
    assert_int_equal(sotto_provenance_save(path, &saved), SOTTO_OK);
    assert_int_equal(sotto_provenance_load(&p, path), SOTTO_OK);
    assert_string_equal(p.dataset_id, "survey-2026");
    assert_string_equal(p.set, "survey");
    assert_string_equal(p.classes_by, "schema.yaml");
    assert_int_equal(p.encoding, SOTTO_ENCODING_DECLARED);
    assert_memory_equal(p.rows, saved.rows, sizeof(int64_t[3]));
    assert_string_equal(p.class_names[1], "yes");
    sotto_provenance_clear(&p);
}

TEST(an_array_without_side_file_is_anonymous)
{
    struct sotto_provenance p;
    const char *path = path_of("alone.npy");
    assert_int_equal(file_write(path, "abc", 3), SOTTO_OK);
    assert_int_equal(sotto_provenance_load(&p, path), SOTTO_OK);
    assert_string_equal(p.dataset_id, "");
    assert_int_equal(p.n, 0);
}

TEST(other_bytes_do_not_inherit_an_identity)
{
    struct sotto_provenance saved = example(), p;
    const char *path = path_of("changed.npy");
    assert_int_equal(file_write(path, "abc", 3), SOTTO_OK);
    assert_int_equal(sotto_provenance_save(path, &saved), SOTTO_OK);
    assert_int_equal(file_write(path, "abd", 3), SOTTO_OK);
    assert_int_equal(sotto_provenance_load(&p, path), SOTTO_EFORMAT);
}

TEST(chosen_records_keep_their_rows)
{
    struct sotto_provenance saved = example(), p;
    assert_int_equal(sotto_provenance_copy(&p, &saved), SOTTO_OK);
    assert_int_equal(sotto_provenance_select(&p, (const int64_t[]){2, 0}, 2), SOTTO_OK);
    assert_int_equal(p.n, 2);
    assert_int_equal(p.rows[0], 3);
    assert_int_equal(p.rows[1], 7);
    assert_int_equal(sotto_provenance_select(&p, (const int64_t[]){2}, 1), SOTTO_EINVAL);
    assert_int_equal(p.n, 2);
    sotto_provenance_clear(&p);
}

/* Rows are kept as runs, and what the source was shaped by is kept too. */
TEST(what_shaped_the_columns_comes_back)
{
    static int64_t trained_on[] = {0, 9, 1, 2, 7}, older[] = {5};
    struct sotto_provenance saved, p, by = {.dataset_id = "city", .set = "city", .n = 5, .rows = trained_on},
                                      before = {.dataset_id = "town", .set = "town", .n = 1, .rows = older};
    struct sotto_provenance trained = {0};
    const char *path = path_of("shaped.npy");
    unsigned char *text;
    size_t size;
    assert_int_equal(sotto_provenance_copy(&saved, &(struct sotto_provenance){0}), SOTTO_OK);
    assert_int_equal(sotto_provenance_copy(&trained, &by), SOTTO_OK);
    assert_int_equal(sotto_provenance_shape(&trained, "encoder", "old.safetensors", &before, 0), SOTTO_OK);
    assert_int_equal(sotto_provenance_shape(&saved, "encoder", "/a/b/e.safetensors", &trained, 1), SOTTO_OK);
    assert_int_equal(sotto_provenance_shape(&saved, "moments", "m.npy", NULL, 0), SOTTO_OK);
    assert_int_equal(sotto_provenance_shape(&saved, NULL, NULL, &trained, 0), SOTTO_OK); /* known already */
    assert_int_equal(saved.shapings, 3);
    assert_int_equal(file_write(path, "abc", 3), SOTTO_OK);
    assert_int_equal(sotto_provenance_save(path, &saved), SOTTO_OK);
    assert_int_equal(file_read(&text, &size, path_of("shaped.npy.provenance.json"), 1 << 16), SOTTO_OK);
    assert_non_null(
        strstr((char *)text, "\"schema\":\"sotto.provenance/3\"")); /* not read as less than it says */
    assert_non_null(strstr((char *)text, "\"rows\":\"0-2,7,9\""));
    base_free(text);
    assert_int_equal(sotto_provenance_load(&p, path), SOTTO_OK);
    assert_int_equal(p.shapings, 3);
    assert_string_equal(p.shaped_by[0].what, "encoder");
    assert_string_equal(p.shaped_by[0].name, "e.safetensors");
    assert_int_equal(p.shaped_by[0].is_public, 1);
    assert_int_equal(p.shaped_by[0].n, 5);
    assert_memory_equal(p.shaped_by[0].rows, ((int64_t[]){0, 1, 2, 7, 9}), sizeof(int64_t[5]));
    assert_string_equal(p.shaped_by[1].dataset_id, "town");
    assert_string_equal(p.shaped_by[2].dataset_id, "");
    assert_null(p.shaped_by[2].rows);
    sotto_provenance_clear(&p);
    sotto_provenance_clear(&saved);
    sotto_provenance_clear(&trained);
}

TEST(damaged_rows_of_a_shaping_are_refused)
{
    static const char *const bad[] = {"",
                                      "1",
                                      "0-2",
                                      "2,1,0",
                                      "0-",
                                      "-2",
                                      "0--2",
                                      "0, 1",
                                      "0-1,1-2",
                                      "0,1,2,",
                                      "3-1,5,6,7",
                                      "0,1,2x",
                                      "99999999999999999999,1,2"};
    struct sotto_provenance p = {0};
    char text[256];
    for (size_t i = 0; i <= sizeof bad / sizeof *bad; i++) {
        const bool good = i == sizeof bad / sizeof *bad;
        snprintf(text, sizeof text,
                 "[{\"what\":\"encoder\",\"name\":\"e\",\"dataset_id\":\"a\",\"set\":\"a\",\"public\":false,"
                 "\"records\":4,\"rows\":\"%s\"}]",
                 good ? "0-2,7" : bad[i]);
        const sotto_status status = shapings_parse(&p, text, "e.safetensors");
        if (status != (good ? SOTTO_OK : SOTTO_EFORMAT))
            fail_msg("%s: %d", text, status);
    }
    sotto_provenance_clear(&p);
}

TEST(damaged_files_are_refused)
{
    static const char *const bad[] = {
        "[]",
        "{\"schema\": \"sotto.provenance/2\"}",
        "{\"schema\":\"sotto.provenance/1\",\"sha256\":"
        "\"ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad\",\"dataset_id\":\"a\",\"set\":"
        "\"\",\"records\":2,\"encoding\":\"none\",\"classes\":0,\"classes_by\":\"\",\"rows\":[1]}",
        "{\"schema\":\"sotto.provenance/1\",\"sha256\":"
        "\"ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad\",\"dataset_id\":\"a\",\"set\":"
        "\"\",\"records\":1,\"encoding\":\"magic\",\"classes\":0,\"classes_by\":\"\"}",
        "{\"schema\":\"sotto.provenance/1\",\"sha256\":"
        "\"ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad\",\"dataset_id\":\"a\",\"set\":"
        "\"\",\"records\":1,\"encoding\":\"none\",\"classes\":0,\"classes_by\":\"\",\"rows\":[-1]}",
    };
    struct sotto_provenance p;
    const char *path = path_of("bad.npy"), *side = path_of("bad.npy.provenance.json");
    assert_int_equal(file_write(path, "abc", 3), SOTTO_OK);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_int_equal(file_write(side, bad[i], strlen(bad[i])), SOTTO_OK);
        assert_int_equal(sotto_provenance_load(&p, path), SOTTO_EFORMAT);
    }
}

TEST_GROUP(.set_up = make_folder, .tear_down = remove_folder)
