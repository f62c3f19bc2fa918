/* child_process.h - a command with a pipe into it and a pipe out of it, that can always be ended.
 *
 * The command is a line for /bin/sh -c, runs in a process group of its own, and keeps our stderr. The
 * parent's ends never block. Linux reaps through waitid(), so no signal handler is installed. */
#ifndef ATTACK_TARGET_CHILD_PROCESS_H
#define ATTACK_TARGET_CHILD_PROCESS_H

#include "base/status.h"
#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>

struct child {
    pid_t pid;    /* and process group; 0: none */
    int to, from; /* its stdin and stdout, non-blocking; -1: closed */
};

/** EIO: no pipe, no process. */
sotto_status child_start(struct child *out, const char *command);
/** Like read() and write(), but never interrupted, and writing to a child that no longer reads is EPIPE
 * without a signal. */
ssize_t child_read(const struct child *c, void *out, size_t bytes);
ssize_t child_write(const struct child *c, const void *data, size_t bytes);
/** True once it has ended (waits up to `seconds`); text: "ended with exit status 3", "was killed by signal 11
 * (Segmentation fault)", "is still running". It stays unreaped, so its process group keeps its number. */
bool child_ended(const struct child *c, double seconds, char text[128]);
/** Closes its stdin: a loop over frames ends there. */
void child_hang_up(struct child *c);
/** Closes both pipes, kills what is left of the group, reaps. Harmless on a child that never started. */
void child_end(struct child *c);

/** Seconds on a clock that is never set. */
double child_clock(void);

#endif
