/* A ledger on a file system that several machines share: LEDGER.lock beside it, made by link(2). The system calls are replaced by
 * ones of this program: statfs() tells any type, and flock() holds nothing, as on a file system where it is local to each machine. */
#include "support/test.h"

#include "base/file.h"
#include "base/file_holder.h"
#include "dp/ledger/ledger_registry.h"
#include "dp/ledger_line/ledger_line.h"
#include "sotto/private/all.h"
#include "support/exercise.h"
#include "support/temporary_folder.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* --- the system */

enum { LOCAL = 0xef53, NFS = 0x6969 };
static struct {
    unsigned type; /* of every file system */
    int statfs_fails, link_error, link_lies, naps;
    bool skip_naps, ends_when_asked;
} given;

static void network(unsigned type)
{
    memset(&given, 0, sizeof given);
    given.type = type;
    given.skip_naps = true;
    unsetenv("SOTTO_LEDGER_LOCK");
}

int statfs(const char *path, struct statfs *out)
{
    (void)path;
    memset(out, 0, sizeof *out);
    out->f_type = (__fsword_t)given.type;
    errno = EIO;
    return given.statfs_fails ? -1 : 0;
}

int link(const char *from, const char *to)
{
    if (given.link_error) {
        errno = given.link_error;
        return -1;
    }
    const int result = (int)syscall(SYS_linkat, AT_FDCWD, from, AT_FDCWD, to, 0);
    if (given.link_lies) { /* the server's answer was lost; asked again, it says that the name is there */
        errno = EEXIST;
        return -1;
    }
    return result;
}

int flock(int fd, int how)
{
    (void)fd;
    (void)how;
    return 0;
}

int nanosleep(const struct timespec *asked, struct timespec *left)
{
    given.naps++;
    return given.skip_naps ? 0 : (int)syscall(SYS_nanosleep, asked, left);
}

/* Whether a process is there. ends_when_asked: it releases its lock and ends just before it is looked for. */
int kill(pid_t process, int signal)
{
    if (given.ends_when_asked && signal == 0) {
        given.ends_when_asked = false;
        unlink(path_of("l.jsonl.lock"));
    }
    return (int)syscall(SYS_kill, process, signal);
}

/* --- helpers */

static const char *ledger_path(void)
{
    return path_of("l.jsonl");
}

static const char *lock_path(void)
{
    return path_of("l.jsonl.lock");
}

static void hold(const char *line)
{
    assert_int_equal(overwrite(lock_path(), line, strlen(line)), 0);
}

static size_t files_of_locks(void)
{
    char command[160], text[32] = "";
    snprintf(command, sizeof command, "ls -a '%s' | grep -c 'l.jsonl.lock'", folder);
    FILE *p = popen(command, "r");
    assert_non_null(p);
    assert_non_null(fgets(text, sizeof text, p));
    pclose(p);
    return strtoul(text, NULL, 10);
}

static sotto_status release(void)
{
    const struct sotto_release r = {
        .mechanism = "laplace",
        .scale = 2,
        .target = {NAN, 1e-5},
        .sensitivity = {.l1 = 1, .l2 = 1, .source = SOTTO_SENSITIVITY_PROVED},
        .spend = {.dataset_id = "toy", .source = &exercise, .ledger = ledger_path()}};
    float v[1] = {5};
    struct sotto_certificate *text = NULL;
    const sotto_status status = sotto_dp_release(&text, v, 1, &r, NULL);
    assert_true(status == SOTTO_OK || v[0] == 5);
    sotto_certificate_free(text);
    return status;
}

static size_t charges(void)
{
    struct ledger l;
    if (!file_exists(ledger_path()))
        return 0;
    if (ledger_read(&l, ledger_path()) != SOTTO_OK)
        fail_msg("%s", sotto_error_text());
    const size_t count = l.charges;
    ledger_close(&l);
    return count;
}

/* --- tests */

TEST(network_types_have_a_lock_file)
{
    static const unsigned shared[] = {0x6969,     0xff534d42, 0x0bd00bd0, 0x65735546, 0x00c36400,
                                      0x47504653, 0x19830326, 0xfe534d42, 0x517b,     0x01021997},
                          local[] = {0xef53,
                                     0x58465342 /* XFS */,
                                     0x9123683e /* btrfs */,
                                     0x01021994 /* tmpfs */,
                                     0x2fc12fc1 /* ZFS */,
                                     0x794c7630 /* overlay */};
    struct ledger l;
    for (size_t i = 0; i < sizeof shared / sizeof *shared + sizeof local / sizeof *local; i++) {
        const bool is_shared = i < sizeof shared / sizeof *shared;
        network(is_shared ? shared[i] : local[i - sizeof shared / sizeof *shared]);
        assert_int_equal(ledger_open(&l, ledger_path(), NULL), SOTTO_OK);
        assert_int_equal(file_exists(lock_path()), is_shared);
        assert_int_equal(files_of_locks(), is_shared); /* the other name is gone */
        ledger_close(&l);
        assert_int_equal(files_of_locks(), 0);
    }
    given.statfs_fails = 1; /* not known: as if it were shared */
    assert_int_equal(ledger_open(&l, ledger_path(), NULL), SOTTO_OK);
    assert_true(file_exists(lock_path()));
    ledger_close(&l);
    network(LOCAL);
    setenv("SOTTO_LEDGER_LOCK", "file", 1);
    assert_int_equal(ledger_open(&l, ledger_path(), NULL), SOTTO_OK);
    assert_true(file_exists(lock_path()));
    ledger_close(&l);
    setenv("SOTTO_LEDGER_LOCK", "none", 1);
    assert_int_equal(ledger_open(&l, ledger_path(), NULL), SOTTO_EUSAGE);
    assert_non_null(strstr(sotto_error_text(), "SOTTO_LEDGER_LOCK is 'none'; expected file"));
}

/* Without the file flock() alone would let both in: it holds nothing here. */
TEST(two_writers_exclude_each_other)
{
    struct ledger a, b;
    char expected[160], host[72] = "";
    network(LOCAL);
    assert_int_equal(ledger_open(&a, ledger_path(), NULL), SOTTO_OK);
    assert_int_equal(ledger_open(&b, ledger_path(), NULL), SOTTO_OK); /* the control */
    ledger_close(&a);
    ledger_close(&b);
    network(NFS);
    assert_int_equal(ledger_open(&a, ledger_path(), NULL), SOTTO_OK);
    assert_int_equal(ledger_open(&b, ledger_path(), NULL), SOTTO_EAGAIN);
    assert_true(given.naps >= 600); /* of 50 ms */
    assert_int_equal(gethostname(host, sizeof host - 1), 0);
    snprintf(expected, sizeof expected, "l.jsonl: locked by %s, process %ld since ", host, (long)getpid());
    assert_non_null(strstr(sotto_error_text(), expected));
    snprintf(expected, sizeof expected, " UTC; if that process is gone, remove %s", lock_path());
    assert_non_null(strstr(sotto_error_text(), expected));
    assert_int_equal(files_of_locks(), 1);
    ledger_close(&a);
    assert_int_equal(ledger_open(&b, ledger_path(), NULL), SOTTO_OK);
    ledger_close(&b);
}

TEST(a_symbolic_link_has_the_lock_of_its_ledger)
{
    struct ledger a, b;
    network(NFS);
    assert_int_equal(ledger_open(&a, ledger_path(), NULL), SOTTO_OK);
    assert_int_equal(symlink(ledger_path(), path_of("other.jsonl")), 0);
    assert_int_equal(ledger_open(&b, path_of("other.jsonl"), NULL), SOTTO_EAGAIN);
    ledger_close(&a);
    unlink(path_of("other.jsonl"));
}

TEST(a_lost_answer_and_a_system_without_links)
{
    struct ledger l;
    static const int without[] = {EPERM, EOPNOTSUPP};
    network(NFS);
    given.link_lies = 1;
    assert_int_equal(ledger_open(&l, ledger_path(), NULL), SOTTO_OK);
    assert_int_equal(files_of_locks(), 1);
    ledger_close(&l);
    assert_int_equal(files_of_locks(), 0);
    for (size_t i = 0; i < 2; i++) {
        network(NFS);
        given.link_error = without[i];
        assert_int_equal(ledger_open(&l, ledger_path(), NULL), SOTTO_OK);
        assert_int_equal(files_of_locks(), 1);
        struct ledger other;
        assert_int_equal(ledger_open(&other, ledger_path(), NULL), SOTTO_EAGAIN);
        ledger_close(&l);
        assert_int_equal(files_of_locks(), 0);
    }
    given.link_error = EROFS;
    const size_t before = charges();
    assert_int_equal(release(), SOTTO_ECREATE);
    assert_non_null(strstr(sotto_error_text(), "l.jsonl.lock: cannot create: "));
    assert_int_equal(charges(), before);
    assert_int_equal(files_of_locks(), 0);
}

/* A stale lock stays until a person removes it, whatever it says. */
TEST(no_lock_is_broken)
{
    char line[HOLDER_LINE], today[32];
    struct holder self;
    network(NFS);
    hold("node17 4242 boot/space 2026-01-02T10:03:00Z\n");
    assert_int_equal(release(), SOTTO_EAGAIN);
    assert_non_null(
        strstr(sotto_error_text(), "locked by node17, process 4242 since 2026-01-02 10:03 UTC; if"));
    holder_self(&self);
    memcpy(today, self.since, sizeof today);
    memcpy(today + 11, "10:03:00Z", 10);
    snprintf(line, sizeof line, "node17 4242 boot/space %s\n", today);
    hold(line);
    assert_int_equal(release(), SOTTO_EAGAIN);
    assert_non_null(strstr(sotto_error_text(), "locked by node17, process 4242 since 10:03 UTC; if that"));
    hold("node17 4242 boot/space today\n");
    assert_int_equal(release(), SOTTO_EAGAIN);
    assert_non_null(strstr(sotto_error_text(), "locked by node17, process 4242; if that process is gone"));
    hold("node\n");
    assert_int_equal(release(), SOTTO_EAGAIN);
    assert_non_null(
        strstr(sotto_error_text(), "locked by an unknown process; if that process is gone, remove "));
    hold(""); /* of a system without links, whose process was killed between name and content */
    assert_int_equal(release(), SOTTO_EAGAIN);
    hold("a\tb 1\033[2J 7 x y\n"); /* not shown as it is */
    assert_int_equal(release(), SOTTO_EAGAIN);
    assert_null(strchr(sotto_error_text(), '\033'));
    assert_null(strchr(sotto_error_text(), '\n'));
    assert_true(file_exists(lock_path()));
    assert_int_equal(unlink(lock_path()), 0);
    assert_int_equal(release(), SOTTO_OK);
}

/* Its name is gone: nobody is asked to remove it. */
TEST(a_holder_that_ends_while_it_is_looked_at)
{
    char line[HOLDER_LINE];
    struct holder ended;
    int result;
    network(NFS);
    const pid_t child = fork();
    if (child == 0)
        _exit(0);
    assert_int_equal(waitpid(child, &result, 0), child);
    holder_self(&ended);
    ended.process = (long)child;
    holder_line(line, &ended);
    hold(line);
    assert_int_equal(release(), SOTTO_EAGAIN); /* left behind */
    given.ends_when_asked = true;
    assert_int_equal(release(), SOTTO_OK);
    assert_false(given.ends_when_asked);
    assert_int_equal(files_of_locks(), 0);
}

/* Someone removed the lock of a process that went on, and another process took it: it is that one's. */
TEST(a_lock_that_changed_hands_is_left)
{
    struct ledger l;
    network(NFS);
    assert_int_equal(ledger_open(&l, ledger_path(), NULL), SOTTO_OK);
    hold("node17 4242 boot/space 2026-01-02T10:03:00Z\n");
    ledger_close(&l);
    assert_true(file_exists(lock_path()));
    unlink(lock_path());
}

/* At random moments: nothing that a process got to know as charged is missing, and a lock is there only where it was killed. */
TEST(killed_holders_lose_nothing)
{
    enum { KILLS = 25 };
    size_t known = 0, stale = 0;
    int result, tell[2];
    srand(7);
    network(NFS);
    given.skip_naps = false;
    unlink(ledger_path());
    for (int i = 0; i < KILLS; i++) {
        char byte;
        assert_int_equal(pipe(tell), 0);
        const pid_t child = fork();
        if (child == 0) {
            for (;;)
                if (release() != SOTTO_OK || write(tell[1], "+", 1) != 1)
                    _exit(1);
        }
        close(tell[1]);
        assert_int_equal(read(tell[0], &byte, 1), 1); /* one is charged; the next ones are on their way */
        known++;
        usleep((unsigned)(rand() % 30000));
        assert_int_equal(kill(child, SIGKILL), 0);
        assert_int_equal(waitpid(child, &result, 0), child);
        assert_true(WIFSIGNALED(result));
        while (read(tell[0], &byte, 1) == 1)
            known++;
        close(tell[0]);
        assert_true(file_exists(lock_path()) || charges() >= known); /* what is cut off has its lock */
        if (file_exists(lock_path())) {
            char expected[64];
            stale++;
            given.naps = 0;
            assert_int_equal(release(), SOTTO_EAGAIN);
            assert_int_equal(given.naps, 0); /* it is gone for certain: no one waits */
            snprintf(expected, sizeof expected, ", process %ld since ", (long)child);
            assert_non_null(strstr(sotto_error_text(), expected));
            assert_int_equal(unlink(lock_path()), 0);
        }
        assert_int_equal(release(), SOTTO_OK); /* mends a cut line */
        known++;
        assert_true(charges() >= known);
        known = charges();
    }
    char command[160]; /* other names of locks that were about to be made */
    snprintf(command, sizeof command, "rm -f '%s'-*", lock_path());
    assert_int_equal(system(command), 0);
    printf("%d kills, %zu of them left a lock\n", KILLS, stale);
    assert_true(stale > 0);
}

/* Killed between the entry and the end of the lock. */
TEST(an_entry_whose_process_died_is_charged)
{
    int result;
    network(NFS);
    unlink(ledger_path());
    assert_int_equal(release(), SOTTO_OK);
    const pid_t child = fork();
    if (child == 0) {
        struct ledger l;
        char *line = NULL;
        if (ledger_open(&l, ledger_path(), NULL) != SOTTO_OK ||
            ledger_budget_encode(&line, &(struct budget_entry){.budget = {3, 1e-5}, .set_by = "officer"}) !=
                SOTTO_OK ||
            ledger_append(&l, line) != SOTTO_OK)
            _exit(1);
        raise(SIGKILL);
    }
    assert_int_equal(waitpid(child, &result, 0), child);
    assert_true(WIFSIGNALED(result));
    assert_int_equal(release(), SOTTO_EAGAIN);
    assert_int_equal(unlink(lock_path()), 0);
    struct ledger l;
    assert_int_equal(ledger_open(&l, ledger_path(), NULL), SOTTO_OK);
    assert_int_equal(l.entries, 2);
    assert_true(l.budget.epsilon == 3 && l.officer);
    ledger_close(&l);
}

TEST(many_writers_make_one_chain)
{
    enum { WRITERS = 4, EACH = 8 };
    network(NFS);
    given.skip_naps = false;
    unlink(ledger_path());
    for (int i = 0; i < WRITERS; i++)
        if (fork() == 0) {
            for (int k = 0; k < EACH; k++)
                if (release() != SOTTO_OK) {
                    fprintf(stderr, "%s\n", sotto_error_text());
                    _exit(1);
                }
            _exit(0);
        }
    for (int i = 0; i < WRITERS; i++) {
        int result;
        assert_true(wait(&result) > 0);
        assert_true(WIFEXITED(result) && WEXITSTATUS(result) == 0);
    }
    assert_int_equal(charges(), WRITERS * EACH);
    assert_int_equal(files_of_locks(), 0);
}

TEST(memory_and_the_registry)
{
    struct ledger_lock lock = {.fd = -1};
    network(NFS);
    assert_int_equal(registry_lock(&lock), SOTTO_OK);
    assert_true(file_exists(path_of("sotto/ledger/.lock.lock")));
    ledger_lock_close(&lock);
    assert_false(file_exists(path_of("sotto/ledger/.lock.lock")));
    base_alloc_fail_after(0);
    assert_int_equal(ledger_lock_open(&lock, ledger_path(), O_RDWR), SOTTO_ENOMEM);
    base_alloc_fail_after(-1);
    assert_int_equal(files_of_locks(), 0);
}

TEST_GROUP(.set_up = make_folder, .tear_down = remove_folder)
