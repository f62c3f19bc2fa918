/* Claims: one of many processes gets a task, a claim is given up or taken over, and what a claim says. */
#include "support/test.h"

#include "par/claim.h"
#include "base/file.h"
#include "sotto/private/all.h"
#include "support/temporary_folder.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static const char *claim_file(const char *name)
{
    static char path[192];
    snprintf(path, sizeof path, "%s/%s.claim", folder, name);
    return path;
}

TEST(one_process_gets_a_task_until_it_gives_it_up)
{
    struct claims *a = NULL, *b = NULL;
    char owner[CLAIM_OWNER], expected[64];
    bool mine;
    assert_int_equal(claims_open(&a, folder), SOTTO_OK);
    assert_int_equal(claims_open(&b, folder), SOTTO_OK);
    assert_int_equal(claim_take(&mine, a, "task"), SOTTO_OK);
    assert_true(mine);
    assert_int_equal(claim_take(&mine, a, "task"), SOTTO_OK);
    assert_false(mine);
    assert_int_equal(claim_take(&mine, b, "task"), SOTTO_OK);
    assert_false(mine);
    claim_drop(b, "task"); /* not its own */
    assert_true(file_exists(claim_file("task")));
    claim_owner(owner, b, "task");
    snprintf(expected, sizeof expected, ", process %ld", (long)getpid());
    assert_non_null(strstr(owner, expected));
    claim_drop(a, "task");
    assert_false(file_exists(claim_file("task")));
    assert_int_equal(claim_take(&mine, b, "task"), SOTTO_OK);
    assert_true(mine);
    claims_close(a);
    claims_close(b);
    assert_false(file_exists(claim_file("task"))); /* closing gives up */
}

/* Each process notes the tasks that it gets and keeps them: no task has two. */
TEST(many_processes_share_the_tasks)
{
    enum { PROCESSES = 6, TASKS = 60 };
    int ready[2], finish[2], notes[2], count[TASKS] = {0};
    unsigned char got;
    assert_int_equal(pipe(ready), 0);
    assert_int_equal(pipe(finish), 0);
    assert_int_equal(pipe(notes), 0);
    for (int p = 0; p < PROCESSES; p++)
        if (fork() == 0) {
            struct claims *c = NULL;
            bool mine;
            char name[16], byte;
            bool good = claims_open(&c, folder) == SOTTO_OK && read(ready[0], &byte, 1) == 1;
            for (unsigned char t = 0; good && t < TASKS; t++) {
                snprintf(name, sizeof name, "t%d", (t + 7 * p) % TASKS);
                const unsigned char task = (unsigned char)((t + 7 * p) % TASKS);
                good = claim_take(&mine, c, name) == SOTTO_OK && (!mine || write(notes[1], &task, 1) == 1);
            }
            good = good && write(notes[1], &(unsigned char){TASKS}, 1) == 1 && read(finish[0], &byte, 1) == 1;
            claims_close(c);
            _exit(!good);
        }
    assert_int_equal(write(ready[1], "123456", PROCESSES), PROCESSES); /* all at once */
    for (int left = PROCESSES; left > 0;) {
        assert_int_equal(read(notes[0], &got, 1), 1);
        if (got == TASKS)
            left--;
        else
            count[got]++;
    }
    assert_int_equal(write(finish[1], "123456", PROCESSES),
                     PROCESSES); /* none ends before: its claims would be free */
    for (int p = 0; p < PROCESSES; p++) {
        int how;
        assert_true(wait(&how) > 0);
        assert_int_equal(how, 0);
    }
    for (size_t t = 0; t < TASKS; t++)
        assert_int_equal(count[t], 1);
}

TEST(old_claims_and_those_of_the_dead_are_taken_over)
{
    static const struct {
        const char *line;
        int minutes;
        bool taken;
    } cases[] = {{"node7 4242 boot/space 2026-01-01T00:00:00Z\n", 0, false},
                 {"node7 4242 boot/space 2026-01-01T00:00:00Z\n", 14, false},
                 {"node7 4242 boot/space 2026-01-01T00:00:00Z\n", 16, true},
                 {"", 0, false}, /* its process has not written yet */
                 {"", 2, true}}; /* it was killed in between */
    struct claims *c = NULL;
    assert_int_equal(claims_open(&c, folder), SOTTO_OK);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        bool mine;
        struct stat now;
        assert_int_equal(overwrite(claim_file("old"), cases[i].line, strlen(cases[i].line)), 0);
        assert_int_equal(stat(claim_file("old"), &now), 0);
        const struct timespec when = {.tv_sec = now.st_mtime - 60 * cases[i].minutes};
        assert_int_equal(utimensat(AT_FDCWD, claim_file("old"), (const struct timespec[]){when, when}, 0), 0);
        assert_int_equal(claim_take(&mine, c, "old"), SOTTO_OK);
        assert_int_equal(mine, cases[i].taken);
        claim_drop(c, "old");
        assert_int_equal(file_exists(claim_file("old")), !cases[i].taken);
    }
    claims_close(c);
}

TEST(claims_of_finished_tasks_go)
{
    struct claims *c = NULL;
    bool mine;
    const char line[] =
        "node7 4242 boot/space 2026-01-01T00:00:00Z\n"; /* of a process that may still be there */
    assert_int_equal(overwrite(claim_file("done"), line, strlen(line)), 0);
    assert_int_equal(overwrite(claim_file("other"), line, strlen(line)), 0);
    assert_int_equal(overwrite(path_of("done.json"), "{}", 2), 0);
    assert_int_equal(overwrite(path_of("other.safetensors"), "{}", 2), 0); /* not the last file of a result */
    assert_int_equal(claims_open(&c, folder), SOTTO_OK);
    assert_int_equal(claim_take(&mine, c, "mine"), SOTTO_OK);
    assert_int_equal(overwrite(path_of("mine.json"), "{}", 2), 0);
    claims_tidy(folder, ".json");
    assert_false(file_exists(claim_file("done")));
    assert_true(file_exists(claim_file("other")));
    assert_false(file_exists(claim_file("mine"))); /* by another process, between result and drop */
    claim_drop(c, "mine");
    assert_int_equal(claim_take(&mine, c, "mine"), SOTTO_OK);
    assert_true(mine);
    claims_close(c);
    claims_tidy(path_of("nowhere"), ".json");
}

TEST(a_folder_that_is_gone_is_an_error)
{
    struct claims *c = NULL;
    bool mine;
    assert_int_equal(claims_open(&c, path_of("nowhere")), SOTTO_OK);
    assert_int_equal(claim_take(&mine, c, "task"), SOTTO_ECREATE);
    claims_close(c);
}

TEST_GROUP(.set_up = make_folder, .tear_down = remove_folder)
