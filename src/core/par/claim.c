/* The thread wakes every minute only while something is claimed; it is started by the first claim. */
#include "par/claim.h"

#include "base/file.h"
#include "base/file_holder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum {
    MOST = 256 /* claims at a time */,
    RENEWED = 60,
    STALE = 15 * 60,
    UNWRITTEN = 60 /* seconds */,
    CLAIM_PATH = 4096
};

struct claims {
    char folder[CLAIM_PATH - CLAIM_NAME - 32];
    struct holder self;
    char name[MOST][CLAIM_NAME]; /* "": free */
    pthread_mutex_t lock;
    pthread_cond_t wake;
    pthread_t thread;
    bool running, end;
};

static const char claim_ending[] = ".claim";

static void path_of(char out[CLAIM_PATH], const struct claims *c, const char *name)
{
    snprintf(out, CLAIM_PATH, "%s/%.*s%s", c->folder, CLAIM_NAME, name, claim_ending);
}

/* mtime becomes the file server's present. A claim that vanished was taken over: nothing to renew. */
static void *claim_renew(void *arg)
{
    struct claims *c = arg;
    char path[CLAIM_PATH];
    pthread_mutex_lock(&c->lock);
    while (!c->end) {
        struct timespec until;
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_sec += RENEWED;
        if (pthread_cond_timedwait(&c->wake, &c->lock, &until) != ETIMEDOUT)
            continue;
        for (size_t i = 0; i < MOST; i++)
            if (c->name[i][0]) {
                path_of(path, c, c->name[i]);
                (void)utimensat(AT_FDCWD, path, NULL, 0);
            }
    }
    pthread_mutex_unlock(&c->lock);
    return NULL;
}

/* Signals are for the caller's threads. Without a thread, claims go stale: others may do the work again. */
static void start_renewing(struct claims *c)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    c->running = pthread_create(&c->thread, NULL, claim_renew, c) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

sotto_status claims_open(struct claims **out, const char *folder)
{
    sotto_status status = SOTTO_OK;
    struct claims *c = NULL;
    NEW(c, 1);
    REQUIRE(strlen(folder) < sizeof c->folder, "%.40s...: path is too long", folder);
    strcpy(c->folder, folder);
    holder_self(&c->self);
    pthread_mutex_init(&c->lock, NULL);
    pthread_cond_init(&c->wake, NULL);
    *out = c;
    c = NULL;
done:
    base_free(c);
    return status;
}

/* Out: *now: what time the folder's files get. */
static sotto_status server_time(time_t *now, const struct claims *c)
{
    sotto_status status = SOTTO_OK;
    char path[CLAIM_PATH];
    struct stat info;
    snprintf(path, sizeof path, "%s/.clock-XXXXXX", c->folder);
    const int fd = mkostemp(path, O_CLOEXEC);
    if (fd < 0)
        FAIL(SOTTO_ECREATE, "%s: cannot create a file: %s", c->folder, strerror(errno));
    const int failed = write(fd, "", 1) != 1 || fstat(fd, &info) != 0;
    close(fd);
    unlink(path);
    if (failed)
        FAIL(SOTTO_EIO, "%s: cannot write: %s", c->folder, strerror(errno));
    *now = info.st_mtime;
done:
    return status;
}

/* Two processes may take over one claim at the same moment, and both work. */
static sotto_status take_over(struct claims *c, const char *path)
{
    sotto_status status = SOTTO_OK;
    struct holder o;
    struct stat info;
    time_t now = 0;
    const bool known = holder_read(&o, path);
    if (!known || !holder_is_gone(&o, &c->self)) {
        if (stat(path, &info) != 0)
            goto done;
        TRY(server_time(&now, c));
        /* A process writes its line right behind the creation, unless it is killed in between. */
        if (now - info.st_mtime <= (info.st_size > 0 ? STALE : UNWRITTEN))
            goto done;
    }
    (void)unlink(path);
done:
    return status;
}

/* *created: the file is new, and this process's. */
static sotto_status claim_create(bool *created, const char *path)
{
    sotto_status status = SOTTO_OK;
    char line[HOLDER_LINE];
    struct holder now;
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    *created = fd >= 0;
    if (fd < 0 && errno != EEXIST)
        FAIL(SOTTO_ECREATE, "%s: cannot create: %s", path, strerror(errno));
    if (fd < 0)
        goto done;
    holder_self(&now);
    const size_t length = holder_line(line, &now);
    if (write(fd, line, length) != (ssize_t)length) {
        unlink(path);
        *created = false;
        FAIL(SOTTO_EIO, "%s: cannot write: %s", path, strerror(errno));
    }
done:
    if (fd >= 0)
        close(fd);
    return status;
}

/* Where the name stands, or MOST. */
static size_t claim_find(const struct claims *c, const char *name)
{
    size_t i = 0;
    while (i < MOST && strcmp(c->name[i], name) != 0)
        i++;
    return i;
}

sotto_status claim_take(bool *mine, struct claims *c, const char *name)
{
    sotto_status status = SOTTO_OK;
    char path[CLAIM_PATH];
    *mine = false;
    path_of(path, c, name);
    pthread_mutex_lock(&c->lock);
    const size_t slot = claim_find(c, "");
    if (slot == MOST || claim_find(c, name) < MOST)
        goto done;
    TRY(claim_create(mine, path));
    if (!*mine) {
        TRY(take_over(c, path));
        TRY(claim_create(mine, path));
    }
    if (!*mine)
        goto done;
    snprintf(c->name[slot], CLAIM_NAME, "%s", name);
    if (!c->running)
        start_renewing(c);
done:
    pthread_mutex_unlock(&c->lock);
    return status;
}

void claim_drop(struct claims *c, const char *name)
{
    char path[CLAIM_PATH];
    struct holder o;
    if (!c || !name[0])
        return;
    pthread_mutex_lock(&c->lock);
    const size_t slot = claim_find(c, name);
    if (slot < MOST) {
        path_of(path, c, name);
        if (holder_read(&o, path) && holder_same(&o, &c->self)) /* else it was taken over */
            unlink(path);
        c->name[slot][0] = 0;
    }
    pthread_mutex_unlock(&c->lock);
}

void claims_tidy(const char *folder, const char *ending)
{
    char result[CLAIM_PATH], path[CLAIM_PATH];
    DIR *entries = opendir(folder);
    for (const struct dirent *e; entries && (e = readdir(entries));) {
        const size_t length = strlen(e->d_name), end = sizeof claim_ending - 1;
        if (length <= end || strcmp(e->d_name + length - end, claim_ending) != 0)
            continue;
        const int have =
            snprintf(result, sizeof result, "%s/%.*s%s", folder, (int)(length - end), e->d_name, ending);
        if ((size_t)have < sizeof result && file_exists(result) &&
            path_join(path, sizeof path, folder, e->d_name) == SOTTO_OK)
            (void)unlink(path);
    }
    if (entries)
        closedir(entries);
}

void claims_close(struct claims *c)
{
    if (!c)
        return;
    for (size_t i = 0; i < MOST; i++) {
        char name[CLAIM_NAME];
        strcpy(name, c->name[i]);
        claim_drop(c, name);
    }
    pthread_mutex_lock(&c->lock);
    c->end = true;
    pthread_cond_signal(&c->wake);
    pthread_mutex_unlock(&c->lock);
    if (c->running)
        pthread_join(c->thread, NULL);
    pthread_cond_destroy(&c->wake);
    pthread_mutex_destroy(&c->lock);
    base_free(c);
}

void claim_owner(char out[CLAIM_OWNER], const struct claims *c, const char *name)
{
    char path[CLAIM_PATH];
    struct holder o;
    path_of(path, c, name);
    if (holder_read(&o, path))
        snprintf(out, CLAIM_OWNER, "%s, process %ld", o.host, o.process);
    else
        out[0] = 0;
}

sotto_status claim_wait(unsigned turn, const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    const struct timespec pause = {0, 100000000};
    for (unsigned i = 0; status == SOTTO_OK && i < (turn < 49 ? turn + 1 : 50); i++) {
        nanosleep(&pause, NULL);
        status = context_check(ctx, "stopped while other processes worked on the last tasks");
    }
    return status;
}

uint64_t claims_scatter(const struct claims *c)
{
    char text[320];
    uint64_t h = 14695981039346656037u; /* FNV-1a */
    snprintf(text, sizeof text, "%s %s %ld", c->self.host, c->self.machine, c->self.process);
    for (const char *p = text; *p; p++)
        h = (h ^ (unsigned char)*p) * 1099511628211u;
    return h >> 16;
}
