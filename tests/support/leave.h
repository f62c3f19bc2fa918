/* leave.h - how a test's child process ends: at once, like _exit(), but with its coverage counted. */
#ifndef TESTS_LEAVE_H
#define TESTS_LEAVE_H

#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#ifdef SOTTO_COVERAGE
void __gcov_dump(void);
#endif

static inline _Noreturn void leave(int code)
{
#ifdef SOTTO_COVERAGE
    const int limits[] = {RLIMIT_FSIZE, RLIMIT_AS, RLIMIT_NOFILE};
    for (int i = 0; i < 3; i++) { /* what a test took away; counters are files */
        struct rlimit limit;
        getrlimit(limits[i], &limit);
        limit.rlim_cur = limit.rlim_max;
        setrlimit(limits[i], &limit);
    }
    __gcov_dump();
#endif
    _exit(code);
}

#endif
