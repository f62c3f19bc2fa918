/* posix_spawn, because the caller may have threads. */
#include "selftest/program.h"

#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

enum { WORDS = 64, LINE = 2048, OWN = 6 };

#define JOB_END "SLURM_JOB_END_TIME="

/* What the user's environment says of these does not reach the program. */
static const char *const replaced[] = {"XDG_DATA_HOME=",    "SOTTO_DATA_DIR=", "SOTTO_CACHE_DIR=",
                                       "OMP_NUM_THREADS=",  "NO_COLOR=",       JOB_END,
                                       "SOTTO_NUM_THREADS="};

static bool is_replaced(const char *variable)
{
    for (size_t i = 0; i < sizeof replaced / sizeof *replaced; i++)
        if (strncmp(variable, replaced[i], strlen(replaced[i])) == 0)
            return true;
    return false;
}

/* The caller's environment, with `own` in place of what it says of them; ends in NULL. */
static char **program_environment(char own[OWN][PROGRAM_PATH + 32])
{
    size_t count = 0, n = 0;
    while (environ[count])
        count++;
    char **out = base_alloc(count + OWN + 1, sizeof *out);
    for (size_t i = 0; out && i < count; i++)
        if (!is_replaced(environ[i]))
            out[n++] = environ[i];
    for (int i = 0; out && i < OWN; i++)
        out[n++] = own[i];
    return out;
}

static int program_spawn(pid_t *process, const char *program, char **words, char **variables,
                         const char *folder)
{
    posix_spawn_file_actions_t files;
    int failed = posix_spawn_file_actions_init(&files);
    if (failed)
        return failed;
    failed = posix_spawn_file_actions_addchdir_np(&files, folder);
    if (!failed)
        failed = posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
    for (int fd = 1; !failed && fd <= 2; fd++)
        failed = posix_spawn_file_actions_addopen(&files, fd, fd == 1 ? "stdout" : "stderr",
                                                  O_WRONLY | O_CREAT | O_APPEND, 0600);
    if (!failed)
        failed = posix_spawn(process, program, &files, NULL, words, variables);
    posix_spawn_file_actions_destroy(&files);
    return failed;
}

sotto_status program_start(pid_t *process, const char *program, const char *line, const char *folder,
                           const char *sets)
{
    sotto_status status = SOTTO_OK;
    char text[LINE], own[OWN][PROGRAM_PATH + 32], *words[WORDS] = {"sotto"}, *rest = text;
    char **variables = NULL;
    const bool nearly_over = strncmp(line, JOB_END "1 ", sizeof JOB_END + 1) == 0;
    int failed;
    line += nearly_over ? sizeof JOB_END + 1 : 0;
    if (snprintf(text, sizeof text, "%s --quiet --threads 1", line) >= LINE)
        FAIL(SOTTO_EINTERNAL, "selftest: a command is too long; expected at most %d bytes", LINE);
    for (int i = 1; i < WORDS - 1 && rest; i++)
        words[i] = strsep(&rest, " ");
    snprintf(own[0], sizeof own[0], "%s%s/home", replaced[0], folder);
    snprintf(own[1], sizeof own[1], "%s%s%s", replaced[1], sets ? sets : folder, sets ? "" : "/home");
    snprintf(own[2], sizeof own[2], "%s/dev/null", replaced[2]);
    snprintf(own[3], sizeof own[3], "%s1", replaced[3]);
    snprintf(own[4], sizeof own[4], "%s1", replaced[4]);
    snprintf(own[5], sizeof own[5], "%s%s", replaced[5], nearly_over ? "1" : "");
    TRY(folder_make(folder));
    variables = program_environment(own);
    if (!variables)
        FAIL(SOTTO_ENOMEM, "selftest: out of memory");
    failed = program_spawn(process, program, words, variables, folder);
    if (failed)
        FAIL(SOTTO_EIO, "selftest: %s could not be started: %s", program, strerror(failed));
done:
    base_free(variables);
    return status;
}

sotto_status program_end(int *code, pid_t process)
{
    int how;
    pid_t ended;
    do
        ended = waitpid(process, &how, 0);
    while (ended < 0 && errno == EINTR);
    if (ended < 0)
        return status_fail(SOTTO_EIO, "selftest: waiting for the program: %s", strerror(errno));
    *code = WIFEXITED(how) ? WEXITSTATUS(how) : 128 + WTERMSIG(how);
    return SOTTO_OK;
}

static int remove_one(const char *path, const struct stat *about, int kind, struct FTW *where)
{
    (void)about, (void)kind, (void)where;
    remove(path);
    return 0;
}

void folder_remove(const char *folder)
{
    nftw(folder, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}
