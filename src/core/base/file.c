/* Atomic replacement: temporary name beside the target, fsync, rename, fsync of the folder. A killed process
 * leaves either the old file or the new one; at worst a ".tmp-XXXXXX" file that no reader looks at (random, as two machines
 * with one shared folder may have equal process numbers). */
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

sotto_status file_open(int *out, size_t *size, bool *regular, const char *path)
{
    sotto_status status = SOTTO_OK;
    struct stat info;
    const bool input = strcmp(path, "-") == 0;
    int fd = -1;
    if (input ? fstat(STDIN_FILENO, &info) != 0 : stat(path, &info) != 0)
        FAIL(SOTTO_ENOENT, "%s: %s", path, strerror(errno));
    if (S_ISDIR(info.st_mode))
        FAIL(SOTTO_ENOENT, "%s: is a folder; expected a file", path);
    if (!input && !S_ISREG(info.st_mode) && !S_ISFIFO(info.st_mode) && !S_ISSOCK(info.st_mode))
        FAIL(SOTTO_ENOENT, "%s: is a device; expected a file or a pipe", path);
    *regular = S_ISREG(info.st_mode);
    fd = input ? dup(STDIN_FILENO) : open(path, O_RDONLY | O_CLOEXEC | (*regular ? 0 : O_NONBLOCK));
    if (fd < 0)
        FAIL(SOTTO_ENOENT, "%s: %s", path, strerror(errno));
    *size = (size_t)info.st_size;
    *out = fd;
done:
    return status;
}

sotto_status file_map(struct file_map *out, int fd, size_t bytes, const char *path)
{
    void *base = mmap(NULL, bytes, PROT_READ, MAP_PRIVATE, fd, 0);
    if (base == MAP_FAILED)
        return status_fail(SOTTO_EIO, "%s: cannot be mapped: %s", path, strerror(errno));
    *out = (struct file_map){base, bytes};
    return SOTTO_OK;
}

void file_unmap(struct file_map *map)
{
    if (map->base)
        munmap(map->base, map->bytes);
    *map = (struct file_map){0};
}

/* Waits until something can be read, or the other end is closed. */
static sotto_status pipe_wait(int fd, const char *path, const struct sotto_context *ctx)
{
    for (;;) {
        struct pollfd one = {.fd = fd, .events = POLLIN};
        const int ready = poll(&one, 1, 100);
        sotto_status status = context_check(ctx, "%s: stopped while it was read", path);
        if (status != SOTTO_OK)
            return status;
        if (ready < 0 && errno == EINTR && !ctx)
            return status_fail(SOTTO_ESTOPPED, "%s: interrupted while it was read", path);
        if (ready < 0 && errno != EINTR)
            return status_fail(SOTTO_EIO, "%s: %s", path, strerror(errno));
        if (ready > 0)
            return SOTTO_OK;
    }
}

sotto_status pipe_read(unsigned char **data, size_t *size, int fd, const char *path, size_t limit,
                       const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    size_t capacity = (size_t)1 << 16, have = 0;
    unsigned char *block = NULL;
    NEW(block, capacity);
    for (ssize_t got = 1; got != 0; have += got > 0 ? (size_t)got : 0) {
        if (have + 1 == capacity) {
            REGROW(block, capacity, 2 * capacity);
            capacity *= 2;
        }
        TRY(pipe_wait(fd, path, ctx));
        got = read(fd, block + have, capacity - 1 - have);
        if (got < 0 && errno != EINTR && errno != EAGAIN)
            FAIL(SOTTO_EIO, "%s: %s", path, strerror(errno));
        if (got > 0 && have + (size_t)got > limit)
            FAIL(SOTTO_EFORMAT, "%s: has more than %zu bytes", path, limit);
    }
    block[have] = '\0';
    *data = block;
    *size = have;
    block = NULL;
done:
    base_free(block);
    return status;
}

sotto_status file_read(unsigned char **data, size_t *size, const char *path, size_t limit)
{
    return file_read_asking(data, size, path, limit, NULL);
}

sotto_status file_read_asking(unsigned char **data, size_t *size, const char *path, size_t limit,
                              const struct sotto_context *ctx)
{
    enum { PIECE = 1 << 22 };
    sotto_status status = SOTTO_OK;
    unsigned char *block = NULL;
    int fd = -1;
    size_t bytes;
    bool regular;
    TRY(file_open(&fd, &bytes, &regular, path));
    if (!regular) {
        TRY(pipe_read(data, size, fd, path, limit, ctx));
        goto done;
    }
    if (bytes > limit)
        FAIL(SOTTO_EFORMAT, "%s: has %zu bytes; expected at most %zu", path, bytes, limit);
    block = base_alloc(bytes + 1, 1);
    if (!block)
        FAIL(SOTTO_ENOMEM, "%s: cannot allocate %zu bytes", path, bytes);
    for (size_t have = 0; have < bytes;) {
        TRY(context_check(ctx, "%s: stopped while it was read", path));
        ssize_t got = read(fd, block + have, bytes - have < PIECE ? bytes - have : PIECE);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            FAIL(SOTTO_EIO, "%s: %s", path, strerror(errno));
        if (got == 0)
            FAIL(SOTTO_EIO, "%s: became shorter while it was read", path);
        have += (size_t)got;
    }
    *data = block;
    *size = bytes;
    block = NULL;
done:
    base_free(block);
    if (fd >= 0)
        close(fd);
    return status;
}

static const char ledger_start[] = "{\"schema\":\"sotto.ledger/"; /* every version and line */

static bool is_ledger(const void *data, size_t bytes)
{
    return bytes >= sizeof ledger_start - 1 && memcmp(data, ledger_start, sizeof ledger_start - 1) == 0;
}

sotto_status file_spare_ledger(const char *path)
{
    sotto_status status = SOTTO_OK;
    struct stat info;
    char start[sizeof ledger_start];
    int fd = -1;
    if (stat(path, &info) == 0 && S_ISREG(info.st_mode))
        fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        goto done;
    const ssize_t have = read(fd, start, sizeof start);
    if (have > 0 && is_ledger(start, (size_t)have))
        FAIL(SOTTO_ECREATE, "%s: is a ledger, and its charges would be lost; give another file to write",
             path);
done:
    if (fd >= 0)
        close(fd);
    return status;
}

/* What may be replaced: nothing, or a file. To replace a device would remove it from the machine. */
static sotto_status check_replaced(const char *path, bool by_ledger)
{
    sotto_status status = SOTTO_OK;
    struct stat info;
    if (stat(path, &info) != 0)
        goto done;
    if (S_ISDIR(info.st_mode))
        FAIL(SOTTO_ECREATE, "%s: is a folder; expected a file name to write", path);
    if (!S_ISREG(info.st_mode))
        FAIL(SOTTO_ECREATE, "%s: is a device or a pipe; expected a file name to write", path);
    if (!by_ledger)
        TRY(file_spare_ledger(path));
done:
    return status;
}

static sotto_status file_start(struct atomic_file *f, const char *path, bool by_ledger)
{
    sotto_status status = SOTTO_OK;
    *f = (struct atomic_file){0};
    size_t capacity = strlen(path) + 32;
    NEW_TEXT(f->path, path);
    NEW(f->temporary, capacity);
    snprintf(f->temporary, capacity, "%s.tmp-XXXXXX", path);
    TRY(check_replaced(path, by_ledger));
    int fd = mkostemp(f->temporary, O_CLOEXEC);
    if (fd < 0) {
        int why = errno;
        f->temporary[0] = '\0';
        FAIL(SOTTO_ECREATE, "%s: cannot create: %s", path, strerror(why));
    }
    f->stream = fdopen(fd, "wb");
    if (!f->stream) {
        close(fd);
        FAIL(SOTTO_ENOMEM, "%s: out of memory", path);
    }
done:
    if (status != SOTTO_OK)
        atomic_discard(f);
    return status;
}

sotto_status atomic_open(struct atomic_file *f, const char *path)
{
    return file_start(f, path, false);
}

void atomic_write(struct atomic_file *f, const void *data, size_t bytes)
{
    if (bytes > 0)
        (void)fwrite(data, 1, bytes, f->stream); /* ferror() remembers */
}

/* No moment at which new bytes lie beside a certificate of others. */
static sotto_status retire_certificate(const char *path)
{
    sotto_status status = SOTTO_OK;
    size_t capacity = strlen(path) + 32;
    char *certificate = NULL, *old = NULL;
    NEW(certificate, capacity);
    NEW(old, capacity);
    snprintf(certificate, capacity, "%s.certificate.json", path);
    snprintf(old, capacity, "%s.certificate.json.old", path);
    if (rename(certificate, old) != 0 && errno != ENOENT && errno != ENAMETOOLONG)
        FAIL(SOTTO_ECREATE,
             "%s: is the certificate of a file that would be overwritten, and cannot be renamed: %s",
             certificate, strerror(errno));
done:
    base_free(certificate);
    base_free(old);
    return status;
}

/* link() refuses a name that is taken, which rename() cannot; some file systems have no links. */
static int put_in_place(struct atomic_file *f, bool keep_old)
{
    int failed = keep_old && link(f->temporary, f->path) != 0 ? errno : 0;
    if (failed == EEXIST || (keep_old && !failed))
        return 0; /* atomic_discard() removes the other name */
    if (rename(f->temporary, f->path) != 0)
        return errno;
    f->temporary[0] = '\0';
    return 0;
}

static sotto_status file_commit(struct atomic_file *f, bool keep_old)
{
    sotto_status status = SOTTO_OK;
    int failed;
    if (ferror(f->stream) || fflush(f->stream) != 0 || fsync(fileno(f->stream)) != 0)
        FAIL(SOTTO_EIO, "%s: write failed: %s", f->path, strerror(errno));
    int closed = fclose(f->stream);
    f->stream = NULL;
    if (closed != 0)
        FAIL(SOTTO_EIO, "%s: write failed: %s", f->path, strerror(errno));
    if (!keep_old)
        TRY(retire_certificate(f->path));
    failed = put_in_place(f, keep_old);
    if (failed)
        FAIL(SOTTO_ECREATE, "%s: cannot rename into place: %s", f->path, strerror(failed));
    char *slash = strrchr(f->path, '/');
    if (slash)
        *slash = '\0';
    status = folder_sync(slash ? (slash == f->path ? "/" : f->path) : ".");
done:
    atomic_discard(f);
    return status;
}

sotto_status atomic_commit(struct atomic_file *f)
{
    return file_commit(f, false);
}

sotto_status atomic_commit_once(struct atomic_file *f)
{
    return file_commit(f, true);
}

void atomic_discard(struct atomic_file *f)
{
    if (f->stream)
        fclose(f->stream);
    if (f->temporary && f->temporary[0])
        unlink(f->temporary);
    base_free(f->temporary);
    base_free(f->path);
    *f = (struct atomic_file){0};
}

sotto_status file_write(const char *path, const void *data, size_t bytes)
{
    sotto_status status = SOTTO_OK;
    struct atomic_file f;
    TRY(file_start(&f, path, is_ledger(data, bytes)));
    atomic_write(&f, data, bytes);
    TRY(atomic_commit(&f));
done:
    return status;
}

sotto_status file_write_once(const char *path, const void *data, size_t bytes)
{
    sotto_status status = SOTTO_OK;
    struct atomic_file f;
    TRY(atomic_open(&f, path));
    atomic_write(&f, data, bytes);
    TRY(atomic_commit_once(&f));
done:
    return status;
}

sotto_status file_hold(struct held_file *h, const char *path, size_t bytes)
{
    sotto_status status = SOTTO_OK;
    size_t capacity = strlen(path) + 32;
    int fd = -1, failed;
    char *temporary = NULL;
    NEW(temporary, capacity);
    snprintf(temporary, capacity, "%s.held-%ld", path, (long)getpid());
    TRY(check_replaced(path, false));
    fd = open(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (fd < 0)
        FAIL(SOTTO_ECREATE, "%s: cannot create: %s", path, strerror(errno));
    unlink(temporary); /* it stays until it is closed, so nothing is left of a process that is killed */
    failed = posix_fallocate(fd, 0, (off_t)(bytes ? bytes : 1));
    if (failed)
        FAIL(SOTTO_EIO, "%s: no room for %zu bytes: %s", path, bytes, strerror(failed));
    h->next = fd + 1;
    fd = -1;
done:
    if (fd >= 0)
        close(fd);
    base_free(temporary);
    return status;
}

void file_release(struct held_file *h)
{
    if (h->next)
        close(h->next - 1);
    h->next = 0;
}

bool file_exists(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0;
}

bool file_is_folder(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

bool file_is_pipe(const char *path)
{
    struct stat info;
    return strcmp(path, "-") == 0 ||
           (stat(path, &info) == 0 && !S_ISREG(info.st_mode) && !S_ISDIR(info.st_mode));
}

sotto_status folder_make(const char *path)
{
    sotto_status status = SOTTO_OK;
    char *copy = NULL;
    NEW_TEXT(copy, path);
    for (char *p = copy + 1;; p++) {
        if (*p != '/' && *p != '\0')
            continue;
        char kept = *p;
        *p = '\0';
        if (mkdir(copy, 0700) != 0 && errno != EEXIST)
            FAIL(SOTTO_ECREATE, "%s: cannot create folder: %s", copy, strerror(errno));
        *p = kept;
        if (kept == '\0')
            break;
    }
    if (!file_is_folder(path))
        FAIL(SOTTO_ECREATE, "%s: exists and is not a folder", path);
done:
    base_free(copy);
    return status;
}

sotto_status folder_temporary(char *out, size_t capacity, const char *name)
{
    const char *base = getenv("TMPDIR");
    if (!base || !base[0])
        base = "/tmp";
    int length = snprintf(out, capacity, "%s/%s-XXXXXX", base, name);
    if (length < 0 || (size_t)length >= capacity || !mkdtemp(out))
        return status_fail(SOTTO_ECREATE, "%s: cannot create a folder in it", base);
    return SOTTO_OK;
}

sotto_status folder_sync(const char *path)
{
    sotto_status status = SOTTO_OK;
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        FAIL(SOTTO_EIO, "%s: %s", path, strerror(errno));
    if (fsync(fd) != 0 && errno != EINVAL) /* EINVAL: this file system cannot sync folders */
        FAIL(SOTTO_EIO, "%s: %s", path, strerror(errno));
done:
    if (fd >= 0)
        close(fd);
    return status;
}

sotto_status path_join(char *out, size_t capacity, const char *folder, const char *name)
{
    int length = snprintf(out, capacity, "%s/%s", folder, name);
    if (length < 0 || (size_t)length >= capacity)
        return status_fail(SOTTO_EINVAL, "%s/%s: path is too long", folder, name);
    return SOTTO_OK;
}
