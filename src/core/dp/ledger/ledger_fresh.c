#include "dp/ledger/ledger_fresh.h"
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static sotto_status name_mark(char **out, const char *path)
{
    sotto_status status = SOTTO_OK;
    const size_t capacity = strlen(path) + sizeof ".new";
    NEW(*out, capacity);
    snprintf(*out, capacity, "%s.new", path);
done:
    return status;
}

/* A process that has made and charged the ledger between the two lines leaves a mark to a ledger with entries, which
 * ledger_open() then removes. */
sotto_status ledger_fresh_mark(const char *path)
{
    sotto_status status = SOTTO_OK;
    char *mark = NULL;
    if (access(path, F_OK) == 0)
        goto done;
    TRY(name_mark(&mark, path));
    const int fd = open(mark, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    if (fd < 0)
        FAIL(SOTTO_ECREATE, "%s: cannot open the ledger: %s", path, strerror(errno));
    close(fd);
done:
    base_free(mark);
    return status;
}

sotto_status ledger_fresh_forget(const char *path)
{
    sotto_status status = SOTTO_OK;
    char *mark = NULL;
    TRY(name_mark(&mark, path));
    if (access(mark, F_OK) == 0 && unlink(mark) != 0 && errno != ENOENT)
        FAIL(SOTTO_EIO, "%s: cannot be removed after the ledger's first entry: %s", mark, strerror(errno));
done:
    base_free(mark);
    return status;
}

sotto_status ledger_fresh_require(const char *path, size_t size)
{
    sotto_status status = SOTTO_OK;
    struct stat info;
    char *mark = NULL;
    TRY(name_mark(&mark, path));
    if (access(mark, F_OK) == 0 || stat(path, &info) != 0 || info.st_size != (off_t)size)
        goto done;
    status = status_fail(
        SOTTO_EFORMAT,
        "%s: has no entry and is not new, so what was charged to it is lost; expected a ledger with "
        "its entries",
        path);
    status_hint("put it back from a copy; remove it only if nothing was ever charged to it");
done:
    base_free(mark);
    return status;
}
