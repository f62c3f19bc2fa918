/* src/core/dp/ledger/charge.c, ledger_registry.c, ledger_records.c: one ledger a data set, wherever it lies; the same records
 * under two identities; two ledgers at once. Exact integers and files: no dtype, backend or thread matters. */
#include "support/test.h"
#include "support/ledger_sums_of.h"

#include "base/file.h"
#include "dp/ledger/charge.h"
#include "dp/ledger/ledger_registry.h"
#include "io/json/json.h"
#include "sotto/private/all.h"
#include "support/temporary_folder.h"

#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { N = 50 };
static unsigned char people[4 * N][SOTTO_DIGEST]; /* digests of records, all different */
static char told[1024];                           /* the last line that was logged */

static int make_home(void **state)
{
    for (size_t i = 0; i < 4 * N; i++)
        digest_of(people[i], (const struct digest_part[]){{&i, sizeof i}}, 1);
    return make_folder(state) || setenv("XDG_DATA_HOME", folder, 1);
}

static void listen(void *user, enum sotto_log_level level, const char *text)
{
    (void)user, (void)level;
    snprintf(told, sizeof told, "%s", text);
}

static const struct sotto_context ctx = {.log = listen};

/* Records first .. first + N - 1 of all people. */
static struct sotto_source_records some(size_t first)
{
    return (struct sotto_source_records){.digests = (const unsigned char(*)[SOTTO_DIGEST])people + first,
                                         .n = N};
}

/* Releases at epsilon 1, pure. */
static sotto_status charge_for(const char *id, const char *ledger, const struct sotto_source_records *source,
                               struct sotto_dp budget)
{
    struct sotto_certificate *certificate = NULL;
    float v[2] = {0};
    const struct sotto_release r = {
        .mechanism = "laplace",
        .scale = 1,
        .target = {NAN, 0},
        .sensitivity = {.l1 = 1, .l2 = NAN, .source = SOTTO_SENSITIVITY_PROVED},
        .spend = {.dataset_id = id, .ledger = ledger, .source = source, .budget = budget}};
    told[0] = '\0';
    sotto_status status = sotto_dp_release(&certificate, v, 2, &r, &ctx);
    assert_true(status == SOTTO_OK ? certificate != NULL : v[0] == 0 && v[1] == 0);
    sotto_certificate_free(certificate);
    return status;
}

static sotto_status charge(const char *id, const char *ledger, const struct sotto_source_records *source)
{
    return charge_for(id, ledger, source, (struct sotto_dp){0, 0});
}

#define REFUSED(call, code, words)                                                                           \
    do {                                                                                                     \
        assert_int_equal(call, code);                                                                        \
        if (!strstr(sotto_error_text(), words))                                                              \
            fail_msg("'%s' lacks '%s'", sotto_error_text(), words);                                          \
    } while (0)

static const char *default_of(const char *id)
{
    static char path[256];
    snprintf(path, sizeof path, "%s/sotto/ledger/%s.jsonl", folder, id);
    return path;
}

/* Releases that a ledger counts; -1: there is none. */
static long counted(const char *path)
{
    struct ledger l;
    if (!file_exists(path))
        return -1;
    assert_int_equal(ledger_read(&l, path), SOTTO_OK);
    long count = (long)sums_of(&l)->proved.releases;
    ledger_close(&l);
    return count;
}

TEST(a_new_ledger_is_announced_once)
{
    assert_int_equal(charge("a", NULL, NULL), SOTTO_OK);
    assert_non_null(strstr(told, "opened a new ledger for data set 'a': "));
    assert_non_null(strstr(told, default_of("a")));
    assert_int_equal(charge("a", NULL, NULL), SOTTO_OK);
    assert_string_equal(told, "");
    assert_int_equal(counted(default_of("a")), 2);
    struct stat info;
    assert_int_equal(stat(default_of("a"), &info), 0);
    assert_int_equal(info.st_mode & 0777, 0600);
}

TEST(anonymous_records_are_refused)
{
    struct sotto_provenance p = {.dataset_id = "survey"};
    const char *id;
    REFUSED(charge(NULL, NULL, NULL), SOTTO_EINVAL, "has no identity");
    REFUSED(charge("", NULL, NULL), SOTTO_EINVAL, "has no identity");
    assert_int_equal(charge_identity(&id, NULL, &p), SOTTO_OK);
    assert_string_equal(id, "survey");
    assert_int_equal(charge_identity(&id, "Befragung \xc3\xbc", NULL), SOTTO_OK);
    const char *const steering[] = {"a\nb", "\t", "\x1b[2J", "a\x7f", "a\xc2\x9b", "\xff"};
    for (size_t i = 0; i < sizeof steering / sizeof *steering; i++)
        REFUSED(charge_identity(&id, steering[i], NULL), SOTTO_EUSAGE, "without control characters");
    assert_int_equal(charge_identity(&id, "survey", &p), SOTTO_OK);
    REFUSED(charge_identity(&id, "another", &p), SOTTO_EINVAL,
            "belong to data set 'survey', not to 'another'");
    assert_false(file_exists(path_of("sotto")));
}

TEST(a_ledger_stays_where_it_was_first)
{
    const char *own = path_of("own.jsonl"), *other = path_of("other.jsonl");
    assert_int_equal(charge("a", own, NULL), SOTTO_OK);
    assert_int_equal(charge("a", NULL, NULL), SOTTO_OK); /* finds it */
    assert_int_equal(counted(own), 2);
    REFUSED(charge("a", other, NULL), SOTTO_EUSAGE, "omit ledger, or move the ledger with move_ledger");
    assert_int_equal(counted(other), -1);
    assert_int_equal(counted(default_of("a")), -1);
    assert_int_equal(charge("b", NULL, NULL), SOTTO_OK); /* by default, and then elsewhere */
    REFUSED(charge("b", other, NULL), SOTTO_EUSAGE, "the ledger of data set 'b' is ");
    char *path;
    assert_int_equal(sotto_ledger_find(&path, "a"), SOTTO_OK);
    assert_string_equal(path, own);
    sotto_text_free(path);
    assert_int_equal(unlink(own), 0);
    REFUSED(charge("a", NULL, NULL), SOTTO_EUSAGE, "put it back");
    REFUSED(charge("a", own, NULL), SOTTO_EUSAGE, "put it back");
}

TEST(a_relative_name_is_kept_as_an_absolute_one)
{
    char here[4096];
    assert_non_null(getcwd(here, sizeof here));
    assert_int_equal(chdir(folder), 0);
    assert_int_equal(charge("a", "near.jsonl", NULL), SOTTO_OK);
    assert_int_equal(chdir(here), 0);
    assert_int_equal(charge("a", NULL, NULL), SOTTO_OK);
    assert_int_equal(counted(path_of("near.jsonl")), 2);
}

TEST(a_public_set_keeps_a_ledger_anywhere)
{
    struct sotto_source_records source = some(0);
    source.public_set = 1;
    assert_int_equal(charge("blobs", path_of("1.jsonl"), &source), SOTTO_OK);
    assert_int_equal(charge("blobs", path_of("2.jsonl"), &source), SOTTO_OK);
    assert_int_equal(counted(path_of("2.jsonl")), 1);
    assert_false(file_exists(path_of("sotto"))); /* no registry */
}

TEST(a_move_keeps_the_chain_and_closes_the_old_file)
{
    struct sotto_source_records move = some(0);
    const char *to = path_of("moved.jsonl");
    assert_int_equal(charge("a", NULL, &move), SOTTO_OK);
    move.move_ledger = 1;
    assert_int_equal(charge("a", to, &move), SOTTO_OK);
    assert_int_equal(counted(to), 2);
    assert_int_equal(counted(default_of("a")), 1);
    struct ledger old;
    assert_int_equal(ledger_open(&old, default_of("a"), NULL), SOTTO_OK);
    assert_string_equal(old.moved, to);
    REFUSED(ledger_append(&old, "{}"), SOTTO_EBUDGET,
            "and cannot be charged any more; give that file by ledger, or omit ledger");
    ledger_close(&old);
    char *table;
    assert_int_equal(sotto_ledger_table(&table, default_of("a"), NULL), SOTTO_OK);
    assert_non_null(strstr(table, "moved.jsonl, where it goes on\n"));
    sotto_text_free(table);
    assert_int_equal(charge("a", NULL, NULL), SOTTO_OK);
    assert_int_equal(counted(to), 3);
    assert_int_equal(file_write(path_of("full.jsonl"), "x\n", 2), SOTTO_OK);
    REFUSED(charge("a", path_of("full.jsonl"), &move), SOTTO_EUSAGE, "already has other contents");
    /* died before the registry was written: the old file says where to go on */
    char place[256];
    snprintf(place, sizeof place, "%s/sotto/ledger/a.where", folder);
    assert_int_equal(unlink(place), 0);
    assert_int_equal(charge("a", NULL, NULL), SOTTO_OK);
    assert_int_equal(counted(to), 4);
    assert_true(file_exists(place));
    assert_int_equal(unlink(place) | unlink(to), 0);
    REFUSED(charge("a", NULL, NULL), SOTTO_EUSAGE, "which is missing; put it back");
}

/* A file cannot be named relative to a folder that is gone. */
TEST(a_move_needs_a_working_folder)
{
    struct sotto_source_records move = {.move_ledger = 1};
    const int here = open(".", O_RDONLY | O_DIRECTORY);
    assert_int_equal(charge("a", NULL, NULL), SOTTO_OK);
    assert_int_equal(mkdir(path_of("gone"), 0700) | chdir(path_of("gone")) | rmdir(path_of("gone")), 0);
    const sotto_status status = charge("a", "to.jsonl", &move);
    assert_int_equal(fchdir(here) | close(here), 0);
    assert_int_equal(status, SOTTO_EIO);
    assert_non_null(strstr(sotto_error_text(), "to.jsonl: the path of the working folder cannot be found: "));
    assert_int_equal(counted(default_of("a")), 1);
}

/* A move that died after the copy: the old file takes charges, and the next move takes the stale copy. */
TEST(an_interrupted_move_is_taken_up_again)
{
    struct sotto_source_records move = {.move_ledger = 1};
    unsigned char *data;
    size_t size;
    assert_int_equal(charge("a", NULL, NULL), SOTTO_OK);
    assert_int_equal(file_read(&data, &size, default_of("a"), 1 << 20), SOTTO_OK);
    assert_int_equal(file_write(path_of("to.jsonl"), data, size), SOTTO_OK);
    base_free(data);
    assert_int_equal(charge("a", NULL, NULL), SOTTO_OK);
    assert_int_equal(charge("a", path_of("to.jsonl"), &move), SOTTO_OK);
    assert_int_equal(counted(path_of("to.jsonl")), 3);
}

/* A refusal would tell whether a record is in a set, so identities decide, and records are compared where their owner asks. */
TEST(a_charge_does_not_tell_whether_a_record_is_in_another_set)
{
    struct sotto_source_records first = some(0), apart = some(N), one_shared = some(2 * N);
    unsigned char mixed[N][SOTTO_DIGEST];
    const char *const same[] = {"a", NULL};
    size_t shared;
    memcpy(mixed, people + 2 * N, sizeof mixed);
    memcpy(mixed[7], people[3], SOTTO_DIGEST);
    one_shared.digests = (const unsigned char(*)[SOTTO_DIGEST])mixed;
    assert_int_equal(charge("a", NULL, &first), SOTTO_OK);
    assert_int_equal(charge("b", NULL, &apart), SOTTO_OK);
    assert_int_equal(charge("c", NULL, &one_shared), SOTTO_OK); /* like b */
    assert_int_equal(counted(default_of("a")), 1);
    assert_int_equal(sotto_ledger_overlap(&shared, "a", one_shared.digests, N), SOTTO_OK);
    assert_int_equal(shared, 1);
    assert_int_equal(sotto_ledger_overlap(&shared, "a", apart.digests, N), SOTTO_OK);
    assert_int_equal(shared, 0);
    REFUSED(sotto_ledger_overlap(&shared, "d", apart.digests, N), SOTTO_EUSAGE,
            "no ledger is known for data set 'd'");
    one_shared.same_people = same;
    assert_int_equal(charge("c", NULL, &one_shared), SOTTO_OK);
    assert_int_equal(counted(default_of("a")), 2); /* both are charged */
    assert_int_equal(counted(default_of("c")), 2);
}

TEST(only_new_records_are_written_under_a_key_of_the_ledger)
{
    struct sotto_source_records all = some(0), more = some(N / 2), twin = some(0);
    struct ledger_records a = {0}, b = {0};
    const char *const same[] = {"a", NULL};
    assert_int_equal(charge("a", NULL, &all), SOTTO_OK);
    assert_int_equal(charge("a", NULL, &all), SOTTO_OK);
    assert_int_equal(ledger_records_read(&a, default_of("a")), SOTTO_OK);
    assert_int_equal(a.count, N);
    assert_string_equal(a.dataset_id, "a");
    ledger_records_free(&a);
    assert_int_equal(charge("a", NULL, &more), SOTTO_OK);
    assert_int_equal(ledger_records_read(&a, default_of("a")), SOTTO_OK);
    assert_int_equal(a.count, N + N / 2);
    twin.same_people = same;
    assert_int_equal(charge("b", NULL, &twin), SOTTO_OK);
    assert_int_equal(ledger_records_read(&b, default_of("b")), SOTTO_OK);
    assert_int_equal(b.count, N);
    assert_memory_not_equal(a.key, b.key, sizeof a.key);
    for (size_t i = 0; i < a.count; i++)
        for (size_t k = 0; k < b.count; k++)
            assert_true(a.hashes[i] != b.hashes[k]);
    ledger_records_free(&a);
    ledger_records_free(&b);
}

/* How many hashes the ledger of "a" holds after a charge for `alike` equal records and N - alike others. */
static size_t hashed_after(size_t alike)
{
    unsigned char digests[N][SOTTO_DIGEST];
    struct sotto_source_records source = some(0);
    struct ledger_records r = {0};
    memcpy(digests, people, sizeof digests);
    for (size_t i = 1; i < alike; i++)
        memcpy(digests[i], people[0], SOTTO_DIGEST);
    source.digests = (const unsigned char(*)[SOTTO_DIGEST])digests;
    assert_int_equal(charge("a", NULL, &source), SOTTO_OK);
    assert_int_equal(ledger_records_read(&r, default_of("a")), SOTTO_OK);
    size_t count = r.count;
    ledger_records_free(&r);
    return count;
}

TEST(the_number_of_hashes_does_not_tell_whether_records_are_alike)
{
    struct sotto_source_records one = some(0), other = some(N);
    struct ledger_records r = {0};
    size_t shared;
    assert_int_equal(hashed_after(7), N);
    assert_int_equal(hashed_after(7), N);     /* the same records again */
    assert_int_equal(hashed_after(5), N + 2); /* two records which were not there */
    assert_int_equal(hashed_after(9), N + 4); /* two more that are alike */
    assert_int_equal(hashed_after(1), N + 8); /* the four that stood aside until now */
    assert_int_equal(ledger_records_read(&r, default_of("a")), SOTTO_OK);
    one.n = 1;
    assert_int_equal(ledger_records_shared(&shared, &r, &one), SOTTO_OK);
    assert_int_equal(shared, 1);
    assert_int_equal(ledger_records_shared(&shared, &r, &other), SOTTO_OK);
    assert_int_equal(shared, 0);
    ledger_records_free(&r);
}

/* As ledgers of earlier versions were: each hash once. */
TEST(a_ledger_with_each_hash_once_is_read)
{
    struct sotto_source_records once = some(0), other = some(N);
    size_t shared;
    once.n = 1;
    assert_int_equal(charge("a", NULL, &once), SOTTO_OK);
    assert_int_equal(hashed_after(N), N); /* what exceeds the one that is there */
    assert_int_equal(sotto_ledger_overlap(&shared, "a", once.digests, 1), SOTTO_OK);
    assert_int_equal(shared, 1);
    assert_int_equal(sotto_ledger_overlap(&shared, "a", other.digests, N), SOTTO_OK);
    assert_int_equal(shared, 0);
}

TEST(both_budgets_are_asked_before_either_is_charged)
{
    struct sotto_source_records people_of_both = some(0);
    const char *const same[] = {"a", NULL}, *const itself[] = {"b", NULL}, *const none[] = {"z", NULL};
    assert_int_equal(charge_for("a", NULL, &people_of_both, (struct sotto_dp){1.5, SOTTO_DELTA_PURE}),
                     SOTTO_OK);
    people_of_both.same_people = same;
    REFUSED(charge("b", NULL, &people_of_both), SOTTO_EBUDGET, "would be exceeded");
    assert_int_equal(counted(default_of("a")), 1);
    assert_int_equal(counted(default_of("b")), 0);
    people_of_both.same_people = none;
    REFUSED(charge("a", NULL, &people_of_both), SOTTO_EUSAGE, "no ledger is known for data set 'z'");
    assert_int_equal(charge("b", NULL, NULL), SOTTO_OK);
    people_of_both.same_people = itself;
    REFUSED(charge("b", NULL, &people_of_both), SOTTO_EUSAGE, "is charged already");
}

/* Whatever would begin to count anew is refused. */
TEST(an_emptied_ledger_is_not_a_new_one)
{
    const char lost[] = "a.jsonl: has no entry and is not new, so what was charged to it is lost";
    const char *const same[] = {"a", NULL};
    struct sotto_source_records source = some(0), other = some(0);
    char *path;
    assert_int_equal(charge("a", NULL, &source), SOTTO_OK);
    assert_int_equal(truncate(default_of("a"), 0), 0);
    REFUSED(charge("a", NULL, &source), SOTTO_EFORMAT, lost);
    REFUSED(charge("a", path_of("elsewhere.jsonl"), &source), SOTTO_EFORMAT, lost);
    assert_false(file_exists(path_of("elsewhere.jsonl")));
    REFUSED(sotto_ledger_find(&path, "a"), SOTTO_EFORMAT, lost);
    other.same_people = same;
    REFUSED(charge("b", NULL, &other), SOTTO_EFORMAT, lost);
    struct stat info;
    assert_int_equal(stat(default_of("a"), &info), 0);
    assert_int_equal(info.st_size, 0);
    assert_int_equal(charge("c", path_of("c.jsonl"), NULL),
                     SOTTO_OK); /* the same of one at a path of its own */
    assert_int_equal(truncate(path_of("c.jsonl"), 0), 0);
    REFUSED(charge("c", NULL, NULL), SOTTO_EFORMAT, "c.jsonl: has no entry and is not new");
}

TEST(an_officers_budget_is_not_widened)
{
    struct sotto_source_records source = some(0);
    char *path;
    assert_int_equal(sotto_ledger_init(&path, "a", path_of("own.jsonl"), (struct sotto_dp){2.5, 1e-6},
                                       "office", NULL, NULL),
                     SOTTO_OK);
    assert_string_equal(path, path_of("own.jsonl"));
    REFUSED(charge_for("a", NULL, &source, (struct sotto_dp){3, 1e-6}), SOTTO_EBUDGET,
            "set by 'sotto ledger init");
    REFUSED(charge_for("a", NULL, &source, (struct sotto_dp){2, 1e-5}), SOTTO_EBUDGET,
            "set by 'sotto ledger init");
    REFUSED(charge_for("a", NULL, &source, (struct sotto_dp){0.5, SOTTO_DELTA_PURE}), SOTTO_EBUDGET,
            "would be exceeded");
    assert_int_equal(charge_for("a", NULL, &source, (struct sotto_dp){1.5, SOTTO_DELTA_PURE}), SOTTO_OK);
    assert_int_equal(charge("a", NULL, &source), SOTTO_OK); /* the tighter one was for that charge */
    REFUSED(charge("a", NULL, &source), SOTTO_EBUDGET, "epsilon 2.5");
    sotto_text_free(path);
    REFUSED(sotto_ledger_init(&path, "a", NULL, (struct sotto_dp){3, 0}, NULL, NULL, NULL), SOTTO_EBUDGET,
            "expected a budget that is not larger (got");
    REFUSED(sotto_ledger_init(&path, "a", NULL, (struct sotto_dp){0, 0}, NULL, NULL, NULL), SOTTO_EINVAL,
            "must be > 0");
}

TEST(what_is_shown_adds_up)
{
    struct sotto_source_records source = some(0);
    struct json *doc = NULL;
    char *text, *table;
    for (int i = 0; i < 3; i++)
        assert_int_equal(charge("a", NULL, &source), SOTTO_OK);
    assert_int_equal(sotto_ledger_show(&text, default_of("a"), NULL), SOTTO_OK);
    assert_int_equal(json_parse(&doc, text, strlen(text), "show"), SOTTO_OK);
    assert_true(fabs(json_number(json_find(doc, "total")) - 3) < 1e-9);
    assert_true(fabs(json_number(json_find(doc, "entries[2].total")) - 2) < 1e-9);
    assert_int_equal(json_whole(json_find(doc, "records")), N);
    assert_string_equal(json_text(json_find(doc, "dataset_id")), "a");
    assert_int_equal(sotto_ledger_table(&table, default_of("a"), NULL), SOTTO_OK);
    assert_non_null(strstr(table, "laplace"));
    assert_non_null(strstr(table, "total: epsilon 3 at delta 0"));
    assert_int_equal(sotto_ledger_table(&table, path_of("none.jsonl"), NULL), SOTTO_ENOENT);
    char *found, *made;
    assert_int_equal(sotto_ledger_find(&found, "new"), SOTTO_OK); /* where the first charge will make it */
    assert_string_equal(found, default_of("new"));
    assert_false(file_exists(found));
    sotto_text_free(found);
    struct ledger l;
    assert_int_equal(
        sotto_ledger_init(&made, "new", NULL, (struct sotto_dp){1, SOTTO_DELTA_PURE}, NULL, &source, NULL),
        SOTTO_OK);
    assert_int_equal(ledger_read(&l, made), SOTTO_OK);
    assert_true(l.budget.epsilon == 1 && l.budget.delta == 0);
    ledger_close(&l);
    sotto_text_free(made);
    json_free(doc);
    sotto_text_free(text);
    sotto_text_free(table);
}

static sotto_status take_text(struct ledger_records *r, const char *text, const char *where)
{
    struct ledger_line line;
    struct ledger_hashes hashes;
    assert_int_equal(ledger_line_parse(&line, text, strlen(text), where), SOTTO_OK);
    sotto_status status = ledger_line_hashes(&hashes, &line, where);
    if (status == SOTTO_OK)
        status = ledger_records_take(r, &hashes, where);
    ledger_line_free(&line);
    return status;
}

TEST(damaged_entries_are_refused)
{
    static const char *const bad[][2] = {
        {"{\"dataset_id\":\"a\",\"key\":\"00\",\"count\":0,\"hashes\":\"\"}", "not 32 hexadecimal digits"},
        {"{\"dataset_id\":\"a\",\"key\":\"00112233445566778899aabbccddeefG\",\"count\":0,\"hashes\":\"\"}",
         "not 32 hexadecimal digits"},
        {"{\"dataset_id\":\"a\",\"key\":\"00112233445566778899aabbccddeeff\",\"count\":2,\"hashes\":"
         "\"0011\"}",
         "expected 16 for each of 2 records"},
        {"{\"dataset_id\":\"a\",\"key\":\"00112233445566778899aabbccddeeff\",\"count\":1,\"hashes\":"
         "\"001122334455667x\"}",
         "hashes' contains other characters than hexadecimal digits"},
        {"{\"key\":\"00112233445566778899aabbccddeeff\",\"count\":0,\"hashes\":\"\"}", "'dataset_id'"}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct ledger_records r = {0};
        REFUSED(take_text(&r, bad[i][0], "line 1"), SOTTO_EFORMAT, bad[i][1]);
        ledger_records_free(&r);
    }
    struct ledger_records two_keys = {.keyed = true};
    const char keyed[] =
        "{\"dataset_id\":\"a\",\"key\":\"00112233445566778899aabbccddeeff\",\"count\":0,\"hashes\":\"\"}";
    REFUSED(take_text(&two_keys, keyed, "line 2"), SOTTO_EFORMAT, "differs from that of the entries before");
    assert_int_equal(charge("a", path_of("own.jsonl"), NULL), SOTTO_OK);
    char place[256];
    snprintf(place, sizeof place, "%s/sotto/ledger/a.where", folder);
    assert_int_equal(file_write(place, "{\"schema\":\"x\"}", 14), SOTTO_OK);
    REFUSED(charge("a", NULL, NULL), SOTTO_EFORMAT, "expected sotto.ledger-place/1");
    const char other[] = "{\"schema\":\"sotto.ledger-place/1\",\"dataset_id\":\"b\",\"ledger\":\"/x\"}";
    assert_int_equal(file_write(place, other, sizeof other - 1), SOTTO_OK);
    REFUSED(charge("a", NULL, NULL), SOTTO_EFORMAT, "belongs to data set 'b'");
}

TEST(a_ledger_that_is_away_hinders_no_other_set)
{
    struct sotto_source_records first = some(0), second = some(N);
    assert_int_equal(charge("a", path_of("away.jsonl"), &first), SOTTO_OK);
    assert_int_equal(unlink(path_of("away.jsonl")), 0);
    assert_int_equal(charge("b", NULL, &second), SOTTO_OK);
    assert_null(strstr(told, "away.jsonl"));
    REFUSED(charge("a", NULL, &first), SOTTO_EUSAGE, "away.jsonl");
}

/* Two processes charge a and b, each with the other's people, in both orders. */
TEST(crossed_charges_do_not_wait_for_each_other)
{
    struct sotto_source_records source = some(0);
    const char *const a[] = {"a", NULL}, *const b[] = {"b", NULL};
    assert_int_equal(charge("a", NULL, NULL), SOTTO_OK);
    assert_int_equal(charge("b", NULL, NULL), SOTTO_OK);
    pid_t child = fork();
    source.same_people = child == 0 ? a : b;
    for (int i = 0; i < 20; i++)
        if (charge(child == 0 ? "b" : "a", NULL, &source) != SOTTO_OK)
            _exit(1);
    if (child == 0)
        _exit(0);
    int result;
    assert_int_equal(waitpid(child, &result, 0), child);
    assert_int_equal(result, 0);
    assert_int_equal(counted(default_of("a")), 41);
    assert_int_equal(counted(default_of("b")), 41);
}

/* kill -9 at any point: what was released is in both ledgers. */
TEST(nothing_released_is_missing_from_either_after_kill_9)
{
    struct sotto_source_records source = some(0);
    const char *const same[] = {"a", NULL};
    size_t reported = 0;
    assert_int_equal(charge("a", NULL, NULL), SOTTO_OK);
    source.same_people = same;
    for (int round = 0; round < 12 || (reported == 0 && round < 100);
         round++) { /* busy machines get longer */
        int pipes[2];
        char buffer[256];
        assert_int_equal(pipe(pipes), 0);
        pid_t child = fork();
        if (child == 0) {
            while (charge("b", NULL, &source) == SOTTO_OK)
                if (write(pipes[1], "x", 1) != 1)
                    break;
            _exit(1);
        }
        close(pipes[1]);
        nanosleep(&(struct timespec){0, (4 + 9 * round) * 1000000L}, NULL);
        kill(child, SIGKILL);
        int result;
        assert_int_equal(waitpid(child, &result, 0), child);
        assert_true(WIFSIGNALED(result));
        for (ssize_t got; (got = read(pipes[0], buffer, sizeof buffer)) > 0;)
            reported += (size_t)got;
        close(pipes[0]);
        const char *const ids[] = {"a", "b"};
        for (int i = 0; i < 2; i++) { /* opening repairs a torn line */
            struct ledger l;
            assert_int_equal(ledger_open(&l, default_of(ids[i]), NULL), SOTTO_OK);
            assert_true(sums_of(&l)->proved.releases >= reported);
            ledger_close(&l);
        }
    }
    assert_true(reported > 0);
}

TEST(allocation_failures_charge_nothing_twice)
{
    struct sotto_source_records source = some(0);
    const char *const same[] = {"a", NULL};
    sotto_status status = SOTTO_ENOMEM;
    int n;
    assert_int_equal(charge("a", NULL, NULL), SOTTO_OK);
    source.same_people = same;
    for (n = 0; status != SOTTO_OK && n < 3000; n++) {
        base_alloc_fail_after(n);
        status = charge("b", path_of("b.jsonl"), &source);
        base_alloc_fail_after(-1);
        assert_true(status == SOTTO_OK || status == SOTTO_ENOMEM);
    }
    assert_int_equal(status, SOTTO_OK);
    if (n <= 20)
        fail_msg("only %d allocations", n);
    assert_true(counted(path_of("b.jsonl")) >= 1 && counted(default_of("a")) >= counted(path_of("b.jsonl")));
}

TEST_GROUP(.before = make_home, .after = remove_folder)
