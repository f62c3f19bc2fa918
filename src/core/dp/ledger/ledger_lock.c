/* LEDGER.lock is a second name of a file that is complete before it gets it: link(2) is atomic on network file systems, and who
 * finds the name finds its holder in it. Order: LEDGER.lock, then open(), so that the file is seen as the holder before left it
 * (NFS compares when a file is opened), then flock(). */
#include "dp/ledger/ledger_lock.h"
#include "base/file.h"
#include "base/file_holder.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

enum { TRIES = 600 /* of 50 ms */ };

static void wait_a_little(void)
{
    nanosleep(&(struct timespec){0, 50000000}, NULL);
}

/* Types of statfs(2), of which <linux/magic.h> names a part. FUSE stands for sshfs, GlusterFS and their like, and for some
 * local ones. */
static bool is_network_type(unsigned type)
{
    static const unsigned types[] = {
        0x6969 /* NFS */,          0x517b /* SMB */,        0xff534d42 /* CIFS */,
        0xfe534d42 /* SMB 2 */,    0x0bd00bd0 /* Lustre */, 0x65735546 /* FUSE */,
        0x00c36400 /* Ceph */,     0x47504653 /* GPFS */,   0x19830326 /* BeeGFS */,
        0x20030528 /* OrangeFS */, 0xaad7aaea /* PanFS */,  0x01161970 /* GFS2 */,
        0x7461636f /* OCFS2 */,    0x5346414f /* AFS */,    0x6b414653 /* kAFS */,
        0x73757245 /* Coda */,     0x01021997 /* 9P */,     0x564c /* NCP */};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (types[i] == type)
            return true;
    return false;
}

/* In: folder, which exists. A file system that does not tell its type counts as a network one: a lock too many. */
static sotto_status is_shared(bool *shared, const char *folder)
{
    sotto_status status = SOTTO_OK;
    const char *forced = getenv("SOTTO_LEDGER_LOCK");
    struct statfs info;
    *shared = true;
    if (forced && *forced && strcmp(forced, "file") != 0)
        FAIL(SOTTO_EUSAGE,
             "environment variable SOTTO_LEDGER_LOCK is '%s'; expected file, or omit it for what the file "
             "system needs",
             forced);
    if (!forced || !*forced)
        *shared = statfs(folder, &info) != 0 || is_network_type((unsigned)info.f_type);
done:
    return status;
}

/* "node17, process 4242 since 10:03 UTC", with the date unless it is today. */
static void name_holder(char out[256], const char *path)
{
    struct holder h;
    char today[16] = "";
    struct tm utc;
    const time_t now = time(NULL);
    if (!holder_read(&h, path)) {
        snprintf(out, 256, "an unknown process");
        return;
    }
    if (gmtime_r(&now, &utc))
        strftime(today, sizeof today, "%Y-%m-%d", &utc);
    if (strlen(h.since) != strlen("2026-11-28T10:03:00Z"))
        snprintf(out, 256, "%s, process %ld", h.host, h.process);
    else if (strncmp(h.since, today, 10) == 0)
        snprintf(out, 256, "%s, process %ld since %.5s UTC", h.host, h.process, h.since + 11);
    else
        snprintf(out, 256, "%s, process %ld since %.10s %.5s UTC", h.host, h.process, h.since, h.since + 11);
}

static sotto_status ledger_lock_refuse(const char *path, const char *lock)
{
    char holder[256];
    name_holder(holder, lock);
    return status_fail(SOTTO_EAGAIN, "%s: locked by %s; if that process is gone, remove %s", path, holder,
                       lock);
}

/* *got: the name is this process's. A server may lose its answer: then link() fails although the file has two names. A file
 * system without links makes the name by O_EXCL, and its content a moment later. */
static sotto_status try_name(bool *got, const char *lock, const char *temporary, const char *line,
                             size_t length)
{
    sotto_status status = SOTTO_OK;
    struct stat info;
    const int failed = link(temporary, lock) == 0 ? 0 : errno;
    *got = failed == 0 || (stat(temporary, &info) == 0 && info.st_nlink == 2);
    if (*got || failed == EEXIST)
        goto done;
    if (failed != EPERM && failed != EOPNOTSUPP && failed != ENOSYS && failed != EMLINK)
        FAIL(SOTTO_ECREATE, "%s: cannot create: %s", lock, strerror(failed));
    const int fd = open(lock, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0 && errno != EEXIST)
        FAIL(SOTTO_ECREATE, "%s: cannot create: %s", lock, strerror(errno));
    *got = fd >= 0;
    const bool written = fd >= 0 && write(fd, line, length) == (ssize_t)length;
    if (fd >= 0)
        close(fd);
    if (*got && !written) {
        unlink(lock);
        *got = false;
        FAIL(SOTTO_EIO, "%s: cannot write: %s", lock, strerror(errno));
    }
done:
    return status;
}

/* The name is read again once its holder is known to be gone: it may have ended its work, and removed the name, since the first
 * look. */
static bool is_left_behind(const char *lock, const struct holder *self)
{
    struct holder first, again;
    return holder_read(&first, lock) && holder_is_gone(&first, self) && holder_read(&again, lock) &&
           holder_same(&first, &again);
}

/* In: path is the ledger's own, lock its LEDGER.lock. */
static sotto_status take_name(const char *path, const char *lock)
{
    sotto_status status = SOTTO_OK;
    char temporary[PATH_MAX] = "", line[HOLDER_LINE];
    struct holder self;
    bool got = false;
    int fd = -1;
    holder_self(&self);
    const size_t length = holder_line(line, &self);
    if ((size_t)snprintf(temporary, sizeof temporary, "%s-XXXXXX", lock) >= sizeof temporary)
        FAIL(SOTTO_EINVAL, "%.40s...: path is too long", path);
    fd = mkostemp(temporary, O_CLOEXEC);
    if (fd < 0)
        FAIL(SOTTO_ECREATE, "%s: cannot create: %s", lock, strerror(errno));
    if (write(fd, line, length) != (ssize_t)length || fsync(fd) != 0)
        FAIL(SOTTO_EIO, "%s: cannot write: %s", lock, strerror(errno));
    for (int tries = 0; !got; tries++) {
        TRY(try_name(&got, lock, temporary, line, length));
        if (got)
            break;
        if (tries >= TRIES || is_left_behind(lock, &self))
            TRY(ledger_lock_refuse(path, lock));
        wait_a_little();
    }
done:
    if (fd >= 0) {
        close(fd);
        unlink(temporary);
    }
    return status;
}

static sotto_status take_flock(int fd, const char *path)
{
    for (int tries = 0; flock(fd, LOCK_EX | LOCK_NB) != 0; tries++) {
        if (errno != EWOULDBLOCK && errno != EINTR)
            return status_fail(SOTTO_EIO, "%s: cannot lock: %s", path, strerror(errno));
        if (tries >= TRIES)
            return status_fail(SOTTO_EAGAIN, "%s: another process is using the ledger; try again later",
                               path);
        wait_a_little();
    }
    return SOTTO_OK;
}

/* LEDGER.lock of what a symbolic link stands for, so that two names have one. NULL: a local file system. */
static sotto_status name_lock(char **out, const char *path)
{
    sotto_status status = SOTTO_OK;
    char real[PATH_MAX], folder[PATH_MAX];
    bool shared;
    if (!realpath(path, real) && (size_t)snprintf(real, sizeof real, "%s", path) >= sizeof real)
        FAIL(SOTTO_EINVAL, "%.40s...: path is too long", path);
    strcpy(folder, real);
    char *slash = strrchr(folder, '/');
    if (slash)
        slash[slash == folder] = '\0';
    *out = NULL;
    TRY(is_shared(&shared, slash ? folder : "."));
    if (!shared)
        goto done;
    const size_t capacity = strlen(real) + sizeof ".lock";
    NEW(*out, capacity);
    snprintf(*out, capacity, "%s.lock", real);
done:
    return status;
}

sotto_status ledger_lock_open(struct ledger_lock *out, const char *path, int flags)
{
    sotto_status status = SOTTO_OK;
    struct ledger_lock l = {.fd = -1};
    char *lock = NULL;
    TRY(name_lock(&lock, path));
    if (lock)
        TRY(take_name(path, lock));
    l.path = lock; /* from here on it is this process's to remove */
    lock = NULL;
    l.fd = open(path, flags | O_CREAT | O_CLOEXEC, 0600);
    if (l.fd < 0)
        FAIL(SOTTO_ECREATE, "%s: cannot open the ledger: %s", path, strerror(errno));
    TRY(take_flock(l.fd, path));
    *out = l;
    l = (struct ledger_lock){.fd = -1};
done:
    base_free(lock);
    ledger_lock_close(&l);
    return status;
}

void ledger_lock_close(struct ledger_lock *l)
{
    struct holder self, named;
    if (l->fd >= 0)
        close(l->fd); /* before others may come: what was written is there when they open the file */
    holder_self(&self);
    if (l->path && holder_read(&named, l->path) && holder_same(&named, &self))
        unlink(l->path); /* else someone removed it by hand, and another process has it */
    base_free(l->path);
    *l = (struct ledger_lock){.fd = -1};
}
