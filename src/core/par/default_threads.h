/* default_threads.h - the quota of a control group, which the affinity of a container does not show. */
#ifndef PAR_DEFAULT_THREADS_H
#define PAR_DEFAULT_THREADS_H

/** CPUs that the control groups of this process may use at once, rounded up; 0: no limit, or none that is known. The least of all groups
 *  from its own up, of version 1 and 2.
 *
 *  In: groups  as /proc/self/cgroup
 *      root    where the groups are mounted, as /sys/fs/cgroup */
int default_threads_quota(const char *groups, const char *root);

#endif
