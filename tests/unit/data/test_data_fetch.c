/* Downloads against a server of our own: whole, continued, cut, wrong; then fetch and import in one go. */
#include "support/test.h"

#include "base/file.h"
#include "io/json/json.h"
#include "base/memory.h"
#include "base/sha256.h"
#include "data/dataset.h"
#include "data/fetch/download.h"
#include "data/fetch/http.h"
#include "support/data_files.h"
#include "support/range_server.h"

#include <sys/file.h>
#include <zlib.h>

static const struct download_patience quick = {.tries = 50, .pause_ms = 1};

static char folder[64], served[128], kept[128], log_path[128];
static unsigned port;
static pid_t server;

enum { BODY = 100000 };
static unsigned char body[BODY];
static char body_sha256[SHA256_HEX];

static int set_up(void **state)
{
    char data[128];
    (void)state;
    files_folder(folder);
    snprintf(served, sizeof served, "%s/served", folder);
    snprintf(kept, sizeof kept, "%s/kept", folder);
    snprintf(log_path, sizeof log_path, "%s/log", folder);
    snprintf(data, sizeof data, "%s/data", folder);
    setenv("SOTTO_DATA_DIR", data, 1);
    setenv("no_proxy", "127.0.0.1", 1);
    mkdir(kept, 0700);
    for (size_t i = 0; i < BODY; i++)
        body[i] = (unsigned char)(i * i / 7 + i);
    sha256_of(body_sha256, body, BODY);
    files_write(folder, "served/f.bin", body, BODY);
    int fd = server_listen(&port);
    server = fork();
    if (server == 0) {
        server_run(fd, served, log_path);
        _exit(0);
    }
    close(fd);
    return server < 0;
}

static int tear_down(void **state)
{
    (void)state;
    kill(server, SIGKILL);
    waitpid(server, NULL, 0);
    files_remove(folder);
    return 0;
}

static const char *at(const char *mode, const char *name)
{
    static char urls[4][300];
    static int next;
    char *url = urls[next++ % 4];
    snprintf(url, sizeof urls[0], "http://127.0.0.1:%u/%s/%s", port, mode, name);
    return url;
}

static bool stored(const char *name)
{
    char path[300];
    snprintf(path, sizeof path, "%s/%s", kept, name);
    return file_exists(path);
}

static void check_stored(void)
{
    unsigned char *data;
    size_t size;
    char path[300];
    snprintf(path, sizeof path, "%s/f.bin", kept);
    assert_int_equal(file_read(&data, &size, path, 1 << 20), SOTTO_OK);
    assert_int_equal(size, BODY);
    assert_memory_equal(data, body, BODY);
    base_free(data);
    assert_false(stored("f.bin.part"));
}

static void check_log(const char *expected)
{
    unsigned char *text;
    size_t size;
    assert_int_equal(file_read(&text, &size, log_path, 1 << 20), SOTTO_OK);
    assert_string_equal((char *)text, expected);
    base_free(text);
}

static sotto_status get(const char *mode, uint64_t bytes)
{
    const struct remote_file file = {"f.bin", bytes, body_sha256, NULL};
    return download_file(kept, at(mode, "f.bin"), &file, false, &quick, NULL);
}

static void expect_error(sotto_status status, sotto_status expected, const char *part)
{
    if (status != expected || !strstr(sotto_error_text(), part))
        fail_msg("status %s, text '%s'; expected %s with '%s'", sotto_status_name(status), sotto_error_text(),
                 sotto_status_name(expected), part);
}

/* The beginning of an earlier download. */
static void leave_part(size_t bytes, int damage)
{
    static unsigned char copy[BODY + 1000];
    memcpy(copy, body, BODY);
    copy[10] = (unsigned char)(copy[10] + damage);
    files_write(folder, "kept/f.bin.part", copy, bytes);
}

static void forget(void)
{
    char path[300];
    snprintf(path, sizeof path, "%s/f.bin", kept);
    assert_int_equal(remove(path), 0);
}

TEST(whole)
{
    assert_int_equal(get("ok", BODY), SOTTO_OK);
    check_stored();
    check_log("/ok/f.bin -\n");
    assert_int_equal(get("ok", BODY), SOTTO_OK); /* there already: checked, not requested again */
    check_log("/ok/f.bin -\n");
}

TEST(without_recorded_length)
{
    assert_int_equal(get("ok", 0), SOTTO_OK);
    check_stored();
    forget();
    assert_int_equal(get("nolength", 0), SOTTO_OK);
    check_stored();
    forget();
    leave_part(BODY, 0); /* complete, but killed before it got its name: nothing lies behind it (416) */
    assert_int_equal(get("ok", 0), SOTTO_OK);
    check_stored();
    check_log("/ok/f.bin -\n/nolength/f.bin -\n/ok/f.bin 100000-\n");
}

TEST(continued_by_range)
{
    leave_part(40000, 0);
    assert_int_equal(get("ok", BODY), SOTTO_OK);
    check_stored();
    check_log("/ok/f.bin 40000-\n");
}

TEST(complete_part_needs_no_server)
{
    leave_part(BODY, 0);
    kill(server, SIGKILL);
    assert_int_equal(get("ok", BODY), SOTTO_OK);
    check_stored();
}

TEST(server_without_range_starts_over)
{
    leave_part(40000, 0);
    assert_int_equal(get("norange", BODY), SOTTO_OK);
    check_stored();
    check_log("/norange/f.bin 40000-\n");
}

TEST(broken_connections_are_taken_up_again)
{
    assert_int_equal(get("cut30000", BODY), SOTTO_OK);
    check_stored();
    check_log("/cut30000/f.bin -\n/cut30000/f.bin 30000-\n/cut30000/f.bin 60000-\n/cut30000/f.bin 90000-\n");
}

TEST(short_body_is_an_error_and_kept)
{
    expect_error(get("stop70000", BODY), SOTTO_EIO, "/stop70000/f.bin: the connection broke (");
    assert_string_equal(sotto_error_hint(),
                        "70000 bytes are kept; run the same command again to continue there");
    assert_false(stored("f.bin"));
    assert_true(stored("f.bin.part"));
    assert_int_equal(get("ok", BODY), SOTTO_OK);
    check_stored();
    check_log("/stop70000/f.bin -\n/stop70000/f.bin 70000-\n/ok/f.bin 70000-\n");
}

TEST(stale_part_is_fetched_once_more)
{
    leave_part(40000, 1);
    assert_int_equal(get("ok", BODY), SOTTO_OK);
    check_stored();
    check_log("/ok/f.bin 40000-\n/ok/f.bin -\n");
    forget();
    leave_part(BODY + 1000, 0); /* longer than the file can be */
    assert_int_equal(get("ok", BODY), SOTTO_OK);
    check_stored();
}

TEST(wrong_hash_leaves_nothing)
{
    files_write(folder, "served/f.bin", body, BODY - 1);
    files_write(folder, "served/g.bin", body + 1, BODY - 1);
    const struct remote_file file = {"g.bin", BODY - 1, body_sha256, NULL};
    expect_error(download_file(kept, at("ok", "g.bin"), &file, false, &quick, NULL), SOTTO_EFORMAT,
                 "has SHA-256 ");
    assert_non_null(strstr(sotto_error_text(), body_sha256));
    assert_false(stored("g.bin") || stored("g.bin.part"));
}

TEST(other_length_is_refused_before_the_body)
{
    leave_part(40000, 0);
    expect_error(get("ok", BODY + 5), SOTTO_EFORMAT, "/ok/f.bin: has 100000 bytes; expected 100005");
    assert_false(stored("f.bin"));
    assert_true(stored("f.bin.part")); /* a page of a hotel's network must not cost what was there */
    expect_error(get("nolength", BODY - 5), SOTTO_EFORMAT, "sends more than the 99995 bytes expected");
    assert_false(stored("f.bin.part"));
}

TEST(answers_that_are_no_file)
{
    expect_error(get("code404", BODY), SOTTO_ENOENT,
                 "/code404/f.bin: the server answers 404 (no such file); expected");
    expect_error(get("code403", BODY), SOTTO_ENOENT, "the server answers 403; expected the file");
    expect_error(get("code503", BODY), SOTTO_EAGAIN,
                 "the server answers 503 (busy or failing); try again later");
    leave_part(40000, 0);
    expect_error(get("shift", BODY), SOTTO_EIO,
                 "the bytes from 40000 on were requested, but the server sends those from 40001 on");
    kill(server, SIGKILL);
    waitpid(server, NULL, 0);
    expect_error(get("ok", BODY), SOTTO_EAGAIN, "/ok/f.bin: no connection (");
    assert_string_equal(sotto_error_hint(),
                        "40000 bytes are kept; run the same command again to continue there");
}

TEST(redirections_are_followed_but_not_anywhere)
{
    assert_int_equal(get("to/ok", BODY), SOTTO_OK);
    check_stored();
    forget();
    expect_error(get("away", BODY), SOTTO_ENOENT, "redirects to an address that is not https; refused");
    expect_error(get("to/to/to/to/to/to/to/ok", BODY), SOTTO_ENOENT, "redirects");
}

TEST(addresses)
{
    assert_int_equal(download_check_url("https://example.org/x.tar.gz", false), SOTTO_OK);
    assert_int_equal(download_check_url("http://example.org/x", true), SOTTO_OK);
    assert_int_equal(download_check_url("http://localhost:8000/x", false), SOTTO_OK);
    assert_int_equal(download_check_url("http://[::1]/x", false), SOTTO_OK);
    expect_error(download_check_url("http://example.org/x", false), SOTTO_EUSAGE, "use https://");
    expect_error(download_check_url("http://127.0.0.1.example.org/x", false), SOTTO_EUSAGE, "use https://");
    expect_error(download_check_url("http://127.0.0.1:80@example.org/x", false), SOTTO_EUSAGE,
                 "use https://");
    static const char *const others[] = {
        "ftp://example.org/x", "file:///etc/passwd", "x", "", "https://", "http://"};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        expect_error(download_check_url(others[i], true), SOTTO_EUSAGE,
                     "is not an address that starts with https://");
}

TEST(two_at_once_are_refused)
{
    char path[300];
    leave_part(40000, 0);
    snprintf(path, sizeof path, "%s/f.bin.part", kept);
    int fd = open(path, O_RDWR);
    assert_int_equal(flock(fd, LOCK_EX), 0);
    expect_error(get("ok", BODY), SOTTO_EAGAIN, "f.bin.part: another process is downloading it");
    close(fd);
    assert_int_equal(get("ok", BODY), SOTTO_OK);
}

static volatile sig_atomic_t stop;
static void stop_half_way(void *user, const char *stage, uint64_t done, uint64_t total, const char *unit)
{
    (void)user, (void)stage, (void)unit;
    stop = done > total / 2;
}

TEST(stopping_keeps_what_came)
{
    const struct remote_file file = {"f.bin", BODY, body_sha256, NULL};
    const struct sotto_context ctx = {.stop = &stop, .progress = stop_half_way};
    stop = 0;
    expect_error(download_file(kept, at("slow", "f.bin"), &file, false, &quick, &ctx), SOTTO_ESTOPPED,
                 ": stopped");
    assert_non_null(
        strstr(sotto_error_hint(), "bytes are kept; run the same command again to continue there"));
    assert_false(stored("f.bin"));
    assert_int_equal(get("ok", BODY), SOTTO_OK);
    check_stored();
}

TEST(damaged_file_is_fetched_again)
{
    files_write(folder, "kept/f.bin", body + 1, BODY - 1);
    assert_int_equal(get("ok", BODY), SOTTO_OK);
    check_stored();
}

TEST(contents_of_gzip_are_checked)
{
    char path[300];
    snprintf(path, sizeof path, "%s/f.gz", served);
    gzFile gz = gzopen(path, "wb");
    assert_int_equal(gzwrite(gz, body, BODY), BODY);
    gzclose(gz);
    const struct remote_file good = {"f.gz", 0, NULL, body_sha256};
    const struct remote_file bad = {"f.gz", 0, NULL,
                                    "0000000000000000000000000000000000000000000000000000000000000000"};
    expect_error(download_file(kept, at("ok", "f.gz"), &bad, false, &quick, NULL), SOTTO_EFORMAT,
                 "/ok/f.gz: what it holds has SHA-256 ");
    assert_int_equal(download_file(kept, at("ok", "f.gz"), &good, false, &quick, NULL), SOTTO_OK);
    files_write(folder, "served/cut.gz", body, 1000);
    files_write(folder, "served/cut.gz", "\x1f\x8b\x08\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 20);
    const struct remote_file cut = {"cut.gz", 0, NULL, body_sha256};
    expect_error(download_file(kept, at("ok", "cut.gz"), &cut, false, &quick, NULL), SOTTO_EFORMAT,
                 "/ok/cut.gz: gzip data is damaged");
    assert_false(stored("cut.gz") || stored("cut.gz.part"));
}

/* A registered set's row: https, or every file checked by SHA-256. */
TEST(registered_addresses_are_checkable)
{
    size_t seen = 0;
    for (const struct dataset_source *const *s = dataset_sources; *s; s++) {
        const struct dataset_remote *r = (*s)->remote;
        for (size_t i = 0; r && i < r->count; i++, seen++) {
            const char *sum = r->files[i].sha256 ? r->files[i].sha256 : r->files[i].unpacked_sha256;
            assert_int_equal(download_check_url(r->folder, true), SOTTO_OK);
            assert_int_equal(r->folder[strlen(r->folder) - 1], '/');
            assert_non_null(sum);
            assert_int_equal(strspn(sum, "0123456789abcdef"), 64);
            assert_int_equal(strlen(sum), 64);
            assert_null(strchr(r->files[i].name, '/'));
        }
    }
    assert_true(seen >= 4);
}

TEST(fetch_imports)
{
    static const char table[] = "\"1\",0,1\n\"2\",1,1\n";
    char sum[SHA256_HEX], path[300], *text;
    sha256_of(sum, table, strlen(table));
    files_write_text(folder, "served/t.csv", table);
    struct sotto_fetch_options options = {.url = at("ok", "t.csv?version=2"), .sha256 = sum};
    char *url = strdup(options.url);
    options.url = url;
    files_write_text(folder, "served/t.csv?version=2", table);
    assert_int_equal(sotto_data_fetch_plan(&text, "t", &options), SOTTO_OK);
    assert_non_null(
        strstr(text, "/ok/t.csv?version=2\n  size not on record, checked by SHA-256\nlicence: unknown"));
    sotto_text_free(text);
    assert_int_equal(sotto_data_fetch("t", &options, NULL), SOTTO_OK);
    struct sotto_dataset *d;
    assert_int_equal(sotto_dataset_open(&d, "t", NULL), SOTTO_OK);
    assert_int_equal(d->n * 10 + d->columns, 22);
    assert_non_null(strstr(d->origin, "t.csv (csv"));
    sotto_dataset_free(d);
    snprintf(path, sizeof path, "%s/data/.download-t", folder);
    assert_false(file_exists(path));
    struct json *doc;
    snprintf(path, sizeof path, "%s/data/t/dataset.json", folder);
    assert_int_equal(json_read_file(&doc, path), SOTTO_OK);
    assert_string_equal(json_text(json_find(doc, "source.url")), url);
    assert_string_equal(json_text(json_find(doc, "source.sha256")), sum);
    json_free(doc);
    expect_error(sotto_data_fetch("t", &options, NULL), SOTTO_ECREATE, "data set 't' exists already");
    options.keep = 1;
    assert_int_equal(sotto_data_fetch("t2", &options, NULL), SOTTO_OK);
    snprintf(path, sizeof path, "%s/data/.download-t2/t.csv", folder);
    assert_true(file_exists(path));
    free(url);
}

TEST(failed_import_keeps_the_download)
{
    char path[300];
    struct sotto_fetch_options options = {.url = at("ok", "f.bin"), .sha256 = body_sha256};
    expect_error(sotto_data_fetch("x", &options, NULL), SOTTO_EFORMAT, "f.bin: ");
    snprintf(path, sizeof path, "%s/data/.download-x", folder);
    assert_non_null(strstr(sotto_error_hint(), "the download is kept in "));
    strcat(path, "/f.bin");
    assert_true(file_exists(path));
    snprintf(path, sizeof path, "%s/data/x", folder);
    assert_false(file_exists(path));
}

TEST(fetch_refuses)
{
    struct sotto_fetch_options options = {0};
    expect_error(sotto_data_fetch("nobody-knows", NULL, NULL), SOTTO_ENOENT,
                 "data set 'nobody-knows': its download address is unknown");
    assert_non_null(strstr(sotto_error_hint(), "cifar10, cifar100, stl10"));
    expect_error(sotto_data_fetch("adult", NULL, NULL), SOTTO_ENOENT,
                 "data set 'adult': its download address is unknown");
    expect_error(sotto_data_fetch("../x", NULL, NULL), SOTTO_EUSAGE, "data set name '../x'");
    expect_error(sotto_data_fetch("synthetic-images", NULL, NULL), SOTTO_EUSAGE,
                 "belongs to a generated set");
    options.url = at("ok", "f.bin");
    expect_error(sotto_data_fetch("x", &options, NULL), SOTTO_EUSAGE,
                 "its SHA-256 is unknown, so a download could not be checked");
    expect_error(sotto_data_fetch("fashion-mnist", &options, NULL), SOTTO_EUSAGE, "has several files");
    options.sha256 = "123";
    expect_error(sotto_data_fetch("x", &options, NULL), SOTTO_EUSAGE, "sha256='123': expected 64 digits");
    options = (struct sotto_fetch_options){.sha256 = body_sha256};
    expect_error(sotto_data_fetch("cifar10", &options, NULL), SOTTO_EUSAGE, "sha256 needs url=URL");
    options.url = "http://example.org/f.bin";
    expect_error(sotto_data_fetch("x", &options, NULL), SOTTO_EUSAGE, "use https://");
    char path[300];
    snprintf(path, sizeof path, "%s/data", folder);
    assert_false(file_exists(path)); /* nothing was made on the way */
}

/* A mirror of a registered set is held to the recorded length and hash. */
TEST(mirrors_are_held_to_the_record)
{
    char path[300], *text;
    struct sotto_fetch_options options = {.url = at("ok", "f.bin")};
    assert_int_equal(sotto_data_fetch_plan(&text, "stl10", NULL), SOTTO_OK);
    assert_string_equal(text,
                        "http://ai.stanford.edu/~acoates/stl10/stl10_binary.tar.gz\n  2640.4 MB, checked by "
                        "SHA-256\nlicence: none stated; pictures from ImageNet; cite Coates, Lee, Ng 2011\n");
    sotto_text_free(text);
    expect_error(sotto_data_fetch("stl10-unlabelled", &options, NULL), SOTTO_EFORMAT,
                 "/ok/f.bin: has 100000 bytes; expected 2640397119");
    snprintf(path, sizeof path, "%s/data/.download-stl10/f.bin.part", folder);
    remove(path);
}

static const char *why_not(void)
{
    return http_available() ? NULL : "built without libcurl";
}

TEST_GROUP(.absent = why_not, .before = set_up, .after = tear_down)
