/* posix_spawn, not fork: the caller may have threads. SIGPIPE is blocked around each write and, if it was our
 * write that raised it, taken from the queue, because a library must not change how its process handles
 * signals. */
#include "attack/target/child_process.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

static void close_end(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

/* Both ends are moved above 2: were one of them to be 0 or 1 already, the child's own ends would overwrite
 * it. */
static sotto_status make_pipe(int ends[2])
{
    int raw[2];
    if (pipe2(raw, O_CLOEXEC) != 0)
        return status_fail(SOTTO_EIO, "pipe: %s", strerror(errno));
    for (int i = 0; i < 2; i++) {
        ends[i] = raw[i] > 2 ? raw[i] : fcntl(raw[i], F_DUPFD_CLOEXEC, 3);
        if (ends[i] != raw[i])
            close(raw[i]);
    }
    if (ends[0] >= 0 && ends[1] >= 0)
        return SOTTO_OK;
    close_end(&ends[0]);
    close_end(&ends[1]);
    return status_fail(SOTTO_EIO, "pipe: %s", strerror(errno));
}

static int child_process_spawn(pid_t *pid, const char *command, int input, int output)
{
    posix_spawn_file_actions_t files;
    posix_spawnattr_t how;
    sigset_t none, usual;
    char *const line[] = {"sh", "-c", (char *)(uintptr_t)command, NULL};
    sigemptyset(&none);
    sigemptyset(&usual);
    sigaddset(&usual, SIGPIPE);
    sigaddset(&usual, SIGINT);
    sigaddset(&usual, SIGTERM);
    int failed = posix_spawn_file_actions_init(&files);
    if (failed)
        return failed;
    failed = posix_spawnattr_init(&how);
    if (!failed) {
        posix_spawn_file_actions_adddup2(&files, input, STDIN_FILENO);
        posix_spawn_file_actions_adddup2(&files, output, STDOUT_FILENO);
        posix_spawnattr_setflags(&how,
                                 POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
        posix_spawnattr_setpgroup(&how, 0);
        posix_spawnattr_setsigmask(&how, &none);
        posix_spawnattr_setsigdefault(&how, &usual);
        failed = posix_spawn(pid, "/bin/sh", &files, &how, line, environ);
        posix_spawnattr_destroy(&how);
    }
    posix_spawn_file_actions_destroy(&files);
    return failed;
}

sotto_status child_start(struct child *out, const char *command)
{
    sotto_status status = SOTTO_OK;
    int in[2] = {-1, -1}, from[2] = {-1, -1}, failed;
    pid_t pid = 0;
    TRY(make_pipe(in));
    TRY(make_pipe(from));
    if (fcntl(in[1], F_SETFL, O_NONBLOCK) != 0 || fcntl(from[0], F_SETFL, O_NONBLOCK) != 0)
        FAIL(SOTTO_EIO, "pipe: %s", strerror(errno));
    failed = child_process_spawn(&pid, command, in[0], from[1]);
    if (failed)
        FAIL(SOTTO_EIO, "/bin/sh could not be started: %s", strerror(failed));
    *out = (struct child){.pid = pid, .to = in[1], .from = from[0]};
    in[1] = from[0] = -1;
done:
    for (int i = 0; i < 2; i++) {
        close_end(&in[i]);
        close_end(&from[i]);
    }
    return status;
}

ssize_t child_read(const struct child *c, void *out, size_t bytes)
{
    ssize_t got;
    do
        got = read(c->from, out, bytes);
    while (got < 0 && errno == EINTR);
    return got;
}

ssize_t child_write(const struct child *c, const void *data, size_t bytes)
{
    sigset_t pipe_only, before, waiting;
    ssize_t put;
    sigemptyset(&pipe_only);
    sigaddset(&pipe_only, SIGPIPE);
    sigpending(&waiting);
    pthread_sigmask(SIG_BLOCK, &pipe_only, &before);
    do
        put = write(c->to, data, bytes);
    while (put < 0 && errno == EINTR);
    int error = errno;
    if (put < 0 && error == EPIPE && sigismember(&waiting, SIGPIPE) == 0)
        while (sigtimedwait(&pipe_only, NULL, &(struct timespec){0}) < 0 && errno == EINTR)
            ;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    errno = error;
    return put;
}

double child_clock(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

bool child_ended(const struct child *c, double seconds, char text[128])
{
    double until = child_clock() + seconds;
    siginfo_t info;
    for (;;) {
        info.si_pid = 0;
        if (waitid(P_PID, (id_t)c->pid, &info, WEXITED | WNOHANG | WNOWAIT) != 0) {
            snprintf(text, 128, "ended"); /* another handler took its status */
            return true;
        }
        if (info.si_pid != 0)
            break;
        if (child_clock() >= until) {
            snprintf(text, 128, "is still running");
            return false;
        }
        nanosleep(&(struct timespec){.tv_nsec = 2000000}, NULL);
    }
    int number = info.si_status;
    if (info.si_code == CLD_EXITED && number > 128 && number <= 128 + SIGRTMAX) { /* how a shell reports it */
        number -= 128;
        info.si_code = CLD_KILLED;
    }
    if (info.si_code != CLD_EXITED)
        snprintf(text, 128, "was killed by signal %d (%s)", number, strsignal(number));
    else
        snprintf(text, 128, "ended with exit status %d%s", number,
                 number == 127   ? " (the shell did not find it)"
                 : number == 126 ? " (the shell could not run it)"
                                 : "");
    return true;
}

void child_hang_up(struct child *c)
{
    close_end(&c->to);
}

void child_end(struct child *c)
{
    if (c->pid == 0)
        return;
    close_end(&c->to);
    close_end(&c->from);
    kill(-c->pid, SIGKILL);
    while (waitpid(c->pid, NULL, 0) < 0 && errno == EINTR)
        ;
    c->pid = 0;
}
