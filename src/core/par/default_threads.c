#include "par/default_threads.h"
#include "sotto/private/threads.h"

#include "base/cpu.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PATH = 4096, MOST = 4096 };

/* The first whole numbers of a file; false: it has not so many. */
static bool read_numbers(long long *out, int count, const char *folder, const char *name)
{
    char path[2 * PATH];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *f = fopen(path, "r");
    int have = 0;
    while (f && have < count && fscanf(f, "%lld", &out[have]) == 1)
        have++;
    if (f)
        fclose(f);
    return have == count;
}

/* INFINITY: this group has no limit. "max 100000" is none, and so is a quota of -1. */
static double group_limit(const char *folder, bool unified)
{
    long long of[2];
    const bool known = unified ? read_numbers(of, 2, folder, "cpu.max")
                               : read_numbers(&of[0], 1, folder, "cpu.cfs_quota_us") &&
                                     read_numbers(&of[1], 1, folder, "cpu.cfs_period_us");
    return known && of[0] > 0 && of[1] > 0 ? (double)of[0] / (double)of[1] : INFINITY;
}

static bool lists_cpu(const char *controllers)
{
    for (; *controllers; controllers += strspn(controllers, ",")) {
        const size_t length = strcspn(controllers, ",");
        if (length == 3 && memcmp(controllers, "cpu", 3) == 0)
            return true;
        controllers += length;
    }
    return false;
}

/* Of a line "4:cpu,cpuacct:/path", or "0::/path" of version 2. In a container the path may be that of the host: it leads nowhere, but its end,
 * the root that the container sees, is its own group. */
static double line_limit(char *line, const char *root)
{
    char folder[2 * PATH];
    char *controllers = strchr(line, ':'), *path = controllers ? strchr(controllers + 1, ':') : NULL;
    double least = INFINITY;
    if (!path)
        return least;
    *path++ = '\0';
    path[strcspn(path, "\n")] = '\0';
    const bool unified = !*++controllers;
    if (!unified && !lists_cpu(controllers))
        return least;
    if (strstr(path, "..")) /* outside of what is mounted */
        *path = '\0';
    for (;;) {
        snprintf(folder, sizeof folder, "%s%s%s", root, unified ? "" : "/cpu", path);
        least = fmin(least, group_limit(folder, unified));
        char *up = strrchr(path, '/');
        if (!up)
            return least;
        *up = '\0';
    }
}

int default_threads_quota(const char *groups, const char *root)
{
    char line[PATH];
    double least = INFINITY;
    FILE *f = fopen(groups, "r");
    while (f && fgets(line, sizeof line, f))
        least = fmin(least, line_limit(line, root));
    if (f)
        fclose(f);
    return least <= MOST ? (int)ceil(least) : 0;
}

/* 0: the variable says nothing. "8,2", as of OMP_NUM_THREADS, is one number for each level of nesting. */
static int variable_threads(const char *name)
{
    const char *text = getenv(name);
    char *end;
    if (!text)
        return 0;
    const long n = strtol(text, &end, 10);
    end += strspn(end, " \t");
    return n >= 1 && n <= MOST && (!*end || *end == ',') ? (int)n : 0;
}

int sotto_default_threads(int cpus)
{
    static const char *const names[] = {"SOTTO_NUM_THREADS", "OMP_NUM_THREADS"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const int n = variable_threads(names[i]);
        if (n > 0)
            return n;
    }
    if (cpus > 0)
        return cpus;
    const int quota = default_threads_quota("/proc/self/cgroup", "/sys/fs/cgroup"), all = cpu_count();
    return quota > 0 && quota < all ? quota : all;
}
