/* flock() on a file that is there only while it is held. A lock on a file that was removed meanwhile, as its holder had ended,
 * keeps no one out: so the name must still stand for the locked file. */
#include "base/checkpoint_lock.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

static bool still_there(int fd, const char *path)
{
    struct stat held, named;
    return fstat(fd, &held) == 0 && stat(path, &named) == 0 && held.st_dev == named.st_dev &&
           held.st_ino == named.st_ino;
}

static void write_holder(int fd)
{
    char host[65] = "?", line[128];
    if (gethostname(host, sizeof host - 1) != 0)
        strcpy(host, "?");
    const int length = snprintf(line, sizeof line, "%s, %ld", host, (long)getpid());
    /* for people to read: on a full disk the lock holds without it */
    const bool written = ftruncate(fd, 0) == 0 && pwrite(fd, line, (size_t)length, 0) == length;
    (void)written;
}

static sotto_status checkpoint_lock_busy(int fd, const char *checkpoint)
{
    char holder[128];
    const ssize_t n = pread(fd, holder, sizeof holder - 1, 0);
    holder[n > 0 ? n : 0] = '\0';
    for (char *c = holder; *c; c++)
        if (*c < ' ' || *c > '~')
            *c = '?';
    sotto_status status = status_fail(SOTTO_EAGAIN, "%s: another run (%s) continues this checkpoint",
                                      checkpoint, *holder ? holder : "unknown");
    status_hint("wait for it to end, or give this run another {checkpoint}");
    return status;
}

sotto_status checkpoint_lock_take(struct checkpoint_lock *out, const char *checkpoint)
{
    sotto_status status = SOTTO_OK;
    const size_t capacity = strlen(checkpoint) + sizeof ".lock";
    int fd = -1;
    char *path = base_alloc(capacity, 1);
    if (!path)
        FAIL(SOTTO_ENOMEM, "%s: out of memory for the name of its lock", checkpoint);
    snprintf(path, capacity, "%s.lock", checkpoint);
    do {
        if (fd >= 0)
            close(fd);
        fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
        if (fd < 0)
            FAIL(SOTTO_ECREATE, "%s: cannot create: %s", path, strerror(errno));
        const bool locked = flock(fd, LOCK_EX | LOCK_NB) == 0;
        if (!locked && errno == EWOULDBLOCK)
            TRY(checkpoint_lock_busy(fd, checkpoint));
        if (!locked)
            break; /* a file system without locks: as if there were none */
    } while (!still_there(fd, path));
    write_holder(fd);
    *out = (struct checkpoint_lock){path, fd};
    path = NULL;
    fd = -1;
done:
    if (fd >= 0)
        close(fd);
    base_free(path);
    return status;
}

void checkpoint_lock_release(struct checkpoint_lock *l)
{
    if (!l->path)
        return;
    unlink(l->path); /* before the lock goes, so that no other process holds it yet */
    close(l->fd);
    base_free(l->path);
    *l = (struct checkpoint_lock){0};
}

sotto_status checkpoint_discard(const char *checkpoint)
{
    struct checkpoint_lock lock = {0};
    const sotto_status status = checkpoint_lock_take(&lock, checkpoint);
    if (status == SOTTO_OK)
        unlink(checkpoint);
    checkpoint_lock_release(&lock);
    return status;
}
