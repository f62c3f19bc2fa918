/* Resumes without a finished step are counted beside the checkpoint, and after three the next one is refused. No kernels. */
#include "support/test.h"

#include "base/file.h"
#include "nn/loop/resumes.h"
#include "support/temporary_folder.h"

#include <string.h>

static void expect_text(const char *text)
{
    unsigned char *data;
    size_t size;
    assert_int_equal(file_read(&data, &size, path_of("c.resumes"), 64), SOTTO_OK);
    assert_string_equal((const char *)data, text);
    base_free(data);
}

TEST(the_fourth_is_refused_until_a_step_is_finished)
{
    for (int round = 0; round < 2; round++) {
        for (int i = 1; i <= RESUMES_MOST; i++) {
            assert_int_equal(resumes_count(path_of("c")), SOTTO_OK);
            expect_text((const char[]){(char)('0' + i), '\n', '\0'});
        }
        for (int again = 0; again < 2; again++) {
            assert_int_equal(resumes_count(path_of("c")), SOTTO_ESTUCK);
            assert_non_null(strstr(sotto_error_text(), "c: 3 resumes in a row ended before"));
            assert_non_null(strstr(sotto_error_hint(), "c.resumes to continue"));
            expect_text("3\n");
        }
        assert_int_equal(resumes_forget(path_of("c")), SOTTO_OK);
        assert_false(file_exists(path_of("c.resumes")));
        assert_int_equal(resumes_forget(path_of("c")), SOTTO_OK); /* there is none */
    }
}

TEST(what_is_no_count_is_refused)
{
    const char *const texts[] = {"", "1", "4\n", "-1\n", "12\n", "x\n", "1 \n"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        assert_int_equal(file_write(path_of("c.resumes"), texts[i], strlen(texts[i])), SOTTO_OK);
        assert_int_equal(resumes_count(path_of("c")), SOTTO_EFORMAT);
        assert_non_null(strstr(sotto_error_text(), "c.resumes: not a count of resumes"));
        expect_text(texts[i]);
    }
    assert_int_equal(resumes_forget(path_of("c")), SOTTO_OK);
}

TEST(a_folder_that_cannot_be_written_to_is_an_error)
{
    assert_int_equal(resumes_count(path_of("none/c")), SOTTO_ECREATE);
}

TEST_GROUP(.set_up = make_folder, .tear_down = remove_folder)
