/* src/io/provenance: what an array's side file keeps, and what it refuses. */
#include "support/test.h"

#include "base/file.h"
#include "sotto/io.h"
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
