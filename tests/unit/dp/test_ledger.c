/* src/core/dp/ledger/ledger.c: the chain, torn lines, budgets, two processes, kill -9 at any point. */
#include "support/test.h"
#include "support/ledger_sums_of.h"
#include "support/ledger_folder.h"
#include "base/file.h"
#include "base/sha256.h"
#include "dp/ledger/ledger_account.h"
#include "dp/ledger/ledger_registry.h"

#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

TEST(releases_add_up)
{
    struct ledger l;
    for (int i = 0; i < 3; i++)
        assert_int_equal(release_once(2), SOTTO_OK);
    assert_int_equal(ledger_read(&l, path), SOTTO_OK);
    assert_int_equal(l.entries, 3);
    assert_int_equal(sums_of(&l)->proved.releases, 3);
    /* four values, each rounded to a lattice of 2^40 steps for twice the scale */
    const double step = 0x1p-38, l1 = 1 + 4 * step, l2 = 1 + sqrt(4) * step;
    assert_true(fabs(sums_of(&l)->proved.pure.high - 3 * l1 / 2) < 1e-14);
    assert_true(fabs(sums_of(&l)->proved.rho - 3 * pow(l2 / 2, 2) / 6) < 1e-14);
    struct sotto_account a;
    assert_int_equal(ledger_column_account(&a, &sums_of(&l)->proved, &sums_of(&l)->proved_events, 0, NULL),
                     SOTTO_OK);
    assert_true(fabs(a.epsilon.upper - sums_of(&l)->proved.pure.high) < 1e-12);
    assert_int_equal(ledger_column_account(&a, &sums_of(&l)->proved, &sums_of(&l)->proved_events, 1e-4, NULL),
                     SOTTO_OK);
    assert_true(a.epsilon.upper <
                sums_of(&l)->proved.pure.high); /* three releases by their exact composition */
    assert_int_equal(
        ledger_column_account(&a, &sums_of(&l)->conditional, &sums_of(&l)->conditional_events, 0, NULL),
        SOTTO_OK);
    assert_true(a.epsilon.upper == 0);
    ledger_close(&l);
}

static sotto_status look(void *state, const struct ledger *l, const struct ledger_line *line)
{
    (void)l, (void)line;
    ++*(int *)state;
    return SOTTO_OK;
}

/* Lines that differ in their nonces and places alone are not parsed again; a look at every line parses each. */
TEST(lines_that_are_alike_count_as_they_say)
{
    struct ledger quick, slow;
    struct sotto_account a, b;
    int lines = 0;
    for (int i = 0; i < 9; i++)
        assert_int_equal(release_once(i % 3 == 2 ? 3 : 2), SOTTO_OK);
    struct sotto_release seeded = release_of(2);
    struct sotto_certificate *c = NULL;
    float v[4] = {0};
    seeded.spend.insecure = 1;
    for (int i = 0; i < 2; i++) {
        assert_int_equal(sotto_dp_release(&c, v, 4, &seeded, NULL), SOTTO_OK);
        sotto_certificate_free(c);
    }
    assert_int_equal(ledger_read(&quick, path), SOTTO_OK);
    assert_int_equal(ledger_walk(&slow, path, look, &lines), SOTTO_OK);
    assert_true(lines == (int)slow.entries && quick.entries == slow.entries && quick.charges == 11 &&
                slow.charges == 11);
    assert_true(quick.seeded == 2 && slow.seeded == 2 && strcmp(quick.last, slow.last) == 0);
    const struct ledger_sum one = sums_of(&quick)->proved, other = sums_of(&slow)->proved;
    assert_true(one.pure.high == other.pure.high && one.rho == other.rho);
    assert_int_equal(
        ledger_column_account(&a, &sums_of(&quick)->proved, &sums_of(&quick)->proved_events, 1e-5, NULL),
        SOTTO_OK);
    assert_int_equal(
        ledger_column_account(&b, &sums_of(&slow)->proved, &sums_of(&slow)->proved_events, 1e-5, NULL),
        SOTTO_OK);
    assert_true(a.epsilon.upper == b.epsilon.upper && a.epsilon.upper > 0);
    ledger_close(&quick);
    ledger_close(&slow);
}

/* The same line twice, each with a hash of its own: the second is not the next one. */
TEST(a_line_that_is_alike_has_its_place)
{
    unsigned char *data;
    size_t size;
    struct ledger l;
    for (int i = 0; i < 3; i++)
        assert_int_equal(release_once(2), SOTTO_OK);
    assert_int_equal(file_read(&data, &size, path, 1 << 20), SOTTO_OK);
    char *twice = base_alloc(2 * size, 1), *last = (char *)data + size - 1;
    while (last > (char *)data && last[-1] != '\n')
        last--;
    const size_t length = size - (size_t)(last - (char *)data);
    memcpy(twice, data, size);
    memcpy(twice + size, last, length); /* its hash matches; index and prev do not */
    unlink(path);
    assert_int_equal(file_write(path, twice, size + length), SOTTO_OK);
    assert_int_equal(ledger_read(&l, path), SOTTO_EFORMAT);
    assert_non_null(strstr(sotto_error_text(), "does not follow the line before it"));
    base_free(twice);
    base_free(data);
}

/* A line with the hash that it should have. */
static void hash_again(char *line, size_t length)
{
    const size_t tail = strlen(",\"hash\":\"") + 64 + strlen("\"}");
    char hash[SHA256_HEX];
    struct sha256 sum;
    sha256_init(&sum);
    sha256_update(&sum, line, length - tail);
    sha256_update(&sum, "}", 1);
    sha256_hex(&sum, hash);
    memcpy(line + length - 66, hash, 64);
}

/* Lines "released" are recognised by their bytes. Each byte is changed, and the line hashed again: whoever recognises it, and whoever
 * parses it, say the same. */
TEST(a_changed_released_line_is_what_the_parser_says)
{
    static const char instead[] = "0af9\"\\,:} ";
    unsigned char *data;
    size_t size, accepted = 0, refused = 0;
    int lines = 0;
    struct sotto_release r = release_of(2);
    struct sotto_certificate *c = NULL;
    char sum[SHA256_HEX], name[4300];
    float v[4] = {0};
    assert_int_equal(sotto_dp_release(&c, v, 4, &r, NULL), SOTTO_OK);
    memset(sum, 'a', 64);
    sum[64] = '\0';
    snprintf(name, sizeof name, "%s.certificate.json", path);
    assert_int_equal(sotto_certificate_save(name, c, sum), SOTTO_OK);
    sotto_certificate_free(c);
    assert_int_equal(file_read(&data, &size, path, 1 << 20), SOTTO_OK);
    char *line = strchr((char *)data, '\n') + 1;
    const size_t length = size - 1 - (size_t)(line - (char *)data);
    assert_non_null(strstr(line, "\"released\""));
    for (size_t i = 0; i < length - 76; i++)
        for (size_t k = 0; k < sizeof instead - 1; k += i % 8 ? 3 : 1) {
            struct ledger quick, slow;
            const char before = line[i];
            line[i] = instead[k];
            hash_again(line, length);
            unlink(path);
            assert_int_equal(file_write(path, data, size), SOTTO_OK);
            const sotto_status a = ledger_read(&quick, path), b = ledger_walk(&slow, path, look, &lines);
            if (a != b)
                fail_msg("byte %zu, '%c': %d recognised, %d parsed", i, instead[k], (int)a, (int)b);
            accepted += a == SOTTO_OK;
            refused += a != SOTTO_OK;
            if (a == SOTTO_OK) {
                assert_true(quick.entries == slow.entries && strcmp(quick.last, slow.last) == 0);
                ledger_close(&quick);
                ledger_close(&slow);
            }
            line[i] = before;
        }
    assert_true(accepted > 200 && refused > 200);
    base_free(data);
    unlink(name);
}

static void write_text(const char *name, const char *text, size_t bytes)
{
    unlink(name); /* a ledger is replaced by nothing but a ledger, and some texts here are none */
    assert_int_equal(file_write(name, text, bytes), SOTTO_OK);
}

TEST(a_changed_ledger_is_refused)
{
    unsigned char *data;
    size_t size;
    struct ledger l;
    for (int i = 0; i < 3; i++)
        assert_int_equal(release_once(2), SOTTO_OK);
    assert_int_equal(file_read(&data, &size, path, 1 << 20), SOTTO_OK);
    char *first_end = strchr((char *)data, '\n') + 1, *second_end = strchr(first_end, '\n') + 1;

    char *digit = strstr(first_end, "\"scale\":2"); /* one digit of line 2 */
    digit[8] = '9';
    write_text(path, (char *)data, size);
    assert_int_equal(ledger_read(&l, path), SOTTO_EFORMAT);
    assert_non_null(
        strstr(sotto_error_text(),
               "line 2: its hash does not match, so the ledger was changed after it was written"));
    assert_int_equal(release_once(2), SOTTO_EFORMAT);
    digit[8] = '2';

    write_text(path, first_end, size - (size_t)(first_end - (char *)data)); /* line 1 removed */
    assert_int_equal(ledger_read(&l, path), SOTTO_EFORMAT);
    assert_non_null(strstr(sotto_error_text(), "line 1: does not follow the line before it"));

    memmove(first_end, second_end, size - (size_t)(second_end - (char *)data)); /* line 2 removed */
    write_text(path, (char *)data, size - (size_t)(second_end - first_end));
    assert_int_equal(ledger_read(&l, path), SOTTO_EFORMAT);
    assert_non_null(strstr(sotto_error_text(), "line 2: does not follow the line before it"));

    write_text(path, "{}\n", 3);
    assert_int_equal(ledger_read(&l, path), SOTTO_EFORMAT);
    assert_non_null(strstr(sotto_error_text(), "line 1: has no hash at its end"));
    assert_int_equal(ledger_read(&l, torn), SOTTO_ENOENT);
    base_free(data);
}

static void expect_lost(void)
{
    struct ledger l;
    assert_int_equal(release_once(2), SOTTO_EFORMAT);
    assert_non_null(strstr(sotto_error_text(),
                           "l.jsonl: has no entry and is not new, so what was charged to it is lost"));
    assert_non_null(strstr(sotto_error_hint(), "put it back from a copy"));
    assert_int_equal(ledger_open(&l, path, NULL), SOTTO_EFORMAT);
    assert_int_equal(ledger_read(&l, path), SOTTO_EFORMAT);
    assert_false(file_exists(torn));
}

/* Emptied, or cut within its first line: refused, and left as it is. */
TEST(a_ledger_that_lost_all_entries_is_not_a_new_one)
{
    unsigned char *data, *now;
    size_t size, length;
    struct ledger l;
    assert_int_equal(release_once(2), SOTTO_OK);
    assert_int_equal(release_once(2), SOTTO_OK);
    assert_int_equal(file_read(&data, &size, path, 1 << 20), SOTTO_OK);
    const size_t first = (size_t)(strchr((char *)data, '\n') - (char *)data);
    for (size_t left = 0; left < first; left += 37) {
        write_text(path, (char *)data, left);
        expect_lost();
        assert_int_equal(file_read(&now, &length, path, 1 << 20), SOTTO_OK);
        assert_true(length == left && memcmp(now, data, length) == 0);
        base_free(now);
    }
    write_text(path, (char *)data, size); /* put back */
    assert_int_equal(release_once(2), SOTTO_OK);
    assert_int_equal(ledger_read(&l, path), SOTTO_OK);
    assert_int_equal(sums_of(&l)->proved.releases, 3);
    ledger_close(&l);
    base_free(data);
}

/* Opened, and then nothing was charged. */
TEST(a_new_ledger_may_be_empty_until_its_first_entry)
{
    char mark[160];
    struct ledger l;
    snprintf(mark, sizeof mark, "%s.new", path);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(ledger_open(&l, path, NULL), SOTTO_OK);
        assert_int_equal(l.entries, 0);
        ledger_close(&l);
        assert_true(file_exists(path) && file_exists(mark));
    }
    assert_int_equal(ledger_read(&l, path), SOTTO_OK);
    ledger_close(&l);
    write_text(path, "{\"torn", 6); /* its first line, while it was written */
    assert_int_equal(ledger_open(&l, path, NULL), SOTTO_OK);
    assert_int_equal(l.entries, 1);
    ledger_close(&l);
    assert_true(file_exists(torn) && !file_exists(mark));
    assert_int_equal(unlink(torn), 0);
    assert_int_equal(release_once(2), SOTTO_OK);
    write_text(mark, "", 0); /* left by a process that was killed: worth nothing beside entries */
    assert_int_equal(release_once(2), SOTTO_OK);
    assert_false(file_exists(mark));
    write_text(path, "", 0);
    expect_lost();
}

static void note(void *user, enum sotto_log_level level, const char *text)
{
    snprintf(user, 256, "%d: %s", (int)level, text);
}

TEST(a_torn_line_is_moved_aside_and_recorded)
{
    unsigned char *data, *aside;
    size_t size, aside_size;
    assert_int_equal(release_once(2), SOTTO_OK);
    assert_int_equal(release_once(2), SOTTO_OK);
    assert_int_equal(file_read(&data, &size, path, 1 << 20), SOTTO_OK);
    size_t first = (size_t)(strchr((char *)data, '\n') - (char *)data) + 1;
    struct ledger l;
    write_text(path, (char *)data, first + 40);        /* 40 bytes of the second line */
    assert_int_equal(ledger_read(&l, path), SOTTO_OK); /* passed over, and nothing is written */
    assert_true(l.charges == 1 && l.cut == 40 && !file_exists(torn));
    char told[256] = "";
    const struct sotto_context ctx = {.user = told, .log = note};
    ledger_warn_of_cut(&l, &ctx);
    assert_non_null(strstr(told, "l.jsonl: the last line was cut off while it was written"));
    ledger_close(&l);
    assert_int_equal(release_once(2), SOTTO_OK);
    assert_int_equal(ledger_read(&l, path), SOTTO_OK);
    assert_int_equal(l.entries, 3); /* release, torn, release */
    assert_int_equal(sums_of(&l)->proved.releases, 2);
    ledger_close(&l);
    assert_int_equal(file_read(&aside, &aside_size, torn, 1 << 20), SOTTO_OK);
    assert_int_equal(aside_size, 41);
    assert_memory_equal(aside, data + first, 40);
    base_free(aside);
    base_free(data);
}

TEST(a_budget_cannot_be_exceeded_or_raised)
{
    struct sotto_release r = release_of(2);
    float v[1] = {5};
    struct sotto_certificate *certificate = NULL;
    r.target.delta = 0;
    r.spend.budget = (struct sotto_dp){1.2, SOTTO_DELTA_PURE};
    assert_int_equal(sotto_dp_release(&certificate, v, 1, &r, NULL), SOTTO_OK); /* 0.5 */
    sotto_certificate_free(certificate);
    r.spend.budget = (struct sotto_dp){0, 0};
    assert_int_equal(sotto_dp_release(&certificate, v, 1, &r, NULL), SOTTO_OK); /* 1.0 */
    sotto_certificate_free(certificate);
    certificate = NULL;
    double before = v[0];
    assert_int_equal(sotto_dp_release(&certificate, v, 1, &r, NULL), SOTTO_EBUDGET); /* 1.5 */
    assert_non_null(strstr(
        sotto_error_text(),
        "the privacy budget (epsilon 1.2, delta 0) would be exceeded: spent 1, with this release 1.5"));
    assert_true(v[0] == before && certificate == NULL);
    r.sensitivity.source = SOTTO_SENSITIVITY_SAMPLED; /* no way around it */
    assert_int_equal(sotto_dp_release(&certificate, v, 1, &r, NULL), SOTTO_EBUDGET);
    r.spend.budget = (struct sotto_dp){5, SOTTO_DELTA_PURE};
    assert_int_equal(sotto_dp_release(&certificate, v, 1, &r, NULL), SOTTO_EBUDGET);
    assert_non_null(strstr(sotto_error_text(), "expected a budget that is not larger (got 5, 0)"));
    r.spend.budget = (struct sotto_dp){-1, 0};
    assert_int_equal(sotto_dp_release(&certificate, v, 1, &r, NULL), SOTTO_EINVAL);
}

TEST(two_processes_share_one_chain)
{
    enum { PROCESSES = 3, EACH = 8 };
    for (int p = 0; p < PROCESSES; p++)
        if (fork() == 0) {
            for (int i = 0; i < EACH; i++)
                if (release_once(2) != SOTTO_OK)
                    _exit(1);
            _exit(0);
        }
    for (int p = 0; p < PROCESSES; p++) {
        int result;
        wait(&result);
        assert_true(WIFEXITED(result) && WEXITSTATUS(result) == 0);
    }
    struct ledger l;
    assert_int_equal(ledger_read(&l, path), SOTTO_OK);
    assert_int_equal(sums_of(&l)->proved.releases, PROCESSES * EACH);
    ledger_close(&l);
}

/* A child releases as fast as it can and reports each release that came back; it is killed at a random
 * moment. Whatever came back must be in the ledger, and the ledger must go on working. */
TEST(nothing_released_is_missing_after_kill_9)
{
    size_t reported = 0;
    for (int round = 0; round < 12; round++) {
        int pipes[2];
        assert_int_equal(pipe(pipes), 0);
        pid_t child = fork();
        if (child == 0) {
            close(pipes[0]);
            while (release_once(2) == SOTTO_OK)
                if (write(pipes[1], "x", 1) != 1)
                    _exit(2);
            _exit(1);
        }
        close(pipes[1]);
        char block[4096];
        ssize_t got;
        if (round % 2 == 1) { /* a busy machine may not let it begin by then */
            assert_int_equal(read(pipes[0], block, 1), 1);
            reported++;
        }
        nanosleep(&(struct timespec){0, (5 + 7 * round) * 1000000L}, NULL);
        kill(child, SIGKILL);
        int result;
        waitpid(child, &result, 0);
        assert_true(WIFSIGNALED(result) && WTERMSIG(result) == SIGKILL);
        while ((got = read(pipes[0], block, sizeof block)) > 0)
            reported += (size_t)got;
        close(pipes[0]);
        struct ledger l;
        assert_int_equal(ledger_open(&l, path, NULL), SOTTO_OK); /* repairs a torn line */
        assert_true(sums_of(&l)->proved.releases >= reported);
        assert_true(sums_of(&l)->proved.releases <=
                    reported + (size_t)round + 1); /* at most one unreported per kill */
        ledger_close(&l);
    }
    assert_true(reported > 0);
}

/* Whatever part of a line was written when the process died: everything before it stays charged, the ledger
 * goes on, and the cut is recorded. A line that lacks its newline alone is whole: its noise may have been
 * drawn, so it is charged. */
TEST(a_line_cut_at_any_byte_loses_nothing)
{
    unsigned char *data;
    size_t size;
    assert_int_equal(release_once(2), SOTTO_OK);
    assert_int_equal(release_once(2), SOTTO_OK);
    assert_int_equal(file_read(&data, &size, path, 1 << 20), SOTTO_OK);
    size_t first = (size_t)(strchr((char *)data, '\n') - (char *)data) + 1;
    for (size_t cut = first; cut <= size; cut += cut > first + 20 && cut < size - 80 ? 61 : 1) {
        struct ledger l;
        write_text(path, (char *)data, cut);
        bool torn_line = cut > first && cut < size - 1;
        assert_int_equal(ledger_read(&l, path), SOTTO_OK);
        assert_int_equal(l.cut, torn_line ? cut - first : 0);
        ledger_close(&l);
        assert_int_equal(ledger_open(&l, path, NULL), SOTTO_OK);
        assert_int_equal(sums_of(&l)->proved.releases, cut >= size - 1 ? 2 : 1);
        assert_int_equal(l.entries, cut == first ? 1 : 2);
        ledger_close(&l);
        assert_int_equal(file_exists(torn), torn_line);
        unlink(torn);
        assert_int_equal(ledger_read(&l, path), SOTTO_OK);
        ledger_close(&l);
        if (cut < size - 1)
            continue;
        unsigned char *now; /* the newline is there again, and nothing else */
        size_t length;
        assert_int_equal(file_read(&now, &length, path, 1 << 20), SOTTO_OK);
        assert_true(length == size && memcmp(now, data, size) == 0);
        base_free(now);
    }
    base_free(data);
}

/* Any one byte of a finished line changed: refused. */
TEST(a_garbled_byte_is_noticed)
{
    unsigned char *data;
    size_t size;
    assert_int_equal(release_once(2), SOTTO_OK);
    assert_int_equal(release_once(2), SOTTO_OK);
    assert_int_equal(file_read(&data, &size, path, 1 << 20), SOTTO_OK);
    for (size_t i = 0; i < size - 1; i += 7) {
        struct ledger l;
        data[i] ^= 1;
        write_text(path, (char *)data, size);
        if (ledger_read(&l, path) != SOTTO_EFORMAT)
            fail_msg("byte %zu changed unnoticed", i);
        data[i] ^= 1;
    }
    base_free(data);
}

TEST(default_paths)
{
    char *out;
    setenv("XDG_DATA_HOME", "/data", 1);
    assert_int_equal(ledger_default_path(&out, "abc-1.x"), SOTTO_OK);
    assert_string_equal(out, "/data/sotto/ledger/abc-1.x.jsonl");
    base_free(out);
    assert_int_equal(ledger_default_path(&out, "../../etc/passwd"), SOTTO_OK); /* hashed */
    assert_int_equal(strlen(out), strlen("/data/sotto/ledger/.jsonl") + 64);
    assert_null(strstr(out, ".."));
    base_free(out);
    setenv("XDG_DATA_HOME", "relative", 1); /* the standard says: ignore */
    setenv("HOME", "/home/u", 1);
    assert_int_equal(ledger_default_path(&out, "a"), SOTTO_OK);
    assert_string_equal(out, "/home/u/.local/share/sotto/ledger/a.jsonl");
    base_free(out);
    unsetenv("XDG_DATA_HOME");
    unsetenv("HOME");
    assert_int_equal(ledger_default_path(&out, "a"), SOTTO_EINVAL);
    assert_int_equal(ledger_default_path(&out, ""), SOTTO_EINVAL);
}

TEST(a_ledger_that_cannot_be_made_is_one_line)
{
    snprintf(path, sizeof path, "%s/l.jsonl", folder);
    assert_int_equal(file_write(path, "", 0), SOTTO_OK);
    struct ledger l;
    char below[160];
    snprintf(below, sizeof below, "%s/x.jsonl", path);
    assert_int_equal(ledger_open(&l, below, NULL), SOTTO_ECREATE);
    assert_int_equal(ledger_open(&l, folder, NULL), SOTTO_ECREATE);
    assert_non_null(strstr(sotto_error_text(), "cannot open the ledger"));
}

/* Every allocation in a release fails once: ENOMEM, vector untouched, and the ledger stays sound. */
TEST(allocation_failures_leave_all_as_it_was)
{
    sotto_status status = SOTTO_ENOMEM;
    int n;
    for (n = 0; status != SOTTO_OK && n < 2000; n++) {
        struct sotto_release r = release_of(2);
        float v[2] = {1, 2};
        struct sotto_certificate *certificate = NULL;
        base_alloc_fail_after(n);
        status = sotto_dp_release(&certificate, v, 2, &r, NULL);
        base_alloc_fail_after(-1);
        if (status != SOTTO_OK) {
            assert_int_equal(status, SOTTO_ENOMEM);
            assert_true(v[0] == 1 && v[1] == 2);
            assert_null(certificate);
        }
        sotto_certificate_free(certificate);
    }
    assert_int_equal(status, SOTTO_OK);
    assert_true(n > 10);
    struct ledger l;
    assert_int_equal(ledger_read(&l, path), SOTTO_OK);
    ledger_close(&l);
}

TEST_GROUP(.shards = 2, .before = make_folder, .after = remove_folder, .tags = "long")
