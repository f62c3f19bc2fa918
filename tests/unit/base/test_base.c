/* src/core/base and src/core/rng: sizes, arenas, atomic files, hashes, error text, streams. */
#include "support/test.h"

#ifdef _OPENMP
#include <omp.h>
#endif

#include "base/file.h"
#include "base/sha256.h"
#include "par/par.h"
#include "rng/rng.h"
#include "sotto/private/error.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

TEST(sizes_refuse_overflow)
{
    size_t out = 7;
    assert_false(size_multiply(&out, SIZE_MAX / 2, 3));
    assert_true(size_multiply(&out, 6, 7));
    assert_int_equal(out, 42);
    assert_null(base_alloc(SIZE_MAX, 2));
}

TEST(arena_measures_then_places)
{
    struct arena a = {0};
    assert_null(arena_take(&a, 3, 4));
    assert_null(arena_take(&a, 100, 8));
    assert_int_equal(arena_reserve(&a, "test"), SOTTO_OK);
    char *first = arena_take(&a, 3, 4), *second = arena_take(&a, 100, 8);
    assert_int_equal(second - first, 64);
    assert_int_equal((uintptr_t)first % 64, 0);
    assert_null(arena_take(&a, 1, 1));
    arena_clear(&a);
    arena_take(&a, SIZE_MAX, 2);
    assert_int_equal(arena_reserve(&a, "too large"), SOTTO_ENOMEM);
    assert_string_equal(sotto_error_text(), "too large: its size does not fit in memory");
}

TEST(atomic_files_are_whole_or_absent)
{
    char folder[] = "/tmp/sotto-test-XXXXXX", path[64];
    assert_non_null(mkdtemp(folder));
    assert_int_equal(path_join(path, sizeof path, folder, "a.bin"), SOTTO_OK);
    assert_int_equal(file_write(path, "hello", 5), SOTTO_OK);
    struct atomic_file f;
    assert_int_equal(atomic_open(&f, path), SOTTO_OK);
    atomic_write(&f, "gone", 4);
    atomic_discard(&f);
    unsigned char *data;
    size_t size;
    assert_int_equal(file_read(&data, &size, path, 100), SOTTO_OK);
    assert_int_equal(size, 5);
    assert_memory_equal(data, "hello", 6);
    base_free(data);
    assert_int_equal(file_read(&data, &size, path, 4), SOTTO_EFORMAT);
    assert_int_equal(file_read(&data, &size, folder, 4), SOTTO_ENOENT);
    unlink(path);
    rmdir(folder);
}

/* A file that would replace a device, a pipe or a ledger is refused, also by room that is held for it; what is there stays. */
static void refused(const char *path, const char *problem)
{
    char text[256];
    struct stat before, after;
    struct held_file held = {0};
    assert_int_equal(stat(path, &before), 0);
    assert_int_equal(file_write(path, "weights", 7), SOTTO_ECREATE);
    snprintf(text, sizeof text, "%s: %s", path, problem);
    assert_string_equal(sotto_error_text(), text);
    assert_int_equal(file_hold(&held, path, 7), SOTTO_ECREATE);
    assert_string_equal(sotto_error_text(), text);
    assert_int_equal(stat(path, &after), 0);
    assert_int_equal(before.st_ino, after.st_ino);
    assert_int_equal(before.st_size, after.st_size);
}

TEST(what_is_no_plain_file_is_not_replaced)
{
    static const char ledger[] = "{\"schema\":\"sotto.ledger/2\",\"event\":\"release\"}\n";
    char folder[] = "/tmp/sotto-test-XXXXXX", path[64];
    assert_non_null(mkdtemp(folder));
    assert_int_equal(path_join(path, sizeof path, folder, "x"), SOTTO_OK);
    assert_int_equal(mkfifo(path, 0600), 0);
    refused(path, "is a device or a pipe; expected a file name to write");
    unlink(path);
    assert_int_equal(symlink("/dev/null", path), 0); /* the link alone is at risk if this fails */
    refused(path, "is a device or a pipe; expected a file name to write");
    unlink(path);
    assert_int_equal(file_write(path, ledger, sizeof ledger - 1), SOTTO_OK);
    refused(path, "is a ledger, and its charges would be lost; give another file to write");
    assert_int_equal(file_write(path, ledger, sizeof ledger - 1), SOTTO_OK); /* a ledger that moves */
    unlink(path);
    assert_int_equal(file_write(path, ledger, 20), SOTTO_OK); /* control: another file of JSON */
    assert_int_equal(file_write(path, "weights", 7), SOTTO_OK);
    unlink(path);
    rmdir(folder);
}

static char logged[64];
static void keep_log(void *user, enum sotto_log_level level, const char *text)
{
    (void)user;
    (void)level;
    snprintf(logged, sizeof logged, "%s", text);
}

/* Cells and names of files are quoted in texts: one line, no byte that steers a terminal, and UTF-8 also where it was cut. */
TEST(texts_are_one_line_of_utf8)
{
    static const char given[] = "a\nb\x1b[31m\x7f \xc2\x9b \xff \xe6\x9d\xb1 \xc3";
    static const char wanted[] = "a?b?[31m? ?? ? \xe6\x9d\xb1 ?";
    const struct sotto_context ctx = {.log = keep_log};
    status_fail(SOTTO_EINVAL, "%s", given);
    assert_string_equal(sotto_error_text(), wanted);
    status_hint("%s", given);
    assert_string_equal(sotto_error_hint(), wanted);
    context_log(&ctx, SOTTO_LOG_WARNING, "%s", given);
    assert_string_equal(logged, wanted);
}

static void renders(enum sotto_error_style style, const char *expected)
{
    sotto_error_style(style);
    status_fail(SOTTO_EINVAL, "%s: give {dataset_id||dataset}, {channels|image=C,H,W} or {target.%s}",
                "x{y}z", "epsilon");
    assert_string_equal(sotto_error_text(), expected);
    assert_string_equal(sotto_error_key(), "dataset_id");
}

/* One text for C, the program and Python. Braces of an argument, and braces around more than a name, mark nothing. */
TEST(members_are_shown_in_the_style_of_the_caller)
{
    const struct sotto_context ctx = {.log = keep_log};
    char text[32];
    renders(SOTTO_STYLE_MEMBER, "x{y}z: give dataset_id, channels=C,H,W or target.epsilon");
    renders(SOTTO_STYLE_KEYWORD, "x{y}z: give dataset=, image=C,H,W or epsilon=");
    renders(SOTTO_STYLE_OPTION, "x{y}z: give --dataset-id, --image C,H,W or --epsilon");
    status_hint("with {fresh}");
    assert_string_equal(sotto_error_hint(), "with --fresh");
    context_log(&ctx, SOTTO_LOG_WARNING, "{no_header} {%s='%s'}", "drop", "a b");
    assert_string_equal(logged, "--no-header --drop 'a b'");
    assert_string_equal(sotto_error_key(), "dataset_id");
    for (size_t n = 8; n <= sizeof text; n++) { /* what does not fit is cut */
        memset(text, 'x', sizeof text);
        status_format(text, n, "{rows_per_person=%s} {seed}", "12345678901234567890");
        assert_true(memchr(text, '\0', n) && (n == sizeof text || text[n] == 'x'));
    }
    sotto_error_style(SOTTO_STYLE_KEYWORD);
    status_fail(SOTTO_EINVAL, "{level, box}: {types}: no {kind");
    assert_string_equal(sotto_error_text(), "{level, box}: types: no {kind");
    assert_string_equal(sotto_error_key(), "types");
    sotto_error_style(SOTTO_STYLE_MEMBER);
}

TEST(the_key_is_that_of_the_last_failure)
{
    status_fail(SOTTO_EINVAL, "nothing is named");
    assert_null(sotto_error_key());
    status_hint("give another {checkpoint}");
    assert_string_equal(sotto_error_key(), "checkpoint");
    status_hint("or {fresh}");
    assert_string_equal(sotto_error_key(), "checkpoint");
    status_prefix("x");
    assert_string_equal(sotto_error_key(), "checkpoint");
    status_fail(SOTTO_EINVAL, "lr must be > 0");
    assert_null(sotto_error_key());
    status_key("lr");
    assert_string_equal(sotto_error_key(), "lr");
}

/* A process that is killed while it holds room leaves no file: there is no name at all, so the folder can be removed. */
TEST(held_room_has_no_name)
{
    char folder[] = "/tmp/sotto-test-XXXXXX", path[64];
    struct held_file held = {0};
    struct stat during, after;
    assert_non_null(mkdtemp(folder));
    assert_int_equal(path_join(path, sizeof path, folder, "a.bin"), SOTTO_OK);
    assert_int_equal(file_hold(&held, path, 1 << 20), SOTTO_OK);
    assert_int_equal(fstat(held.next - 1, &during), 0);
    assert_int_equal(during.st_size, 1 << 20);
    assert_int_equal(during.st_nlink, 0);
    assert_int_equal(rmdir(folder), 0);
    const int fd = held.next - 1;
    file_release(&held);
    assert_int_equal(fstat(fd, &after), -1); /* the room is given back */
    file_release(&held);
    assert_int_equal(file_hold(&held, path, 1), SOTTO_ECREATE); /* the folder is gone */
    assert_int_equal(held.next, 0);
}

/* FIPS 180-2 and "", by the instructions of this CPU where it has them, and by libsodium. */
TEST(sha256_known_answer)
{
    static const char two_blocks[] = "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq";
    static const char *const cases[][2] = {
        {"", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
        {"abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
        {two_blocks, "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"}};
    static char million[1000000];
    char hex[SHA256_HEX];
    memset(million, 'a', sizeof million);
    for (int sodium = 0; sodium < 2; sodium++) {
        if (sodium)
            setenv("SOTTO_ISA", "v2", 1);
        for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
            sha256_of(hex, cases[i][0], strlen(cases[i][0]));
            assert_string_equal(hex, cases[i][1]);
        }
        sha256_of(hex, million, sizeof million);
        assert_string_equal(hex, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
    }
    unsetenv("SOTTO_ISA");
}

/* Wherever a text is cut into pieces, and whichever of the two takes them. */
TEST(sha256_takes_pieces)
{
    unsigned char text[200];
    char whole[SHA256_HEX], pieces[SHA256_HEX];
    for (size_t i = 0; i < sizeof text; i++)
        text[i] = (unsigned char)(i * i + 7 * i);
    for (size_t n = 0; n <= sizeof text; n++) {
        setenv("SOTTO_ISA", "v2", 1);
        sha256_of(whole, text, n);
        unsetenv("SOTTO_ISA");
        for (size_t cut = 0; cut <= n; cut++) {
            struct sha256 s;
            sha256_init(&s);
            sha256_update(&s, text, cut / 2);
            sha256_update(&s, text + cut / 2, cut - cut / 2);
            sha256_update(&s, text + cut, n - cut);
            sha256_hex(&s, pieces);
            assert_string_equal(pieces, whole);
        }
    }
}

TEST(philox_known_answer)
{
    /* Random123 kat_vectors, philox4x32 10, all-zero counter and key: 6627e8d5 e169c58d bc57ac4c 9b00dbd8 */
    struct rng r = {{0, 0}, {0, 0, 0, 0}, {0}, 0};
    assert_int_equal(rng_u32(&r), 0x6627e8d5u);
    assert_int_equal(rng_u32(&r), 0xe169c58du);
    assert_int_equal(rng_u32(&r), 0xbc57ac4cu);
    assert_int_equal(rng_u32(&r), 0x9b00dbd8u);
}

TEST(streams_are_functions_of_their_key)
{
    struct rng a = rng_stream(1, RNG_ORDER, 2, 3), b = a, c = rng_stream(1, RNG_ORDER, 2, 4);
    uint64_t x = rng_u64(&a);
    assert_true(x == rng_u64(&b));
    assert_true(x != rng_u64(&c));
    struct rng far = rng_stream(1, RNG_ORDER, 2, 3 + (1ull << 32));
    assert_true(x != rng_u64(&far));
    double sum = 0, squares = 0;
    for (int i = 0; i < 100000; i++) {
        double z = rng_normal(&a);
        sum += z;
        squares += z * z;
    }
    assert_true(sum / 1e5 < 0.02 && sum / 1e5 > -0.02); /* 6 standard errors */
    assert_true(squares / 1e5 < 1.03 && squares / 1e5 > 0.97);
}

static sotto_status fail_from_7(void *arg, size_t chunk, int thread)
{
    (void)arg, (void)thread;
    return chunk >= 7 ? status_fail(SOTTO_EINVAL, "chunk %zu", chunk) : SOTTO_OK;
}

TEST(parallel_errors_are_the_first_by_chunk)
{
    for (int threads = 1; threads <= 4; threads++) {
        assert_int_equal(par_chunks(100, threads, fail_from_7, NULL), SOTTO_EINVAL);
        assert_string_equal(sotto_error_text(), "chunk 7");
        assert_int_equal(par_shares(100, threads, NULL, fail_from_7, NULL), SOTTO_EINVAL);
        assert_string_equal(sotto_error_text(), "chunk 7");
    }
}

/* Counts loops with their body inside of a parallel region, and leaves another pool behind. */
static sotto_status look_around(void *arg, size_t chunk, int thread)
{
    (void)chunk;
#ifdef _OPENMP
    *(int *)arg += omp_get_level();
#endif
    par_set_threads(2);
    return thread == 0 ? SOTTO_OK : status_fail(SOTTO_EINTERNAL, "thread %d", thread);
}

TEST(a_loop_of_one_thread_is_no_region)
{
    int levels = 0, before = par_pool_threads();
    par_set_threads(3);
    int pool = par_pool_threads(); /* 1 without OpenMP */
    assert_int_equal(par_chunks(4, 1, look_around, &levels), SOTTO_OK);
    assert_int_equal(par_pool_threads(), pool);
    assert_int_equal(par_shares(4, 0, NULL, look_around, &levels), SOTTO_OK);
    assert_int_equal(par_pool_threads(), pool);
    assert_int_equal(levels, 0);
    par_set_threads(before);
}
