/* A lock beside a checkpoint: one holder at a time, also while others take and release it; a dead holder counts for nothing. */
#include "support/test.h"

#include "base/checkpoint_lock.h"
#include "base/file.h"
#include "support/temporary_folder.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PROCESSES = 6, ROUNDS = 300 };

TEST(one_at_a_time)
{
    char checkpoint[128], file[160], pid[32];
    struct checkpoint_lock first = {0}, second = {0};
    snprintf(checkpoint, sizeof checkpoint, "%s", path_of("a.checkpoint"));
    snprintf(file, sizeof file, "%s.lock", checkpoint);
    assert_int_equal(checkpoint_lock_take(&first, checkpoint), SOTTO_OK);
    assert_true(file_exists(file));
    assert_int_equal(checkpoint_lock_take(&second, checkpoint), SOTTO_EAGAIN);
    snprintf(pid, sizeof pid, ", %ld) continues", (long)getpid());
    assert_non_null(strstr(sotto_error_text(), pid));
    checkpoint_lock_release(&second); /* {0} still: the first holds on */
    assert_true(file_exists(file));
    checkpoint_lock_release(&first);
    assert_false(file_exists(file));
    assert_int_equal(checkpoint_lock_take(&second, checkpoint), SOTTO_OK);
    checkpoint_lock_release(&second);
    assert_int_equal(checkpoint_lock_take(&first, "/dev/null/a.checkpoint"), SOTTO_ECREATE);
}

TEST(dead_holders_count_for_nothing)
{
    char checkpoint[128], file[160], ready[128];
    struct checkpoint_lock lock = {0};
    snprintf(checkpoint, sizeof checkpoint, "%s", path_of("b.checkpoint"));
    snprintf(file, sizeof file, "%s.lock", checkpoint);
    snprintf(ready, sizeof ready, "%s", path_of("ready"));
    const pid_t child = fork();
    if (child == 0) {
        if (checkpoint_lock_take(&lock, checkpoint) == SOTTO_OK)
            close(open(ready, O_CREAT | O_WRONLY, 0600));
        for (;;)
            pause();
    }
    for (int i = 0; i < 6000 && !file_exists(ready); i++)
        usleep(10000);
    assert_int_equal(checkpoint_lock_take(&lock, checkpoint), SOTTO_EAGAIN);
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    assert_true(file_exists(file));
    assert_int_equal(checkpoint_lock_take(&lock, checkpoint), SOTTO_OK);
    checkpoint_lock_release(&lock);
    assert_false(file_exists(file));
}

/* Takes the lock ROUNDS times; whenever it holds it, no other process may have made the mark. */
static int take_and_release(const char *checkpoint, const char *mark)
{
    for (int held = 0; held < ROUNDS;) {
        struct checkpoint_lock lock = {0};
        const sotto_status status = checkpoint_lock_take(&lock, checkpoint);
        if (status == SOTTO_EAGAIN) {
            usleep(20); /* the holder may need this core */
            continue;
        }
        const int fd = status == SOTTO_OK ? open(mark, O_CREAT | O_EXCL | O_WRONLY, 0600) : -1;
        if (fd < 0 || close(fd) != 0 || unlink(mark) != 0)
            return 1;
        checkpoint_lock_release(&lock);
        held++;
    }
    return 0;
}

TEST(holders_never_overlap)
{
    char checkpoint[128], mark[128];
    snprintf(checkpoint, sizeof checkpoint, "%s", path_of("c.checkpoint"));
    snprintf(mark, sizeof mark, "%s", path_of("mark"));
    for (int i = 0; i < PROCESSES; i++)
        if (fork() == 0)
            _exit(take_and_release(checkpoint, mark));
    for (int i = 0, ended; i < PROCESSES; i++) {
        wait(&ended);
        assert_true(WIFEXITED(ended) && WEXITSTATUS(ended) == 0);
    }
}

TEST_GROUP(.set_up = make_folder, .tear_down = remove_folder)
