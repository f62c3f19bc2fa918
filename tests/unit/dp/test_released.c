/* src/core/dp/release/released.c, src/core/dp/ledger/ledger_output.c: what is public does not follow the history of records, and a file has
 * a line of the ledger that binds it to its charge. Exact integers and files: no dtype, backend or thread matters. */
#include "support/test.h"
#include "support/ledger_sums_of.h"

#include "base/file.h"
#include "base/sha256.h"
#include "dp/ledger/ledger.h"
#include "dp/ledger/ledger_lines.h"
#include "dp/release/charge_hint.h"
#include "io/json/json.h"
#include "sotto/private/all.h"
#include "support/certificate_text.h"
#include "support/temporary_folder.h"

#include <math.h>
#include <sys/stat.h>
#include <unistd.h>

enum { N = 20 };
static unsigned char people[N + 1][SOTTO_DIGEST];
static char book[128];

static int set_up(void **state)
{
    for (size_t i = 0; i <= N; i++)
        digest_of(people[i], (const struct digest_part[]){{&i, sizeof i}}, 1);
    int failed = make_folder(state);
    snprintf(book, sizeof book, "%s", path_of("book.jsonl"));
    return failed;
}

/* Charges data set "people"; updated: row 5 is another record. *file (if not NULL): written with what came out. */
static struct sotto_certificate *release_of(bool updated, const char *file)
{
    static unsigned char rows[N][SOTTO_DIGEST];
    struct sotto_certificate *c = NULL;
    double v[3] = {1, 2, 3};
    memcpy(rows, people, sizeof rows);
    if (updated)
        memcpy(rows[5], people[N], sizeof rows[5]);
    const struct sotto_source_records source = {.digests = (const unsigned char(*)[SOTTO_DIGEST])rows,
                                                .n = N};
    const struct sotto_release r = {
        .mechanism = "laplace",
        .scale = 2,
        .target = {NAN, 0},
        .sensitivity = {.l1 = 1, .l2 = NAN, .source = SOTTO_SENSITIVITY_GIVEN},
        .spend = {.dataset_id = "people", .ledger = book, .source = &source, .purpose = "test"}};
    if (sotto_dp_release_double(&c, v, 3, &r, NULL) != SOTTO_OK)
        fail_msg("%s", sotto_error_text());
    if (file) {
        struct sotto_array a = {0};
        assert_int_equal(sotto_array_make(&a, SOTTO_F8, 1, &(size_t){3}), SOTTO_OK);
        memcpy(a.data, v, sizeof v);
        assert_int_equal(sotto_npy_save(file, &a), SOTTO_OK);
        sotto_array_clear(&a);
    }
    return c;
}

static sotto_status save_for(const struct sotto_certificate *c, const char *file)
{
    char hash[SHA256_HEX], path[160];
    snprintf(path, sizeof path, "%s.certificate.json", file);
    assert_int_equal(sha256_file(hash, file), SOTTO_OK);
    return sotto_certificate_save(path, c, hash);
}

static sotto_status verify(const char *file, const char *ledger)
{
    struct sotto_verification v = {0};
    sotto_status status = sotto_verify(&v, file, NULL, ledger, NULL);
    sotto_verification_clear(&v);
    return status;
}

static size_t lines_of(const char *ledger, enum ledger_event event)
{
    struct ledger_lines lines;
    const struct ledger_line *line;
    size_t count = 0;
    assert_int_equal(ledger_lines_open(&lines, ledger), SOTTO_OK);
    while (ledger_lines_next(&line, &lines) == SOTTO_OK && line)
        count += ledger_line_is(line, event);
    ledger_lines_close(&lines);
    return count;
}

/* A certificate without what is drawn or read off a clock: hashes, the salt of the commitment, times. Their lengths stay. */
static char *without_chance(const struct sotto_certificate *c)
{
    static const char *const keys[] = {"\"hash\": \"", "\"input_commitment\": \"", "\"time\": \""};
    char *text = certificate_text(c);
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        for (char *at = text; (at = strstr(at, keys[i]));)
            for (at += strlen(keys[i]); *at != '"'; at++)
                *at = '?';
    return text;
}

/* Two histories: the same records twice, or row 5 updated between. The ledger, which is private, has a line more in the latter;
 * nothing else may differ. */
TEST(what_is_public_does_not_follow_the_history, .before = set_up, .after = remove_folder)
{
    char *said[2], *hints[2];
    struct stat file[2];
    size_t lines[2];
    for (int updated = 0; updated < 2; updated++) {
        struct sotto_certificate *c;
        char name[32], *home = strdup(path_of(updated ? "b" : "a"));
        assert_int_equal(setenv("XDG_DATA_HOME", home, 1), 0);
        snprintf(book, sizeof book, "%s/book.jsonl", home);
        sotto_certificate_free(release_of(false, NULL));
        snprintf(name, sizeof name, "out%d.npy", updated);
        const char *out = path_of(name);
        c = release_of(updated, out);
        assert_int_equal(save_for(c, out), SOTTO_OK);
        said[updated] = without_chance(c);
        assert_int_equal(sotto_certificate_entry(c), 1);
        (void)status_fail(SOTTO_EIO, "a disk");
        charge_name_certificate(c, "it is lost"); /* what an error says behind the charge */
        hints[updated] = strdup(sotto_error_hint());
        sotto_certificate_free(c);
        snprintf(name, sizeof name, "out%d.npy.certificate.json", updated);
        assert_int_equal(stat(path_of(name), &file[updated]), 0);
        assert_int_equal(verify(out, book), SOTTO_OK);
        lines[updated] = lines_of(book, LEDGER_RECORDS);
        free(home);
    }
    assert_true(lines[0] == 1 && lines[1] == 2); /* else nothing was tested */
    assert_string_equal(said[0], said[1]);
    assert_string_equal(hints[0], hints[1]);
    assert_true(strstr(hints[0], "charge 1 of the ledger"));
    assert_int_equal(file[0].st_size, file[1].st_size);
    for (int i = 0; i < 2; i++) {
        sotto_text_free(said[i]);
        free(hints[i]);
    }
}

TEST(a_file_has_a_line_once, .before = set_up, .after = remove_folder)
{
    const char *out = path_of("out.npy"), *other = path_of("other.npy");
    struct sotto_certificate *c = release_of(false, out);
    assert_int_equal(lines_of(book, LEDGER_RELEASED), 0);
    assert_int_equal(save_for(c, out), SOTTO_OK);
    assert_int_equal(save_for(c, out), SOTTO_OK); /* as after a disk that was full */
    assert_int_equal(lines_of(book, LEDGER_RELEASED), 1);
    assert_int_equal(file_write(other, "the same in another format", 26), SOTTO_OK);
    assert_int_equal(save_for(c, other), SOTTO_OK);
    assert_int_equal(lines_of(book, LEDGER_RELEASED), 2);
    assert_int_equal(verify(out, book), SOTTO_OK);
    sotto_certificate_free(c);
    /* it is no charge: the next one has the next number */
    c = release_of(false, out);
    assert_int_equal(sotto_certificate_entry(c), 1);
    sotto_certificate_free(c);
    struct ledger l;
    assert_int_equal(ledger_read(&l, book), SOTTO_OK);
    assert_true(l.charges == 2 && sums_of(&l)->conditional.releases == 2);
    ledger_close(&l);
}

/* A process that was killed between the charge and the line; and a file that never saw noise, with a certificate whose hash was
 * corrected. */
TEST(a_charge_without_a_line_has_no_file, .before = set_up, .after = remove_folder)
{
    const char *out = path_of("out.npy"), *beside = path_of("out.npy.certificate.json");
    char hash[SHA256_HEX];
    struct sotto_certificate *c = release_of(false, out), *read = NULL;
    char *text = certificate_text(c), *full = NULL;
    assert_int_equal(sha256_file(hash, out), SOTTO_OK);
    assert_true(
        asprintf(&full, "%.*s,\n  \"output_sha256\": \"%s\"\n}\n", (int)strlen(text) - 2, text, hash) > 0);
    assert_int_equal(overwrite(beside, full, strlen(full)), 0);
    assert_int_equal(verify(out, NULL), SOTTO_OK);
    assert_int_equal(verify(out, book), SOTTO_EGATE);
    assert_non_null(
        strstr(sotto_error_text(), "released line: the ledger names 0 files that came out of charge 0"));
    /* read back, it knows no ledger and is of that file alone */
    assert_int_equal(sotto_certificate_load(&read, beside), SOTTO_OK);
    assert_int_equal(sotto_certificate_save(path_of("copy.json"), read, hash), SOTTO_OK);
    assert_int_equal(sotto_certificate_save(path_of("copy.json"), read, text + 1), SOTTO_EINVAL);
    assert_non_null(strstr(sotto_error_text(), "save it where its release was made"));
    assert_int_equal(lines_of(book, LEDGER_RELEASED), 0);
    assert_int_equal(save_for(c, out), SOTTO_OK);
    assert_int_equal(verify(out, book), SOTTO_OK);
    sotto_certificate_free(read);
    sotto_certificate_free(c);
    sotto_text_free(text);
    free(full);
}

TEST(the_line_goes_where_the_ledger_went, .before = set_up, .after = remove_folder)
{
    const char *out = path_of("out.npy"), *later = path_of("later.npy");
    char old[128], new[128];
    struct sotto_certificate *c = release_of(false, out), *next = NULL;
    const struct sotto_source_records move = {.move_ledger = 1};
    double v[1] = {1};
    snprintf(old, sizeof old, "%s", book);
    snprintf(new, sizeof new, "%s", path_of("moved.jsonl"));
    const struct sotto_release r = {
        .mechanism = "laplace",
        .scale = 2,
        .target = {NAN, 0},
        .sensitivity = {.l1 = 1, .l2 = NAN, .source = SOTTO_SENSITIVITY_GIVEN},
        .spend = {.dataset_id = "people", .ledger = new, .source = &move, .purpose = "test"}};
    assert_int_equal(sotto_dp_release_double(&next, v, 1, &r, NULL), SOTTO_OK);
    assert_int_equal(save_for(c, out), SOTTO_OK);
    assert_true(lines_of(old, LEDGER_RELEASED) == 0 && lines_of(new, LEDGER_RELEASED) == 1);
    assert_int_equal(verify(out, new), SOTTO_OK);
    /* a ledger that is gone is not made anew */
    assert_int_equal(file_write(later, "x", 1), SOTTO_OK);
    assert_int_equal(unlink(new), 0);
    assert_int_equal(save_for(next, later), SOTTO_ENOENT);
    assert_non_null(strstr(sotto_error_text(), "is gone"));
    assert_true(!file_exists(new) && !file_exists(path_of("later.npy.certificate.json")));
    /* nor is another one taken for it */
    struct sotto_certificate *other = NULL;
    snprintf(book, sizeof book, "%s", new);
    assert_int_equal(unlink(old), 0);
    assert_int_equal(setenv("XDG_DATA_HOME", path_of("elsewhere"), 1), 0);
    other = release_of(false, NULL);
    assert_int_equal(save_for(next, later), SOTTO_EINVAL);
    assert_non_null(strstr(sotto_error_text(), "holds no charge 1"));
    sotto_certificate_free(other);
    sotto_certificate_free(next);
    sotto_certificate_free(c);
}

/* A line of a move that leads back ends, too. */
TEST(a_ledger_that_moved_in_a_circle, .before = set_up, .after = remove_folder)
{
    struct ledger l;
    char *line;
    struct sotto_certificate *c = release_of(false, path_of("out.npy"));
    assert_int_equal(ledger_open(&l, book, NULL), SOTTO_OK);
    assert_int_equal(ledger_move_encode(&line, book), SOTTO_OK);
    assert_int_equal(ledger_append(&l, line), SOTTO_OK);
    ledger_close(&l);
    base_free(line);
    assert_int_equal(save_for(c, path_of("out.npy")), SOTTO_EFORMAT);
    assert_non_null(strstr(sotto_error_text(), "was moved more than 64 times"));
    sotto_certificate_free(c);
}

/* Of a released line each member; and a charge with another number. The chain is made anew by a forger, so the reader must notice. */
TEST(lines_that_are_refused, .before = set_up, .after = remove_folder)
{
    static const char *const bad[] = {
        "{\"schema\":\"sotto.ledger/"
        "1\",\"event\":\"released\",\"charge\":1,\"salt\":\"a\",\"output\":\"b\",\"certificate\":\"c\"}",
        "{\"schema\":\"sotto.ledger/"
        "1\",\"event\":\"released\",\"charge\":-1,\"salt\":\"a\",\"output\":\"b\",\"certificate\":\"c\"}",
        "{\"schema\":\"sotto.ledger/"
        "1\",\"event\":\"released\",\"charge\":0,\"output\":\"b\",\"certificate\":\"c\"}",
        "{\"schema\":\"sotto.ledger/"
        "1\",\"event\":\"released\",\"charge\":0,\"salt\":\"a\",\"certificate\":\"c\"}",
        "{\"schema\":\"sotto.ledger/1\",\"event\":\"released\",\"charge\":0,\"salt\":\"a\",\"output\":\"b\"}",
        "{\"schema\":\"sotto.ledger/"
        "1\",\"event\":\"released\",\"salt\":\"a\",\"output\":\"b\",\"certificate\":\"c\"}"};
    sotto_certificate_free(release_of(false, NULL));
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct ledger l = {.lock = {.fd = -1}};
        assert_int_equal(ledger_open(&l, book, NULL), SOTTO_OK);
        assert_int_equal(ledger_append(&l, bad[i]), SOTTO_EFORMAT);
        ledger_close(&l);
        unsigned char *data;
        size_t size;
        assert_int_equal(ledger_read(&l, book), SOTTO_EFORMAT); /* it is there now */
        assert_int_equal(file_read(&data, &size, book, 1 << 20), SOTTO_OK);
        while (data[size - 2] != '\n')
            size--;
        assert_int_equal(file_write(book, data, size - 1), SOTTO_OK); /* and taken away */
        base_free(data);
    }
    struct ledger l;
    assert_int_equal(ledger_read(&l, book), SOTTO_OK);
    ledger_close(&l);
}

TEST_GROUP(.tags = "long")
