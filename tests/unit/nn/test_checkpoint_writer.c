/* A checkpoint that is written beside the run: the file that a write at once makes, in order, with its error; a run that is stopped, or
 * fails, leaves none half-written. f32; no kernels. */
#include "support/test.h"

#include "base/file.h"
#include "base/memory.h"
#include "base/sha256.h"
#include "io/array/tensors.h"
#include "nn/loop/checkpoint_seal.h"
#include "nn/loop/checkpoint_writer.h"
#include "support/temporary_folder.h"

#include <dirent.h>
#include <string.h>
#include <sys/resource.h>
#include <signal.h>
#include <unistd.h>

enum { SMALL = 100, LARGE = 3 << 20 /* floats */ };

static struct sotto_tensors tensors_of(size_t count, float value)
{
    struct sotto_tensors t = {0};
    float *values = base_alloc(count, sizeof *values);
    assert_non_null(values);
    for (size_t i = 0; i < count; i++)
        values[i] = value + (float)(i % 7);
    assert_int_equal(tensors_add(&t, "w", SOTTO_F4, 1, &count, values), SOTTO_OK);
    base_free(values);
    return t;
}

static void expect_file(const char *name, size_t count, float value)
{
    struct sotto_tensors t = tensors_of(count, value);
    struct safetensors_file f;
    char expected[SHA256_HEX], found[SHA256_HEX];
    assert_int_equal(checkpoint_seal_add(&t), SOTTO_OK);
    assert_int_equal(safetensors_begin(&f, path_of("expected"), &t), SOTTO_OK);
    checkpoint_seal_fill(&f);
    assert_int_equal(safetensors_finish(&f), SOTTO_OK);
    assert_int_equal(sha256_file(expected, path_of("expected")), SOTTO_OK);
    assert_int_equal(sha256_file(found, path_of(name)), SOTTO_OK);
    assert_string_equal(found, expected);
    sotto_tensors_clear(&t);
    unlink(path_of("expected"));
}

static size_t files(void)
{
    size_t n = 0;
    DIR *d = opendir(folder);
    assert_non_null(d);
    for (struct dirent *e; (e = readdir(d));)
        n += e->d_name[0] != '.' || strlen(e->d_name) > 2;
    closedir(d);
    return n;
}

TEST(the_file_is_that_of_a_write_at_once)
{
    const size_t counts[] = {SMALL, LARGE};
    for (size_t k = 0; k < 2; k++) {
        struct checkpoint_writer w = {0};
        for (int i = 0; i < 4; i++) { /* the last one stays */
            struct sotto_tensors t = tensors_of(counts[k], (float)i);
            assert_int_equal(checkpoint_writer_begin(&w, path_of("c"), &t), SOTTO_OK);
            assert_int_equal(t.count, 0);
            assert_int_equal(w.busy, k == 1); /* large ones only */
            assert_int_equal(checkpoint_writer_look(&w), SOTTO_OK);
        }
        assert_int_equal(checkpoint_writer_wait(&w), SOTTO_OK);
        assert_int_equal(checkpoint_writer_wait(&w), SOTTO_OK);
        expect_file("c", counts[k], 3);
        assert_int_equal(files(), 1);
        unlink(path_of("c"));
    }
}

TEST(a_folder_that_is_not_there_is_an_error_at_once)
{
    struct checkpoint_writer w = {0};
    struct sotto_tensors t = tensors_of(LARGE, 1);
    assert_int_equal(checkpoint_writer_begin(&w, path_of("none/c"), &t), SOTTO_ECREATE);
    assert_int_equal(t.count, 0);
    assert_int_equal(checkpoint_writer_wait(&w), SOTTO_OK);
}

/* A limit on the size of files stands for a disk that is full: the same failing write. */
TEST(a_full_disk_is_told_and_the_old_file_stays)
{
    struct checkpoint_writer w = {0};
    struct sotto_tensors t = tensors_of(LARGE, 1);
    struct rlimit before, most;
    assert_int_equal(checkpoint_writer_begin(&w, path_of("c"), &t), SOTTO_OK);
    assert_int_equal(checkpoint_writer_wait(&w), SOTTO_OK);
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    most = before;
    most.rlim_cur = 1 << 20;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &most), 0);
    for (int next = 0; next < 2; next++) { /* told by the wait, or by the next one to be written */
        t = tensors_of(LARGE, 2);
        assert_int_equal(checkpoint_writer_begin(&w, path_of("c"), &t), SOTTO_OK);
        t = next ? tensors_of(LARGE, 3) : (struct sotto_tensors){0};
        const sotto_status told =
            next ? checkpoint_writer_begin(&w, path_of("c"), &t) : checkpoint_writer_wait(&w);
        assert_int_equal(told, SOTTO_EIO);
        assert_non_null(strstr(sotto_error_text(), "c: write failed: File too large"));
        assert_int_equal(t.count, 0);
        assert_int_equal(checkpoint_writer_wait(&w), SOTTO_OK); /* it was told */
    }
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    assert_int_equal(files(), 1);
    expect_file("c", LARGE, 1);
    unlink(path_of("c"));
}

TEST(without_memory_nothing_is_left)
{
    struct checkpoint_writer w = {0};
    sotto_status status = SOTTO_ENOMEM;
    for (long after = 0; status == SOTTO_ENOMEM; after++) {
        struct sotto_tensors t = tensors_of(LARGE, 5);
        base_alloc_fail_after(after);
        status = checkpoint_writer_begin(&w, path_of("c"), &t);
        if (status == SOTTO_OK)
            status = checkpoint_writer_wait(&w);
        base_alloc_fail_after(-1);
        assert_int_equal(t.count, 0);
        assert_int_equal(file_exists(path_of("c")), status == SOTTO_OK);
        assert_int_equal(files(), status == SOTTO_OK);
    }
    assert_int_equal(status, SOTTO_OK);
    expect_file("c", LARGE, 5);
}

TEST_GROUP(.set_up = make_folder, .tear_down = remove_folder)
